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
// When that begins with keys there, slots are measured one after the other, in slices: entries of
// slots that are not measured yet count nowhere.
//
// A key that is written again and again costs a comparison. Some entries stay open until others
// need their places: more than commands hold open at once.

// openSizes is how many entries are open at most. A command changes up to eight at a time.
const openSizes = 16

// sizes knows the entries that count nowhere at the moment.
type sizes struct {
	ks   *Keyspace
	open [openSizes]openSize // a ring
	next int
	// measured is the number of slots, from the first one on, whose sizes are known.
	measured int
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
	if i >= z.measured {
		return
	}
	s.slots.grow(i, -z.ks.Heap.Size(e))
	z.add(s, i, e.Ref)
}

// add opens an entry that counts nowhere yet.
func (z *sizes) add(s *store, slot int, r arena.Ref) {
	if slot >= z.measured {
		return
	}
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

// KeepSizes begins or ends to keep the sizes of slots. MeasureSlots must follow until it says that
// all are known. Without slots it does nothing.
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
	}
	if on && ks.keys() == 0 {
		ks.sizes.measured = slot.Count
	}
	ks.Heap.Sizing = on
	ks.watch()
}

// MeasureSlots measures some of the slots whose sizes are not known yet: whole slots, until it has
// seen n slots and entries. It reports whether there are more.
func (ks *Keyspace) MeasureSlots(n int) (more bool) {
	z := ks.sizes
	if z == nil {
		return false
	}
	for ; z.measured < slot.Count && n > 0; z.measured++ {
		n--
		for _, db := range ks.dbs {
			if t := db.store.slots; t != nil {
				n -= t.at(z.measured).Len()
				t.setSize(z.measured, ks.measure(t, z.measured))
			}
		}
	}
	return z.measured < slot.Count
}

// MeasurePending reports whether MeasureSlots has something to do.
func (ks *Keyspace) MeasurePending() bool {
	return ks.sizes != nil && ks.sizes.measured < slot.Count
}

// setSize sets the size of slot i, if it has a dict.
func (t *slotTable) setSize(i int, n int64) {
	if p := t.pages[i/pageSlots].dicts; p != nil {
		p[i%pageSlots].size = n
	}
}

// measure returns the size of slot i by its entries.
func (ks *Keyspace) measure(t *slotTable, i int) (n int64) {
	eachOf(t.at(i), func(r arena.Ref) { n += ks.Heap.Size(object.View(ks.A, r)) })
	return n
}

// SlotSize returns the bytes that keys and values of a slot take, 0 if that is not known. O(1).
func (db *DB) SlotSize(i int) int64 {
	if db.ks.sizes == nil || db.store.slots == nil || i >= db.ks.sizes.measured {
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
		for i := range ks.sizes.measured {
			if sum := ks.measure(t, i); t.size(i) != sum {
				err = fmt.Errorf("database %d, slot %d: %d bytes, %d counted", db.id, i, sum,
					t.size(i))
			}
		}
	}
	return err
}
