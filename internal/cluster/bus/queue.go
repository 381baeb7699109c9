package bus

import "sync"

// message waits to be sent.
type message struct {
	kind    Kind
	payload []byte
}

// cost is what a message counts in a queue.
func (m message) cost() int64 { return int64(len(m.payload) + headerLen + messageOverhead) }

// messageOverhead is what a queued message takes besides its payload.
const messageOverhead = 32

// queues hold what waits for a peer, on both lanes.
type queues struct {
	mu    sync.Mutex
	lanes [2]struct {
		list []message
		head int
		size int64
		sent int // bytes of the first message that have been sent
	}
	wake chan struct{} // one slot: there is something to send
}

// push appends a message, unless limit bytes would wait on its lane. It reports whether it did.
func (q *queues) push(m message, limit int64) bool {
	q.mu.Lock()
	l := &q.lanes[laneOf(m.kind)]
	if l.size > 0 && l.size+m.cost() > limit {
		q.mu.Unlock()
		return false
	}
	l.list = append(l.list, m)
	l.size += m.cost()
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// next returns the next frame. The control lane goes first.
func (q *queues) next() (h header, part []byte, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lanes {
		l := &q.lanes[i]
		if l.head == len(l.list) {
			continue
		}
		m := l.list[l.head]
		part = m.payload[l.sent:min(len(m.payload), l.sent+maxFrame)]
		l.sent += len(part)
		h = header{len(part), m.kind, l.sent < len(m.payload)}
		if !h.more {
			q.shift(i)
		}
		return h, part, true
	}
	return h, nil, false
}

// rewind begins again with messages that were sent in part: the link has broken. One of the bulk
// lane is dropped: if the other side closes the link because it takes none that is as long, it
// would do so again. It returns how many messages were dropped.
func (q *queues) rewind() (dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lanes {
		if l := &q.lanes[i]; l.sent > 0 {
			if i == laneOf(Bulk) {
				q.shift(i)
				dropped++
			}
			l.sent = 0
		}
	}
	return dropped
}

// shift takes the first message of a lane away.
func (q *queues) shift(lane int) {
	l := &q.lanes[lane]
	m := l.list[l.head]
	l.list[l.head] = message{}
	l.head++
	l.size -= m.cost()
	l.sent = 0
	if l.head == len(l.list) {
		l.list, l.head = l.list[:0], 0
	} else if l.head > 1024 && l.head > len(l.list)/2 {
		l.list, l.head = append(l.list[:0], l.list[l.head:]...), 0
	}
}

// reset drops all that waits. It returns how many messages that were.
func (q *queues) reset() (n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lanes {
		l := &q.lanes[i]
		n += uint64(len(l.list) - l.head)
		l.list, l.head, l.size, l.sent = nil, 0, 0, 0
	}
	return n
}

// queued returns how many bytes wait.
func (q *queues) queued() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lanes[0].size + q.lanes[1].size
}
