package keyspace

import (
	"math"

	"godwit/internal/object"
)

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
	if !ks.P.ActiveExpire || ks.held {
		return false
	}
	if ks.advance(budget) {
		return true
	}
	ks.dueAt = ks.nextDue()
	return false
}

// ExpiryDue reports whether ExpireSlice has something to do. It compares two numbers only: every turn of a loop asks.
func (ks *Keyspace) ExpiryDue() bool { return ks.dueAt <= ks.past && ks.P.ActiveExpire }

// NextDeadline is a lower bound of the next time (unix ms) at which a key falls due.
func (ks *Keyspace) NextDeadline() (int64, bool) { return ks.dueAt, ks.dueAt != math.MaxInt64 }
