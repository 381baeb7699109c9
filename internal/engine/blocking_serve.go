package engine

import (
	"cmp"
	"math"
	"slices"
)

// serve runs the commands of those who waited for what is ready now, and for what these commands
// make ready, until nothing is.
func (e *Engine) serve() {
	b := &e.blocking
	if b.serving || e.ended || e.script.run != nil {
		return
	}
	b.serving = true
	for i := 0; i < len(b.ready); i++ {
		q := b.ready[i]
		b.ready[i] = nil
		happened := q.happened
		q.ready, q.happened = false, 0
		if !e.serveQueue(q, happened) {
			q.ready = true // it stays in the map, and no second note is made
			q.happened |= happened
			b.paused = append(b.paused, q)
		} else if len(q.lines) == 0 {
			b.drop(q)
		}
		clear(b.walk)
	}
	b.ready = b.ready[:0]
	b.serving = false
}

// serveQueue runs the commands of a key's waiters again, the oldest first, if they wait for what
// has happened. It reports false if a pause forbids that.
func (e *Engine) serveQueue(q *waitQueue, happened WaitEvents) bool {
	b, db := &e.blocking, e.KS.DB(q.db)
	b.walk = b.walk[:0]
	for _, l := range q.lines {
		l.next = l.head
		b.walk = append(b.walk, l)
	}
	walk := b.walk
	older := func(x, y *waitLine) int { return cmp.Compare(x.next.w.seq, y.next.w.seq) }
	if len(walk) > 1 {
		slices.SortFunc(walk, older)
	}
	for len(walk) > 0 {
		l := walk[0]
		if l.next == nil || !l.wants(db.Peek(q.key), happened) {
			walk = walk[1:]
			continue
		}
		w := l.next.w
		l.next = l.next.next
		if w.client.CloseASAP {
			continue
		}
		if e.pause.covers(w.cmd.Flags, w.client, e.Steady()) || e.slotCloses(q.key) {
			return false
		}
		e.rerun(w)
		if w.client.wait == w && l.rivals != nil {
			walk = walk[1:] // nothing is left for those behind it
			continue
		}
		for i := 1; l.next != nil && i < len(walk); i++ {
			if walk[i].next != nil && older(walk[i], l) > 0 {
				break
			}
			walk[i-1], walk[i] = walk[i], l
		}
	}
	return true
}

// rerun runs the command of a waiter again. The command passes the gates again, because its client
// may have lost a right meanwhile.
func (e *Engine) rerun(w *waiter) {
	c := e.resumeCtx(w)
	c.rerun = true
	cl := w.client
	began, offset, at := e.lastNs, e.Feed.Offset(), len(c.Buf)
	e.current = cl
	if msg := e.gates(c); msg != passed {
		e.reject(c, w.cmd, msg)
	} else {
		e.call(c)
	}
	if e.cluster.on {
		e.forgetHash()
	}
	if e.confirm.on || cl.held != nil {
		e.hold(c, at, offset)
	}
	if cl.leasing {
		cl.noteLeased(at)
	}
	e.endReply(cl)
	e.current = nil
	if !c.blocked {
		e.endWait(w)
		e.NoteLatency("command-unblocking", (e.lastNs-began)/1e6)
	}
}

// wakeReply is the size in bytes of the buffer for the reply of a command that has waited; longer
// ones let it grow.
const wakeReply = 128

// resumeCtx returns the context for a command that has waited. It is not the context of the running
// command, which CLIENT UNBLOCK still needs.
func (e *Engine) resumeCtx(w *waiter) *Ctx {
	cl := w.client
	if cl.W.Buf == nil {
		cl.W.Buf = make([]byte, 0, wakeReply) // no loop has lent it a buffer now
	}
	e.wakeCtx = Ctx{Writer: e.writerOf(cl), E: e, Client: cl, Cmd: w.cmd, DB: cl.db, Args: w.args,
		Now: e.now}
	return &e.wakeCtx
}

