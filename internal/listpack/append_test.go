package listpack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestAppendEntry makes listpacks in both ways.
func TestAppendEntry(t *testing.T) {
	r := testseed.Rand(t)
	for range 200 {
		s := NewSlice()
		const before = "before"
		b, n := Begin([]byte(before)), r.IntN(50)
		for range n {
			if r.IntN(2) == 0 {
				v := int64(r.Uint64()) >> r.IntN(64)
				AppendInt(s, v)
				b = AppendEntry(b, Int(v))
				continue
			}
			e := []byte(element(r))
			Append(s, e)
			b = AppendEntry(b, Str(e))
		}
		require.Equal(t, s.B, Seal(b, len(before), n)[len(before):])
	}
}
