package engine_test

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/backlog"
	"godwit/internal/config"
)

// deafConn is the connection of a replica, which keeps the transfer that it is given.
type deafConn struct {
	write func(net.Conn) error
	done  func(error)
}

func (*deafConn) Flush()                        {}
func (*deafConn) Resume()                       {}
func (*deafConn) Close()                        {}
func (*deafConn) Buffers() (in, inCap, out int) { return }
func (*deafConn) HeapReplies() int              { return 0 }
func (*deafConn) Stage(int, int) []byte         { return nil }
func (*deafConn) StageInsert(int, []byte)       {}
func (*deafConn) Stream(*backlog.Reader)        {}
func (*deafConn) Fed()                          {}
func (*deafConn) NoDelay(bool)                  {}
func (w *deafConn) Transfer(write func(net.Conn) error, done func(error)) {
	w.write, w.done = write, done
}

// TestTransferThatNeverBegins has a replica go when its snapshot is made, and none of it is sent.
// The snapshot's memory is given back.
func TestTransferThatNeverBegins(t *testing.T) {
	x := withDisk(t, func(c *config.Config) {
		c.ReplDisklessSyncDelay, c.RDBCompression = 0, false
	})
	x.do("set big " + strings.Repeat("x", 1<<20))
	w := &deafConn{}
	replica := x.e.NewClient(w)
	x.e.Exec(replica, [][]byte{[]byte("REPLCONF"), []byte("capa"), []byte("eof")})
	replica.W.Buf = replica.W.Buf[:0]
	x.e.Exec(replica, [][]byte{[]byte("PSYNC"), []byte("?"), []byte("-1")})
	x.e.Commit()
	x.finish()
	require.NotNil(t, w.done)
	require.GreaterOrEqual(t, x.e.SnapshotMemory(), int64(1<<20))
	used := x.e.Buffers.Used()
	x.e.Forget(replica)
	w.done(net.ErrClosed)
	require.LessOrEqual(t, x.e.Buffers.Used(), used-1<<20)
	require.Zero(t, x.e.SnapshotMemory())
}
