// Package persist writes the keyspace to files and reads it back: snapshots without a fork, RDB
// files and the append-only file.
//
// The engine uses a Store, and what that needs of the engine is Host. What has to run with the
// executor held says so.
package persist

import (
	"errors"
	"time"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// Format turns keys into bytes. The methods append to dst.
type Format interface {
	Head(dst []byte) []byte
	// Database says which database the keys that follow are in. Keys and Expires are -1 when it
	// comes again.
	Database(dst []byte, db keyspace.SavedDB) []byte
	// Key writes a key whose value is small.
	Key(dst []byte, e object.Entry) []byte
	// LongString writes what comes before the bytes of a key's string, LongStringEnd what comes
	// behind them.
	LongString(dst []byte, e object.Entry) []byte
	LongStringEnd(dst []byte, e object.Entry) []byte
	// Large begins a key with a large value. Of the entry, nothing may be kept.
	Large(dst []byte, e object.Entry, c *object.Capture) ([]byte, LargeEncoder)
	Tail(dst []byte) []byte
}

// LargeEncoder encodes the elements of a large value and what ends its key. Elements come in any
// order, except that the nodes of a list, the chunks of a sketch and the parts of a stream come in
// theirs.
type LargeEncoder interface {
	Element(dst []byte, el *object.Element) []byte
	End(dst []byte) []byte
}

// Options are the settings of a snapshot.
type Options struct {
	// KeyDelay is rdb-key-save-delay, in µs. It is for tests: the walk takes at least that long for
	// each key.
	KeyDelay int64
	// NoKeys leaves out all keys.
	NoKeys bool
	// Slots are those whose keys are saved, in cluster mode; nil for all.
	Slots *slot.Set
	// LongString is from how many bytes on a string is not copied while it waits to be written, 0
	// for the default.
	LongString int
}

// ErrCancelled is the error of a snapshot that was cancelled.
var ErrCancelled = errors.New("snapshot cancelled")

// SnapshotWriter writes the keyspace to a destination, as it was when Start was called. All methods
// are called with the executor held. Between calls commands run and change what they like; see
// keyspace.Snapshot.
//
// # The stream
//
//	head | database | key key key … | database | key … | tail
//
// Long strings are not in it as bytes, see longstring.go.
//
// Keys come in the order in which they are met, by the walk or by a command that changes them. A
// key with a large value takes many slices. Until it ends, other keys go to a side stream, which is
// appended then. Commands may change further large values before their turn has come; those collect
// their elements.
//
// # Time
//
// Slice takes all of the executor's time while no clients are served, else a share: 1/busyShare of
// the time since the last slice, less what commands have spent meanwhile on saving what they
// changed. It takes more if much is held in memory. A share that is too small for a slice is left
// for a later turn: with pipelines turns are so short that a slice in each would take a third of
// the time.
type SnapshotWriter struct {
	ks  *keyspace.Keyspace
	sn  *keyspace.Snapshot
	f   Format
	q   *Queue
	opt Options

	main, side stream
	open       *largeKey              // the large key that is being written, nil if there is none
	waiting    []*largeKey            // those that come after it, in this order
	pending    int64                  // bytes that they hold
	frozen     []*object.FrozenString // long strings in the stream that are not written yet

	state   state
	err     error
	started time.Time
	lastEnd time.Time     // of the last slice
	idle    time.Duration // what a slice takes while nobody is served
	perKey  time.Duration // what saving a key takes, roughly
	foreign int           // keys and elements that commands have saved since the last slice
	inSlice bool

	keys, total int
	walked      int64 // keys that the walk met, for KeyDelay
	bytes       int64
}

type state uint8

const (
	walking    state = iota
	committing       // everything is handed over
	over
)

const (
	stride    = 64 // entries or elements between two looks at the clock
	busyShare = 8
	heldShare = 20 // 1/20 of the data
	minSlice  = 20 * time.Microsecond
)

// Progress is how far a snapshot is.
type Progress struct {
	Keys, Total int
	Bytes       int64 // handed over
	Buffered    int64 // waiting in memory
	Started     time.Time
}

// Start begins a snapshot. None may be running over the keyspace.
func Start(ks *keyspace.Keyspace, f Format, q *Queue, opt Options) *SnapshotWriter {
	if opt.LongString == 0 {
		opt.LongString = longString
	}
	s := &SnapshotWriter{ks: ks, f: f, q: q, opt: opt, started: time.Now(), perKey: 200,
		idle: minSlice}
	s.lastEnd = s.started
	s.main = stream{s: s, db: -1}
	s.side = stream{s: s, db: -1, hold: true}
	s.main.buf = f.Head(s.q.Buffer())
	if opt.NoKeys {
		s.handOver()
		return s
	}
	s.sn = ks.BeginSnapshot(s, opt.Slots)
	for _, db := range s.sn.DBs {
		s.total += db.Keys
	}
	return s
}

// Slice writes on, for about the budget at most. It reports whether it should be called again soon.
// If not, the Queue's wake tells when to call it. served tells whether commands have run since the
// last call.
func (s *SnapshotWriter) Slice(budget time.Duration, served bool) (more bool) {
	if s.state != walking {
		s.poll()
		return false
	}
	start := time.Now()
	if budget = s.share(start, budget, served); budget == 0 {
		return true
	}
	s.inSlice = true
	more = s.slice(start, budget)
	s.inSlice = false
	s.foreign = 0
	s.lastEnd = time.Now()
	return more
}

// share returns what of the budget clients leave: nothing until it is worth a slice.
func (s *SnapshotWriter) share(start time.Time, budget time.Duration, served bool) time.Duration {
	gap := start.Sub(s.lastEnd)
	b := gap/busyShare - time.Duration(s.foreign)*s.perKey
	if held := s.held(); held > 0 {
		// At heldShare of the data it is half of the time: throughput is given up before memory,
		// but not long before.
		full := float64(held) / float64(s.ks.A.Used()/heldShare+1)
		b += time.Duration(float64(gap) * min(full*full*full*full, 1))
	}
	if served {
		s.idle = minSlice
		if b < minSlice {
			return 0
		}
		return min(b, budget)
	}
	// Slices get longer with each turn in a row that serves nobody. A lone client that waits for
	// its replies hardly feels them, and an idle server loses no time with polling.
	s.idle = min(2*s.idle, budget)
	return min(max(b, s.idle), budget)
}

func (s *SnapshotWriter) slice(start time.Time, budget time.Duration) (more bool) {
	keys := s.keys
	for {
		s.thaw()
		if s.q.Full() {
			return false
		}
		if err := s.q.Err(); err != nil {
			s.stop(err)
			return false
		}
		n := s.allowed(start)
		if n == 0 {
			return false
		}
		if s.step(n) {
			s.finish()
			return false
		}
		now := time.Now()
		if now.Sub(start) >= budget {
			if d := s.keys - keys; d > 0 && s.open == nil {
				s.perKey = (7*s.perKey +
					min(now.Sub(start)/time.Duration(d), 2*time.Microsecond)) / 8
			}
			return true
		}
	}
}

// allowed returns how many keys the walk may meet now: stride unless KeyDelay is set.
func (s *SnapshotWriter) allowed(now time.Time) int {
	if s.opt.KeyDelay <= 0 || s.open != nil {
		return stride
	}
	n := now.Sub(s.started).Microseconds()/s.opt.KeyDelay - s.walked
	return int(min(max(n, 0), stride))
}

// step does the next piece of work, of about n keys or elements, and reports whether all is done.
func (s *SnapshotWriter) step(n int) (done bool) {
	switch {
	case s.open != nil:
		if s.open.capture.Step(stride) {
			s.closeLarge()
		}
	case len(s.waiting) > 0:
		s.openLarge()
	default:
		// The walk may overshoot by some keys: it goes bucket by bucket.
		keys := s.keys
		done = s.sn.Walk(n) && len(s.waiting) == 0
		s.walked += int64(s.keys - keys)
	}
	return done
}

// Run does all the rest at once and waits for the destination: SAVE.
func (s *SnapshotWriter) Run() error {
	s.inSlice = true
	for s.state == walking {
		s.q.WaitRoom()
		s.thaw()
		if err := s.q.Err(); err != nil {
			s.stop(err)
			break
		}
		n := s.allowed(time.Now())
		if n == 0 {
			time.Sleep(time.Duration(s.opt.KeyDelay) * time.Microsecond)
			continue
		}
		if s.step(n) {
			s.finish()
		}
	}
	s.inSlice = false
	return s.Wait()
}

// Wait blocks until a snapshot that is walked to its end, or cancelled, is over.
func (s *SnapshotWriter) Wait() error {
	s.q.Wait()
	s.poll()
	return s.err
}

// finish ends a walk that has met everything.
func (s *SnapshotWriter) finish() {
	s.sn.End()
	s.handOver()
}

// handOver gives all that is left to the queue.
func (s *SnapshotWriter) handOver() {
	s.main.buf = s.f.Tail(s.main.buf)
	s.main.flush()
	s.q.Close()
	s.state = committing
}

// Cancel ends the snapshot, and the destination is aborted. It has no effect once the destination
// is being committed.
func (s *SnapshotWriter) Cancel() { s.stop(ErrCancelled) }

func (s *SnapshotWriter) stop(err error) {
	switch s.state {
	case walking:
		s.sn.End()
		s.open, s.waiting, s.main.buf, s.side = nil, nil, nil, stream{}
	case committing:
		if err == ErrCancelled {
			// It may still be writing: then this reaches it in time.
			s.q.Abort()
			s.thawAll()
		}
		return
	default:
		return
	}
	s.err = err
	s.q.Abort()
	s.thawAll()
	s.state = committing
}

// poll learns whether the destination is done.
func (s *SnapshotWriter) poll() {
	if s.state != committing {
		return
	}
	s.thaw()
	if done, err := s.q.Over(); done {
		if s.err == nil {
			s.err = err
		}
		s.thawAll()
		s.state = over
	}
}

// Over reports whether the snapshot has come to its end, and how.
func (s *SnapshotWriter) Over() (done bool, err error) {
	s.poll()
	return s.state == over, s.err
}

// Progress returns how far the snapshot is.
func (s *SnapshotWriter) Progress() Progress {
	return Progress{Keys: s.keys, Total: s.total, Bytes: s.bytes, Buffered: s.held(),
		Started: s.started}
}

// Held returns the bytes in Go's heap that wait for other keys to end. What else is copied lies
// in the arena.
func (s *SnapshotWriter) Held() int64 { return s.side.bytes + s.pending }

// held returns the memory in bytes that waits for other keys to end, or is kept for long
// strings.
func (s *SnapshotWriter) held() int64 {
	n := s.Held() + s.ks.Heap.FrozenBytes()
	for _, r := range s.waiting[:min(len(s.waiting), 16)] { // there may be very many
		n += r.copied()
	}
	if s.open != nil {
		n += s.open.copied()
	}
	return n
}

// Preserve implements keyspace.Saver.
func (s *SnapshotWriter) Preserve(db int, e object.Entry) {
	s.keys++
	if !s.inSlice {
		s.foreign++
	}
	if e.Encoding().Large() {
		s.capture(db, e)
		return
	}
	to := &s.main
	if s.open != nil {
		to = &s.side
	}
	to.enter(db)
	if s.freeze(to, e) {
		return
	}
	to.buf = s.f.Key(to.buf, e)
	to.wrote()
}
