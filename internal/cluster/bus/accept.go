package bus

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"godwit/internal/crash"
)

// stranger is an accepted connection that has not proven anything.
type stranger struct {
	conn net.Conn
	addr string
}

// caller is who has opened a link, and what for. Of each there is one link at most.
type caller struct {
	node  string
	visit bool
}

// inbox is an incoming link.
type inbox struct {
	caller
	process uint64 // that has opened it
	conn    net.Conn
	peer    Peer
	created time.Time
	bytes   atomic.Uint64
	heard   atomic.Int64  // unix ns of the last message, 0: none has come
	queues  queues        // of what is for the node
	bulk    bool          // bulk messages have been queued
	before  *inbox        // the node's link before this one, nil if there was none
	ended   chan struct{} // closed when nothing more is received from it
}

var errNoSecret = errors.New(
	"only loopback addresses are talked to: there is no cluster-secret, and tls-cluster with " +
		"tls-auth-clients does not check certificates. Set the same cluster-secret on all nodes")

// Serve accepts links until the listener is closed or the bus is.
func (b *Bus) Serve(ln net.Listener) error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return ln.Close()
	}
	b.listeners[ln] = true
	b.running.Add(1)
	b.mu.Unlock()
	defer b.running.Done()
	defer func() {
		b.mu.Lock()
		delete(b.listeners, ln)
		b.mu.Unlock()
	}()
	for {
		conn, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) || b.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			// Out of descriptors, or the caller was gone before it was accepted.
			b.quiet.warn("accept", "Accepting a connection on the cluster bus: %s", err)
			select {
			case <-b.ctx.Done():
				return nil
			case <-time.After(acceptPause):
			}
			continue
		}
		b.admit(conn)
	}
}

// acceptPause is how long no connection is accepted after accepting one has failed.
const acceptPause = 20 * time.Millisecond

// admit takes a connection in. If there are too many strangers the oldest goes: honest ones are
// done within a few round trips.
func (b *Bus) admit(conn net.Conn) {
	s := &stranger{conn: conn, addr: conn.RemoteAddr().String()}
	if host, _, err := net.SplitHostPort(s.addr); b.alone() && (err != nil || !loopback(host)) {
		conn.Close()
		b.refused(s, errNoSecret)
		return
	}
	tune(conn, b.nodeTimeout())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		conn.Close()
		return
	}
	if len(b.strangers) >= maxStrangers {
		old := b.strangers[0]
		b.strangers = slices.Delete(b.strangers, 0, 1)
		old.conn.Close()
		b.stats.refused.Add(1)
		b.quiet.warn("crowd", "Connection from %s closed: %d connections to the cluster bus "+
			"have not proven that they know cluster-secret", old.addr, maxStrangers)
	}
	b.strangers = append(b.strangers, s)
	b.running.Go(func() {
		defer crash.Guard("link from another node")()
		b.serve(s)
	})
}

// refused logs why a connection is closed.
func (b *Bus) refused(s *stranger, err error) {
	if b.ctx.Err() != nil {
		return
	}
	b.stats.refused.Add(1)
	reason, text := explain(err)
	if reason == "" || reason == "former" {
		b.o.Log.Debug("Connection from %s to the cluster bus: %s", s.addr, text)
		return
	}
	host, _, _ := net.SplitHostPort(s.addr)
	b.quiet.warn("in "+reason+host, "Connection from %s to the cluster bus refused: %s", s.addr,
		text)
}

// serve is the life of an accepted connection.
func (b *Bus) serve(s *stranger) {
	defer s.conn.Close()
	conn := s.conn
	if b.o.Wrap != nil {
		conn = b.o.Wrap(conn)
	}
	_ = conn.SetDeadline(time.Now().Add(b.patience()))
	us := b.hello()
	var in *inbox
	_, err := answer(conn, *b.secret.Load(), us, func(h *hello) error {
		in = &inbox{conn: conn, created: time.Now(), ended: make(chan struct{}),
			peer: Peer{h.node, s.addr, localHost(conn), min(h.protocol, Protocol)}}
		in.caller, in.process = caller{h.node, h.visit}, h.process
		b.awaitTwin(h)
		return b.enter(s, in, h, us.node)
	})
	if in != nil {
		defer b.leave(in)
		defer close(in.ended)
	}
	if err != nil {
		b.drop(s)
		b.refused(s, err)
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if in.before != nil {
		<-in.before.ended // or what it still delivers would come after what is newer
		in.before = nil
	}
	_ = b.read(in.peer, conn, &in.bytes, &in.heard)
}

// enter makes a stranger an incoming link, the only one of its caller: that would not open another
// one if the old one still worked.
func (b *Bus) enter(s *stranger, in *inbox, h *hello, self string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(s)
	twin := b.twin(h)
	switch {
	case b.closed:
		return errClosed
	case b.self != self:
		return errors.New("this node has just become another one")
	case in.node == self:
		return fmt.Errorf("both nodes have the id %s", in.node)
	case twin != nil:
		return twin
	case b.incoming[in.caller] == nil && len(b.incoming) >= maxIncoming:
		return errors.New("too many links")
	}
	if old := b.incoming[in.caller]; old != nil {
		old.conn.Close()
		in.before = old
	}
	b.incoming[in.caller] = in
	return nil
}

// remove takes a stranger from the list.
func (b *Bus) remove(s *stranger) {
	if i := slices.Index(b.strangers, s); i >= 0 {
		b.strangers = slices.Delete(b.strangers, i, i+1)
	}
}

// drop does what remove does, for callers without the lock.
func (b *Bus) drop(s *stranger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(s)
}

// leave forgets an incoming link.
func (b *Bus) leave(in *inbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.incoming[in.caller] == in {
		delete(b.incoming, in.caller)
	}
}

// reply queues a message for the node at the other end of an incoming link. The first one starts
// the goroutine that sends them. The bus is locked.
func (b *Bus) reply(in *inbox, m message) bool {
	if in.queues.wake == nil {
		in.queues.wake = make(chan struct{}, 1)
		b.running.Go(func() {
			defer crash.Guard("answers to another node")()
			defer in.conn.Close()
			_ = b.write(in.conn, &in.queues, nil, in.ended, 0) // the reader sees that it ends
		})
	}
	if !in.queues.push(m, b.queue.Load()) {
		b.stats.dropped.Add(1)
		b.stats.full.Add(1)
		return false
	}
	return true
}

// loopback reports whether the host is an address of this machine's loopback interface.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
