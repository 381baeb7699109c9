package server

import (
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"godwit/internal/evloop"
	"godwit/internal/logging"
	"godwit/internal/rounds"
)

// fdConn is a connection in an epoll loop. It has no buffers while it is idle. Requests are read
// into the loop's shared buffer and run there; replies are collected in the loop's other buffer and
// written from there. Only what is left over gets memory of the connection's own: half a command,
// or a reply that the socket does not take.
//
// All fields belong to the loop's goroutine, except posted (the executor's).
type fdConn struct {
	session
	loop  *loop
	fd    int
	index int // in loop.conns

	// data is this turn's input in the shared buffer. It begins with a copy of in. It is nil when
	// in holds everything.
	data  []byte
	fresh int    // bytes read in this turn
	reply []byte // replies of this turn
	own   bool   // reply is not in the shared buffer
	q     outQueue
	size  atomic.Int64 // q.size, for those who hold the executor on another loop
	inCap atomic.Int64 // cap(in) as of the end of the last turn, for the same
	inLen atomic.Int64 // len(in), likewise
	sent  int64        // bytes written since the last turn

	round   rounds.Member
	turn    uint64 // the last turn that it took part in
	leased  uint64 // the last batch in which replies of it needed a lease, see checkLease
	queued  bool   // in loop.batch
	dirty   bool   // in loop.writes
	waiting bool   // in loop.again
	posted  bool   // in loop.posted
	gone    bool   // the socket has ended
	ending  bool   // closes when its replies are written
	closed  bool
	blocked bool // the socket takes no more, and is watched for becoming writable
	feed    feed // of a replica
	unread  bool // the socket may hold more than was read: see watch
}

// Ready implements evloop.Handler.
func (c *fdConn) Ready(events uint32) {
	if events&evloop.Writable != 0 && c.blocked && !c.drain() {
		c.gone = true
	}
	switch {
	case c.gone:
		c.enqueue()
	case c.ending:
		if c.gone = events&(evloop.Hangup|evloop.Error) != 0; c.gone {
			c.enqueue()
		}
	case c.kept != nil, c.running, // a busy script of its own: see session
		c.fresh > 0, // the turn that will run what was read is still gathering
		c.waiting:   // its input waits for another turn: reading more is no use
		c.unread = true
	case events&(evloop.Readable|evloop.Hangup|evloop.Error|evloop.PeerClosed) != 0:
		// The end is read after what came before it.
		c.unread = events&^(evloop.Readable|evloop.Writable) != 0
		c.read()
	}
}

// watch says which events the connection wants. Usually these are edge-triggered, which spares the
// kernel a look at the socket after each turn. So whoever leaves something in the socket sets
// unread: after the next handle, watch makes epoll look again. While replies wait to be written,
// all events are level-triggered.
func (c *fdConn) watch() error {
	c.unread = false
	return c.loop.ev.Mod(c.fd, c.events())
}

func (c *fdConn) events() (events uint32) {
	switch {
	case c.ending && c.blocked:
		return evloop.Writable
	case c.ending:
		return 0
	case c.blocked:
		return evloop.Readable | evloop.Writable
	}
	return evloop.Readable | evloop.PeerClosed | evloop.EdgeTriggered
}

// enqueue adds the connection to the batch.
func (c *fdConn) enqueue() {
	if !c.queued {
		c.queued = true
		c.loop.batch = append(c.loop.batch, c)
	}
}

// again asks for another turn.
func (c *fdConn) again() {
	if !c.waiting {
		c.waiting = true
		c.loop.again = append(c.loop.again, c)
	}
}

// read takes what the socket has, at most one buffer full. The loop is told again of what stays.
func (c *fdConn) read() {
	l := c.loop
	if len(c.in) > smallTail {
		if !c.room() {
			c.gone = true
			c.enqueue()
			return
		}
		old := len(c.in)
		room := c.in[old:min(cap(c.in), old+stepInput)]
		n, errno := evloop.Read(c.fd, room)
		c.in = c.in[:old+n]
		c.readDone(n, errno, n == len(room))
		return
	}
	if len(l.in)-l.inOff < windowInput+smallTail {
		if l.within {
			c.later()
			return
		}
		l.turn()
		if c.closed || c.ending || c.waiting || len(c.in) > smallTail {
			c.later()
			return
		}
	}
	buf := l.in[l.inOff:]
	old := copy(buf, c.in)
	n, errno := evloop.Read(c.fd, buf[old:old+windowInput])
	if n > 0 {
		c.data = buf[: old+n : old+n]
		l.inOff += (old + n + 63) &^ 63
	}
	c.readDone(n, errno, n == windowInput)
}

// readDone takes note of a read of n bytes. It took all that the socket had unless it was full.
func (c *fdConn) readDone(n int, errno syscall.Errno, full bool) {
	c.unread = c.unread || full
	if n == 0 && (errno == syscall.EAGAIN || errno == syscall.EINTR) {
		return
	}
	c.gone = n == 0
	c.loop.nreads++
	c.fresh = n
	c.enqueue()
}

// later makes the next Poll report the connection again.
func (c *fdConn) later() {
	if !c.closed && c.watch() != nil {
		c.gone = true
		c.enqueue()
	}
}

