package keyspace

import (
	"fmt"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// next returns the first slot from i on that has keys and is in the set, -1 if there is none. nil
// is the set of all slots. In all calls of a walk through a set it looks at each slot at most once.
func (t *slotTable) next(i int, in *slot.Set) int {
	for i < slot.Count {
		switch p := i / pageSlots; {
		case i%(pageSlots*groupPages) == 0 && t.groups[p/groupPages] == 0:
			i += pageSlots * groupPages
		case i%pageSlots == 0 && t.pages[p].keys == 0:
			i += pageSlots
		case t.at(i).Len() > 0 && (in == nil || in.Has(i)):
			return i
		default:
			i++
		}
	}
	return -1
}

// scan is store.scan for the slots of a set.
func (t *slotTable) scan(cursor uint64, in *slot.Set, emit func(r arena.Ref)) uint64 {
	from := int(cursor & slotMask)
	i := t.next(from, in)
	if i < 0 {
		return 0
	}
	c := cursor >> slotBits
	if i != from {
		c = 0
	}
	d := t.at(i)
	c = d.Scan(c, emit)
	t.resized(i, d)
	return t.after(i, c, in)
}

// after returns the cursor of a walk that is at cursor c of slot i.
func (t *slotTable) after(i int, c uint64, in *slot.Set) uint64 {
	if c == 0 {
		if i = t.next(i+1, in); i < 0 {
			return 0
		}
	}
	return c<<slotBits | uint64(i)
}

// each visits every entry of a set of slots once.
func (t *slotTable) each(in *slot.Set, visit func(r arena.Ref)) {
	for i := t.next(0, in); i >= 0; i = t.next(i+1, in) {
		d := t.at(i)
		eachOf(d, visit)
		t.resized(i, d)
	}
}

// defrag is store.defrag.
func (t *slotTable) defrag(cursor uint64, move func(r arena.Ref) arena.Ref) uint64 {
	from := int(cursor & slotMask)
	i := t.next(from, nil)
	if i < 0 {
		return 0
	}
	c := cursor >> slotBits
	if i != from {
		c = 0
	}
	return t.after(i, t.at(i).Defrag(c, move), nil)
}

// lenIn returns the number of keys of the slots, and how many of them have a deadline.
func (t *slotTable) lenIn(in *slot.Set) (keys, expires int) {
	for i := t.next(0, in); i >= 0; i = t.next(i+1, in) {
		keys += t.at(i).Len()
		if p := t.pages[i/pageSlots].tallies; p != nil {
			expires += p[i%pageSlots].expires
		}
	}
	return keys, expires
}

// evictable reports whether a slot of the set has a key, or one with a deadline. It begins where it
// found one last, so it is O(1) as long as there are more keys in the same slot.
func (t *slotTable) evictable(in *slot.Set, volatile bool) bool {
	for _, from := range [2]int{t.evicts, 0} {
		for i := t.next(from, in); i >= 0; i = t.next(i+1, in) {
			p := t.pages[i/pageSlots].tallies
			if !volatile || p != nil && p[i%pageSlots].expires > 0 {
				t.evicts = i
				return true
			}
		}
	}
	return false
}

// drain is store.drain.
func (t *slotTable) drain(n int, free func(r arena.Ref)) (done bool) {
	for i := t.next(0, nil); i >= 0; i = t.next(i, nil) {
		if n <= 0 {
			return false
		}
		d := t.at(i)
		had := d.Len()
		d.Drain(n, free)
		t.count(i, d.Len()-had)
		n -= 1 + had - d.Len()
	}
	t.takes(-t.bytes)
	return true
}

// ofKey returns the slot of the n-th key, if keys are numbered by their slots. n is less than keys.
func (t *slotTable) ofKey(n int) int {
	g := 0
	for ; n >= t.groups[g]; g++ {
		n -= t.groups[g]
	}
	p := g * groupPages
	for ; n >= t.pages[p].keys; p++ {
		n -= t.pages[p].keys
	}
	i := p * pageSlots
	for ; n >= t.at(i).Len(); i++ {
		n -= t.at(i).Len()
	}
	return i
}

// ofKeyIn is ofKey for the keys of a set of slots. O(slots in use).
func (t *slotTable) ofKeyIn(in *slot.Set, n int) int {
	i := t.next(0, in)
	for ; n >= t.at(i).Len(); i = t.next(i+1, in) {
		n -= t.at(i).Len()
	}
	return i
}

// random returns a random entry of a set of slots, 0 if there is none. Slots come up by their share
// of the keys.
func (t *slotTable) random(rnd func() uint64, in *slot.Set) arena.Ref {
	if t.keys == 0 {
		return 0
	}
	i := t.ofKey(int(rnd() % uint64(t.keys)))
	if in != nil && !in.Has(i) {
		keys, _ := t.lenIn(in)
		if keys == 0 {
			return 0
		}
		i = t.ofKeyIn(in, int(rnd()%uint64(keys)))
	}
	d := t.at(i)
	r := d.Random(rnd)
	t.resized(i, d)
	return r
}

// sampleSlots is how many slots a sample looks at, or more if it is to have more entries.
const sampleSlots = 8

// sample is store.sample. It begins in a slot chosen by its share of the keys. If that has too few
// it goes on with those behind it.
func (t *slotTable) sample(rnd func() uint64, dst []arena.Ref) (got int) {
	if t.keys == 0 {
		return 0
	}
	from := t.ofKey(int(rnd() % uint64(t.keys)))
	i := from
	for range max(sampleSlots, len(dst)) {
		got += t.at(i).Sample(rnd, dst[got:])
		if i = t.next(i+1, nil); i < 0 {
			i = t.next(0, nil)
		}
		if got == len(dst) || i == from {
			break
		}
	}
	return got
}

// check verifies tables and counts. O(n).
func (t *slotTable) check(all *tally) error {
	var groups [slotGroups]int
	var pages [slotPages]int
	keys, sum := 0, tally{}
	for i := range slot.Count {
		d := t.at(i)
		if err := t.checkSlot(i, d); err != nil {
			return fmt.Errorf("slot %d: %w", i, err)
		}
		if p := &t.pages[i/pageSlots]; p.tallies != nil {
			s := &p.tallies[i%pageSlots]
			sum.expires += s.expires
			sum.armed += s.armed
			sum.timed += s.timed
			sum.ttlSum += s.ttlSum
		}
		pages[i/pageSlots] += d.Len()
		groups[i/(pageSlots*groupPages)] += d.Len()
		keys += d.Len()
	}
	for i, n := range pages {
		if n != t.pages[i].keys {
			return fmt.Errorf("page %d has %d keys, %d counted", i, n, t.pages[i].keys)
		}
	}
	if groups != t.groups || keys != t.keys || sum != *all {
		return fmt.Errorf("%d keys, %d counted; deadlines %+v, %+v counted; groups %v, %v counted",
			keys, t.keys, sum, *all, groups, t.groups)
	}
	return nil
}

// checkSlot verifies the dict of slot i.
func (t *slotTable) checkSlot(i int, d *dict.Dict) (err error) {
	if d == &t.none || d.Len() == 0 && d.TableBytes() == 0 {
		if d == &t.none && d.Len() > 0 {
			return fmt.Errorf("%d keys in the dict that stays empty", d.Len())
		}
		return nil
	}
	if d.Rehashing() && !t.listed.Has(i) {
		return fmt.Errorf("the table is being resized, but is not listed")
	}
	if err := d.Check(); err != nil {
		return err
	}
	eachOf(d, func(r arena.Ref) {
		if at := slot.Of(object.View(t.a, r).Key()); at != i {
			err = fmt.Errorf("an entry of slot %d", at)
		}
	})
	return err
}
