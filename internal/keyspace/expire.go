package keyspace

import (
	"math"

	"godwit/internal/object"
)

// ExpireMode says what time may do to keys, and fields of hashes, whose deadline has passed.
type ExpireMode uint8

// The modes.
const (
	// ExpireDelete deletes what is due. Lookups delete what they meet, ExpireSlice the rest.
	ExpireDelete ExpireMode = iota
	// ExpireHide reports what is due as missing, but leaves it, because another server says when it
	// goes, or the data has to stand still. DB.Len counts it. Only a write to a key deletes the key
	// first if it is due.
	ExpireHide
	// ExpireIgnore lets time stand still for deadlines: what is due is there like all else. While
	// a log is replayed, a command must meet the state in which it was logged.
	ExpireIgnore
)

// SetExpireMode sets the mode and returns the one before.
func (ks *Keyspace) SetExpireMode(m ExpireMode) (was ExpireMode) {
	was, ks.mode = ks.mode, m
	if m == ExpireIgnore {
		ks.past, ks.Heap.Now = math.MinInt64, math.MinInt64
	} else {
		ks.SetClocks(ks.now, ks.steady)
	}
	return was
}

// ExpireMode returns the mode.
func (ks *Keyspace) ExpireMode() ExpireMode { return ks.mode }

// live is find for those who read: it expires lazily where time may delete.
func (db *DB) live(key []byte) (uint64, object.Entry) {
	h, e := db.find(key)
	if e.Exists() {
		if db.due(e) {
			if db.ks.mode == ExpireDelete {
				db.expire(h, e)
			}
			return h, object.Entry{}
		}
		if db.ks.mode == ExpireDelete && db.ks.Heap.FieldsDue(e) {
			return h, db.expireFields(e, lookupFields)
		}
	}
	return h, e
}

// liveToWrite is find for those who write. They never meet what is due, so it is deleted even where
// time only hides.
func (db *DB) liveToWrite(key []byte) (uint64, object.Entry) {
	h, e := db.live(key)
	if db.ks.mode != ExpireHide {
		return h, e
	}
	switch h, e = db.find(key); {
	case e.Exists() && db.due(e):
		db.expire(h, e)
		return h, object.Entry{}
	case e.Exists() && db.ks.Heap.FieldsDue(e):
		return h, db.expireFields(e, lookupFields)
	}
	return h, e
}

// due reports whether the deadline of the entry has passed.
func (db *DB) due(e object.Entry) bool {
	d := e.Deadline()
	return d != 0 && d < db.ks.past
}

// Has reports whether there is an entry with the key, live or due.
func (db *DB) Has(key []byte) bool {
	_, e := db.find(key)
	return e.Exists()
}

// Holds reports whether there is such a key that is not due. It changes nothing.
func (db *DB) Holds(key []byte) bool {
	_, e := db.find(key)
	return e.Exists() && !db.due(e)
}

// Due reports whether there is an entry with the key whose deadline has passed. It stays.
func (db *DB) Due(key []byte) bool {
	_, e := db.find(key)
	return e.Exists() && db.due(e)
}

// expire deletes a key whose deadline has passed and tells the hooks.
func (db *DB) expire(h uint64, e object.Entry) {
	ks := db.ks
	ks.Stats.Expired++
	key := ks.keep(e.Key())
	db.drop(h, e, ks.P.LazyExpire)
	ks.hooks.Removed(key, db.id, false)
	ks.Notify(EvExpired, "expired", key, db.id)
	ks.hooks.KeyChanged(key, db.id)
}

// keptKey is the longest key in bytes whose copy's memory is used again.
const keptKey = 16 << 10

// keep copies a key that must outlive its entry; the copy is valid until the next call.
func (ks *Keyspace) keep(key []byte) []byte {
	if len(key) > keptKey {
		return append([]byte(nil), key...)
	}
	ks.keyBuf = append(ks.keyBuf[:0], key...)
	return ks.keyBuf
}

// ExpireSlice deletes keys and fields that are due, at most budget records' worth, and reports
// whether more are due now. The next slice goes on where it ends, in order of deadlines.
func (ks *Keyspace) ExpireSlice(budget int) (more bool) {
	if !ks.P.ActiveExpire || ks.mode != ExpireDelete {
		return false
	}
	if ks.advance(budget) {
		return true
	}
	ks.dueAt = ks.nextDue()
	return false
}

// ExpiryDue reports whether ExpireSlice has something to do. It compares a few numbers only: every
// turn of a loop asks.
func (ks *Keyspace) ExpiryDue() bool {
	return ks.dueAt <= ks.past && ks.P.ActiveExpire && ks.mode == ExpireDelete
}

// NextDeadline returns a lower bound of the next time (unix ms) at which a key falls due, if time
// may delete it then.
func (ks *Keyspace) NextDeadline() (int64, bool) {
	return ks.dueAt, ks.dueAt != math.MaxInt64 && ks.mode == ExpireDelete
}
