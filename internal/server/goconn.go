package server

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"godwit/internal/crash"
	"godwit/internal/logging"
	"godwit/internal/rounds"
)

const (
	// handshakeTime bounds a TLS handshake.
	handshakeTime = 60 * time.Second
	// readStart and windowInput bound the buffer of a reading goroutine. Full reads make it grow.
	readStart = 4 << 10
	// keepSpare is the largest reply buffer that is reused.
	keepSpare = 64 << 10
)

// goConn is a connection with two goroutines: one reads and runs, one writes. There are two because
// a client that does not read its replies must still be read (it may send its whole pipeline
// first), and because the engine may have replies for a client whose reader waits.
type goConn struct {
	session
	raw net.Conn // the socket
	nc  net.Conn // for reading and writing: raw, or TLS over it

	first []byte        // input that was read before
	wake  chan struct{} // one slot: something to write, or the end
	cared int64         // steady ms of the last care
	round rounds.Member

	next          goFeed // what the engine wants; belongs to the executor
	began, before int64  // clock and commands when input took the executor

	mu     sync.Mutex // guards the following, between the executor's holder and the writer
	q      outQueue
	spare  []byte
	feed   goFeed
	ending bool // close when q is empty
	dead   bool // the socket is closed
	sent   int64
	writes int64
}

// startGo serves a connection with goroutines.
func (s *Server) startGo(nc net.Conn, p peer) {
	c := &goConn{raw: nc, nc: nc, first: p.rest, wake: make(chan struct{}, 1)}
	c.srv, c.kept = s, p.kept
	c.q.pool = s.eng.Buffers
	if t, ok := nc.(*tls.Conn); ok { // to the master
		c.raw = t.NetConn()
	} else if cfg := s.tls.Load(); p.tls && cfg != nil {
		c.nc = tls.Server(nc, cfg)
	}
	s.eng.Enter()
	defer s.eng.Release()
	if s.stopping.Load() {
		_ = nc.Close()
		p.dropKept()
		return
	}
	cl, refusal := s.admit(c, p)
	if cl == nil {
		p.dropKept()
		go refuse(c.raw, p, refusal)
		return
	}
	c.cl = cl
	s.gos[c] = struct{}{}
	s.stirred.Stir(c)
	s.goConns.Go(c.serve)
}

// refuse tells a plain connection why it is closed. A TLS connection is only closed: telling it
// would take a handshake.
func refuse(nc net.Conn, p peer, why string) {
	defer crash.Guard("refusing a connection")()
	if !p.tls {
		_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(nc, why)
	}
	_ = nc.Close()
}

// serve is the reading goroutine. It ends after the writing one.
func (c *goConn) serve() {
	defer crash.Guard("reading from a connection")()
	if c.handshake() {
		written := make(chan struct{})
		go func() {
			defer crash.Guard("writing to a connection")()
			c.writer()
			close(written)
		}()
		c.reader()
		c.finish()
		<-written
	}
	_ = c.raw.Close()
	e := c.srv.eng
	c.enter()
	defer e.Release()
	c.settle()
	e.Forget(c.cl)
	delete(c.srv.gos, c)
	c.srv.stirred.Remove(c)
	c.letGo()
	c.mu.Lock()
	c.q.drop() // the writer has ended
	c.mu.Unlock()
	c.dropFeed()
	c.dropKept()
	c.staged.drop()
	c.cl.W.Buf = nil
}

func (c *goConn) handshake() bool {
	t, ok := c.nc.(*tls.Conn)
	if !ok || c.cl.Origin.Feeds() {
		return c.begin()
	}
	_ = c.raw.SetDeadline(time.Now().Add(handshakeTime))
	if err := t.Handshake(); err != nil {
		c.srv.log.Verbose("Error accepting a client connection: %s (addr=%s)", err,
			c.raw.RemoteAddr())
		return false
	}
	c.certified(t.ConnectionState())
	return c.raw.SetDeadline(time.Time{}) == nil
}

func (c *goConn) reader() {
	buf := make([]byte, readStart)
	for {
		n, err := c.nc.Read(buf)
		if n > 0 && !c.input(buf[:n]) {
			return
		}
		if err != nil {
			if c.srv.log.Enabled(logging.Verbose) && err == io.EOF {
				c.srv.log.Verbose("Client closed connection %s", c.raw.RemoteAddr())
			}
			return
		}
		if n == len(buf) && n < windowInput {
			buf = make([]byte, 4*n)
		}
	}
}

// enter takes the executor once the connection's input is free. The reader and those that resume
// the client may each be in the middle of a busy script of it.
func (c *goConn) enter() {
	e := c.srv.eng
	for e.Enter(); c.running; {
		e.AwaitScript()
	}
	c.began, c.before = e.MonotonicNanos(), e.Stats.Commands
}

// leave counts the turn as a cycle, up to the last reading of the clock, and gives the executor
// back.
func (c *goConn) leave() {
	e := c.srv.eng
	e.CycleDone(e.MonotonicNanos()-c.began, e.Stats.Commands-c.before)
	e.Leave()
}

// input runs fresh input. It reports false when the connection has ended.
func (c *goConn) input(fresh []byte) bool {
	c.enter()
	c.received(len(fresh))
	c.stir()
	if c.ended() {
		c.leave()
		return false
	}
	switch {
	case c.held() || len(c.in) > 0:
		if !c.room() || !c.reserve(len(c.in)+len(fresh)) {
			c.cl.CloseASAP = true
			break
		}
		c.in = append(c.in, fresh...)
		c.peak = max(c.peak, len(c.in))
		c.runIn()
	default:
		c.prime()
		n := c.run(fresh)
		c.keep(fresh, 0, n)
		c.collect()
	}
	for c.more && !c.held() && !c.ended() {
		c.leave() // give others their turn
		c.enter()
		c.runIn()
	}
	c.checkInput()
	ok := !c.ended()
	c.leave()
	return ok
}

