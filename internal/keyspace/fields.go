package keyspace

import (
	"bytes"
	"math"

	"godwit/internal/object"
)

// Fields of hashes expire like keys: lookups take due fields away, and a second timing wheel finds
// the rest. Its records name hashes, not fields. Each hash with deadlines has a record that fires
// when its first field falls due or earlier. Then the fields are taken in order from the hash
// itself.
//
// A hash knows the two nearest records that it counts on (Fields.Armed): when they fire, and their
// generation. Any other record is dead and dropped when it fires, or by a sweep (records.go). The
// second one is why a hash with one far deadline and a near one that is set again and again does
// not fill the wheel with copies of the far one.

const (
	// lookupFields is how many due fields of a hash a lookup takes away at most. Those beyond it
	// are invisible; the next slices take them.
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
	at = min(at, maxArmed)
	armed := h.Armed()
	if armed[0] != 0 && armed[0]>>object.GenBits <= at {
		return // that one fires early enough, and arms the next
	}
	ks := db.ks
	gen := ks.newGen(byte(armed[0] & (1<<object.GenBits - 1)))
	hash := ks.Hash(x.E.Key())
	db.setArmed(hash, h, [2]int64{armedAt(at, gen), armed[0]})
	ks.fields.Add(at, hash, db.tag(gen))
	ks.dueAt = min(ks.dueAt, at)
	ks.fields.pay(ks.now)
}

// maxArmed is the latest time at which a record of fields fires, in unix ms; deadlines after that
// take several records, one after the other.
const maxArmed = 1 << 50

// armedAt returns how a hash notes a record that fires at the time with the generation.
func armedAt(at int64, gen byte) int64 { return at<<object.GenBits | int64(gen) }

// armedRecords returns how many records are noted.
func armedRecords(a [2]int64) (n int) {
	for _, v := range a {
		if v != 0 {
			n++
		}
	}
	return n
}

// setArmed notes other records with the value of a key of the database.
func (db *DB) setArmed(hash uint64, h object.Fields, a [2]int64) {
	is, was := armedRecords(a), armedRecords(h.Armed())
	db.countArmed(hash, is-was, min(is, 1)-min(was, 1))
	h.SetArmed(a)
}

// disarm is called before the entry, or its value, leaves the database: nobody counts on its
// records any more.
func (db *DB) disarm(hash uint64, e object.Entry) {
	if n := armedRecords(db.ks.Heap.Armed(e)); n != 0 {
		db.countArmed(hash, -n, -1)
	}
}

// TimedHashes returns how many hashes have fields with deadlines. One whose deadlines were all
// taken away counts until the first of them would have passed.
func (db *DB) TimedHashes() int { return db.store.timed }

// TimedFields returns a number that is 0 only if TimedHashes is in all databases, and how often a
// hash has got its first deadline. O(1).
func (ks *Keyspace) TimedFields() (now int, ever int64) { return ks.fields.live, ks.timedEver }

// countArmed counts records of fields, and hashes that count on any, which come or go.
func (db *DB) countArmed(hash uint64, records, hashes int) {
	db.store.armed += records
	db.store.timed += hashes
	if t := db.store.slots; t != nil {
		c := t.tally(slotOf(hash))
		c.armed += records
		c.timed += hashes
	}
	db.ks.fields.live += records
	db.ks.timedEver += int64(max(hashes, 0))
}

// rearmFields arms a hash that has come under another name: what is noted with it are another's
// records.
func (db *DB) rearmFields(e object.Entry) {
	heap := db.ks.Heap
	if heap.Armed(e) != [2]int64{} {
		heap.SetArmed(e, [2]int64{})
	}
	if !heap.HasFieldDeadlines(e) {
		return
	}
	x := &db.ks.fieldEdit
	x.Reset(heap, e, db)
	db.ArmFields(x)
}

// FieldNames are names of fields: every Step-th of List.
type FieldNames struct {
	List [][]byte
	Step int
}

// NotifyFields announces an event of a hash, which has changed these fields.
func (ks *Keyspace) NotifyFields(event string, key []byte, fields FieldNames, db int) {
	ks.Notify(EvHash, event, key, db)
	if ks.P.FieldEvents && len(fields.List) > 0 {
		ks.hooks.FieldEvent(event, key, fields, db)
	}
}

// expireFields takes up to budget due fields from the hash e and tells the hooks. It returns the
// entry, which may have moved, or the zero Entry if the hash lost its last field.
func (db *DB) expireFields(e object.Entry, budget int) object.Entry {
	ks := db.ks
	x := &ks.fieldEdit
	x.Reset(ks.Heap, e, db)
	h := object.AsHash(x)
	key := ks.keep(e.Key())
	var names [][]byte
	n := h.ExpireDue(budget, func(field []byte) {
		ks.hooks.FieldExpired(key, field, db.id)
		if ks.P.FieldEvents {
			names = append(names, bytes.Clone(field))
		}
	})
	if n == 0 {
		return x.E
	}
	ks.Stats.ExpiredFields += int64(n)
	ks.NotifyFields("hexpired", key, FieldNames{List: names, Step: 1}, db.id)
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
func (ks *Keyspace) fireFields(at int64, hash uint64, tag uint16) {
	if ks.park(&ks.parked.fields, at, hash, tag) {
		return
	}
	db, gen := ks.untag(tag)
	was := armedAt(at, gen)
	e := db.byHash(seek{kind: seekFields, hash: hash, at: was})
	if !e.Exists() {
		return // dead
	}
	x := &ks.fieldEdit
	x.Reset(ks.Heap, e, db)
	h := object.AsHash(x)
	a := h.Armed()
	if a[0] == was {
		a[0] = a[1]
	}
	db.setArmed(hash, h, [2]int64{a[0], 0})
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

// nextDue returns a lower bound of when either wheel has something to do, MaxInt64 for never.
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
