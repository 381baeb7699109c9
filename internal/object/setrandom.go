package object

import (
	"godwit/internal/arena"
	"godwit/internal/intset"
	"godwit/internal/listpack"
)

// Random choices. Every member, and every subset of a size, is equally likely.
//
// One member of a hash table is found by rejection (dict.Uniform). A subset is picked member by
// member, or, when it is a sizeable part of the set, selected in one walk: with k still to select
// among n still to come, the next is taken with probability k/n (Fan, Muller, Rezucha 1962; Knuth's
// algorithm S). The walk is sequential where picks are cache misses.

// walkFrom is how many members there may be for each selected one before picks are cheaper than a
// walk.
const walkFrom = 8

// selector decides about one member after the other which are selected.
type selector struct {
	h          *Heap
	left, need int
}

func (w *selector) next() bool {
	take := w.need == w.left || w.h.Rand.IntN(w.left) < w.need
	w.left--
	if take {
		w.need--
	}
	return take
}

// Random returns a random member of a set that is not empty.
func (s Members) Random() listpack.Value {
	switch s.Base() {
	case EncIntset:
		b := s.Bytes()
		return listpack.Int(intset.At(b, s.H.Rand.IntN(intset.Len(b))))
	case EncListpack:
		b := s.Bytes()
		return listpack.Get(b, listpack.Seek(b, s.H.Rand.IntN(listpack.Count(b))))
	}
	t := s.table()
	return listpack.Str(t.member(t.random()))
}

// Sample calls visit for n different random members, in no particular order; n is at most Len.
func (s Members) Sample(n int, visit func(v listpack.Value)) {
	size := s.Len()
	if s.Base() == EncHashtable && size/walkFrom > n {
		t := s.table()
		seen := make(map[arena.Ref]struct{}, n)
		for len(seen) < n {
			r := t.random()
			if _, dup := seen[r]; !dup {
				seen[r] = struct{}{}
				visit(listpack.Str(t.member(r)))
			}
		}
		return
	}
	if s.Base() == EncIntset && size/4 > n && size <= maxPicked {
		s.pickInts(n, visit)
		return
	}
	w := selector{s.H, size, n}
	s.Each(func(v listpack.Value) bool {
		if w.need > 0 && w.next() {
			visit(v)
		}
		return w.need > 0
	})
}

// maxPicked bounds the intsets that pickInts is for: one bit each on the stack.
const maxPicked = 4096

// pickInts is Sample for a few of an intset: it draws again when an integer comes up twice.
func (s Members) pickInts(n int, visit func(v listpack.Value)) {
	b := s.Bytes()
	var seen [maxPicked / 64]uint64
	for size := intset.Len(b); n > 0; {
		i := s.H.Rand.IntN(size)
		if bit := uint64(1) << (i % 64); seen[i/64]&bit == 0 {
			seen[i/64] |= bit
			visit(listpack.Int(intset.At(b, i)))
			n--
		}
	}
}

// Pop removes n random members, at most Len, and gives each to take before it goes. The caller
// deletes a set that has become empty.
func (s Members) Pop(n int, take func(v listpack.Value)) {
	w := selector{s.H, s.Len(), n}
	switch s.Base() {
	case EncIntset:
		for i := 0; w.need > 0; {
			if !w.next() {
				i++
				continue
			}
			take(listpack.Int(intset.At(s.Bytes(), i)))
			intset.RemoveAt(s.Edit, i)
		}
	case EncListpack:
		for pos := listpack.First(s.Bytes()); w.need > 0; {
			if !w.next() {
				pos = listpack.Next(s.Bytes(), pos)
				continue
			}
			take(listpack.Get(s.Bytes(), pos))
			listpack.Delete(s.Edit, pos, 1) // what comes next is at pos now
		}
	default:
		s.changing().pop(w, take)
	}
}

func (t *setTable) pop(w selector, take func(v listpack.Value)) {
	if w.left/walkFrom > w.need {
		for range w.need {
			r := t.random()
			m := t.member(r)
			take(listpack.Str(m))
			t.drop(t.h.Hash(m), r)
		}
		return
	}
	t.each(func(r arena.Ref, m []byte) bool {
		if w.need > 0 && w.next() {
			take(listpack.Str(m))
			t.drop(t.h.Hash(m), r)
		}
		return w.need > 0
	})
	t.settle()
}
