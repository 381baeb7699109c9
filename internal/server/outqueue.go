package server

const (
	// chunkSize is the capacity of the chunks into which small replies are copied.
	chunkSize = 16 << 10
	// maxVec is how many chunks one write takes.
	maxVec = 32
)

// outQueue holds replies that the socket would not take, in order, as a list of chunks: appending to gigabytes costs no copy of them,
// and a chunk is let go as soon as it is written.
type outQueue struct {
	chunks [][]byte
	head   int // first chunk not yet written
	off    int // bytes of it that are
	size   int // bytes not yet written
}

func (q *outQueue) empty() bool { return q.size == 0 }

// push appends b. When own, the queue keeps b itself; otherwise it copies.
func (q *outQueue) push(b []byte, own bool) {
	if len(b) == 0 {
		return
	}
	q.size += len(b)
	if own && len(b) > chunkSize/4 {
		q.chunks = append(q.chunks, b)
		return
	}
	if n := len(q.chunks); n > q.head {
		last := q.chunks[n-1]
		fit := min(cap(last)-len(last), len(b))
		q.chunks[n-1] = append(last, b[:fit]...)
		b = b[fit:]
	}
	if len(b) > 0 {
		q.chunks = append(q.chunks, append(make([]byte, 0, max(len(b), chunkSize)), b...))
	}
}

// give appends b itself to an empty queue; behind other replies it may be copied.
func (q *outQueue) give(b []byte) {
	if !q.empty() {
		q.push(b, true)
		return
	}
	if len(b) > 0 {
		q.size = len(b)
		q.chunks = append(q.chunks, b)
	}
}

// vec fills dst with the next bytes to write.
func (q *outQueue) vec(dst [][]byte) [][]byte {
	for i := q.head; i < len(q.chunks) && len(dst) < cap(dst); i++ {
		b := q.chunks[i]
		if i == q.head {
			b = b[q.off:]
		}
		dst = append(dst, b)
	}
	return dst
}

// pop removes the n bytes that were written.
func (q *outQueue) pop(n int) {
	q.size -= n
	for n > 0 {
		left := len(q.chunks[q.head]) - q.off
		if n < left {
			q.off += n
			return
		}
		n -= left
		q.chunks[q.head] = nil
		q.head++
		q.off = 0
	}
	switch {
	case q.head == len(q.chunks):
		*q = outQueue{}
	case q.head >= 64 && q.head >= len(q.chunks)/2:
		k := copy(q.chunks, q.chunks[q.head:])
		clear(q.chunks[k:])
		q.chunks, q.head = q.chunks[:k], 0
	}
}
