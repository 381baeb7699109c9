package engine

import (
	"cmp"
	"math"

	"godwit/internal/object"
	"godwit/internal/spec"
)

// blocking is everything about clients that wait for keys.
//
// A handler that finds nothing to do its work with calls Ctx.Block. That parks the client: its
// command is copied into a waiter, which queues up at each of its keys, and the connection offers
// no further input. When a key appears (Ready), or when it changes or goes (KeyChanged) and one of
// its waiters wants to know, its queue is noted with what has happened.
//
// After the command, transaction, script or slice that did it, the notes are worked off in order.
// Each queue is served from its oldest waiter on, as far as these wait for what has happened: the
// handler runs again with the copied arguments, and either replies, which ends the wait, or blocks
// again, which changes nothing.
//
//	dbs[0]["jobs"] → waitQueue   head → waitNode ⇄ waitNode ⇄ waitNode ← tail   oldest first
//	                                      │           │
//	dbs[0]["mail"] → waitQueue   head → waitNode      │                          BLPOP jobs mail
//	                                      │           │
//	                   Client.wait →   waiter       waiter  → deadlines: a heap
//
// Invariants:
//   - Client.wait is nil unless the client waits. A waiter is in the queue of every one of its
//     keys, once, for as long as it waits.
//   - A queue is in the map while it has waiters or is noted as ready.
//   - Serving never recurses: a key that a served command fills (BLMOVE) is noted at the end, and
//     its waiters come in the same turn.
//
// Blocking, serving, a timeout and a disconnect cost O(keys of the command), and O(log N) of N
// deadlines for those that have one. Waiting costs nothing: there is no polling, the loops sleep
// until the first deadline. While nobody waits, a new key costs one comparison; so does a change
// while all wait for arrivals only.
//
// The order is that of Redis 7.2, where the command is processed again too: a client that waits for
// several keys is served from the first in the order of its arguments, even if a later one was
// filled earlier in the same transaction.
type blocking struct {
	n         int                     // clients
	types     [object.NumTypes]int    // clients by the type they wait for
	wide      int                     // clients that wait for more than WaitArrival
	dbs       []map[string]*waitQueue // by number of database, made when first needed
	queues    int                     // queues with waiters
	ready     []*waitQueue            // in the order in which they became ready
	paused    []*waitQueue            // ready, but CLIENT PAUSE forbids to serve them
	serving   bool
	deadlines deadlines
	seq       uint64
	bytes     int64     // of the queues
	syncs     []*waiter // for the append-only file; some may have ended
}

// waiter is a client that waits.
type waiter struct {
	client    *Client
	cmd       *spec.Command
	args      [][]byte // a copy, for later runs
	size      int64    // of args and all else that the wait takes, bytes
	t         object.Type
	events    WaitEvents
	nodes     []waitNode
	deadline  int64 // steady ms, 0: none
	index     int   // in deadlines
	nanos     int64 // that runs of the command have taken so far
	onTimeout func(*Ctx)
}

const (
	waiterBytes = 112 // a waiter without arguments and nodes
	nodeBytes   = 32
)

// MayBlock reports whether the client may be made to wait. A handler that would block where it may not replies as if the time was up.
func (c *Ctx) MayBlock() bool { return c.Client.Origin == OriginConnection && !c.noBlock }

// WaitEvents are the events of a key for which a waiting command runs again.
type WaitEvents uint8

const (
	// WaitArrival: a value of the type has come to the key, where none was or another one.
	WaitArrival WaitEvents = 1 << iota
	// WaitChange: the key has changed, its arrival included, and holds a value of the type.
	WaitChange
	// WaitLoss: the key has changed and holds no value of the type any more. It was deleted,
	// expired, evicted, flushed, renamed, swapped away, or replaced by a value of another type.
	WaitLoss
)

// Wait says what a client waits for.
type Wait struct {
	Keys   [][]byte    // of the client's database; one may be there several times
	Type   object.Type // of the value that the command needs
	Events WaitEvents  // 0 is WaitArrival
	// Args are the arguments of the later runs, nil for those of the first. A handler that has
	// resolved one ("from now on") puts what it means in its place.
	Args      [][]byte
	Deadline  int64      // by the steady clock in ms, 0 for none
	OnTimeout func(*Ctx) // replies when the deadline has passed
}

// Block makes the client wait until one of the events happens to one of the keys; then the handler
// runs again. A handler that calls Block in such a run keeps the client's place, and everything is
// as in its first call. The handler must not reply itself and must have changed nothing.
func (c *Ctx) Block(wait Wait) {
	c.blocked = true
	if c.rerun {
		return
	}
	w := &waiter{client: c.Client, cmd: c.Cmd, t: wait.Type, deadline: wait.Deadline, index: -1,
		events: cmp.Or(wait.Events, WaitArrival), onTimeout: wait.OnTimeout}
	if wait.Args == nil {
		wait.Args = c.Args
	}
	w.args, w.size = copyArgs(wait.Args)
	w.size += waiterBytes + int64(len(wait.Keys))*nodeBytes
	c.Client.wait = w
	e, b := c.E, &c.E.blocking
	b.count(w, 1)
	b.enqueue(w, c.DB.ID(), e.KS.Databases(), wait.Keys)
	if w.deadline != 0 {
		b.deadlines.add(w)
		if w.index == 0 && e.Alarm != nil {
			e.Alarm()
		}
	}
}

// copyArgs copies arguments into one block of memory.
func copyArgs(args [][]byte) (list [][]byte, size int64) {
	n := 0
	for _, a := range args {
		n += len(a)
	}
	buf := make([]byte, 0, n)
	list = make([][]byte, len(args))
	for i, a := range args {
		from := len(buf)
		buf = append(buf, a...)
		list[i] = buf[from:len(buf):len(buf)]
	}
	return list, int64(n)
}

