// Package bus carries messages between the nodes of a cluster.
//
//	node A                                            node B
//	Send(B, kind, …) ─→ two queues ─→ link A→B ─→ Receive(from A, kind, …)
//	Receive(from B, …) ←──────────── link B→A ←─ two queues ←─ Send(A, kind, …)
//
// Each node has one outgoing link to every peer and sends on that. A link that breaks is opened
// again, after a pause that grows from a hundredth to a tenth of the node timeout. What cannot be
// sent waits in bounded queues, and what does not fit there is dropped: Send never blocks. Whoever
// needs an answer asks again. Messages of one kind arrive in order, with gaps.
//
// While the link to a peer is not open, the one that the peer has opened carries messages both
// ways. So a node takes part whose address nobody can reach, or has yet to learn. Control messages
// may overtake each other when that begins or ends. Bulk messages do not: they take that way once
// the link could not be opened, which drops those before them, and until that way breaks.
//
// Nodes that do not know each other yet talk on a visit: a link to an address, on which the other
// side answers. It closes when nothing was sent on it for a while.
//
// There are two lanes. The control lane overtakes the bulk lane (kinds from Bulk on: messages of
// PUBLISH), also within a long message, because messages travel in frames of at most 64 KiB.
//
// # The challenge
//
// A link begins with a challenge. Both sides prove that they know cluster-secret, by a MAC over
// everything that both have said so far: two nonces, both nodes' ids, versions. With TLS it is
// bound to the connection. The side that was called proves nothing to a stranger. Then each side
// refuses a second process that has a node's id (twins.go).
//
//	caller                                callee
//	preamble, hello(nonce, id)     ─→
//	                               ←─     preamble, hello(nonce, id)
//	proof = MAC("caller", all)     ─→
//	                               ←─     proof = MAC("callee", all), or refused(why)
//	messages                       ─→
//
// Until the proof has been checked a caller costs a few hundred bytes, and it has a deadline. Only
// maxStrangers may be at this stage at once; the oldest has to go for another one. What is refused
// is logged, at most once a minute for each reason and address.
package bus

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/crash"
	"godwit/internal/logging"
)

// Protocol is the version of messages that this package's users speak. Links use the lower one of
// both sides' versions.
const (
	Protocol       = 2 // 1 had other pings, and knew no copies
	lowestProtocol = 2
)

// Kind says what a message is. The package's user chooses the numbers.
type Kind uint8

// Bulk is the first of the kinds that take the bulk lane.
const Bulk Kind = 128

// Peer is the other side of a link.
type Peer struct {
	Node     string // its id, 40 hexadecimal digits
	Addr     string // the socket's, host:port
	Local    string // this side's host, as the socket has it
	Protocol int    // of the link
}

// Options configure a Bus. Receive, Dial and Log must be set.
type Options struct {
	// Boot counts the starts of the node from its files.
	Boot uint64
	// Receive takes a message, on the goroutine of the link that it came from; the link reads on
	// when it returns. payload is the receiver's to keep.
	Receive func(from Peer, kind Kind, payload []byte)
	// Dial opens a connection, with TLS if the bus has it.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Failed is told why there is no link to the address (host:port) of a Visit, on a goroutine of
	// the bus. certain says that it would be no use to try again. It may be nil.
	Failed func(addr, why string, certain bool)
	// Wrap makes an accepted connection a TLS connection. nil: plain.
	Wrap func(net.Conn) net.Conn
	Log  *logging.Logger
	// Timeout is the node timeout, from which all others follow.
	Timeout time.Duration
	// Verified says that TLS checks certificates of both sides. Without that and without a secret
	// only peers on loopback addresses are talked to.
	Verified bool
}

// Bus is one node's end of all links. All methods may be called by any goroutine.
type Bus struct {
	o       Options
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	quiet   quiet

	secret   atomic.Pointer[[]byte]
	verified atomic.Bool
	timeout  atomic.Int64 // ns
	queue    atomic.Int64 // bytes that may wait for a peer
	message  atomic.Int64 // bytes of the longest bulk message
	stats    counters

	process uint64 // tells this Bus from one that runs on a copy of its node's files

	mu        sync.Mutex
	self      string            // this node's id
	boots     map[string]uint64 // see SetBoots
	twins     map[string]twinSeen
	peers     map[string]*peer // by node
	visits    map[string]*peer // by address
	incoming  map[caller]*inbox
	strangers []*stranger // oldest first
	listeners map[net.Listener]bool
	closed    bool
}

// The limits.
const (
	// DefaultQueue is how many bytes may wait for a peer on each lane, unless SetQueueLimit says
	// otherwise.
	DefaultQueue = 64 << 20
	// maxControl bounds a message of the control lane. A snapshot of a large topology is the
	// longest.
	maxControl = 64 << 20
	// defaultBulk bounds a message of the bulk lane, unless SetMessageLimit says otherwise.
	defaultBulk = 64 << 20

	maxStrangers = 64
	maxIncoming  = 4096
	maxVisits    = 64
)

// New returns a bus of a node. It has no links and listens nowhere yet.
func New(self string, o Options) *Bus {
	b := &Bus{o: o, self: self, process: rand.Uint64(), peers: map[string]*peer{},
		twins: map[string]twinSeen{}, visits: map[string]*peer{}, incoming: map[caller]*inbox{},
		listeners: map[net.Listener]bool{}}
	b.quiet.log = o.Log
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.SetSecret("")
	b.SetVerified(o.Verified)
	b.SetTimeout(o.Timeout)
	b.SetQueueLimit(0)
	b.SetMessageLimit(0)
	return b
}

// SetSecret changes cluster-secret for links that open from now on.
func (b *Bus) SetSecret(secret string) {
	key := []byte(secret)
	b.secret.Store(&key)
}

