package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/slot"
)

// slotTable is a dict for each of the 16384 slots of a cluster, so that a slot can be counted,
// walked and dropped alone.
//
//	groups[32]     keys of 32 pages each
//	pages[1024]    keys of 16 slots each, and where their dicts are
//	 └─ slotDict   a dict: 128 bytes, two cache lines
//
// A page's dicts are made with its first key, and a dict's table with its own. So a database
// without keys has no slotTable, one of few keys 24 KiB and 32 KiB of dicts, one with keys in all
// slots 2 MiB. Dicts of a page are kept when their keys are gone.
//
// The slot is a part of the hash (Keyspace.Hash): bits 33 to 46. A dict looks only at those below,
// and records of the timing wheel keep those up to 47. So a hash still is all that a lookup, a
// record or a candidate for eviction has to carry. Cursors hold the slot below the dict's cursor.
//
// Counts of pages and groups find the next slot with keys, or the slot of the n-th key, in at most
// 80 looks. They cost two additions for each key that comes or goes.
type slotTable struct {
	a     *arena.Arena
	funcs *dict.Funcs
	keys  int

	groups [slotGroups]int
	pages  [slotPages]slotPage
	none   dict.Dict  // stays empty: what slots without a page have
	slab   []slotDict // for pages to come

	evicts   int      // slot in which evictable has found a key last
	resizing []uint16 // slots whose tables are being resized, and some that were
	listed   slot.Set // those in resizing

	bytes int64  // of Go's heap
	all   *int64 // what all of them take, see Keyspace.SlotBytes
}

// slotPage is 16 slots side by side.
type slotPage struct {
	dicts   *[pageSlots]slotDict // nil before the first key
	keys    int
	tallies *[pageSlots]tally // nil before the first deadline
}

// slotDict is the dict of one slot. Its size makes it begin with a cache line.
type slotDict struct {
	dict.Dict
	size int64 // of entries and values in bytes, if sizes are kept
}

const (
	slotShift = 33 // first bit of the slot in a hash
	slotBits  = 14
	slotMask  = slot.Count - 1

	pageSlots  = 16
	slotPages  = slot.Count / pageSlots
	groupPages = 32
	slotGroups = slotPages / groupPages
	// slabDicts is how many dicts are allocated at once. Go keeps no header for so large a block,
	// so that it begins with a page of the system.
	slabDicts = 256

	// What these take of Go's heap, in bytes.
	slotTableBytes = 28 << 10
	slotDictBytes  = 128
	talliesBytes   = pageSlots * 32
)

// newSlotTable makes the table of a store with its first key.
func (s *store) newSlotTable() *slotTable {
	t := &slotTable{a: s.ks.A, funcs: &s.funcs, all: s.ks.slotBytes}
	t.none.Init(t.a, t.funcs)
	t.takes(slotTableBytes)
	return t
}

// takes counts bytes of Go's heap that the table has taken or, if n is below 0, does without.
func (t *slotTable) takes(n int64) {
	t.bytes += n
	*t.all += n
}

// SlotBytes returns what the tables of slots take of Go's heap.
func (ks *Keyspace) SlotBytes() int64 { return *ks.slotBytes }

// Of returns the dict that has the keys of the hash. It may be one that stays empty.
func (t *slotTable) Of(h uint64) *dict.Dict { return t.at(slotOf(h)) }

// at returns the dict of slot i. It may be one that stays empty.
func (t *slotTable) at(i int) *dict.Dict {
	if p := t.pages[i/pageSlots].dicts; p != nil {
		return &p[i%pageSlots].Dict
	}
	return &t.none
}

// make returns the dict of slot i, to be filled.
func (t *slotTable) make(i int) *dict.Dict {
	p := &t.pages[i/pageSlots]
	if p.dicts == nil {
		if len(t.slab) == 0 {
			t.slab = make([]slotDict, slabDicts)
			t.takes(slabDicts * slotDictBytes)
		}
		p.dicts = (*[pageSlots]slotDict)(t.slab)
		t.slab = t.slab[pageSlots:]
		for k := range p.dicts {
			p.dicts[k].Init(t.a, t.funcs)
		}
	}
	return &p.dicts[i%pageSlots].Dict
}

