package persist

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// stream is bytes in the making: handed over chunk by chunk, or held.
type stream struct {
	s     *SnapshotWriter
	buf   []byte
	db    int // the database that the keys at the end are in, -1: not said yet
	hold  bool
	held  []chunk
	bytes int64 // in held, frozen strings not counted
}

// enter says that the next key is in the database.
func (t *stream) enter(db int) {
	if t.buf == nil {
		t.buf = t.s.q.Buffer()
	}
	if t.db == db {
		return
	}
	t.db = db
	t.buf = t.s.f.Database(t.buf, t.s.sizes(db))
}

// sizes returns what is said of a database: its sizes the first time, -1 later.
func (s *SnapshotWriter) sizes(db int) keyspace.SavedDB {
	for i := range s.sn.DBs {
		if d := &s.sn.DBs[i]; d.ID == db {
			v := *d
			d.Keys, d.Expires = -1, -1
			return v
		}
	}
	return keyspace.SavedDB{ID: db, Keys: -1, Expires: -1}
}

// wrote is called after bytes were added.
func (t *stream) wrote() {
	if len(t.buf) >= chunkBytes {
		t.flush()
	}
}

// flush hands over, or holds, what is in the buffer. The stream has none then.
func (t *stream) flush() {
	b := t.buf
	t.buf = nil
	if len(b) > 0 {
		t.put(chunk{b: b})
	}
}

// put hands over, or holds, a chunk.
func (t *stream) put(c chunk) {
	if t.hold {
		t.held = append(t.held, c)
		t.bytes += int64(len(c.b))
		return
	}
	t.s.bytes += int64(c.len())
	t.s.q.Write(c)
}

// moveTo appends what the stream holds to another one and leaves it empty.
func (t *stream) moveTo(to *stream) {
	if len(t.held) == 0 {
		if to.buf == nil {
			to.buf = to.s.q.Buffer()
		}
		to.buf = append(to.buf, t.buf...)
		to.wrote()
		t.buf = t.buf[:0]
		return
	}
	t.flush()
	to.flush()
	for i, c := range t.held {
		t.held[i] = chunk{}
		to.put(c)
	}
	t.held, t.bytes = t.held[:0], 0
}

// largeKey is a key with a large value.
type largeKey struct {
	s       *SnapshotWriter
	db      int
	capture *object.Capture
	enc     LargeEncoder
	pending stream // until the key is open
	size    int64  // bytes in it, the head not counted
	isOpen  bool

	kept int64 // all that had been copied at the last change
	owed int64 // bytes to be written ahead
}

func (r *largeKey) copied() int64 {
	now, _ := r.capture.Copied()
	return now
}

// capture begins a large key.
func (s *SnapshotWriter) capture(db int, e object.Entry) {
	r := &largeKey{s: s, db: db, pending: stream{s: s, hold: true}}
	r.capture = s.sn.Capture(e, r)
	r.pending.buf, r.enc = s.f.Large(nil, e, r.capture)
	r.capture.Ahead = r.ahead
	s.waiting = append(s.waiting, r)
	if s.open == nil && !s.inSlice {
		s.openLarge() // it is being changed: the sooner its elements need not be held the better
	}
}

// A change of a list that is being saved may leave a copy of a node. Once the copies take
// 1/copiedShare of the list's memory, each new copy makes the writer go ahead: it writes four times
// the copy's bytes of the list (aheadShift), and four times as much again for each further
// 1/copiedShare. aheadNodes bounds what one change does.
//
// So changes that hit nodes at random leave copies of some 7 % of the list at most. Pushes and pops
// leave a copy only once in hundreds of times, so they lose little throughput. Sketches and streams
// are treated alike, with chunks and parts for nodes.
const (
	copiedShare = 32
	aheadShift  = 2
	aheadNodes  = 16
)

// ahead is called before each change of a list, sketch or stream.
func (r *largeKey) ahead() {
	held, kept := r.capture.Copied()
	made := kept - r.kept
	r.kept = kept
	size := r.capture.Size()
	shares := held * copiedShare / max(size, 1)
	if shares == 0 || !r.isOpen || r.s.inSlice || r.s.q.Full() {
		r.owed = 0
		return
	}
	r.owed += made << (aheadShift * min(shares, 6))
	part := size/int64(max(r.capture.Len, 1)) + 1
	n := min(r.owed/part, aheadNodes)
	if n == 0 {
		return
	}
	r.owed -= n * part
	if r.capture.Step(int(n) * object.NodeWeight) {
		r.s.closeLarge()
	}
}

// Element implements object.ElementWriter.
func (r *largeKey) Element(el *object.Element) {
	if !r.s.inSlice {
		r.s.foreign++
	}
	to := &r.pending
	if r.isOpen {
		to = &r.s.main
	}
	if to.buf == nil && r.isOpen { // those that wait may be many, of a few bytes each
		to.buf = r.s.q.Buffer()
	}
	was := len(to.buf)
	to.buf = r.enc.Element(to.buf, el)
	if !r.isOpen {
		r.size += int64(len(to.buf) - was)
		r.s.pending += int64(len(to.buf) - was)
	}
	to.wrote()
}

// openLarge writes what the next large key has collected. From now on its elements go to the main
// stream at once.
func (s *SnapshotWriter) openLarge() {
	r := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	s.open, r.isOpen = r, true
	s.main.enter(r.db)
	r.pending.moveTo(&s.main)
	s.pending -= r.size
	r.pending.buf = nil
	s.side.db = r.db
}

// closeLarge ends the open large key and appends the keys that came by meanwhile.
func (s *SnapshotWriter) closeLarge() {
	r := s.open
	if s.main.buf == nil {
		s.main.buf = s.q.Buffer()
	}
	s.main.buf = r.enc.End(s.main.buf)
	s.open = nil
	s.sn.Release(r.capture)
	s.main.db = s.side.db
	s.side.moveTo(&s.main)
}
