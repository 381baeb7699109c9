//go:build linux

package replication

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestStreamBeforeReply checks that a write is on its way to the replicas before it is answered: so
// a process that is killed has told nobody of a write that only it has.
func TestStreamBeforeReply(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-ping-replica-period", "3600")
	r := rawReplicaOf(t, master.Addr, nil)
	r.full("capa eof")
	r.begin(master)
	do(t, master, "SET", "k", "v")
	require.Equal(t, "SELECT 0", r.next())
	require.Equal(t, "SET k v", r.next())
	c := master.Client(t)
	for i := range 500 {
		_, err := c.Do("SET", "k", i)
		require.NoError(t, err)
		require.Positive(t, arrived(t, r.conn), "the reply came first")
		r.next()
	}
}

// arrived returns how many bytes there are to be read, at most 1.
func arrived(t *testing.T, conn net.Conn) (n int) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		n, _, _ = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}))
	return n
}
