package keyspace

import (
	"slices"

	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// A snapshot saves every key as it was when it began, while commands go on.
//
// Each begins a new epoch. Entries are marked with the epoch that they were saved or born in, so
// the older ones are still to be saved. A walk over all databases (Snapshot.Walk) shows each of
// them to the Saver and marks it. A command that is about to change, move or remove an entry shows
// it first (DB.preserve). Marks decide, not positions: it does not matter what the walk meets
// twice, or has passed before. Large collections do the same with their elements (object.Capture).
//
// preserve is called in set, SetInt, SetDeadline, growing, drop and transfer, through which
// everything goes that changes keys, and by object.Edit before it changes a value. Flush does not
// call it: the walk drains the store that it drops. What a lookup notes of an access is not worth
// saving.

// Saver takes the keys of a snapshot.
type Saver interface {
	// Preserve is called once for each key that was there when the snapshot began, with the number
	// that its database had then, before anything of it changes. The Saver copies a small value.
	// For a large one it takes a Capture, and a long string may be frozen.
	Preserve(db int, e object.Entry)
}

// SavedDB is a database at the beginning of a snapshot.
type SavedDB struct {
	ID, Keys, Expires int
}

// Snapshot is a running snapshot of all databases, or of some slots of all databases.
type Snapshot struct {
	DBs []SavedDB // those that had keys

	ks       *Keyspace
	slots    *slot.Set // those that are saved, nil for all
	saver    Saver
	parts    []part
	at       int    // the part that is being walked
	cursor   uint64 // in it
	refs     []arena.Ref
	captures []*object.Capture

	collect func(r arena.Ref)
	release func(r arena.Ref)
}

// part is the keys of one database as they were when the snapshot began.
type part struct {
	store   *store
	home    int
	flushed bool // no database's any more: it is freed as it is saved
}

// walkBatch is how many entries are brought into the cache at once.
const walkBatch = 32

// BeginSnapshot begins a snapshot; one at a time may run. With slots, nil means all of them; a set
// limits the snapshot to its keys. The set must not change meanwhile.
func (ks *Keyspace) BeginSnapshot(s Saver, slots *slot.Set) *Snapshot {
	ks.endRenewal()
	if ks.cancelled >= maxCancelled {
		for ks.RenewSlice(1 << 10) {
		}
	}
	return ks.beginSnapshot(s, slots)
}

func (ks *Keyspace) beginSnapshot(s Saver, slots *slot.Set) *Snapshot {
	if ks.snap != nil || ks.shadow != nil {
		panic("keyspace: a snapshot is running, or there is a shadow")
	}
	ks.Heap.SetEpoch((ks.Heap.Epoch+1)%object.EpochEnd, true)
	sn := &Snapshot{ks: ks, saver: s, slots: slots}
	for _, db := range ks.dbs {
		db.home = db.id
		if keys, expires := db.store.lenIn(slots); keys > 0 {
			sn.parts = append(sn.parts, part{store: db.store, home: db.id})
			sn.DBs = append(sn.DBs, SavedDB{db.id, keys, expires})
		}
	}
	sn.collect = func(r arena.Ref) { sn.refs = append(sn.refs, r) }
	sn.release = func(r arena.Ref) {
		sn.show(r)
		ks.freeRef(r)
	}
	ks.snap, ks.Heap.Partial = sn, slots != nil
	ks.watch()
	return sn
}

// preserve is called before the entry, or what it owns, changes in any way.
func (db *DB) preserve(e object.Entry) {
	if db.ks.watching {
		db.watched(e)
	}
}

// watch notes whether anybody has to know of changes before they are made.
func (ks *Keyspace) watch() { ks.watching = ks.snap != nil || ks.sizes != nil }

// watched tells those who have to know that the entry is about to change.
func (db *DB) watched(e object.Entry) {
	if z := db.ks.sizes; z != nil {
		z.changing(db.store, e)
	}
	if sn := db.ks.snap; sn != nil {
		sn.preserve(db.home, e)
	}
}

// preserve shows the entry of a database to the Saver, if that is still to be done.
func (sn *Snapshot) preserve(home int, e object.Entry) {
	if e.Epoch() == sn.ks.Heap.Epoch {
		return
	}
	if sn.slots == nil || sn.slots.Has(slot.Of(e.Key())) {
		sn.saver.Preserve(home, e)
	}
	e.SetEpoch(sn.ks.Heap.Epoch)
}

// show is preserve for the entry of the part that is walked.
func (sn *Snapshot) show(r arena.Ref) {
	sn.preserve(sn.parts[sn.at].home, object.View(sn.ks.A, r))
}

// Walk goes on for about n steps and reports whether all entries are shown. A step is an entry, or
// a place in a table.
func (sn *Snapshot) Walk(n int) (done bool) {
	for n > 0 && sn.at < len(sn.parts) {
		p := &sn.parts[sn.at]
		if p.flushed {
			if !p.store.drain(n, sn.release) {
				return false
			}
			n -= walkBatch
		} else {
			steps, end := sn.gather(p.store)
			for _, r := range sn.refs {
				sn.ks.A.Prefetch(r, 0)
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

// gather collects the entries of the next steps of the walk. It returns how many steps these were,
// and whether they were the last.
func (sn *Snapshot) gather(s *store) (steps int, end bool) {
	sn.refs = sn.refs[:0]
	for len(sn.refs) < walkBatch && steps < walkBatch {
		steps++
		sn.cursor = s.scanIn(sn.cursor, sn.slots, sn.collect)
		if sn.cursor == 0 {
			return steps, true
		}
	}
	return steps, false
}

// keeps reports whether the store that is being flushed is the snapshot's from now on.
func (sn *Snapshot) keeps(s *store) bool {
	if sn == nil {
		return false
	}
	for i := sn.at; i < len(sn.parts); i++ {
		if p := &sn.parts[i]; p.store == s {
			p.flushed = true
			return true
		}
	}
	return false
}

// keepsSlot is keeps for the keys of a slot that were taken out of a store.
func (sn *Snapshot) keepsSlot(of *store, i int, s *store) bool {
	if sn == nil || sn.slots != nil && !sn.slots.Has(i) {
		return false
	}
	for k := sn.at; k < len(sn.parts); k++ {
		if p := &sn.parts[k]; p.store == of {
			sn.parts = append(sn.parts, part{store: s, home: p.home, flushed: true})
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
	if sn.at == len(sn.parts) && len(sn.captures) == 0 && sn.slots == nil {
		ks.cancelled = 0
	} else {
		ks.cancelled++
	}
	for len(sn.captures) > 0 {
		sn.Release(sn.captures[len(sn.captures)-1])
	}
	for _, p := range sn.parts[sn.at:] {
		if p.flushed {
			ks.queueStore(p.store, ks.keys())
		}
	}
	ks.snap, ks.Heap.Partial = nil, false
	ks.watch()
	ks.Heap.SetEpoch(ks.Heap.Epoch, false)
}

// Snapshotting reports whether a snapshot runs, other than a renewal.
func (ks *Keyspace) Snapshotting() bool { return ks.snap != nil && ks.renewal == nil }
