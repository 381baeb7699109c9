package bus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/crash"
)

// peer is a node to keep an outgoing link to.
type peer struct {
	bus    *Bus
	node   string
	addr   string
	queues queues
	ctx    context.Context
	stop   context.CancelFunc

	mu      sync.Mutex
	conn    net.Conn // nil while there is no link
	created time.Time
	process uint64 // at the other end of conn
	serial  int    // counts restarts
	failed  bool   // the last try to open it has
	bytes   atomic.Uint64
	heard   atomic.Int64 // as inbox.heard
}

func newPeer(b *Bus, node, addr string) *peer {
	p := &peer{bus: b, node: node, addr: addr}
	p.queues.wake = make(chan struct{}, 1)
	p.ctx, p.stop = context.WithCancel(b.ctx)
	return p
}

// push queues a message.
func (p *peer) push(kind Kind, payload []byte) bool {
	s := &p.bus.stats
	if !p.queues.push(message{kind, payload}, p.bus.queue.Load()) {
		s.dropped.Add(1)
		s.full.Add(1)
		p.bus.quiet.warn("full "+p.node, "Messages for cluster node %s at %s are dropped: more "+
			"than cluster-link-sendbuf-limit wait for it", p.node, p.addr)
		return false
	}
	return true
}

// restart drops the link and all that waits for it.
func (p *peer) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serial++
	p.queues.reset()
	if p.conn != nil {
		p.conn.Close()
	}
}

// condition reports whether there is a link, and whether the last try to open it has failed.
func (p *peer) condition() (open, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil, p.failed
}

// link describes the link, if there is one.
func (p *peer) link() (l Link, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return l, false
	}
	n := p.queues.queued()
	return Link{Outgoing: true, Addr: p.addr, Created: p.created, Queued: n,
		Allocated: n + writeBuffer, Bytes: p.bytes.Load(), Heard: p.heard.Load()}, true
}

// run keeps the link until the peer is stopped.
func (p *peer) run() {
	pause := time.Duration(0)
	for p.ctx.Err() == nil {
		began := time.Now()
		err := p.session()
		if p.ctx.Err() != nil {
			return
		}
		p.complain(err)
		shortest := p.bus.nodeTimeout() / 100
		if longest := p.bus.nodeTimeout() / 10; time.Since(began) > longest {
			pause = shortest
		} else {
			pause = min(max(2*pause, shortest), longest)
		}
		jittered := pause*3/4 + rand.N(pause/4+1)
		select {
		case <-p.ctx.Done():
		case <-time.After(jittered):
		}
	}
}

// visitIdle is how long a visit stays open when nothing is sent.
const visitIdle = 30 * time.Second

// visit keeps the link to an address while there is something to send.
func (p *peer) visit() {
	b := p.bus
	defer func() { // however it ends: a dead visit would take all that is for the address
		b.mu.Lock()
		defer b.mu.Unlock()
		p.forget()
	}()
	for p.ctx.Err() == nil {
		p.complain(p.session())
		b.mu.Lock()
		if p.queues.queued() == 0 {
			p.forget()
		}
		b.mu.Unlock()
	}
}

// forget ends a visit. The bus is locked.
func (p *peer) forget() {
	if p.bus.visits[p.addr] == p {
		delete(p.bus.visits, p.addr)
	}
	p.stop()
}

// complain logs why there is no link, if that does not happen every day.
func (p *peer) complain(err error) {
	b := p.bus
	if p.ctx.Err() != nil || errors.Is(err, errIdle) {
		return
	}
	who := "cluster node " + p.node
	if p.node == "" {
		who = "a cluster node"
	}
	p.report(err)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		if p.node == "" { // somebody has asked for it
			b.quiet.warn("dial "+p.addr, "Cannot reach %s at %s: %s", who, p.addr, dial.Err)
		} else {
			b.o.Log.Debug("Connecting to %s: %s", who, err)
		}
		return
	}
	if reason, text := explain(err); reason == "" || reason == "former" {
		b.o.Log.Debug("Link to %s at %s: %s", who, p.addr, err)
	} else {
		b.quiet.warn("out "+reason+p.addr, "No link to %s at %s: %s", who, p.addr, text)
	}
}

