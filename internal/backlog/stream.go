// Package backlog keeps streams of bytes that several readers follow, each at its own pace: the
// replication stream with its history (Backlog), and a snapshot on its way to several replicas
// (Pipe).
//
//	offset  100          164          228     end = 250
//	        ┌────────────┐┌────────────┐┌────────────┐
//	first → │████████████││████████████││██████░░    │ ← last
//	        └────────────┘└────────────┘└────────────┘
//	             ↑                          ↑
//	          Reader 120                Reader 240
//
// The bytes lie in blocks outside of Go's heap. A reader pins the blocks from its place on, and
// hands out their bytes without copying them. Blocks go from the front, once no reader stands in
// the first one and enough history is left without it. So each byte is in memory once, whatever the
// number of readers, and a reader that is slow costs what lies between it and the end.
//
// Appending belongs to one goroutine at a time, for a Backlog to the executor. Readers are read on
// any goroutine, one at a time each. They see what has been published.
package backlog

import (
	"sync"
	"sync/atomic"

	"godwit/internal/arena"
)

// stream is what Backlog and Pipe have in common.
type stream struct {
	pool *arena.Pool

	// These belong to who appends.
	tail []byte // free part of the last block
	size int    // of new blocks, bytes

	mu        sync.Mutex
	cond      sync.Cond // of a Pipe: signalled when bytes come or go, or the stream ends
	first     *block
	last      *block
	spare     *block // a header for the next block
	keep      int64  // bytes of history kept even if no reader needs them
	end       int64  // offset behind the published bytes
	allocated int64  // bytes of all blocks
	readers   []*Reader
	over      bool  // nothing will follow: what is left goes with the last pin
	busy      bool  // a Pipe's writer is appending without the lock: nothing may go
	err       error // of a Pipe

	// These are what count has noted. Each command asks while there is a maxmemory.
	taken, extra atomic.Int64
}

// block is a piece of the stream. Its header is in Go's heap.
type block struct {
	buf   arena.Buffer
	start int64 // offset of its first byte
	pins  int   // readers whose place is in it
	next  *block
}

// headBytes is what a block takes in Go's heap.
const headBytes = 96

// init makes an empty stream that begins at an offset.
func (s *stream) init(pool *arena.Pool, at int64, size int) bool {
	s.pool, s.end, s.size = pool, at, size
	s.cond.L = &s.mu
	return s.grow(at)
}

// grow adds an empty block that begins at an offset. It reports false if the system refuses memory
// for it.
func (s *stream) grow(at int64) bool {
	buf := s.pool.Get(s.size)
	if !buf.Held() {
		return false
	}
	s.mu.Lock()
	b := s.spare
	if s.spare = nil; b == nil {
		b = new(block)
	}
	*b = block{buf: buf, start: at}
	if s.last == nil {
		s.first = b
	} else {
		s.last.next = b
	}
	s.last = b
	s.allocated += int64(cap(buf.B))
	s.count()
	s.mu.Unlock()
	s.tail = buf.B[:cap(buf.B)]
	return true
}

// appended returns the offset behind the last byte, published or not.
func (s *stream) appended() int64 {
	return s.last.start + int64(cap(s.last.buf.B)-len(s.tail))
}

// put appends bytes, in new blocks where the last one is full. It reports false if the system
// refuses memory; then a part of them is missing.
func (s *stream) put(b []byte) bool {
	for {
		n := copy(s.tail, b)
		s.tail, b = s.tail[n:], b[n:]
		if len(b) == 0 {
			return true
		}
		if !s.grow(s.appended()) {
			return false
		}
	}
}

// publish shows readers what was appended. The lock must be held.
func (s *stream) publish() {
	s.end = s.appended()
	s.trim()
}

// trim frees blocks from the front that nobody needs. The lock must be held.
func (s *stream) trim() {
	for b := s.first; b != nil && b.next != nil && b.pins == 0 && s.end-b.next.start >= s.keep; {
		s.first = b.next
		s.allocated -= int64(cap(b.buf.B))
		s.pool.Put(&b.buf)
		b.next, s.spare = nil, b
		b = s.first
		s.count()
	}
}

// sweep frees everything if the stream is over, nobody appends, and nothing is pinned. The lock
// must be held.
func (s *stream) sweep() {
	if !s.over || s.busy {
		return
	}
	for b := s.first; b != nil; b = b.next {
		if b.pins > 0 {
			return
		}
	}
	for b := s.first; b != nil; b = b.next {
		s.pool.Put(&b.buf)
	}
	s.first, s.last, s.tail, s.allocated = nil, nil, nil, 0
	s.count()
}

// Bytes returns the memory that the stream takes, in bytes. It takes no lock.
func (s *stream) Bytes() int64 { return s.taken.Load() }

// count notes what the stream takes, and how much of that lies beyond the history. Whoever changes
// the blocks or the history calls it. The lock must be held.
func (s *stream) count() {
	size := int64(s.size)
	taken := int64(0)
	if s.first != nil {
		taken = s.allocated + headBytes*(1+s.allocated/size)
	}
	s.taken.Store(taken)
	s.extra.Store(max(0, taken-s.keep-2*size-headBytes*(2+s.keep/size)))
}
