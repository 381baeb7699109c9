package object

import (
	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// RandomFields calls f for n fields chosen at random, each independently of the others, until f
// returns false. There must be a visible field.
func (h Fields) RandomFields(n int, f func(field, value listpack.Value) bool) {
	more := true
	if h.Base() == EncHashtable {
		t := h.table()
		emit := func(field, value listpack.Value) { more = f(field, value) }
		for ; n > 0 && more; n-- {
			t.emit(t.random(h.H.Now), emit)
		}
		return
	}
	if n == 1 {
		skip := h.H.Rand.IntN(h.Len())
		h.Each(func(field, value listpack.Value) bool {
			if skip--; skip < 0 {
				f(field, value)
			}
			return skip >= 0
		})
		return
	}
	if h.Base() == EncPairs {
		h.randomPairs(n, f)
		return
	}
	// A walk for each choice would cost n × fields.
	type pair struct{ field, value listpack.Value }
	var local [32]pair
	fields := local[:0]
	h.Each(func(field, value listpack.Value) bool {
		fields = append(fields, pair{field, value})
		return true
	})
	for ; n > 0 && more; n-- {
		p := &fields[h.H.Rand.IntN(len(fields))]
		more = f(p.field, p.value)
	}
}

// randomPairs is RandomFields for pairs. It notes where all fields are: a walk for each choice
// would cost n × fields.
func (h Fields) randomPairs(n int, f func(field, value listpack.Value) bool) {
	b := h.Bytes()
	var local [512]uint32
	fields := local[:0]
	for pos := listpack.PairsFirst(b); pos != 0; pos = listpack.PairsNext(b, pos) {
		fields = append(fields, uint32(pos))
	}
	for more := true; n > 0 && more; n-- {
		pos := int(fields[h.H.Rand.IntN(len(fields))])
		more = f(listpack.Get(b, pos), listpack.Get(b, listpack.PairsValue(b, pos)))
	}
}

// SampleFields calls f for n different fields chosen at random. All subsets are equally likely. n
// is at most Len.
func (h Fields) SampleFields(n int, f func(field, value listpack.Value)) {
	left := h.Len()
	if h.Base() == EncHashtable {
		if t := h.table(); n*3 < left && left > t.Len()/2 {
			t.sample(n, h.H.Now, f)
			return
		}
	}
	// Each field is taken with the probability that the rest of the sample falls on it (Knuth's
	// algorithm S).
	h.Each(func(field, value listpack.Value) bool {
		if n == left || h.H.Rand.IntN(left) < n {
			f(field, value)
			n--
		}
		left--
		return n > 0
	})
}

func (t *hashTable) emit(r arena.Ref, f func(field, value listpack.Value)) {
	b := t.h.A.From(r)
	field, end := fieldOf(b)
	value, _ := valueOf(b, end)
	f(listpack.Str(field), listpack.Str(value))
}

// random returns the block of a field chosen at random. It takes one of several neighbours, so that
// a field that shares its bucket with many comes up about as often as others.
func (t *hashTable) random(now int64) arena.Ref {
	for range 100 {
		var refs [16]arena.Ref
		var r arena.Ref
		if n := t.d.Sample(t.h.Rand.Uint64, refs[:]); n > 0 {
			r = refs[t.h.Rand.IntN(n)]
		} else { // a sparse table
			r = t.d.Random(t.h.Rand.Uint64)
		}
		if !t.gone(t.h.A.From(r), now) {
			return r
		}
	}
	// Nearly all are due: take the first that is not.
	var found arena.Ref
	for cursor := uint64(0); ; {
		cursor = t.d.Scan(cursor, func(r arena.Ref) {
			if !t.gone(t.h.A.From(r), now) {
				found = r
			}
		})
		if cursor == 0 || found != 0 {
			return found
		}
	}
}

// sample is SampleFields for a few of many fields. It draws again when a field comes up twice.
func (t *hashTable) sample(n int, now int64, f func(field, value listpack.Value)) {
	seen := make(map[arena.Ref]struct{}, n)
	for len(seen) < n {
		r := t.random(now)
		if _, dup := seen[r]; !dup {
			seen[r] = struct{}{}
			t.emit(r, f)
		}
	}
}
