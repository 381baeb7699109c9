package keyspace

import (
	"math"

	"godwit/internal/object"
)

// expire deletes a key whose deadline has passed and tells the hooks.
func (db *DB) expire(h uint64, e object.Entry) {
	ks := db.ks
	ks.Stats.Expired++
	key := append(ks.keyBuf[:0], e.Key()...)
	ks.keyBuf = key
	db.drop(h, e, ks.P.LazyExpire)
	ks.hooks.Removed(key, db.id, false)
	ks.Notify(EvExpired, "expired", key, db.id)
	ks.hooks.KeyChanged(key, db.id)
}

// ExpireSlice deletes keys and fields that are due, at most budget records' worth, and reports whether more are due now. It is exact: what
// it does not reach is reached by the next slice, in order of deadline.
func (ks *Keyspace) ExpireSlice(budget int) (more bool) {
	if !ks.P.ActiveExpire || ks.held {
		return false
	}
	ks.due = ks.now
	if ks.advance(budget) {
		return true
	}
	ks.dueAt = ks.nextDue()
	return false
}

// ExpiryDue reports whether ExpireSlice has something to do. It compares two numbers only: every turn of a loop asks.
func (ks *Keyspace) ExpiryDue() bool { return ks.dueAt <= ks.past && ks.P.ActiveExpire }

// maxTagged is how many databases leave room for a generation in a wheel record's 16-bit tag.
const maxTagged = 1 << (16 - object.GenBits)

// tag is what a wheel record says of its entry: which content it is in and the entry's generation.
func (db *DB) tag(gen byte) uint16 {
	if len(db.ks.dbs) > maxTagged {
		return db.wheelID
	}
	return db.wheelID | uint16(gen)<<(16-object.GenBits)
}

// wakeAt is when a key with the deadline is gone: in the ms after it, as far as there is one.
func wakeAt(deadline int64) int64 { return min(deadline, math.MaxInt64-1) + 1 }

// arm adds a wheel record for the entry. Its generation tells the record from older ones of the same key, which
// are dropped when they fire: so a key has one live record, however often its deadline moves.
func (db *DB) arm(h uint64, e object.Entry, deadline int64) {
	gen := e.NextGen()
	e.SetFlag(object.FlagWheel)
	db.ks.wheel.Add(wakeAt(deadline), h, db.tag(gen))
	// The wheel may have records to move to lower levels before that; they are not late if it moves them then.
	db.ks.dueAt = min(db.ks.dueAt, wakeAt(deadline))
}

// fire handles one record of the timing wheel: the key is deleted, or put back when its deadline has moved.
func (ks *Keyspace) fire(_ int64, h uint64, tag uint16) {
	wheelID := tag
	if len(ks.dbs) <= maxTagged {
		wheelID &= maxTagged - 1
	}
	db := ks.byWheel[wheelID]
	ks.dueHash = h
	if r := db.dict.Find(h, nil); r != 0 {
		db.expire(h, object.View(ks.A, r))
		return
	}
	// Not due any more: put it back if it is the record that the entry counts on.
	ks.due = math.MaxInt64
	if r := db.dict.Find(h, nil); r != 0 {
		if e := object.View(ks.A, r); db.tag(e.Gen()) == tag {
			ks.wheel.Add(wakeAt(e.Deadline()), h, tag)
		}
	}
	ks.due = ks.now
}

// NextDeadline is a lower bound of the next time (unix ms) at which a key falls due.
func (ks *Keyspace) NextDeadline() (int64, bool) { return ks.dueAt, ks.dueAt != math.MaxInt64 }

// resetWheel drops dead records after a flush: of keys when none has a deadline, of fields when there is no key at all.
func (ks *Keyspace) resetWheel() {
	keys := 0
	for _, db := range ks.dbs {
		keys += db.dict.Len()
	}
	if keys == 0 {
		ks.fields.Reset(ks.now)
		ks.dueAt = ks.now
	}
	for _, db := range ks.dbs {
		if db.expires > 0 {
			return
		}
	}
	ks.wheel.Reset(ks.now)
	ks.dueAt = ks.now // the dead records are freed in slices
}

// resized notes that the database's table may be being resized; every call that may have started it is followed by this one. So a slice without
// work need not look at every database.
func (db *DB) resized() {
	if !db.inRehash && db.dict.Rehashing() {
		db.inRehash = true
		db.ks.rehash = append(db.ks.rehash, db)
	}
}

// RehashPending reports whether RehashSlice may have something to do.
func (ks *Keyspace) RehashPending() bool { return len(ks.rehash) > 0 }

// RehashSlice moves about n buckets of each table that is being resized and reports whether more are to be moved.
func (ks *Keyspace) RehashSlice(n int) (more bool) {
	keep := ks.rehash[:0]
	for _, db := range ks.rehash {
		if db.dict.Rehashing() && db.dict.RehashSlice(n) {
			more = true
		}
		// A table that is scanned may not be moved now: it stays on the list.
		if db.inRehash = db.dict.Rehashing(); db.inRehash {
			keep = append(keep, db)
		}
	}
	clear(ks.rehash[len(keep):])
	ks.rehash = keep
	return more
}
