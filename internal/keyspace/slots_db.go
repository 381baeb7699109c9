package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/slot"
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

// Hide hides the keys of slots: Shown, Scan, Each and Random leave them out in all databases.
// Lookups find them. nil or an empty set hides none. The set is copied.
func (ks *Keyspace) Hide(slots *slot.Set) {
	ks.hidden, ks.visible = nil, nil
	if slots != nil && !slots.Empty() {
		all := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
		all.Subtract(slots)
		hidden := *slots
		ks.hidden, ks.visible = &hidden, &all
	}
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
