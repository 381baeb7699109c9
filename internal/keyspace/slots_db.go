package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/slot"
	"godwit/internal/wheel"
)

// SlotLen returns the number of keys in a slot, those included that are due. O(1).
func (db *DB) SlotLen(i int) int {
	if t := db.store.slots; t != nil {
		return t.at(i).Len()
	}
	return 0
}

// SlotKeys calls emit for up to n entries of a slot, due ones included. emit must not change the
// keyspace. O(n), and what is empty of the slot's table.
func (db *DB) SlotKeys(i, n int, emit func(e object.Entry)) {
	t := db.store.slots
	if t == nil || n <= 0 || t.at(i).Len() == 0 {
		return
	}
	d := t.at(i)
	d.Pause++
	for cursor := uint64(0); ; {
		cursor = d.Scan(cursor, func(r arena.Ref) {
			if n > 0 {
				emit(object.View(db.ks.A, r))
			}
			n--
		})
		if cursor == 0 || n <= 0 {
			break
		}
	}
	d.Unpause()
	t.resized(i, d)
	db.store.resized()
}

// ScanSlot is Scan for the keys of a slot, with a cursor of its own.
func (db *DB) ScanSlot(
	i int, cursor uint64, emit func(e object.Entry, due bool),
) (next uint64) {
	t := db.store.slots
	if t == nil || db.ks.visible != nil && !db.ks.visible.Has(i) {
		return 0
	}
	d := t.at(i)
	next = d.Scan(cursor, func(r arena.Ref) {
		e := object.View(db.ks.A, r)
		emit(e, db.due(e))
	})
	t.resized(i, d)
	db.store.resized()
	return next
}

// slotFreedAtOnce is how many keys a slot may have to be freed at once.
const slotFreedAtOnce = 64

// FlushSlot deletes the keys of a slot and returns their number. async queues them to be freed in
// slices if they are many, else they are freed now. The hooks are not told.
func (db *DB) FlushSlot(i int, async bool) int {
	n := db.SlotLen(i)
	if n == 0 {
		return 0
	}
	ks := db.ks
	ks.settleSizes()
	old := db.store.take(i)
	ks.dropStore(old, ks.snap.keepsSlot(db.store, i, old), async && n > slotFreedAtOnce)
	return n
}

// Hide hides the keys of slots: Shown, Scan, Each and Random leave them out in all databases, and
// they are neither evicted nor deleted by ExpireSlice. Lookups find them. nil or an empty set hides
// none. The set is copied.
func (ks *Keyspace) Hide(slots *slot.Set) {
	if slots != nil && ks.hidden != nil && *slots == *ks.hidden {
		return
	}
	ks.hidden, ks.visible = nil, nil
	ks.unpark()
	if slots != nil && !slots.Empty() {
		all := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
		all.Subtract(slots)
		hidden := *slots
		ks.hidden, ks.visible = &hidden, &all
	}
}

// Hides reports whether the keys of slot i are hidden.
func (ks *Keyspace) Hides(i int) bool { return ks.hidden != nil && ks.hidden.Has(i) }

// hides reports whether the entry is hidden.
func (ks *Keyspace) hides(e object.Entry) bool {
	return ks.hidden != nil && ks.hidden.Has(slot.Of(e.Key()))
}

// parked are records that have fired while their keys were hidden. They fire again when others are
// hidden, or none. Until then wheels have fewer records than there are deadlines.
type parked struct{ keys, fields []wheel.Expiry }

// park keeps a record that has fired, if it is one of a hidden key.
func (ks *Keyspace) park(list *[]wheel.Expiry, at int64, h uint64, tag uint16) bool {
	if ks.hidden == nil || !ks.hidden.Has(slotOf(h)) {
		return false
	}
	*list = append(*list, wheel.Expiry{Deadline: at, Hash: h, DB: tag})
	return true
}

// unpark puts the records back.
func (ks *Keyspace) unpark() {
	for _, r := range ks.parked.keys {
		ks.wheel.Add(r.Deadline, r.Hash, r.DB)
		ks.dueAt = min(ks.dueAt, r.Deadline)
	}
	for _, r := range ks.parked.fields {
		ks.fields.Add(r.Deadline, r.Hash, r.DB)
		ks.dueAt = min(ks.dueAt, r.Deadline)
	}
	ks.parked = parked{}
}

// ShownExpires returns the number of keys with a deadline that are not hidden.
func (db *DB) ShownExpires() int {
	n := db.store.expires
	if db.ks.hidden != nil {
		_, expires := db.store.lenIn(db.ks.hidden)
		n -= expires
	}
	return n
}

// Shown returns the number of keys that are not hidden, those included that are due.
func (db *DB) Shown() int {
	n := db.store.len()
	if db.ks.hidden != nil {
		keys, _ := db.store.lenIn(db.ks.hidden)
		n -= keys
	}
	return n
}
