package server

import (
	"bytes"
	"errors"
	"io"
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
	n, err := ended(talk, text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.NoError(t, theirs.Close())
	_, err = ended(talk, text)
	require.Error(t, err)
}

// ended writes until that has ended.
func ended(w io.Writer, text []byte) (n int, err error) {
	err = os.ErrDeadlineExceeded
	for errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = w.Write(text)
	}
	return n, err
}