// tally returns what is counted of the deadlines of slot i.
func (t *slotTable) tally(i int) *tally {
	p := &t.pages[i/pageSlots]
	if p.tallies == nil {
		p.tallies = new([pageSlots]tally)
		t.takes(talliesBytes)
	}
	return &p.tallies[i%pageSlots]
}

// count counts keys that have come to slot i or, if n is below 0, gone.
func (t *slotTable) count(i, n int) {
	t.keys += n
	t.pages[i/pageSlots].keys += n
	t.groups[i/(pageSlots*groupPages)] += n
}

// insertSlot is insert with slots.
func (s *store) insertSlot(h uint64, r arena.Ref) {
	if s.slots == nil {
		s.slots = s.newSlotTable()
	}
	t, i := s.slots, slotOf(h)
	d := t.make(i)
	d.Insert(h, r)
	t.count(i, 1)
	t.resized(i, d)
	s.resized()
	if z := s.ks.sizes; z != nil {
		z.add(s, i, r)
	}
}

// removeSlot is remove with slots.
func (s *store) removeSlot(h uint64, r arena.Ref) {
	t, i := s.slots, slotOf(h)
	d := t.at(i)
	d.Delete(h, r)
	t.count(i, -1)
	t.resized(i, d)
	s.resized()
	if z := s.ks.sizes; z != nil {
		z.gone(r)
	}
}

// resized lists slot i if its table is being resized.
func (t *slotTable) resized(i int, d *dict.Dict) {
	if d.Rehashing() && !t.listed.Has(i) {
		t.listed.Add(i)
		t.resizing = append(t.resizing, uint16(i))
	}
}

// rehash moves about n buckets in all, one table after the other: many may be resized at once, for
// slots that grow alike double at the same time.
func (t *slotTable) rehash(n int) (more bool) {
	for k := len(t.resizing) - 1; k >= 0; k-- {
		if n <= 0 {
			return true
		}
		i := int(t.resizing[k])
		d := t.at(i)
		left := d.RehashLeft()
		more = d.RehashSlice(n) || more
		n -= min(n, left)
		if !d.Rehashing() {
			t.resizing[k] = t.resizing[len(t.resizing)-1]
			t.resizing = t.resizing[:len(t.resizing)-1]
			t.listed.Remove(i)
		}
	}
	return more
}

// rehashingBytes returns the bytes of the tables that running resizes will free.
func (t *slotTable) rehashingBytes() (n int64) {
	for _, i := range t.resizing {
		n += t.at(int(i)).RehashingBytes()
	}
	return n
}

// tableBytes returns the bytes of all tables. O(slots in use).
func (t *slotTable) tableBytes() (n int64) {
	for i := t.next(0, nil); i >= 0; i = t.next(i+1, nil) {
		n += t.at(i).TableBytes()
	}
	return n
}

// take takes the dict of slot i out, with all its keys, as a store of its own that no database has.
func (s *store) take(i int) *store {
	t := s.slots
	p := &t.pages[i/pageSlots]
	d := &p.dicts[i%pageSlots]
	old := &store{ks: s.ks, dict: d.Dict}
	t.count(i, -d.Len())
	*d = slotDict{}
	d.Init(t.a, t.funcs)
	if p.tallies != nil {
		old.tally = p.tallies[i%pageSlots]
		p.tallies[i%pageSlots] = tally{}
	}
	s.tally.subtract(&old.tally)
	return old
}

// subtract takes off what o counts.
func (t *tally) subtract(o *tally) {
	t.expires -= o.expires
	t.armed -= o.armed
	t.timed -= o.timed
	t.ttlSum -= o.ttlSum
}