// runIn runs kept input. The executor must be held.
func (c *goConn) runIn() {
	if c.held() {
		c.more = false
		return
	}
	c.prime()
	c.drop(c.run(c.in))
	c.collect()
}

// resumed runs the input that was held back. It is a goroutine of its own, because the reader may
// be waiting for more.
func (c *goConn) resumed() {
	defer crash.Guard("resuming a connection")()
	e := c.srv.eng
	c.enter()
	defer e.Release()
	for c.more = len(c.in) > 0; c.more && !c.held() && !c.ended(); {
		c.runIn()
		e.Leave()
		c.enter()
	}
}

// prime gives the client a used buffer for its replies.
func (c *goConn) prime() {
	c.mu.Lock()
	if len(c.cl.W.Buf) == 0 && c.spare != nil {
		c.cl.W.Buf = c.spare[:0]
		c.spare = nil
	}
	c.mu.Unlock()
}

// collect hands the client's replies to the writer, which may send them at once. So it first
// commits what they acknowledge. The executor must be held.
func (c *goConn) collect() {
	c.settle()
	c.stir()
	cl, may := c.cl, true
	if len(cl.W.Buf) > 0 {
		c.srv.eng.Commit()
		may = c.srv.checkLease(cl)
	}
	b := cl.W.Buf
	cl.W.Buf, cl.W.Staged = nil, 0
	cl.MaxBuf = max(cl.MaxBuf, c.staged.size+len(b))
	c.mu.Lock()
	if c.dead || !may {
		c.staged.drop()
	} else if !c.staged.empty() || c.staged.refused {
		c.q.join(&c.staged)
	}
	switch {
	case len(b) == 0 && cap(b) <= keepSpare:
		c.spare = b
	case !c.dead:
		if !c.q.give(b) && cap(b) <= keepSpare {
			c.spare = b[:0]
		}
	}
	ending := cl.CloseAfterReply && !cl.HeldReplies()
	c.ending = c.ending || ending
	fed := c.fed()
	size, refused := c.q.size, c.q.refused
	c.mu.Unlock()
	c.checkOutput(size)
	if cl.CloseASAP || refused {
		c.kill()
		return
	}
	if len(b) > 0 || fed || ending {
		c.notify()
	}
}

// settle moves what the writer has counted into the statistics. The executor must be held.
func (c *goConn) settle() {
	c.mu.Lock()
	sent, writes := c.sent, c.writes
	c.sent, c.writes = 0, 0
	c.mu.Unlock()
	c.cl.NetOut += sent
	c.srv.eng.Stats.NetOut += sent
	c.srv.eng.Stats.Writes += writes
}

// notify wakes the writer.
func (c *goConn) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// writer is the writing goroutine.
func (c *goConn) writer() {
	var vec [maxVec][]byte
	for {
		c.mu.Lock()
		bufs := c.q.vec(vec[:0])
		pooled := len(bufs) > 0 && c.q.chunks[c.q.head].buf.Held()
		dead, ending, f := c.dead, c.ending, c.feed
		if len(bufs) == 0 && !dead && !ending {
			c.feed.transfer = nil // it begins now; what never begins is left to dropFeed
		}
		c.mu.Unlock()
		switch {
		case dead:
			return
		case len(bufs) == 0 && ending:
			_ = c.nc.Close() // TLS sends its goodbye here
			return
		case len(bufs) == 0:
			any, err := c.writeFeed(f, vec[:0])
			switch {
			case err != nil:
				c.kill()
				return
			case !any:
				<-c.wake
			}
			continue
		}
		n, err := c.send(bufs)
		if err != nil {
			c.kill()
			return
		}
		c.mu.Lock()
		c.sent += int64(n)
		c.writes++
		if !c.dead {
			c.q.pop(n)
			if c.q.empty() && !pooled && cap(bufs[0]) <= keepSpare {
				c.spare = bufs[0][:0]
			}
		}
		c.mu.Unlock()
	}
}

// send writes all of the buffers.
func (c *goConn) send(bufs [][]byte) (n int, err error) {
	for _, b := range bufs {
		k, err := c.nc.Write(b)
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Round implements what rounds.Set needs.
func (c *goConn) Round() *rounds.Member { return &c.round }

// stir notes that the connection and its client are to be looked after, until the connection is
// gone. The executor must be held.
func (c *goConn) stir() {
	if _, ok := c.srv.gos[c]; ok && !c.round.Stirred() {
		c.srv.stirred.Stir(c)
	}
	c.srv.eng.Stir(c.cl)
}

// care looks after the connection hz times a second while it is not at rest. It reports whether it
// has no buffers. The executor must be held.
func (c *goConn) care() (resting bool) {
	e := c.srv.eng
	if e.Steady()-c.cared >= 1000 {
		c.cared = e.Steady()
		c.shrink()
	}
	_, in, out := c.Buffers()
	c.checkOutput(out)
	if c.idle() {
		c.srv.log.Verbose("Closing idle client")
		c.cl.CloseASAP = true
	}
	if c.cl.CloseASAP {
		c.kill()
		return true
	}
	if in == 0 && out == 0 {
		return true
	}
	e.Stir(c.cl)
	return false
}
