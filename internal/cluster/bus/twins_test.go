package bus

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTwins has two processes use one node's id. Whoever comes second is not talked with, in either
// direction, until the first is gone.
func TestTwins(t *testing.T) {
	a, b, twin := start(t, 1, "s"), start(t, 2, "s"), start(t, 2, "s")
	b.SetPeers(map[string]string{id(1): a.addr})
	b.Send(id(1), control, []byte("first"))
	a.received(t, 1)
	for _, e := range []*end{a, b, twin} {
		e.SetTimeout(nodeTimeout / 8) // the log says nothing until it lasts
	}
	const text = "another process uses the id of node "
	twin.SetPeers(map[string]string{id(1): a.addr})
	a.logged(t, text)
	twin.logged(t, text)
	a.SetPeers(map[string]string{id(2): twin.addr})
	a.logged(t, "No link to cluster node "+id(2)+" at "+twin.addr+": "+text)
	require.Empty(t, a.Linked(id(2)))
	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2)
	b.SetPeers(nil) // what is open is the link to it
	b.Send(id(1), control, []byte("second"))
	require.Equal(t, []string{"02 8 first", "02 8 second"}, a.received(t, 2))

	b.Close()
	twin.linked(t, 1)
	twin.Send(id(1), control, []byte("third"))
	require.Equal(t, "02 8 third", a.received(t, 3)[2])
}

// mute is a connection whose other side does not hear that it is closed.
type mute struct{ net.Conn }

func (m mute) Close() error { return m.SetDeadline(time.Now()) }

// TestFormerProcess starts a node again while the link of its former process still looks open. It
// waits until that has ended. Nobody is told of a copy.
func TestFormerProcess(t *testing.T) {
	a := start(t, 1, "s")
	conns := make(chan net.Conn, 9)
	b := start(t, 2, "s", func(o *Options) {
		dial := o.Dial
		o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			conn, err := dial(ctx, addr)
			conns <- conn
			return mute{conn}, err
		}
	})
	b.SetPeers(map[string]string{id(1): a.addr})
	b.linked(t, 1)
	b.Close()
	next := start(t, 2, "s")
	next.SetPeers(map[string]string{id(1): a.addr})
	const text = "a link to the node's former process is still open"
	a.logged(t, text)
	next.logged(t, text)
	for len(conns) > 0 {
		if conn := <-conns; conn != nil {
			conn.Close()
		}
	}
	next.linked(t, 1)
	for _, e := range []*end{a, next} {
		require.NotContains(t, e.logs.String(), "another process")
	}
}

// TestOldFiles wants nobody to talk with a node that runs on older files than it is known to have
// had.
func TestOldFiles(t *testing.T) {
	a := start(t, 1, "s")
	b := start(t, 2, "s", func(o *Options) { o.Boot = 4 })
	a.SetBoots(map[string]uint64{id(2): 5})
	b.SetPeers(map[string]string{id(1): a.addr})
	a.logged(t, "its files are older than node "+id(2))
	b.logged(t, "its files are older than node "+id(2))
	a.SetPeers(map[string]string{id(2): b.addr})
	a.logged(t, "No link to cluster node "+id(2))
	a.SetBoots(map[string]uint64{id(2): 4})
	a.linked(t, 2)
	b.linked(t, 1)
}

// heldProof is the connection of a caller that holds its second message back, the proof, until it
// is told to proceed.
type heldProof struct {
	net.Conn
	sent          int
	held, proceed chan struct{}
}

func (h *heldProof) Write(b []byte) (int, error) {
	if h.sent++; h.sent == 2 {
		select {
		case h.held <- struct{}{}:
		default:
		}
		<-h.proceed
	}
	return h.Conn.Write(b)
}

// TestTwinsAtOnce has a copy of a node open a link while the link to the node is being opened.
func TestTwinsAtOnce(t *testing.T) {
	held, proceed := make(chan struct{}, 1), make(chan struct{})
	a := start(t, 1, "s", func(o *Options) {
		dial := o.Dial
		o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			conn, err := dial(ctx, addr)
			return &heldProof{Conn: conn, held: held, proceed: proceed}, err
		}
	})
	b, twin := start(t, 2, "s"), start(t, 2, "s")
	a.SetPeers(map[string]string{id(2): b.addr})
	<-held
	twin.SetPeers(map[string]string{id(1): a.addr})
	twin.linked(t, 1)
	close(proceed)
	a.logged(t, errFormer.Error())
	require.Empty(t, a.Linked(id(2)))
}
