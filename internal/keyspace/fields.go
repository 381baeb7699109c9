package keyspace

import (
	"math"

	"godwit/internal/object"
)

// Fields of hashes expire like keys: lookups take fields away that are due, and a second timing wheel finds the rest. Its records name hashes, not
// fields: each hash with deadlines has one that fires when its first field falls due or earlier, and then takes its fields in order from the
// hash itself.
//
// A hash knows when the two nearest records that it counts on fire (Fields.Armed). A record that fires at another time is stale and dropped. The second
// one is why a hash with one far deadline and a near one that is set again and again does not fill the wheel with copies of the far one.

const (
	// lookupFields is how many due fields of a hash a lookup takes away at most. Those beyond it are invisible, and the next slices take them.
	lookupFields = 256
	// sliceFields is how many due fields one record takes away before others have their turn.
	sliceFields = 16
)

// ArmFields must be called after a field of the hash of x was given a deadline.
func (db *DB) ArmFields(x *object.Edit) {
	h := object.AsHash(x)
	next, ok := h.NextDeadline()
	if !ok {
		return
	}
	at := wakeAt(next)
	armed := h.Armed()
	if armed[0] != 0 && armed[0] <= at {
		return // that one fires early enough, and arms the next
	}
	h.SetArmed([2]int64{at, armed[0]})
	db.addFields(at, x)
}

func (db *DB) addFields(at int64, x *object.Edit) {
	ks := db.ks
	ks.fields.Add(at, ks.Hash(x.E.Key()), db.wheelID)
	ks.dueAt = min(ks.dueAt, at)
}

// rearmFields arms a hash that has come under another name: no record stands for it.
func (db *DB) rearmFields(e object.Entry) {
	if !db.ks.Heap.HasFieldDeadlines(e) {
		return
	}
	x := &db.ks.fieldEdit
	x.Reset(db.ks.Heap, e, db)
	object.AsHash(x).SetArmed([2]int64{})
	db.ArmFields(x)
}

// expireFields takes up to budget due fields from the hash e and tells the hooks. It returns the entry, which may have moved; the zero Entry if
// the hash lost its last field.
func (db *DB) expireFields(e object.Entry, budget int) object.Entry {
	ks := db.ks
	x := &ks.fieldEdit
	x.Reset(ks.Heap, e, db)
	h := object.AsHash(x)
	key := append(ks.keyBuf[:0], e.Key()...)
	ks.keyBuf = key
	n := h.ExpireDue(budget, func(field []byte) { ks.hooks.FieldExpired(key, field, db.id) })
	if n == 0 {
		return x.E
	}
	ks.Stats.ExpiredFields += int64(n)
	ks.Notify(EvHash, "hexpired", key, db.id)
	gone := h.Empty()
	if gone {
		db.drop(ks.Hash(key), x.E, ks.P.LazyExpire)
		x.E = object.Entry{}
		ks.Notify(EvGeneric, "del", key, db.id)
	}
	ks.hooks.KeyChanged(key, db.id)
	return x.E
}

// fireFields handles one record of the wheel of fields.
func (ks *Keyspace) fireFields(at int64, hash uint64, wheelID uint16) {
	db := ks.byWheel[wheelID]
	ks.dueHash, ks.firedAt = hash, at
	r := db.dict.Find(hash, nil)
	ks.firedAt = 0
	if r == 0 {
		return // stale
	}
	x := &ks.fieldEdit
	x.Reset(ks.Heap, object.View(ks.A, r), db)
	h := object.AsHash(x)
	h.SetArmed([2]int64{h.Armed()[1], 0})
	if e := db.expireFields(x.E, sliceFields); e.Exists() {
		x.Reset(ks.Heap, e, db)
		db.ArmFields(x)
	}
}

// advance runs both wheels.
func (ks *Keyspace) advance(budget int) (more bool) {
	more = ks.wheel.Advance(ks.now, budget, ks.fire)
	return ks.fields.Advance(ks.now, max(budget/sliceFields, 1), ks.fireFields) || more
}

// nextDue is a lower bound of when either wheel has something to do, MaxInt64 for never.
func (ks *Keyspace) nextDue() int64 {
	at := int64(math.MaxInt64)
	if ms, ok := ks.wheel.Next(); ok {
		at = ms
	}
	if ms, ok := ks.fields.Next(); ok {
		at = min(at, ms)
	}
	return at
}
