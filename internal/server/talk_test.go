package server

import (
	"bytes"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTalkWrite checks that a write to a client that reads late can be called again until it ends.
func TestTalkWrite(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	talk, text := &goTalk{nc: ours}, []byte("some lines")
	for range 2 {
		n, err := talk.Write(text)
		require.Equal(t, os.ErrDeadlineExceeded, err)
		require.Zero(t, n)
	}
	read := make(chan []byte)
	go func() {
		b := make([]byte, 100)
		n, _ := theirs.Read(b)
		read <- b[:n]
	}()
	require.True(t, bytes.Equal(text, <-read))
	n, err := talk.Write(text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.NoError(t, theirs.Close())
	_, err = talk.Write(text)
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}