// SetVerified changes Options.Verified, for links that open from now on.
func (b *Bus) SetVerified(on bool) { b.verified.Store(on) }

// SetTimeout changes the node timeout.
func (b *Bus) SetTimeout(d time.Duration) { b.timeout.Store(int64(d)) }

// SetQueueLimit changes how many bytes may wait for a peer on each lane. 0 stands for DefaultQueue.
// A message always fits into an empty queue.
func (b *Bus) SetQueueLimit(n int64) {
	if n <= 0 {
		n = DefaultQueue
	}
	b.queue.Store(n)
}

// SetMessageLimit changes how long a bulk message may be. 0 stands for 64 MiB.
func (b *Bus) SetMessageLimit(n int64) {
	if n <= 0 {
		n = defaultBulk
	}
	b.message.Store(n)
}

func (b *Bus) nodeTimeout() time.Duration { return time.Duration(b.timeout.Load()) }

// patience is how long a challenge may take.
func (b *Bus) patience() time.Duration {
	return min(max(b.nodeTimeout(), time.Second), 5*time.Second)
}

// alone reports whether only loopback addresses may be talked to.
func (b *Bus) alone() bool { return !b.verified.Load() && len(*b.secret.Load()) == 0 }

// SetSelf changes this node's id. All links are closed, all queues are emptied: what was said as
// another node does not count any more.
func (b *Bus) SetSelf(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.self == node {
		return
	}
	b.self = node
	for _, p := range b.peers {
		p.restart()
	}
	b.hangUp()
}

// hangUp closes all links but those to peers.
func (b *Bus) hangUp() {
	for _, v := range b.visits {
		v.stop()
	}
	for _, in := range b.incoming {
		in.conn.Close()
	}
	for _, s := range b.strangers {
		s.conn.Close()
	}
}

// Self returns this node's id.
func (b *Bus) Self() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.self
}

// SetPeers says which nodes to keep links to, and at which addresses (host:port). Other links are
// closed.
func (b *Bus) SetPeers(addrs map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	for node, p := range b.peers {
		if addrs[node] != p.addr {
			p.stop()
			delete(b.peers, node)
		}
	}
	for node, addr := range addrs {
		if b.peers[node] != nil || node == b.self {
			continue
		}
		p := newPeer(b, node, addr)
		b.peers[node] = p
		b.running.Go(func() {
			defer crash.Guard("link to another node")()
			p.run()
		})
	}
}

// Send queues a message for a node. If that is no peer, or the link to it is not open, the message
// goes over the link that the node has opened. Send reports false if there is no way, or no room:
// the message is dropped. The payload must not change afterwards.
func (b *Bus) Send(node string, kind Kind, payload []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.peers[node]; p != nil {
		return b.push(p, kind, payload)
	}
	if in := b.from(node); in != nil {
		return b.reply(in, message{kind, payload})
	}
	b.stats.dropped.Add(1)
	return false
}

// push queues a message for a peer, on the link that the peer has opened if there is no other. The
// bus is locked.
func (b *Bus) push(p *peer, kind Kind, payload []byte) bool {
	in := b.from(p.node)
	open, failed := p.condition()
	switch {
	case in == nil, kind < Bulk && open, kind >= Bulk && !in.bulk && !failed:
		return p.push(kind, payload)
	case kind >= Bulk:
		in.bulk = true
	}
	return b.reply(in, message{kind, payload})
}

// Linked returns the address (host:port) to which the link to a peer is open, "" if it is not.
func (b *Bus) Linked(node string) (addr string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.peers[node]; p != nil {
		if open, _ := p.condition(); open {
			addr = p.addr
		}
	}
	return addr
}

// Has reports whether a node has opened a link to this one.
func (b *Bus) Has(node string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.from(node) != nil
}

// from returns a link that a node has opened, nil if there is none.
func (b *Bus) from(node string) *inbox {
	if in := b.incoming[caller{node, false}]; in != nil {
		return in
	}
	return b.incoming[caller{node, true}]
}

// Visit queues a message for whoever listens at an address (host:port). It reports false if the
// message is dropped. The payload must not change afterwards.
func (b *Bus) Visit(addr string, kind Kind, payload []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.visits[addr]
	if v == nil {
		if b.closed || len(b.visits) >= maxVisits {
			b.stats.dropped.Add(1)
			return false
		}
		v = newPeer(b, "", addr)
		b.visits[addr] = v
		v.push(kind, payload) // before it looks whether there is anything
		b.running.Go(func() {
			defer crash.Guard("visit to another node")()
			v.visit()
		})
		return true
	}
	return v.push(kind, payload)
}

// Cut closes the links that a node has opened: what it says makes no sense.
func (b *Bus) Cut(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for in := b.from(node); in != nil; in = b.from(node) {
		in.conn.Close()
		delete(b.incoming, in.caller)
	}
}

// Broadcast queues a message for the peers that want returns true for, nil for all. It returns how
// many have room for it. The payload must not change afterwards.
func (b *Bus) Broadcast(kind Kind, payload []byte, want func(node string) bool) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for node, p := range b.peers {
		if (want == nil || want(node)) && b.push(p, kind, payload) {
			n++
		}
	}
	return n
}

// errClosed ends what is under way when the bus closes.
var errClosed = errors.New("the cluster bus is closed")

// Close closes all links and listeners, and returns when no goroutine of the bus is left. It must
// not be called by Receive.
func (b *Bus) Close() {
	b.mu.Lock()
	b.closed = true
	b.cancel()
	for _, p := range b.peers {
		p.stop()
	}
	clear(b.peers)
	b.hangUp()
	for ln := range b.listeners {
		ln.Close()
	}
	b.mu.Unlock()
	b.running.Wait()
}
