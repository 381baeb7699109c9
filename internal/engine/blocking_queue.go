package engine

import (
	"cmp"
	"maps"
	"slices"

	"godwit/internal/object"
)

// wide reports whether the waiter waits for more than arrivals.
func (w *waiter) wide() bool { return w.events != WaitArrival }

// count counts a waiter that comes (n is 1) or goes (-1).
func (b *blocking) count(w *waiter, n int) {
	b.n += n
	b.types[w.t] += n
	if w.wide() {
		b.wide += n
	}
	if w.deadline.at != 0 {
		b.timed += n
	}
}

// enqueue puts the waiter at the end of a line of each key.
func (b *blocking) enqueue(w *waiter, db, databases int, wait *Wait) {
	if b.dbs == nil {
		b.dbs = make([]map[string]*waitQueue, databases)
	}
	if b.dbs[db] == nil {
		b.dbs[db] = map[string]*waitQueue{}
	}
	b.seq++
	w.seq = b.seq
	w.nodes = make([]waitNode, 0, len(wait.Keys)) // nodes are pointed to: no growing
	for _, key := range wait.Keys {
		q := b.dbs[db][string(key)]
		if q == nil {
			b.seq++
			q = &waitQueue{db: db, key: slices.Clone(key), seq: b.seq}
			b.dbs[db][string(key)] = q
			b.bytes += q.bytes()
		}
		if len(q.lines) == 0 {
			b.queues++
		}
		l := b.line(q, w.t, w.events, wait.Rivals)
		if l.tail != nil && l.tail.w == w {
			continue // the key is named twice
		}
		if w.wide() {
			if q.wide == 0 {
				b.wideKeys++
			}
			q.wide++
		}
		w.nodes = append(w.nodes, waitNode{w: w, l: l})
		l.push(&w.nodes[len(w.nodes)-1])
	}
}

// leave takes the waiter out of its lines.
func (b *blocking) leave(w *waiter) {
	for i := range w.nodes {
		n := &w.nodes[i]
		l, q := n.l, n.l.q
		l.remove(n)
		if w.wide() {
			if q.wide--; q.wide == 0 {
				b.wideKeys--
			}
		}
		if l.head != nil {
			continue
		}
		b.empty(l)
		if len(q.lines) > 0 {
			continue
		}
		b.queues--
		if !q.ready {
			b.drop(q)
		}
	}
}

// drop forgets an empty queue.
func (b *blocking) drop(q *waitQueue) {
	if m := b.dbs[q.db]; m[string(q.key)] == q {
		delete(m, string(q.key))
		b.bytes -= q.bytes()
	}
}

// bytes returns what the queue takes without its lines, with its place in the map.
func (q *waitQueue) bytes() int64 { return int64(queueBytes + 2*len(q.key)) }

// queueBytes is a waitQueue without its own line, and its place in the map.
const queueBytes = 80 + 64

// keyReady notes that a key has appeared, if anyone waits for it.
func (b *blocking) keyReady(key []byte, db int, t object.Type) {
	if b.types[t] == 0 || b.dbs[db] == nil {
		return
	}
	if q := b.dbs[db][string(key)]; q != nil {
		b.note(q, WaitArrival)
	}
}

// keyChanged notes that a key has changed or gone, if anyone waits for that.
func (b *blocking) keyChanged(key []byte, db int) {
	if b.wide == 0 || b.dbs[db] == nil {
		return
	}
	if q := b.dbs[db][string(key)]; q != nil && q.wide > 0 {
		b.note(q, WaitChange)
	}
}

// note marks the queue to be served after the running command.
func (b *blocking) note(q *waitQueue, happened WaitEvents) {
	q.happened |= happened
	if !q.ready {
		q.ready = true
		b.ready = append(b.ready, q)
	}
}

// unpaused marks the queues that a pause has held back to be served.
func (b *blocking) unpaused() {
	b.ready = append(b.ready, b.paused...)
	clear(b.paused)
	b.paused = b.paused[:0]
}

// queuesOf returns the queues of a database, the oldest first.
func (b *blocking) queuesOf(db int) []*waitQueue {
	if b.n == 0 || b.dbs[db] == nil {
		return nil
	}
	older := func(x, y *waitQueue) int { return cmp.Compare(x.seq, y.seq) }
	return slices.SortedFunc(maps.Values(b.dbs[db]), older)
}

// Happened announces that something has happened to a value of the type that no change of its key
// tells: an entry has come to a stream (WaitArrival), a group has gone (WaitLoss), an entry may be
// claimed earlier (WaitDue).
func (c *Ctx) Happened(key []byte, t object.Type, what WaitEvents) {
	b := &c.E.blocking
	db := c.DB.ID()
	if b.types[t] == 0 || b.dbs[db] == nil {
		return
	}
	if q := b.dbs[db][string(key)]; q != nil && (what == WaitArrival || q.wide > 0) {
		b.note(q, what)
	}
}

// Block makes the client wait until one of the events happens to one of the keys; then the handler
// runs again. A handler that calls Block in such a run keeps the client's place, and everything is
// as in its first call, except for Due. The handler must not reply itself. What it changes must be
// such that running again changes nothing more, as a consumer that a stream gets.
func (c *Ctx) Block(wait Wait) {
	c.blocked = true
	e, b := c.E, &c.E.blocking
	if !c.rerun {
		c.beginWait(&wait)
	}
	if wait.Due == 0 {
		return
	}
	for i := range c.Client.wait.nodes {
		b.expect(c.Client.wait.nodes[i].l, wait.Due)
	}
	if b.deadlines[0].at == wait.Due && e.Alarm != nil {
		e.Alarm()
	}
}

// beginWait makes a waiter of the client.
func (c *Ctx) beginWait(wait *Wait) {
	w := &waiter{client: c.Client, cmd: c.Cmd, t: wait.Type, deadline: deadline{at: wait.Deadline},
		events: cmp.Or(wait.Events, WaitArrival), onTimeout: wait.OnTimeout}
	w.deadline.w = w
	if wait.Args == nil {
		wait.Args = c.Args
	}
	w.args, w.size = copyArgs(wait.Args)
	w.size += waiterBytes + int64(len(wait.Keys))*nodeBytes
	c.Client.wait = w
	e, b := c.E, &c.E.blocking
	b.count(w, 1)
	b.enqueue(w, c.DB.ID(), e.KS.Databases(), wait)
	if w.deadline.at != 0 {
		b.deadlines.add(&w.deadline)
		if w.deadline.index == 0 && e.Alarm != nil {
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

// forgetWait takes the client out of all queues, if it waits.
func (e *Engine) forgetWait(c *Client) {
	w, b := c.wait, &e.blocking
	if w == nil {
		return
	}
	c.wait = nil
	b.count(w, -1)
	b.leave(w)
	b.deadlines.remove(&w.deadline)
}
