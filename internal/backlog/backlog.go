package backlog

import (
	"godwit/internal/arena"
	"godwit/internal/propagation"
)

const (
	// minBlock and maxBlock bound the size of a block, which is a sixteenth of the history.
	minBlock = 16 << 10
	maxBlock = 1 << 20
	// keepSpill is the largest buffer for units that is kept.
	keepSpill = 64 << 10
)

// Backlog is the replication stream with its recent history: the propagation target Replicas.
//
// A unit is appended straight into the last block if it fits there: propagation.Buffer.B is the
// free part of it. Otherwise it is made in a buffer of its own, and copied. Readers see units when
// their batch has ended. All methods belong to the executor, except those of stream and Reader.
type Backlog struct {
	stream
	buf     propagation.Buffer
	direct  bool         // buf.B lies in the last block
	spill   arena.Buffer // for units that do not fit there
	ready   bool         // there is something that readers do not see yet
	refused bool         // the system has refused memory: bytes are missing
}

// New returns an empty Backlog that begins at an offset and keeps the given number of bytes of
// history. It returns nil if the system refuses memory.
func New(pool *arena.Pool, at, keep int64) *Backlog {
	l := &Backlog{buf: propagation.Buffer{DB: propagation.NoDB}}
	if !l.init(pool, at, blockSize(keep)) {
		return nil
	}
	l.keep = keep
	l.count()
	return l
}

func blockSize(keep int64) int { return int(min(max(keep/16, minBlock), maxBlock)) }

// BeginUnit implements propagation.Target.
func (l *Backlog) BeginUnit(n int) *propagation.Buffer {
	if l.absorb(); l.refused {
		return nil
	}
	if l.direct = n <= len(l.tail); l.direct {
		l.buf.B = l.tail[:0]
		return &l.buf
	}
	if cap(l.spill.B) < n {
		l.pool.Put(&l.spill)
		l.spill = l.pool.Get(n)
	}
	l.buf.B = l.spill.B[:0] // in Go's heap if the system refuses memory
	return &l.buf
}

// absorb takes what was appended to the buffer.
func (l *Backlog) absorb() {
	b := l.buf.B
	l.buf.B = nil
	if len(b) == 0 {
		return
	}
	l.ready = true
	if l.direct && &b[0] == &l.tail[0] {
		l.tail = l.tail[len(b):]
		return
	}
	if !l.put(b) {
		l.refused = true
	}
	if cap(l.spill.B) > keepSpill {
		l.pool.Put(&l.spill)
	}
}

// Ready reports whether there are bytes that readers will see when EndBatch is called.
func (l *Backlog) Ready() bool { return l.ready || len(l.buf.B) > 0 }

// EndBatch implements propagation.Target: readers see what was appended.
func (l *Backlog) EndBatch() {
	if l.absorb(); !l.ready {
		return
	}
	l.ready = false
	l.mu.Lock()
	l.publish()
	l.mu.Unlock()
}

// Refused reports whether bytes are missing because the system has refused memory. The backlog must
// be dropped then, and its readers must end.
func (l *Backlog) Refused() bool { return l.refused }

// Reselect makes the next command begin with a SELECT, as at the beginning of a stream.
func (l *Backlog) Reselect() { l.buf.DB = propagation.NoDB }

// Open returns a reader at an offset. It reports false if the backlog does not have that place.
func (l *Backlog) Open(at int64) (*Reader, bool) {
	l.EndBatch()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || at < l.first.start || at > l.end {
		return nil, false
	}
	return l.open(at), true
}

// Resize changes the number of bytes of history that are kept.
func (l *Backlog) Resize(keep int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep, l.size = keep, blockSize(keep)
	l.trim()
	l.count()
}

// Drop frees everything, once the last reader is gone. The backlog must be detached.
func (l *Backlog) Drop() {
	l.buf.B = nil
	l.pool.Put(&l.spill)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over, l.keep = true, 0
	l.count()
	l.sweep()
}

// History returns the offset of the first byte that is kept, and the number of bytes.
func (l *Backlog) History() (first, n int64) {
	l.EndBatch()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first.start, l.end - l.first.start
}

// Extra returns the memory in bytes that is there only because readers have not read it: what lies
// beyond the history. It takes no lock.
func (l *Backlog) Extra() int64 { return l.extra.Load() }
