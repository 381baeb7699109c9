package keyspace

import (
	"fmt"

	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// Sizes of slots
//
// What the keys of a slot and their values take is kept exactly, if somebody asks for that: values
// change in many places, but all of them announce it (DB.preserve). So a write costs one or two
// looks at an entry that is in the cache anyway.
//
//	before the first change   the slot's size loses that of the entry, which is open from now on
//	later changes             nothing: an open entry counts nowhere
//	much later, or when asked the slot's size gains that of the entry, which is closed
//
// So a key that is written again and again costs a comparison. Some entries stay open until others
// need their places: more than commands hold open at once.

// openSizes is how many entries are open at most. A command changes up to eight at a time.
const openSizes = 16

// sizes knows the entries that count nowhere at the moment.
type sizes struct {
	ks   *Keyspace
	open [openSizes]openSize // a ring
	next int
}

// openSize is an entry, or none if ref is 0.
type openSize struct {
	ref   arena.Ref
	store *store
	slot  int
}

// changing is called before the entry of the store changes or goes.
func (z *sizes) changing(s *store, e object.Entry) {
	for i := range z.open {
		if z.open[i].ref == e.Ref {
			return
		}
	}
	i := slot.Of(e.Key())
	s.slots.grow(i, -z.ks.Heap.Size(e))
	z.add(s, i, e.Ref)
}

// add opens an entry that counts nowhere yet.
func (z *sizes) add(s *store, slot int, r arena.Ref) {
	o := &z.open[z.next]
	z.next = (z.next + 1) % openSizes
	z.close(o)
	*o = openSize{r, s, slot}
}

// moved says that an entry is elsewhere now.
func (z *sizes) moved(old, now arena.Ref) {
	for i := range z.open {
		if z.open[i].ref == old {
			z.open[i].ref = now
		}
	}
}

// gone says that an entry is no longer in the store. changing has been called before.
func (z *sizes) gone(r arena.Ref) {
	for i := range z.open {
		if z.open[i].ref == r {
			z.open[i] = openSize{}
		}
	}
}

// close lets an entry count.
func (z *sizes) close(o *openSize) {
	if o.ref != 0 {
		o.store.slots.grow(o.slot, z.ks.Heap.Size(object.View(z.ks.A, o.ref)))
		*o = openSize{}
	}
}

// settleSizes lets all entries count.
func (ks *Keyspace) settleSizes() {
	if z := ks.sizes; z != nil {
		for i := range z.open {
			z.close(&z.open[i])
		}
	}
}

// grow adds to the size of slot i, which has a dict.
func (t *slotTable) grow(i int, n int64) { t.pages[i/pageSlots].dicts[i%pageSlots].size += n }

// noSizes forgets all sizes.
func (t *slotTable) noSizes() {
	for i := range t.pages {
		if p := t.pages[i].dicts; p != nil {
			for k := range p {
				p[k].size = 0
			}
		}
	}
}

// size returns the size of slot i.
func (t *slotTable) size(i int) int64 {
	if p := t.pages[i/pageSlots].dicts; p != nil {
		return p[i%pageSlots].size
	}
	return 0
}

// KeepSizes begins or ends to keep the sizes of slots. To begin costs a walk over all keys: O(n).
// Without slots it does nothing.
func (ks *Keyspace) KeepSizes(on bool) {
	if !ks.slots || on == (ks.sizes != nil) {
		return
	}
	ks.keepSizes(on)
	if s := ks.shadow; s != nil {
		s.ks.keepSizes(on)
	}
}

func (ks *Keyspace) keepSizes(on bool) {
	ks.sizes = nil
	if on {
		ks.sizes = &sizes{ks: ks}
	}
	for _, db := range ks.dbs {
		if t := db.store.slots; t != nil {
			t.noSizes()
		}
		if on {
			ks.measure(db.store, (*slotTable).grow)
		}
	}
	ks.Heap.Sizing = on
	ks.watch()
}

// measure calls found with the size of each slot that has keys, of entries that do not change.
func (ks *Keyspace) measure(s *store, found func(t *slotTable, i int, n int64)) {
	t := s.slots
	if t == nil {
		return
	}
	for i := t.next(0, nil); i >= 0; i = t.next(i+1, nil) {
		n := int64(0)
		eachOf(t.at(i), func(r arena.Ref) { n += ks.Heap.Size(object.View(ks.A, r)) })
		found(t, i, n)
	}
	s.resized()
}

// SlotSize returns the bytes that keys and values of a slot take, 0 if sizes are not kept. O(1).
func (db *DB) SlotSize(i int) int64 {
	if db.ks.sizes == nil || db.store.slots == nil {
		return 0
	}
	db.ks.settleSizes()
	return db.store.slots.size(i)
}

// checkSizes compares the sizes of all slots with what their entries take. O(n).
func (ks *Keyspace) checkSizes() (err error) {
	if ks.sizes == nil {
		return nil
	}
	ks.settleSizes()
	for _, db := range ks.dbs {
		t := db.store.slots
		if t == nil {
			continue
		}
		sum := map[int]int64{}
		ks.measure(db.store, func(_ *slotTable, i int, n int64) { sum[i] = n })
		for i := range slot.Count {
			if t.size(i) != sum[i] {
				err = fmt.Errorf("database %d, slot %d: %d bytes, %d counted", db.id, i, sum[i],
					t.size(i))
			}
		}
	}
	return err
}