// Waits reports whether the client is blocked in a command. The connection keeps its further input
// until Resume.
func (c *Client) Waits() bool { return c.wait != nil }

// WaitingArgs returns the arguments of the command that the client waits in, nil if it does not.
// They must not be changed.
func (c *Client) WaitingArgs() [][]byte {
	if c.wait == nil {
		return nil
	}
	return c.wait.args
}

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
		} else if q.head == nil {
			b.drop(q)
		}
	}
	b.ready = b.ready[:0]
	b.serving = false
}

// serveQueue serves the waiters of a key to which that has happened, as long as there is something
// for them. It reports false when a pause forbids that.
func (e *Engine) serveQueue(q *waitQueue, happened WaitEvents) bool {
	db := e.KS.DB(q.db)
	for n := q.head; n != nil; n = q.next {
		q.next = n.next
		key := db.Peek(q.key)
		if !key.Exists() && q.wide == 0 {
			break
		}
		w := n.w
		if !w.wants(key, happened) || w.client.CloseASAP {
			continue
		}
		if e.pause.covers(w.cmd.Flags, w.client, e.Steady()) {
			return false
		}
		e.rerun(w)
	}
	return true
}

// rerun runs the command of a waiter again, through the gates: what it needs may have been taken from the client meanwhile.
func (e *Engine) rerun(w *waiter) {
	c := e.resumeCtx(w)
	c.rerun = true
	cl := w.client
	e.current = cl
	if msg := e.gates(c); msg != passed {
		e.reject(c, w.cmd, msg)
	} else {
		e.call(c)
	}
	e.endReply(cl)
	e.current = nil
	if !c.blocked {
		e.endWait(w)
	}
}

// wakeReply is the size in bytes of the buffer for the reply of a command that has waited; longer
// ones let it grow.
const wakeReply = 128

// resumeCtx is the context of a command that was parked. It is not that of the running command, which CLIENT UNBLOCK still needs.
func (e *Engine) resumeCtx(w *waiter) *Ctx {
	cl := w.client
	if cl.W.Buf == nil {
		cl.W.Buf = make([]byte, 0, wakeReply) // no loop has lent it a buffer now
	}
	e.wakeCtx = Ctx{Writer: e.writerOf(cl), E: e, Client: cl, Cmd: w.cmd, DB: cl.db, Args: w.args, Now: e.now}
	return &e.wakeCtx
}

// endWait ends a wait that has been replied to: the connection writes the reply and goes on with
// its input. If a client's command ends it (CLIENT UNBLOCK), that client is answered first.
func (e *Engine) endWait(w *waiter) {
	cl := w.client
	e.forgetWait(cl)
	e.commandDone(cl)
	e.discard.Buf = e.discard.Buf[:0]
	if e.Cfg.MaxmemoryClients != 0 {
		e.countClient(cl)
	}
	if cl.Conn == nil {
		return
	}
	if e.current != nil {
		cl.resumes = true
		e.pushed(cl)
		return
	}
	cl.Conn.Flush()
	cl.Conn.Resume()
}

// forgetWait takes the client out of all queues, if it waits.
func (e *Engine) forgetWait(c *Client) {
	w, b := c.wait, &e.blocking
	if w == nil {
		return
	}
	c.wait = nil
	b.count(w, -1)
	b.leave(w)
	if w.index >= 0 {
		b.deadlines.remove(w)
	}
}

// abandon ends a wait without what it waited for; reply answers the client.
func (e *Engine) abandon(w *waiter, reply func(c *Ctx)) {
	c := e.resumeCtx(w)
	reply(c)
	e.account(c, w.nanos)
	e.endWait(w)
}

// timeoutsPerTurn bounds how many waits one call of EndWaits ends: about a millisecond's worth.
const timeoutsPerTurn = 500

// EndWaits answers the clients whose time is up, some hundreds at a call. Loops call it every turn, after the commands: what came in time counts.
func (e *Engine) EndWaits() {
	if e.script.run != nil || e.ended {
		return // a busy script: nothing happens beside it
	}
	if len(e.blocking.syncs) > 0 {
		e.serveSynced()
	}
	d := &e.blocking.deadlines
	for n := 0; len(*d) > 0 && (*d)[0].deadline < e.Steady() && n < timeoutsPerTurn; n++ {
		w := (*d)[0]
		e.abandon(w, w.onTimeout)
	}
}

// UntilTimeout is in how many ms EndWaits has something to do, MaxInt64 when nobody waits for a limited time.
func (e *Engine) UntilTimeout() int64 {
	d := e.blocking.deadlines
	if len(d) == 0 {
		return math.MaxInt64
	}
	// A wait is never cut short: it ends in the ms after its deadline.
	return max(d[0].deadline-e.Steady()+1, 0)
}

// Unblock ends the wait of a client as if its time was up, or with an error. It reports false when no client of that ID waits for a key.
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

// SwapDBs exchanges two databases. Clients stay with the number of theirs: what they wait for may
// be there now.
func (e *Engine) SwapDBs(i, j int) {
	if i != j {
		e.databaseChanging(i, i, j)
		e.databaseChanging(j, i, j)
	}
	e.KS.Swap(i, j)
	b := &e.blocking
	for _, db := range []int{i, j} {
		for _, q := range b.queuesOf(db) {
			if key := e.KS.DB(db).Peek(q.key); key.Exists() && b.types[key.Type()] > 0 {
				b.note(q, WaitArrival)
			}
		}
	}
}
