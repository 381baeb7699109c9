package cluster

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestBusStrangers has strangers at a node's bus say all kinds of things, and nothing in thousands
// of connections. The node lets nobody in, takes no memory for what they announce, and the cluster
// does not notice.
func TestBusStrangers(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if k != testserver.Godwit {
			t.Skip("the bus is Godwit's")
		}
		c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 3,
			Args: []string{"--cluster-secret", "s"}})
		n := c.Master(0)
		w := startWriters(t, c, tagOf(t, c, 0), tagOf(t, c, 1))
		w.more(t, 100)
		before, err := testserver.RSS(n.Pid)
		require.NoError(t, err)
		rnd := rand.New(rand.NewPCG(testseed.New(t), 0))
		bus := net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Port+testserver.BusOffset))
		opening := recorded(t, bus)
		for range 2000 {
			speak(t, bus, saying(rnd, opening))
		}
		var idle []net.Conn
		for range 3000 {
			if conn, err := net.Dial("tcp", bus); err == nil {
				idle = append(idle, conn)
			}
		}
		after, err := testserver.RSS(n.Pid)
		require.NoError(t, err)
		t.Logf("%d idle connections; %d KB resident, %d before", len(idle), after>>10, before>>10)
		require.Less(t, after-before, int64(64<<20))
		w.more(t, 100)
		for _, conn := range idle {
			conn.Close()
		}
		w.end()
		view, err := n.View()
		require.NoError(t, err)
		require.Len(t, view, 3)
		require.NoError(t, c.WaitReady())
	})
}

// recorded returns what a node says first to whoever opens a link.
func recorded(t *testing.T, bus string) []byte {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	other := testserver.RunCluster(t, testserver.ClusterOptions{Kind: testserver.Godwit, Spares: 1,
		Args: []string{"--cluster-secret", "s"}}).Nodes[0]
	_, port, _ := net.SplitHostPort(l.Addr().String())
	meet := other.Client(t)
	meet.Queue("CLUSTER", "MEET", "127.0.0.1", 1, port)
	require.NoError(t, meet.Flush())
	conn, err := l.Accept()
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	said, err := io.ReadAll(conn)
	require.True(t, errors.Is(err, os.ErrDeadlineExceeded), "%v", err)
	require.NotEmpty(t, said)
	return said
}

// saying returns something for a stranger to say: a true opening that is cut off, changed or
// repeated, one with a frame of any length behind it, or noise.
func saying(rnd *rand.Rand, opening []byte) []byte {
	said := append([]byte{}, opening...)
	switch rnd.IntN(5) {
	case 0:
		return said[:rnd.IntN(len(said))]
	case 1:
		said[rnd.IntN(len(said))] ^= byte(1 << rnd.IntN(8))
	case 2:
		said = append(said, opening...)
	case 3:
		said = binary.BigEndian.AppendUint32(said, rnd.Uint32())
		fallthrough
	default:
		for range rnd.IntN(300) {
			said = append(said, byte(rnd.Uint32()))
		}
	}
	return said
}

// speak says something in a connection of its own, and hangs up now or when the other side does.
func speak(t *testing.T, bus string, said []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", bus)
	require.NoError(t, err)
	_, _ = conn.Write(said) // the node may have hung up
	time.AfterFunc(time.Duration(len(said)%50)*time.Millisecond, func() { conn.Close() })
}
