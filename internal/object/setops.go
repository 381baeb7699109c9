package object

import (
	"slices"
	"sync"

	"godwit/internal/intset"
	"godwit/internal/listpack"
)

// Set operations all come down to one: Filter walks a set and keeps what is in all, or in none, of
// some others. Intersections and differences are one walk. A union is a walk of each set that skips
// what the ones before it have. So results need not be collected to be answered.
//
// # Cost
//
// A lookup in a large hash table is two or three cache misses, one after the other. Members are
// looked up in batches: the buckets of all are requested, then the entries that may match, then
// these are compared. So the misses of a batch overlap. The hash of a member is computed once,
// because all tables share a seed.

// candidate is a member that passed all lookups so far.
type candidate struct {
	v      listpack.Value
	text   []byte // v as bytes; of an integer only once it was needed
	hash   uint64
	hashed bool
	digits [24]byte
}

// filter is one walk of Filter.
type filter struct {
	others []Members
	in     bool
	emit   func(v listpack.Value) bool
	n      int
	batch  [setBatch]candidate
}

// Filter calls emit for the members of s that each of the others has (in) or none of them (!in),
// until emit returns false. None of the sets may be changed meanwhile. They may be the same.
func (s Members) Filter(others []Members, in bool, emit func(v listpack.Value) bool) {
	switch {
	case s.Base() == EncIntset && !slices.ContainsFunc(others, Members.notIntset):
		filterInts(s.Bytes(), others, in, emit)
		return
	case !slices.ContainsFunc(others, Members.isTable):
		s.Each(func(v listpack.Value) bool {
			for _, o := range others {
				if o.HasValue(v) != in {
					return true
				}
			}
			return emit(v)
		})
		return
	}
	f := filters.Get().(*filter)
	f.others, f.in, f.emit, f.n = others, in, emit, 0
	defer f.done()
	ok := true
	s.Each(func(v listpack.Value) bool {
		c := &f.batch[f.n]
		c.v, c.text, c.hashed = v, v.B, false
		if f.n++; f.n == setBatch {
			ok = f.flush()
		}
		return ok
	})
	if ok {
		f.flush()
	}
}

// filters are kept for the next walk. Each is some kilobytes, on which a walk of a small set would
// spend most of its time.
var filters = sync.Pool{New: func() any { return new(filter) }}

// done ends the use of f.
func (f *filter) done() {
	f.others, f.emit = nil, nil
	filters.Put(f)
}

func (s Members) isTable() bool { return s.Base() == EncHashtable }

func (s Members) notIntset() bool { return s.Base() != EncIntset }

// filterInts is Filter where all sets are intsets. All of them are sorted, so they are walked side
// by side.
func filterInts(b []byte, others []Members, in bool, emit func(v listpack.Value) bool) {
	var few [4]intset.Walk
	walks := few[:0]
	for _, o := range others {
		walks = append(walks, intset.NewWalk(o.Bytes()))
	}
next:
	for i := range intset.Len(b) {
		n := intset.At(b, i)
		for j := range walks {
			if walks[j].Has(n) != in {
				continue next
			}
		}
		if !emit(listpack.Int(n)) {
			return
		}
	}
}

// flush looks the batch up in one set after the other and emits what is left. It reports false when
// emit has had enough.
func (f *filter) flush() bool {
	left := f.batch[:f.n]
	f.n = 0
	var pick [setBatch]uint8 // indexes of what is left: candidates are too big to be moved about
	alive := pick[:0]
	for i := range left {
		alive = append(alive, uint8(i))
	}
	for _, o := range f.others {
		if len(alive) == 0 {
			return true
		}
		if o.Base() == EncHashtable {
			alive = f.lookup(o.table(), alive)
			continue
		}
		alive = slices.DeleteFunc(alive, func(i uint8) bool {
			return o.HasValue(f.batch[i].v) != f.in
		})
	}
	for _, i := range alive {
		if !f.emit(f.batch[i].v) {
			return false
		}
	}
	return true
}

// lookup returns the candidates that pass the table.
func (f *filter) lookup(t *setTable, alive []uint8) []uint8 {
	for _, i := range alive {
		c := &f.batch[i]
		if !c.hashed {
			if c.v.IsInt {
				c.text = c.v.Append(c.digits[:0])
			}
			c.hash, c.hashed = t.h.Hash(c.text), true
		}
		t.d.Prefetch(c.hash)
	}
	for _, i := range alive {
		t.d.PrefetchEntry(f.batch[i].hash)
	}
	passed := alive[:0]
	for _, i := range alive {
		if c := &f.batch[i]; (t.d.Find(c.hash, c.text) != 0) == f.in {
			passed = append(passed, i)
		}
	}
	return passed
}

// HasValue is Has for a member of another set.
func (s Members) HasValue(v listpack.Value) bool {
	if !v.IsInt {
		return s.Has(v.B)
	}
	switch s.Base() {
	case EncIntset:
		return intset.Has(s.Bytes(), v.N)
	case EncListpack: // where the text need not be on the heap
		var tmp [24]byte
		b := s.Bytes()
		return listpack.Find(b, listpack.First(b), v.Append(tmp[:0]), 0) != 0
	}
	var tmp [24]byte
	return s.Has(v.Append(tmp[:0]))
}

// Compare orders sets by size.
func (s Members) Compare(o Members) int { return s.Len() - o.Len() }

// Union calls emit once for every member of any of the sets, until emit returns false. There must
// be at least one set, here and below. With many sets the emitted members are collected, or the
// lookups in all sets before would be quadratic.
func Union(sets []Members, emit func(v listpack.Value) bool) {
	total, lookups := 0, 0
	for i, s := range sets {
		total += s.Len()
		lookups += i * s.Len()
	}
	ok := true
	stop := func(v listpack.Value) bool {
		ok = emit(v)
		return ok
	}
	if lookups > 4*total {
		seen := NewDetached(sets[0].H, Set, EncIntset, intset.Empty())
		defer seen.Discard()
		for i := 0; i < len(sets) && ok; i++ {
			sets[i].Each(func(v listpack.Value) bool { return !AsSet(seen).AddValue(v) || stop(v) })
		}
		return
	}
	for i := 0; i < len(sets) && ok; i++ {
		sets[i].Filter(sets[:i], false, stop)
	}
}

// Diff calls emit for every member of the first set that no other has.
func Diff(sets []Members, emit func(v listpack.Value) bool) {
	first, rest := sets[0], slices.Clone(sets[1:])
	total := 0
	for _, s := range rest {
		if total += s.Len(); s.E.Ref == first.E.Ref {
			return
		}
	}
	if first.Len()*(len(rest)-1) > 4*total { // many small ones: one lookup in all of them together
		sum := NewDetached(sets[0].H, Set, EncIntset, intset.Empty())
		defer sum.Discard()
		for _, s := range rest {
			s.Each(func(v listpack.Value) bool {
				AsSet(sum).AddValue(v)
				return true
			})
		}
		rest = append(rest[:0], AsSet(sum))
	}
	// The largest first: it is the likeliest to spare the other lookups.
	slices.SortStableFunc(rest, func(a, b Members) int { return b.Compare(a) })
	first.Filter(rest, false, emit)
}

// Inter calls emit for every member that all the sets have, until it returns false.
func Inter(sets []Members, emit func(v listpack.Value) bool) {
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, Members.Compare)
	// Only the same key twice gives the same entry twice, and then side by side unless others are
	// as large.
	sets = slices.CompactFunc(sets, func(a, b Members) bool { return a.E.Ref == b.E.Ref })
	sets[0].Filter(sets[1:], true, emit)
}
