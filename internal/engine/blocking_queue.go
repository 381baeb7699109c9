package engine

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"godwit/internal/object"
)

func (q *waitQueue) push(n *waitNode) {
	n.prev = q.tail
	if q.tail == nil {
		q.head = n
	} else {
		q.tail.next = n
	}
	q.tail = n
}

func (q *waitQueue) remove(n *waitNode) {
	if q.next == n {
		q.next = n.next
	}
	if n.prev == nil {
		q.head = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		q.tail = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}

// wide reports whether the waiter waits for more than arrivals.
func (w *waiter) wide() bool { return w.events != WaitArrival }

// wants reports whether the waiter's command must run again. key is the present entry of a key that
// it waits for, and happened is what has happened to it.
func (w *waiter) wants(key object.Entry, happened WaitEvents) bool {
	if key.Exists() && key.Type() == w.t {
		return w.events&happened != 0
	}
	return w.events&WaitLoss != 0
}

// count counts a waiter that comes (n is 1) or goes (-1).
func (b *blocking) count(w *waiter, n int) {
	b.n += n
	b.types[w.t] += n
	if w.wide() {
		b.wide += n
	}
}

// enqueue puts the waiter at the end of the queue of each key.
func (b *blocking) enqueue(w *waiter, db, databases int, keys [][]byte) {
	if b.dbs == nil {
		b.dbs = make([]map[string]*waitQueue, databases)
	}
	if b.dbs[db] == nil {
		b.dbs[db] = map[string]*waitQueue{}
	}
	w.nodes = make([]waitNode, 0, len(keys)) // nodes are pointed to: no growing
	for _, key := range keys {
		q := b.dbs[db][string(key)]
		if q == nil {
			b.seq++
			q = &waitQueue{db: db, key: slices.Clone(key), seq: b.seq}
			b.dbs[db][string(key)] = q
			b.bytes += q.bytes()
		}
		if q.tail != nil && q.tail.w == w {
			continue // the key is named twice
		}
		if q.head == nil {
			b.queues++
		}
		if w.wide() {
			q.wide++
		}
		w.nodes = append(w.nodes, waitNode{w: w, q: q})
		q.push(&w.nodes[len(w.nodes)-1])
	}
}

// leave takes the waiter out of its queues.
func (b *blocking) leave(w *waiter) {
	for i := range w.nodes {
		n := &w.nodes[i]
		n.q.remove(n)
		if w.wide() {
			n.q.wide--
		}
		if n.q.head != nil {
			continue
		}
		b.queues--
		if !n.q.ready {
			b.drop(n.q)
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

// bytes returns what the queue takes, with its place in the map.
func (q *waitQueue) bytes() int64 { return int64(queueBytes + 2*len(q.key)) }

// queueBytes is a waitQueue and its place in the map.
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

func (d *deadlines) add(w *waiter)    { heap.Push(d, w) }
func (d *deadlines) remove(w *waiter) { heap.Remove(d, w.index) }

// Len implements heap.Interface.
func (d deadlines) Len() int { return len(d) }

// Less implements heap.Interface.
func (d deadlines) Less(i, j int) bool { return d[i].deadline < d[j].deadline }

// Swap implements heap.Interface.
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	w := x.(*waiter)
	w.index = len(*d)
	*d = append(*d, w)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	w := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	w.index = -1
	return w
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
