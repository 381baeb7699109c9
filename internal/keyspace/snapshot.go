package keyspace

import (
	"slices"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/object"
)

// A snapshot saves every key as it was when it began, while commands go on.
//
// Each begins a new epoch. Entries are marked with the epoch that they were saved or born in, so the older ones are what is still to be saved. A walk over
// all tables (Snapshot.Walk) shows each of them to the Saver and marks it; a command that is about to change, move or remove one shows it first
// (DB.preserve). Marks decide, not positions: what the walk meets twice, or passes before it is there, does not matter. Large collections do the same
// with their elements (object.Capture).
//
// preserve is called in set, SetInt, SetDeadline, growing, drop and transfer, which everything goes through that changes keys, and by
// object.Edit before it changes a value. Flush does not call it: the table it drops is drained by the walk. What a lookup stores of an access is
// not worth saving.

// Saver takes the keys of a snapshot.
type Saver interface {
	// Preserve is called once for each key that was there when the snapshot began, with the number that its database had then, before anything of it
	// changes. A small value has to be copied; for a large one the Saver takes a Capture, and a long string may be frozen.
	Preserve(db int, e object.Entry)
}

// SavedDB is a database at the beginning of a snapshot.
type SavedDB struct {
	ID, Keys, Expires int
}

// Snapshot is a running snapshot of all databases.
type Snapshot struct {
	DBs []SavedDB // those that had keys

	ks       *Keyspace
	saver    Saver
	parts    []part
	at       int    // the part that is being walked
	cursor   uint64 // in it
	refs     []arena.Ref
	captures []*object.Capture

	collect func(r arena.Ref)
	release func(r arena.Ref)
}

// part is the table of one database as it was when the snapshot began.
type part struct {
	dict    *dict.Dict
	home    int
	flushed bool // no database's any more: it is freed as it is saved
}

const (
	// maxCancelled keeps epochs apart: after that many snapshots that marked only a part, entries and elements may carry so many different ones.
	maxCancelled = object.EpochEnd - 8
	// walkBatch is how many entries are brought into the cache at once.
	walkBatch = 32
)

// BeginSnapshot begins a snapshot; one at a time may run.
func (ks *Keyspace) BeginSnapshot(s Saver) *Snapshot {
	if ks.cancelled >= maxCancelled {
		ks.sweep()
	}
	return ks.beginSnapshot(s)
}

func (ks *Keyspace) beginSnapshot(s Saver) *Snapshot {
	if ks.snap != nil {
		panic("keyspace: a snapshot is running")
	}
	ks.Heap.SetEpoch((ks.Heap.Epoch+1)%object.EpochEnd, true)
	sn := &Snapshot{ks: ks, saver: s}
	for _, db := range ks.dbs {
		db.home = db.id
		if n := db.dict.Len(); n > 0 {
			sn.parts = append(sn.parts, part{dict: db.dict, home: db.id})
			sn.DBs = append(sn.DBs, SavedDB{db.id, n, db.expires})
		}
	}
	sn.collect = func(r arena.Ref) { sn.refs = append(sn.refs, r) }
	sn.release = func(r arena.Ref) {
		sn.show(r)
		ks.freeRef(r)
	}
	ks.snap = sn
	return sn
}

// sweep marks everything with one epoch. It takes as long as a snapshot, in one go: once in more than a hundred cancelled ones.
func (ks *Keyspace) sweep() {
	sw := &sweeper{}
	sw.snap = ks.beginSnapshot(sw)
	for !sw.snap.Walk(1 << 10) {
	}
	sw.snap.End()
}

// sweeper is a Saver that keeps nothing.
type sweeper struct{ snap *Snapshot }

func (s *sweeper) Element(*object.Element) {}

func (s *sweeper) Preserve(_ int, e object.Entry) {
	if e.Encoding().Large() {
		tr := s.snap.Capture(e, s)
		for !tr.Step(1 << 10) {
		}
		s.snap.Release(tr)
	}
}

// preserve is called before the entry, or what it owns, changes in any way.
func (db *DB) preserve(e object.Entry) {
	if sn := db.ks.snap; sn != nil && e.Epoch() != db.ks.Heap.Epoch {
		sn.saver.Preserve(db.home, e)
		e.SetEpoch(db.ks.Heap.Epoch)
	}
}

// show is preserve for the entry of the part that is walked.
func (sn *Snapshot) show(r arena.Ref) {
	if e := object.View(sn.ks.A, r); e.Epoch() != sn.ks.Heap.Epoch {
		sn.saver.Preserve(sn.parts[sn.at].home, e)
		e.SetEpoch(sn.ks.Heap.Epoch)
	}
}

// Walk shows about n more entries to the Saver, or passes as many that it has seen or empty buckets. It reports whether all are shown.
func (sn *Snapshot) Walk(n int) (done bool) {
	for n > 0 && sn.at < len(sn.parts) {
		p := &sn.parts[sn.at]
		if p.flushed {
			if !p.dict.Drain(n, sn.release) {
				return false
			}
			n -= walkBatch
		} else {
			steps, end := sn.gather(p.dict)
			for _, r := range sn.refs {
				p.dict.PrefetchRef(r)
			}
			for _, r := range sn.refs {
				sn.show(r)
			}
			n -= steps + len(sn.refs)
			if !end {
				continue
			}
		}
		sn.at++
		sn.cursor = 0
	}
	return sn.at == len(sn.parts)
}

// gather collects the entries of the next buckets and reports how many these were, and whether they were the last.
func (sn *Snapshot) gather(d *dict.Dict) (steps int, end bool) {
	sn.refs = sn.refs[:0]
	for len(sn.refs) < walkBatch && steps < walkBatch {
		steps++
		sn.cursor = d.Scan(sn.cursor, sn.collect)
		if sn.cursor == 0 {
			return steps, true
		}
	}
	return steps, false
}

// keeps reports whether the table that is being flushed is the snapshot's from now on.
func (sn *Snapshot) keeps(d *dict.Dict) bool {
	if sn == nil {
		return false
	}
	for i := sn.at; i < len(sn.parts); i++ {
		if p := &sn.parts[i]; p.dict == d {
			p.flushed = true
			return true
		}
	}
	return false
}

// Capture begins to save the large collection of an entry that Preserve was called with.
func (sn *Snapshot) Capture(e object.Entry, s object.ElementWriter) *object.Capture {
	c := sn.ks.Heap.Capture(e, s)
	sn.captures = append(sn.captures, c)
	return c
}

// Release ends the capture of a collection that is written.
func (sn *Snapshot) Release(c *object.Capture) {
	i := slices.Index(sn.captures, c)
	sn.captures = slices.Delete(sn.captures, i, i+1)
	sn.ks.freeOwned(c.Close(), true)
}

// End ends the snapshot. If it has not come to its end, that cancels it.
func (sn *Snapshot) End() {
	ks := sn.ks
	if sn.at == len(sn.parts) && len(sn.captures) == 0 {
		ks.cancelled = 0
	} else {
		ks.cancelled++
	}
	for len(sn.captures) > 0 {
		sn.Release(sn.captures[len(sn.captures)-1])
	}
	for _, p := range sn.parts[sn.at:] {
		if p.flushed {
			ks.queueDict(p.dict)
		}
	}
	ks.snap = nil
	ks.Heap.SetEpoch(ks.Heap.Epoch, false)
}

// Snapshotting reports whether a snapshot runs.
func (ks *Keyspace) Snapshotting() bool { return ks.snap != nil }
