package dict

import (
	"math/bits"

	"godwit/internal/arena"
)

// Random choices
//
// A random choice begins with a random bucket and looks for an entry. In a table of the usual load
// that takes a few looks. In a sparse table (most entries were just deleted, and a shrink waits or
// is under way) it would look for ever, so every search has a bound. Sample gives up and returns
// nothing. Random and Uniform look at the buckets one after the other instead, and then do a part
// of the shrink as large as what they looked at. So after a few calls the table is small.

const (
	randomLooks  = 64  // buckets that Random tries
	uniformLooks = 256 // places that Uniform tries
)

// buckets returns the number of buckets that can hold entries, as numbered for nthBucket: those of
// tab[0] that are not moved yet, and those of tab[1] that the moved ones correspond to. (Early in a
// rehash the rest of tab[1] is empty, and nobody should look there.)
func (d *Dict) buckets() uint64 {
	n := d.tab[0].mask + 1 - d.moved
	switch m0, m1 := d.tab[0].mask, d.tab[1].mask; {
	case d.moved == 0:
	case m0 < m1:
		n += d.moved * ((m1 + 1) / (m0 + 1))
	default:
		n += min(d.moved, m1+1)
	}
	return n
}

// nthBucket returns bucket i < buckets(): first the rest of tab[0], then tab[1].
func (d *Dict) nthBucket(i uint64) *bucket {
	left := d.tab[0].mask + 1 - d.moved
	if i < left {
		return d.tab[0].at(d.moved + i)
	}
	i -= left
	if d.tab[0].mask < d.tab[1].mask {
		i = i%d.moved + i/d.moved*(d.tab[0].mask+1)
	}
	return d.tab[1].at(i)
}

// Random returns an entry chosen by the random numbers of rnd, or 0 if there is none. As in Redis,
// a bucket is chosen first, so entries in crowded buckets come up less often than others.
func (d *Dict) Random(rnd func() uint64) arena.Ref {
	if d.used == 0 {
		return 0
	}
	n := d.buckets()
	for range randomLooks {
		b := d.nthBucket(rnd() % n)
		if c := d.chainLen(b); c > 0 {
			return d.nth(b, int(rnd()%uint64(c)))
		}
	}
	return d.randomNear(rnd)
}

// randomNear returns an entry of the first bucket that has one, from a random one on. The dict must
// not be empty.
func (d *Dict) randomNear(rnd func() uint64) arena.Ref {
	n := d.buckets()
	i := rnd() % n
	looked := 1
	b := d.nthBucket(i)
	for ; b[0]&countMask == 0; looked++ {
		if i++; i == n {
			i = 0
		}
		b = d.nthBucket(i)
	}
	r := d.nth(b, int(rnd()%uint64(d.chainLen(b))))
	if d.tab[1].base == nil {
		d.shrinkIfSparse()
	}
	d.RehashSlice(1 + looked/emptySkip)
	return r
}

// Uniform returns an entry, each with equal probability, or 0 if there is none. One random number
// chooses a place in a table in which all chains are as long as the longest has ever been. If
// nothing is there, it chooses again. At the usual loads that takes 3 to 5 looks at a random
// bucket. When most entries of a large table were just deleted, it settles for Random's choice
// after many looks.
func (d *Dict) Uniform(rnd func() uint64) arena.Ref {
	if d.used == 0 {
		return 0
	}
	n, deep := d.buckets(), uint64(max(d.longest[0], d.longest[1]))
	for range uniformLooks {
		bucket, rest := bits.Mul64(rnd(), n)
		at, _ := bits.Mul64(rest, deep)
		i, b := int(at), d.nthBucket(bucket)
		for i >= b.count() && b[0]&hasLink != 0 {
			i -= b.count()
			b = d.next(b)
		}
		if i < b.count() {
			return b.ref(i)
		}
	}
	return d.randomNear(rnd)
}

// Sample fills dst with entries from neighbouring buckets, beginning at a random one, and returns
// how many it found. All are different. They are fewer than len(dst) only in a small or sparse
// dict, and maybe none in a very sparse one. It looks at no more than 64 buckets, and 4 more for
// each entry. It is for eviction, where cheapness counts more than independence.
func (d *Dict) Sample(rnd func() uint64, dst []arena.Ref) int {
	if d.used == 0 || len(dst) == 0 {
		return 0
	}
	n := d.buckets()
	i := rnd() % n
	got := dst[:0]
	for visits := min(n, uint64(len(dst))*4+64); visits > 0 && len(got) < len(dst); visits-- {
		// Start anywhere in the chain: its order is that of insertion, and a sample that is full
		// before the chain ends must not always miss the same end of it.
		b := d.nthBucket(i)
		if size := d.chainLen(b); size > 0 {
			at := int(rnd()>>32) % size
			for k := 0; k < size && len(got) < len(dst); k++ {
				got = append(got, d.nth(b, at))
				if at++; at == size {
					at = 0
				}
			}
		}
		if i++; i == n {
			i = 0
		}
	}
	return len(got)
}
