package integration

import (
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestRepliesBeforeMessages checks the order of writes. A client that publishes to many gets its
// reply before they get the message, and can go on meanwhile. Clients that wait for what a command
// brings are written to first of all. The test sees the publisher's reply while some subscriber has
// nothing yet, which never happens if subscribers come first.
func TestRepliesBeforeMessages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	dial := func() net.Conn {
		nc, err := net.Dial("tcp", s.Addr)
		require.NoError(t, err)
		t.Cleanup(func() { nc.Close() })
		require.NoError(t, nc.SetDeadline(time.Now().Add(20*time.Second)))
		return nc
	}
	send := func(nc net.Conn, line, reply string) {
		_, err := io.WriteString(nc, line+"\r\n")
		require.NoError(t, err)
		got := make([]byte, len(reply))
		_, err = io.ReadFull(nc, got)
		require.NoError(t, err)
		require.Equal(t, reply, string(got))
	}
	const subscribed, message = "*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n",
		"*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\nx\r\n"
	var subscribers [300]net.Conn
	for i := range subscribers {
		subscribers[i] = dial()
		send(subscribers[i], "SUBSCRIBE ch", subscribed)
	}
	publisher, early := dial(), 0
	for range 50 {
		send(publisher, "PUBLISH ch x", fmt.Sprintf(":%d\r\n", len(subscribers)))
		for _, nc := range subscribers {
			if waitingBytes(t, nc) == 0 {
				early++
			}
		}
		got := make([]byte, len(message))
		for _, nc := range subscribers {
			_, err := io.ReadFull(nc, got)
			require.NoError(t, err)
			require.Equal(t, message, string(got))
		}
	}
	require.NotZero(t, early)

	waiter := dial()
	c := s.dial(t)
	for range 50 {
		_, err := io.WriteString(waiter, "BLPOP q 0\r\n")
		require.NoError(t, err)
		eventually(t, "it waits", func() bool {
			return strings.Contains(do(t, c, "INFO", "clients").Text(), "blocked_clients:1\r\n")
		})
		send(publisher, "RPUSH q a", ":1\r\n")
		const popped = "*2\r\n$1\r\nq\r\n$1\r\na\r\n"
		require.Equal(t, len(popped), waitingBytes(t, waiter))
		_, err = io.ReadFull(waiter, make([]byte, len(popped)))
		require.NoError(t, err)
	}
}

// waitingBytes returns how many bytes have arrived and are unread.
func waitingBytes(t *testing.T, nc net.Conn) (n int) {
	rc, err := nc.(syscall.Conn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, rc.Control(func(fd uintptr) {
		n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
	}))
	require.NoError(t, err)
	return n
}
