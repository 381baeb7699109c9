package server

import (
	"slices"

	"godwit/internal/arena"
)

const (
	// chunkSize and maxChunkSize bound the chunks that replies are copied into. A chunk is a
	// quarter of what waits already.
	chunkSize    = 16 << 10
	maxChunkSize = 256 << 10
	// maxVec is how many chunks one write takes.
	maxVec = 32
)

// outQueue holds replies that the socket would not take, in order, as a list of chunks. Appending
// to gigabytes copies none of them, and a chunk is freed as soon as it is written. Chunks lie in
// the pool, outside of Go's heap, so that what is written or dropped is free at once.
type outQueue struct {
	pool   *arena.Pool
	chunks []outChunk
	head   int // first chunk not yet written
	off    int // bytes of that chunk already written
	size   int // bytes not yet written
	// refused says that replies were lost because the system has no memory for them. Then the
	// connection must end.
	refused bool
}

// outChunk is a chunk of the pool, or a small reply as it came.
type outChunk struct {
	data []byte
	buf  arena.Buffer
}

func (q *outQueue) empty() bool { return q.size == 0 }

// push appends a copy of b.
func (q *outQueue) push(b []byte) {
	for len(b) > 0 {
		dst := q.next(len(b), 0)
		if dst == nil {
			return
		}
		b = b[copy(dst, b):]
	}
}

// next appends at most n bytes, and at least one, which the caller fills. It is known that more
// bytes follow. It returns nil if the system refuses memory for them.
func (q *outQueue) next(n, more int) []byte {
	last := len(q.chunks) - 1
	if last < q.head || !q.chunks[last].buf.Held() ||
		len(q.chunks[last].data) == cap(q.chunks[last].data) {
		buf := q.pool.Get(min(max(n+more, chunkSize, (q.size+n)/4), maxChunkSize))
		if !buf.Held() {
			q.refused = true
			return nil
		}
		q.chunks = append(q.chunks, outChunk{buf.B[:0], buf})
		last++
	}
	c := &q.chunks[last]
	old := len(c.data)
	c.data = c.data[:old+min(cap(c.data)-old, n)]
	q.size += len(c.data) - old
	return c.data[old:]
}

// insert puts a copy of b, which is short, before the last n bytes. Nothing of the queue may be
// being written yet. The chunk that the place is in becomes two, and the smaller part is copied.
func (q *outQueue) insert(n int, b []byte) {
	if q.refused {
		return
	}
	i := len(q.chunks) - 1
	for ; len(q.chunks[i].data) < n; i-- {
		n -= len(q.chunks[i].data)
	}
	c := &q.chunks[i]
	before, behind := c.data[:len(c.data)-n], c.data[len(c.data)-n:]
	buf := q.pool.Get(len(b) + min(len(before), len(behind)))
	if !buf.Held() {
		q.refused = true
		return
	}
	q.size += len(b)
	if part := (outChunk{buf: buf}); len(before) < len(behind) {
		part.data = append(append(buf.B[:0], before...), b...)
		c.data = behind
		q.chunks = slices.Insert(q.chunks, i, part)
	} else {
		part.data = append(append(buf.B[:0], b...), behind...)
		c.data = before
		q.chunks = slices.Insert(q.chunks, i+1, part)
	}
}

// join moves all that other holds, of which nothing is being written yet, to the end of q.
func (q *outQueue) join(other *outQueue) {
	q.chunks = append(q.chunks, other.chunks...)
	q.size += other.size
	q.refused = q.refused || other.refused
	*other = outQueue{pool: other.pool}
}

// give appends b itself if the queue is empty and b is small, else a copy. It reports whether it
// kept b.
func (q *outQueue) give(b []byte) (kept bool) {
	if !q.empty() || len(b) > keepSpare {
		q.push(b)
		return false
	}
	if len(b) > 0 {
		q.size = len(b)
		q.chunks = append(q.chunks, outChunk{data: b})
	}
	return true
}

// heap returns the unwritten bytes that lie in Go's heap. Only the first chunk may lie there.
func (q *outQueue) heap() int {
	if q.empty() || q.chunks[q.head].buf.Held() {
		return 0
	}
	return len(q.chunks[q.head].data) - q.off
}

// vec fills dst with the next bytes to write.
func (q *outQueue) vec(dst [][]byte) [][]byte {
	for i := q.head; i < len(q.chunks) && len(dst) < cap(dst); i++ {
		b := q.chunks[i].data
		if i == q.head {
			b = b[q.off:]
		}
		dst = append(dst, b)
	}
	return dst
}

// pop removes n bytes that were written.
func (q *outQueue) pop(n int) {
	q.size -= n
	for n > 0 {
		c := &q.chunks[q.head]
		left := len(c.data) - q.off
		if n < left {
			q.off += n
			return
		}
		n -= left
		q.pool.Put(&c.buf)
		*c = outChunk{}
		q.head++
		q.off = 0
	}
	switch {
	case q.head == len(q.chunks):
		*q = outQueue{pool: q.pool}
	case q.head >= 64 && q.head >= len(q.chunks)/2:
		k := copy(q.chunks, q.chunks[q.head:])
		clear(q.chunks[k:])
		q.chunks, q.head = q.chunks[:k], 0
	}
}

// drop empties the queue. Nobody may be writing what vec returned.
func (q *outQueue) drop() {
	for i := q.head; i < len(q.chunks); i++ {
		q.pool.Put(&q.chunks[i].buf)
	}
	*q = outQueue{pool: q.pool}
}