// endWait ends a wait that has been replied to. The connection writes the reply and goes on with
// its input. If another client's command ended the wait (CLIENT UNBLOCK), that client is answered
// first. Whose wait ends later in the batch goes on later.
func (e *Engine) endWait(w *waiter) {
	cl := w.client
	e.forgetWait(cl)
	e.endMulti(cl) // of an EXEC that has waited, however that ends
	e.commandDone(cl)
	e.discard.Reset()
	if e.Cfg.MaxmemoryClients != 0 {
		e.countClient(cl)
	}
	if cl.Conn == nil {
		return
	}
	if p := &e.pushing; e.current != nil || len(p.resumed) > 0 {
		p.resumed = append(p.resumed, cl)
		return
	}
	cl.Conn.Flush()
	cl.Conn.Resume()
}

// abandon ends a wait although nothing has come. reply answers the client.
func (e *Engine) abandon(w *waiter, reply func(c *Ctx)) {
	c := e.resumeCtx(w)
	offset, at := e.Feed.Offset(), len(c.Buf)
	reply(c)
	if e.confirm.on || w.client.held != nil {
		e.hold(c, at, offset)
	}
	e.account(c, w.nanos)
	e.endWait(w)
}

// timeoutsPerTurn bounds how many waits one call of EndWaits ends: about a millisecond's worth.
const timeoutsPerTurn = 500

// EndWaits answers clients whose time is up, and serves lines whose time has come, at most
// timeoutsPerTurn of both. Loops call it every turn after the commands, so what came in time
// counts.
func (e *Engine) EndWaits() {
	if e.script.run != nil || e.ended {
		return // a busy script: nothing happens beside it
	}
	b := &e.blocking
	if len(b.syncs) > 0 {
		e.serveSynced()
	}
	if e.repl.replicas.acked {
		e.serveAcked()
		e.releaseConfirmed()
	}
	e.expireUnconfirmed()
	for n := 0; len(b.deadlines) > 0 && n < timeoutsPerTurn; n++ {
		d := b.deadlines[0]
		if d.at >= e.Steady() {
			break
		}
		if d.w != nil {
			e.abandon(d.w, d.w.onTimeout)
			continue
		}
		b.deadlines.remove(d)
		b.note(d.l.q, WaitDue)
	}
	if len(b.ready) > 0 && !e.loading.on {
		e.serve()
	}
}

// UntilTimeout returns how many ms are left until EndWaits has something to do, MaxInt64 if no wait
// has a deadline.
func (e *Engine) UntilTimeout() int64 {
	d, wait := e.blocking.deadlines, int64(math.MaxInt64)
	if f := &e.confirm; f.waiting() {
		wait = max(f.queue[f.head].until-e.Steady(), 0)
	}
	if e.awaitsLease() {
		wait = min(wait, leasePollMs)
	}
	if len(d) == 0 {
		return wait
	}
	// A wait is never cut short: it ends in the ms after its deadline.
	return min(wait, max(d[0].at-e.Steady()+1, 0))
}

// Unblock ends the wait of a client as if its time was up, or with an error. It reports false if no
// client of that ID waits for a key.
func (e *Engine) Unblock(id uint64, withError bool) bool {
	cl := e.clients.byID[id]
	if cl == nil || cl.wait == nil {
		return false
	}
	reply := cl.wait.onTimeout
	if withError {
		reply = func(c *Ctx) { c.Err(ErrUnblocked) }
	}
	e.abandon(cl.wait, reply)
	return true
}

// serveSynced ends the waits for the log that are over; it is called once a turn.
func (e *Engine) serveSynced() {
	b := &e.blocking
	synced, on := e.persist.aof.Synced(), e.LogOn()
	keep := b.syncs[:0]
	for _, w := range b.syncs {
		switch {
		case w.client.wait != w:
		case w.client.logged <= synced || !on:
			e.rerun(w) // if it goes on waiting, that is for replicas
		default:
			keep = append(keep, w)
		}
	}
	clear(b.syncs[len(keep):])
	b.syncs = keep
}

// serveAcked runs the commands again that wait for replicas, one of which has acknowledged
// something.
func (e *Engine) serveAcked() {
	b := &e.blocking
	e.repl.replicas.acked = false
	keep := b.acks[:0]
	for _, w := range b.acks {
		if w.client.wait == w {
			e.rerun(w)
		}
		if w.client.wait == w {
			keep = append(keep, w)
		}
	}
	clear(b.acks[len(keep):])
	b.acks = keep
}
