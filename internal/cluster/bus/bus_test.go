package bus

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/testserver"
)

// id returns an id of 40 digits.
func id(n int) string { return fmt.Sprintf("%040x", n) }

const (
	control = FirstKind
	bulk    = Bulk
)

// end is a bus with what it has received and logged.
type end struct {
	*Bus
	addr string
	logs loggingtest.Buffer

	mu  sync.Mutex
	got []string // "from kind payload"
}

// nodeTimeout leaves handshakes seconds: what waits for a link that does not open is dropped, and
// most tests send once.
const nodeTimeout = 4 * time.Second

// start returns a listening bus of the node n with that secret.
func start(t *testing.T, n int, secret string, change ...func(*Options)) *end {
	t.Helper()
	e := &end{}
	log, err := logging.New(logging.Options{Out: &e.logs, Level: logging.Debug})
	require.NoError(t, err)
	o := Options{Log: log, Timeout: nodeTimeout,
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		},
		Receive: func(from Peer, kind Kind, payload []byte) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if len(payload) > 100 {
				payload = fmt.Appendf(nil, "%d bytes", len(payload))
			}
			e.got = append(e.got, fmt.Sprintf("%s %d %s", from.Node[38:], kind, payload))
		}}
	for _, f := range change {
		f(&o)
	}
	e.Bus = New(id(n), o)
	e.SetSecret(secret)
	port, err := testserver.Port() // which stays free when the bus has closed
	require.NoError(t, err)
	e.addr = fmt.Sprintf("127.0.0.1:%d", port)
	ln, err := net.Listen("tcp", e.addr)
	require.NoError(t, err)
	go e.Serve(ln)
	t.Cleanup(e.Close)
	return e
}

// received waits until the end has got that many messages, and returns them.
func (e *end) received(t *testing.T, n int) (list []string) {
	t.Helper()
	require.Eventually(t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		list = append([]string(nil), e.got...)
		return len(list) >= n
	}, 20*time.Second, time.Millisecond)
	return list
}

// logged waits for a text in the log.
func (e *end) logged(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(e.logs.String(), text) },
		20*time.Second, time.Millisecond, "%s", text)
}

// linked waits for the outgoing link to a node.
func (e *end) linked(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, l := range e.Links() {
			if l.Outgoing && l.Node == id(n) {
				return true
			}
		}
		return false
	}, 20*time.Second, time.Millisecond)
}

func TestMessages(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	a.SetPeers(map[string]string{id(2): b.addr})
	b.SetPeers(map[string]string{id(1): a.addr})
	require.True(t, a.Send(id(2), control, []byte("one")))
	require.True(t, a.Send(id(2), control, nil))
	require.False(t, a.Send(id(3), control, nil), "no such peer")
	require.Equal(t, []string{"01 8 one", "01 8 "}, b.received(t, 2))
	require.Equal(t, 1, b.Broadcast(bulk, []byte("two"), nil))
	require.Equal(t, []string{"02 128 two"}, a.received(t, 1))
	require.Equal(t, 0, b.Broadcast(bulk, nil, func(string) bool { return false }))

	s := a.Stats()
	require.Equal(t, map[Kind]uint64{control: 2}, s.Sent)
	require.Equal(t, map[Kind]uint64{bulk: 1}, s.Received)
	require.EqualValues(t, 2*headerLen+3, s.BytesOut)
	require.EqualValues(t, headerLen+3, s.BytesIn)
	require.Len(t, a.Links(), 2)
}

// TestOvertaking sends control messages after a long bulk message: they must not wait for its end,
// and it must arrive whole.
func TestOvertaking(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	p := newPeer(a.Bus, id(2), b.addr)
	long := bytes.Repeat([]byte("x"), 3*maxFrame)
	require.True(t, p.push(bulk, long))
	h, part, ok := p.queues.next()
	require.Equal(t, header{maxFrame, bulk, true}, h)
	require.Len(t, part, maxFrame)
	require.True(t, ok)
	p.push(control, []byte("now"))
	h, _, _ = p.queues.next()
	require.Equal(t, header{3, control, false}, h)

	a.SetPeers(map[string]string{id(2): b.addr})
	a.Send(id(2), bulk, long)
	a.Send(id(2), control, []byte("now"))
	require.ElementsMatch(t, []string{"01 8 now", fmt.Sprintf("01 128 %d bytes", len(long))},
		b.received(t, 2))
}

// TestOrder breaks the link under a stream of messages: some are lost, the others keep their order.
func TestOrder(t *testing.T) {
	a, b := start(t, 1, ""), start(t, 2, "")
	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2)
	sent := 0
	some := func() {
		for range 500 {
			sent++
			require.True(t, a.Send(id(2), bulk, fmt.Appendf(nil, "%09d", sent)))
		}
	}
	for range 5 {
		some()
		b.Bus.mu.Lock()
		for _, in := range b.incoming {
			in.conn.Close()
		}
		b.Bus.mu.Unlock()
	}
	require.Eventually(t, func() bool {
		some() // or all may be lost: what waits for a link that breaks again is dropped
		list := b.received(t, 0)
		return len(list) > 0 && list[len(list)-1] > fmt.Sprintf("01 128 %09d", 2500)
	}, 20*time.Second, time.Millisecond)
	require.IsIncreasing(t, b.received(t, 1))
}

