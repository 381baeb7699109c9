package engine

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
)

// TestScriptReply checks that large replies arrive whole, and not at all if they are too large.
func TestScriptReply(t *testing.T) {
	var r scriptReply
	staged, plain := resp.Writer{Stage: &r}, resp.Writer{}
	text := bytes.Repeat([]byte("x"), 100_000)
	for range 2 {
		for _, w := range []*resp.Writer{&staged, &plain} {
			w.Reset()
			w.Simple("head")
			at := w.Mark()
			for range 20 {
				w.Bulk(text)
				w.BulkString("short")
			}
			w.Insert(at, []byte("*40\r\n"))
		}
		require.NotZero(t, staged.Staged)
		require.True(t, bytes.Equal(plain.Buf, r.whole(staged.Buf)))
	}
	require.Nil(t, r.Next(1, maxScriptReply))
	r.Insert(1, []byte("x"))
	require.Nil(t, r.Next(1, 0), "the rest is dropped too")
	require.Empty(t, r.whole([]byte("\r\n")))
	require.Len(t, r.Next(1, 0), 1)
}
