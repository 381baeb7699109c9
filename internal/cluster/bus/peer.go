package bus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	serial  int // counts restarts
	bytes   atomic.Uint64
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

// link describes the link, if there is one.
func (p *peer) link() (l Link, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return l, false
	}
	n := p.queues.queued()
	return Link{Outgoing: true, Addr: p.addr, Created: p.created, Queued: n,
		Allocated: n + writeBuffer, Bytes: p.bytes.Load()}, true
}

// writeBuffer is how many bytes go into one system call.
const writeBuffer = 16 << 10

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

// complain logs why there is no link, if that does not happen every day.
func (p *peer) complain(err error) {
	log := p.bus.o.Log
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		log.Debug("Connecting to cluster node %s: %s", p.node, err)
		return
	}
	if reason, text := explain(err); reason == "" {
		log.Debug("Link to cluster node %s at %s: %s", p.node, p.addr, err)
	} else {
		p.bus.quiet.warn("out "+reason+p.node, "No link to cluster node %s at %s: %s", p.node,
			p.addr, text)
	}
}

// session opens the link and uses it until it breaks.
func (p *peer) session() error {
	p.mu.Lock()
	serial := p.serial
	p.mu.Unlock()
	self := p.bus.Self()
	conn, _, err := p.bus.open(p.ctx, p.addr, &hello{Identity: self}, func(h *hello) error {
		if h.Node != p.node {
			return fmt.Errorf("another node answers there: %s", h.Node)
		}
		return nil
	})
	if err != nil {
		// What waits would be old news by the time that there is a link.
		p.bus.stats.dropped.Add(p.queues.reset())
		return err
	}
	defer conn.Close()
	p.mu.Lock()
	if p.serial != serial {
		p.mu.Unlock()
		return errClosed // we are somebody else by now
	}
	p.conn, p.created = conn, time.Now()
	p.bytes.Store(0)
	p.queues.rewind()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.conn = nil
		p.mu.Unlock()
	}()
	p.bus.o.Log.Debug("Link to cluster node %s at %s is open", p.node, p.addr)
	ended := make(chan error, 1)
	p.bus.running.Go(func() {
		defer crash.Guard("watching a link to another node")()
		ended <- untilClosed(conn)
	})
	return p.write(conn, ended)
}

// untilClosed waits for the end of a connection on which nothing is to come.
func untilClosed(conn net.Conn) error {
	var b [1]byte
	if n, err := conn.Read(b[:]); n == 0 {
		return err
	}
	return errKind
}

// write sends what is queued until the link breaks.
func (p *peer) write(conn net.Conn, ended <-chan error) error {
	stop := context.AfterFunc(p.ctx, func() { conn.Close() })
	defer stop()
	w := bufio.NewWriterSize(conn, writeBuffer)
	var buf [headerLen]byte
	stats := &p.bus.stats
	for {
		h, part, ok := p.queues.next()
		if !ok {
			if err := w.Flush(); err != nil {
				return err
			}
			select {
			case <-p.queues.wake:
				continue
			case err := <-ended:
				return err
			}
		}
		if _, err := w.Write(h.appendTo(buf[:0])); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
		n := uint64(headerLen + len(part))
		p.bytes.Add(n)
		stats.bytesOut.Add(n)
		if !h.more {
			stats.sent[h.kind].Add(1)
		}
	}
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

// Call asks whoever answers at an address (host:port), and returns who it is and what it says.
func (b *Bus) Call(ctx context.Context, addr string, kind Kind, payload []byte) (who Peer,
	reply []byte, err error) {
	conn, them, err := b.open(ctx, addr, &hello{Identity: b.Self(), call: true},
		func(*hello) error { return nil })
	if err != nil {
		_, text := explain(err)
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			text = dial.Err.Error()
		}
		return who, nil, errors.New(text)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	who = Peer{them.Identity, addr, min(them.protocol, Protocol)}
	if err := sendMessage(conn, kind, payload); err != nil {
		return who, nil, err
	}
	a := &assembler{r: bufio.NewReader(conn), limit: b.limitOf}
	_, reply, err = a.next()
	if errors.Is(err, io.EOF) {
		err = errors.New("the other node closed the connection")
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return who, reply, err
}

// sendMessage writes a whole message.
func sendMessage(w io.Writer, kind Kind, payload []byte) error {
	q := queues{wake: make(chan struct{}, 1)}
	q.push(message{kind, payload}, 0)
	out := bufio.NewWriterSize(w, writeBuffer)
	var buf [headerLen]byte
	for {
		h, part, ok := q.next()
		if !ok {
			return out.Flush()
		}
		_, _ = out.Write(h.appendTo(buf[:0])) // Flush reports errors
		_, _ = out.Write(part)
	}
}