// report tells the user of the bus why a visit has come to nothing.
func (p *peer) report(err error) {
	if p.node != "" || p.bus.o.Failed == nil {
		return
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		p.bus.o.Failed(p.addr, dial.Err.Error(), false)
		return
	}
	reason, text := explain(err)
	switch reason {
	case "":
		text += ". Nodes of Redis and Valkey do that, those with TLS, and any that has just ended"
	case "slow":
		text += ", as on a port for clients"
	}
	p.bus.o.Failed(p.addr, text, reason == "alien" || reason == "plain" || reason == "self")
}

// session opens the link and uses it until it breaks.
func (p *peer) session() error {
	p.mu.Lock()
	serial := p.serial
	p.mu.Unlock()
	b := p.bus
	us := b.hello()
	us.visit = p.node == ""
	conn, them, err := b.open(p.ctx, p.addr, us, func(h *hello) error {
		switch {
		case h.node == us.node && p.node == "":
			return errSelf
		case h.node != p.node && p.node != "":
			return fmt.Errorf("another node answers there: %s", h.node)
		case p.node == "":
			return nil // who asks for a visit wants to know of twins
		}
		b.awaitTwin(h)
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.twin(h)
	})
	if err == nil {
		defer conn.Close()
		err = p.opened(conn, them, serial)
	}
	if errors.Is(err, errClosed) {
		return err
	}
	if err != nil {
		p.mu.Lock()
		p.failed = true
		p.mu.Unlock()
		// What waits would be old news by the time that there is a link.
		b.stats.dropped.Add(p.queues.reset())
		return err
	}
	defer p.broken()
	b.o.Log.Debug("Link to cluster node %s at %s is open", them.node, p.addr)
	stop := context.AfterFunc(p.ctx, func() { conn.Close() })
	defer stop()
	ended := make(chan struct{})
	b.running.Go(func() {
		defer crash.Guard("answers of another node")()
		defer close(ended)
		_ = b.read(Peer{them.node, p.addr, localHost(conn), min(them.protocol, Protocol)}, conn,
			nil, &p.heard)
	})
	idle := time.Duration(0)
	if p.node == "" {
		idle = visitIdle
	}
	return b.write(conn, &p.queues, &p.bytes, ended, idle)
}

// opened notes that the link is open, unless the peer was restarted since it had that serial, or
// another process of the node has opened a link meanwhile. enter asks the same of that one, so only
// one of both gets in.
func (p *peer) opened(conn net.Conn, them *hello, serial int) error {
	b := p.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.node != "" {
		if err := b.twin(them); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serial != serial {
		return errClosed // we are somebody else by now
	}
	p.conn, p.process, p.created, p.failed = conn, them.process, time.Now(), false
	p.bytes.Store(0)
	p.heard.Store(0)
	b.stats.dropped.Add(p.queues.rewind())
	return nil
}

func (p *peer) broken() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = nil
}

// open connects to an address and goes through the challenge.
func (b *Bus) open(ctx context.Context, addr string, us *hello, accept func(*hello) error) (
	net.Conn, *hello, error) {
	if host, _, err := net.SplitHostPort(addr); err != nil {
		return nil, nil, err
	} else if b.alone() && !loopback(host) {
		return nil, nil, errNoSecret
	}
	// A lost SYN is repeated after a second: it is better to begin anew.
	dialing, cancel := context.WithTimeout(ctx, min(max(b.nodeTimeout()/2, time.Second/2),
		2*time.Second))
	defer cancel()
	conn, err := b.o.Dial(dialing, addr)
	if err != nil {
		return nil, nil, err
	}
	tune(conn, b.nodeTimeout())
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(b.patience()))
	them, err := call(conn, *b.secret.Load(), us, accept)
	if err == nil && !stop() {
		err = errClosed
	}
	if err != nil {
		stop()
		conn.Close()
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, them, nil
}