// handle runs the connection's input. The executor must be held.
func (c *fdConn) handle() {
	if c.closed {
		return
	}
	if c.gone || c.cl.CloseASAP {
		c.data = nil
		c.close()
		return
	}
	if c.fresh > 0 {
		c.received(c.fresh)
	}
	if c.sent > 0 {
		c.cl.NetOut += c.sent
		c.sent = 0
	}
	data, old := c.data, len(c.in)
	c.data, c.fresh = nil, 0
	if c.ending {
		return
	}
	l := c.loop
	if len(c.cl.W.Buf) == 0 {
		c.cl.W.Buf = l.out[l.outOff:l.outOff]
	}
	switch held := c.held(); {
	case data != nil && held:
		c.keep(data, old, 0)
	case data != nil:
		if n := c.run(data); n < len(data) {
			c.keep(data, old, n)
		} else {
			c.in = c.in[:0]
		}
	case !held:
		c.refill()
		c.drop(c.run(c.in))
	}
	if (c.more || c.kept != nil) && !c.held() {
		c.again()
	}
	if len(c.in) > 0 || c.cl.InMulti() {
		c.checkInput()
	}
	c.collect(true)
	c.publish()
	if c.unread {
		c.later()
	}
}

// collect takes the client's replies for writing after the batch. ran says that its commands have
// just run, so that it may hold a part of the shared buffer. The executor must be held.
func (c *fdConn) collect(ran bool) {
	cl, l := c.cl, c.loop
	c.stir()
	b := cl.W.Buf
	cl.W.Buf, cl.W.Staged = nil, 0
	if len(b) > 0 {
		cl.MaxBuf = max(cl.MaxBuf, c.staged.size+len(b))
		shared := ran && l.lent(b)
		if shared {
			l.outOff += (len(b) + 63) &^ 63
		}
		if len(c.reply) > 0 {
			c.push(c.reply, c.own)
		}
		if !c.staged.empty() || c.staged.refused {
			c.q.join(&c.staged)
		}
		c.reply, c.own = b, !shared
		c.checkOutput(c.q.size + len(b))
		if cl.Leased {
			c.needLease()
		}
	}
	if cl.CloseASAP || c.q.refused {
		c.close()
		return
	}
	if cl.CloseAfterReply && !cl.HeldReplies() {
		c.ending = true
	}
	if fed := c.fed(); (fed || len(c.reply) > 0 || c.ending) && !c.dirty {
		c.dirty = true
		l.writes = append(l.writes, c)
	}
}

// write sends the replies of the turn as far as the socket takes them. It reports false if the
// connection must be closed. The executor must not be held.
func (c *fdConn) write() bool {
	b, own := c.reply, c.own
	c.reply = nil
	switch {
	case len(b) == 0:
	case c.q.empty():
		n, errno := evloop.Write(c.fd, b)
		if !c.wrote(n, errno) {
			return false
		}
		c.q.push(b[n:])
		c.spend(b, own)
	default:
		c.push(b, own)
		if !c.blocked { // what waits before it was collected in this turn too
			return c.drain()
		}
	}
	return c.written()
}

// push queues replies that the socket does not take.
func (c *fdConn) push(b []byte, own bool) {
	c.q.push(b)
	c.spend(b, own)
}

// spend returns a buffer for reuse once its bytes are written or copied, unless it is the loop's.
func (c *fdConn) spend(b []byte, own bool) {
	if own {
		c.loop.spent = append(c.loop.spent, b)
	}
}

// drain sends what has waited for the socket to become writable.
func (c *fdConn) drain() bool {
	if !c.q.empty() {
		n, errno := evloop.Writev(c.fd, c.q.vec(c.loop.vec[:0]))
		if !c.wrote(n, errno) {
			return false
		}
		c.q.pop(n)
	}
	return c.written()
}

func (c *fdConn) wrote(n int, errno syscall.Errno) bool {
	l := c.loop
	l.written += int64(n)
	l.nwrites++
	c.sent += int64(n)
	return errno == 0 || errno == syscall.EAGAIN
}

// written watches the socket for what is still to be sent, and reports whether the connection goes
// on.
func (c *fdConn) written() bool {
	if c.ending && c.q.empty() || c.q.refused {
		return false
	}
	more := !c.q.empty()
	if !more && c.feed.active {
		var ok bool
		if more, ok = c.writeFeed(); !ok {
			return false
		}
	}
	if c.size.Load() != int64(c.q.size) {
		c.size.Store(int64(c.q.size))
	}
	if c.blocked == more && !c.ending {
		return true
	}
	c.blocked = more
	return c.watch() == nil
}

// publish makes the size of the input visible to other loops.
func (c *fdConn) publish() {
	if c.inLen.Load() != int64(len(c.in)) {
		c.inLen.Store(int64(len(c.in)))
	}
	if c.inCap.Load() != int64(cap(c.in)) {
		c.inCap.Store(int64(cap(c.in)))
	}
}

// close ends the connection. The executor must be held.
func (c *fdConn) close() {
	if c.closed {
		return
	}
	c.free()
	c.closed = true
	l := c.loop
	if c.gone && c.srv.log.Enabled(logging.Verbose) {
		c.srv.log.Verbose("Client closed connection %s", c.srv.eng.Describe(c.cl, c.q.size))
	}
	c.srv.eng.Forget(c.cl)
	c.dropFeed()
	_ = l.ev.Del(c.fd) // it fails only for a descriptor that could not be added
	unix.Close(c.fd)
	last := len(l.conns) - 1
	l.conns[c.index] = l.conns[last]
	l.conns[c.index].index = c.index
	l.conns[last] = nil
	l.conns = l.conns[:last]
	l.stirred.Remove(c)
	c.letGo()
	c.dropKept()
	c.q.drop()
	c.staged.drop()
	c.data, c.reply, c.cl.W.Buf = nil, nil, nil
}

// post asks the connection's loop to look at it, now or when it wakes up.
func (c *fdConn) post() {
	if c.posted || c.closed {
		return
	}
	c.posted = true
	c.loop.posted = append(c.loop.posted, c)
	if c.srv.holder != c.loop {
		c.loop.ev.Wake()
	}
}