func TestReconnect(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2)
	b.Close()
	require.Eventually(t, func() bool { return len(a.Links()) == 0 }, 20*time.Second,
		time.Millisecond)
	require.Eventually(t, func() bool { // what waits is dropped: nobody listens
		a.Send(id(2), control, []byte("old"))
		return a.Stats().Dropped > 0
	}, 20*time.Second, time.Millisecond)
	ln, err := net.Listen("tcp", b.addr)
	require.NoError(t, err)
	again := start(t, 2, "s")
	go again.Serve(ln)
	a.linked(t, 2)
	a.Send(id(2), control, []byte("new"))
	require.Eventually(t, func() bool {
		list := again.received(t, 0)
		return len(list) > 0 && list[len(list)-1] == "01 8 new"
	}, 20*time.Second, time.Millisecond)
}

// TestSelf changes a node's identity: its links open anew, and nothing that was queued before
// arrives.
func TestSelf(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2)
	a.SetSelf(id(7))
	require.Eventually(t, func() bool {
		a.Send(id(2), control, []byte("x"))
		list := b.received(t, 0)
		return len(list) > 0 && list[len(list)-1] == "07 8 x"
	}, 20*time.Second, time.Millisecond)
}

func TestQueueLimit(t *testing.T) {
	a := start(t, 1, "s")
	a.SetQueueLimit(10_000)
	p := newPeer(a.Bus, id(2), "127.0.0.1:1")
	require.True(t, p.push(control, make([]byte, 20_000)), "an empty queue takes anything")
	require.False(t, p.push(control, nil))
	require.True(t, p.push(bulk, make([]byte, 9_000)), "lanes do not share")
	require.False(t, p.push(bulk, make([]byte, 9_000)))
	require.EqualValues(t, 2, a.Stats().Full)
	a.logged(t, "are dropped: more than cluster-link-sendbuf-limit wait for it")
	p.restart()
	require.Zero(t, p.queues.queued())
}

// TestVisit talks to a node of which only the address is known. It answers on the same link.
func TestVisit(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	require.False(t, b.Send(id(1), control, nil), "nobody has called")
	require.True(t, a.Visit(b.addr, control, []byte("who are you?")))
	require.Equal(t, []string{"01 8 who are you?"}, b.received(t, 1))
	require.True(t, b.Send(id(1), control, []byte("two")))
	require.Equal(t, []string{"02 8 two"}, a.received(t, 1))
	require.True(t, b.Send(id(1), bulk, []byte("and you?")))
	require.True(t, a.Visit(b.addr, control, []byte("one")))
	a.received(t, 2)
	b.received(t, 2)

	require.True(t, a.Visit("127.0.0.1:1", control, nil))
	a.logged(t, "Cannot reach a cluster node at 127.0.0.1:1: connect: connection refused")
	b.Close()
	require.Eventually(t, func() bool {
		a.Bus.mu.Lock()
		defer a.Bus.mu.Unlock()
		return len(a.visits) == 0
	}, 20*time.Second, time.Millisecond)
	other := start(t, 4, "t")
	a.Visit(other.addr, control, nil)
	a.logged(t, `No link to a cluster node at `+other.addr+`: it says: "cluster-secret differs"`)
}

// TestOneWay cannot reach a peer at the address that it knows. Messages go over the link that the
// peer has opened, until there is another one.
func TestOneWay(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	a.SetPeers(map[string]string{id(2): "127.0.0.1:1"})
	b.SetPeers(map[string]string{id(1): a.addr})
	b.linked(t, 1)
	require.Eventually(t, func() bool { return a.Has(id(2)) }, 20*time.Second, time.Millisecond)
	require.Empty(t, a.Linked(id(2)))
	require.True(t, a.Send(id(2), control, []byte("one")))
	require.Eventually(t, func() bool {
		a.Bus.mu.Lock()
		defer a.Bus.mu.Unlock()
		_, failed := a.peers[id(2)].condition()
		return failed
	}, 20*time.Second, time.Millisecond)
	require.Equal(t, 1, a.Broadcast(bulk, []byte("two"), nil))
	require.ElementsMatch(t, []string{"01 8 one", "01 128 two"}, b.received(t, 2))

	a.SetPeers(map[string]string{id(2): b.addr})
	a.linked(t, 2)
	require.NotEmpty(t, a.Linked(id(2)))
	require.True(t, a.Send(id(2), control, []byte("three")))
	for i := range 100 {
		a.Broadcast(bulk, fmt.Appendf(nil, "%03d", i), nil)
	}
	list := b.received(t, 103)[2:]
	list = slices.DeleteFunc(list, func(m string) bool { return m == "01 8 three" })
	require.Len(t, list, 100)
	require.IsIncreasing(t, list)
}

// TestOneWayLimit bounds what waits for a peer on the link that it has opened.
func TestOneWayLimit(t *testing.T) {
	read := make(chan struct{})
	a, b := start(t, 1, "s"), start(t, 2, "s", func(o *Options) {
		o.Receive = func(Peer, Kind, []byte) { <-read }
	})
	t.Cleanup(func() { close(read) }) // before b closes
	a.SetQueueLimit(1 << 20)
	a.SetPeers(map[string]string{id(2): "127.0.0.1:1"})
	b.SetPeers(map[string]string{id(1): a.addr})
	require.Eventually(t, func() bool { return a.Has(id(2)) }, 20*time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		return !a.Send(id(2), control, make([]byte, 1<<16))
	}, 20*time.Second, time.Microsecond)
	require.NotZero(t, a.Stats().Full)
}

func TestWrongNode(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	a.SetPeers(map[string]string{id(3): b.addr})
	a.logged(t, "another node answers there: "+id(2))
	twin := start(t, 1, "s")
	b.SetPeers(map[string]string{id(1): a.addr})
	b.linked(t, 1)
	require.Empty(t, twin.Links())
	same := start(t, 1, "s")
	p := newPeer(same.Bus, id(1), a.addr)
	same.running.Go(p.run)
	same.logged(t, "both nodes have the id "+id(1))
}
