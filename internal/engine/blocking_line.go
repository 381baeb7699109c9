package engine

import (
	"bytes"
	"container/heap"
	"slices"

	"godwit/internal/object"
)

// wants reports whether the commands of the line must run again. key is the present entry of its
// key, and happened is what has happened to it.
func (l *waitLine) wants(key object.Entry, happened WaitEvents) bool {
	if key.Exists() && key.Type() == l.t {
		return l.events&happened != 0
	}
	return l.events&WaitLoss != 0
}

func (l *waitLine) push(n *waitNode) {
	n.prev = l.tail
	if l.tail == nil {
		l.head = n
	} else {
		l.tail.next = n
	}
	l.tail = n
}

func (l *waitLine) remove(n *waitNode) {
	if l.next == n {
		l.next = n.next
	}
	if n.prev == nil {
		l.head = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.tail = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}

// line returns the line of the waiters of this kind. A new one is added to the queue.
func (b *blocking) line(q *waitQueue, t object.Type, events WaitEvents, rivals []byte) *waitLine {
	for _, l := range q.lines {
		if l.t == t && l.events == events && (l.rivals == nil) == (rivals == nil) &&
			bytes.Equal(l.rivals, rivals) {
			return l
		}
	}
	l := &q.own
	if l.q != nil {
		l = new(waitLine)
	}
	*l = waitLine{q: q, t: t, events: events, rivals: bytes.Clone(rivals)}
	l.due.l = l
	if q.lines == nil {
		q.lines = q.slot[:0]
	}
	q.lines = append(q.lines, l)
	b.bytes += l.bytes()
	return l
}

// bytes returns what the line takes.
func (l *waitLine) bytes() int64 { return int64(lineBytes + len(l.rivals)) }

// lineBytes is a waitLine.
const lineBytes = 96

// empty takes a line without waiters out of its queue.
func (b *blocking) empty(l *waitLine) {
	q := l.q
	b.deadlines.remove(&l.due)
	b.bytes -= l.bytes()
	i := slices.Index(q.lines, l)
	q.lines = slices.Delete(q.lines, i, i+1)
	l.q = nil // own may be used again
}

// expect makes the line be served at the time, steady ms, if it is not served earlier anyway. 0 is
// never.
func (b *blocking) expect(l *waitLine, at int64) {
	if at == 0 || l.due.at != 0 && l.due.at <= at {
		return
	}
	b.deadlines.remove(&l.due)
	l.due.at = at
	b.deadlines.add(&l.due)
}

// add puts a deadline, whose time is set, into the heap.
func (d *deadlines) add(x *deadline) { heap.Push(d, x) }

// remove takes a deadline out, if it is there.
func (d *deadlines) remove(x *deadline) {
	if x.at != 0 {
		heap.Remove(d, x.index)
		x.at = 0
	}
}

// Len implements heap.Interface.
func (d deadlines) Len() int { return len(d) }

// Less implements heap.Interface.
func (d deadlines) Less(i, j int) bool { return d[i].at < d[j].at }

// Swap implements heap.Interface.
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	e := x.(*deadline)
	e.index = len(*d)
	*d = append(*d, e)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return x
}
