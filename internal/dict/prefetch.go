package dict

import (
	"math"
	"math/bits"
	"unsafe"

	"godwit/internal/arena"
)

// Prefetching
//
// A lookup in a table that is larger than the caches waits for memory two to three times, each
// time for an address that the wait before it has brought: the bucket, an overflow bucket if the
// entry is in one, the entry. Who knows several keys ahead of their lookups asks for the buckets of
// all of them, then for all entries, then for those behind overflow buckets. So all keys wait
// together three times. docs/measurements/prefetch.md has the figures.
//
// Prefetching reads buckets, changes nothing, and promises nothing: the table may be changed or
// resized before the lookup, which then waits as it would have.

const (
	// PrefetchGroup is how many keys are fetched together: enough to keep the memory busy, few
	// enough that what was fetched for the last one is still there when its turn comes.
	PrefetchGroup = 16
	// prefetchFrom is the number of entries below which the nearer caches hold a table with its
	// entries. Prefetching such a table costs time and gains none.
	prefetchFrom = 8192
)

// Prefetch starts to bring the bucket of h into the cache, without waiting for it.
func (d *Dict) Prefetch(h uint64) {
	if d.used != 0 {
		arena.PrefetchAt(unsafe.Pointer(d.home(h)))
	}
}

// PrefetchEntry starts to bring the entries that may be h's into the cache. It reads h's bucket, so
// it is for a second pass after Prefetch. If the entry is not in that bucket but may be in the next
// one of the chain, it asks for that one and returns true: PrefetchChain is for a third pass then.
func (d *Dict) PrefetchEntry(h uint64) (chain bool) {
	if d.used == 0 {
		return false
	}
	b := d.home(h)
	if d.prefetchFound(b, h) || b[0]&hasLink == 0 {
		return false
	}
	arena.PrefetchAt(unsafe.Pointer(d.next(b)))
	return true
}

// PrefetchChain does what PrefetchEntry does, for the first overflow bucket of h's chain. Those
// behind it are rare.
func (d *Dict) PrefetchChain(h uint64) {
	if d.used == 0 {
		return
	}
	if b := d.home(h); b[0]&hasLink != 0 {
		d.prefetchFound(d.next(b), h)
	}
}

// prefetchFound asks for the entries in bucket b that may be h's. It reports whether there are any.
func (d *Dict) prefetchFound(b *bucket, h uint64) (found bool) {
	tag := tagOf(h)
	for m := b.matches(fpLanes(h)); m != 0; m &= m - 1 {
		s := b.slot(slotOf(m))
		if (s^tag)&^refMask == 0 {
			p := d.a.Pointer(arena.Unpack(s))
			arena.PrefetchAt(p)
			if d.f.Far != 0 {
				arena.PrefetchAt(unsafe.Add(p, d.f.Far))
			}
			found = true
		}
	}
	return found
}

// PrefetchRef starts to bring the block of an entry into the cache.
func (d *Dict) PrefetchRef(r arena.Ref) { arena.PrefetchAt(d.a.Pointer(r)) }

// PrefetchAll makes all three passes for the hashes, of which there may be up to 64.
func (d *Dict) PrefetchAll(hashes []uint64) {
	for _, h := range hashes {
		d.Prefetch(h)
	}
	d.PrefetchEntries(hashes)
}

// PrefetchEntries makes the second and third pass for the hashes, of which there may be up to 64.
func (d *Dict) PrefetchEntries(hashes []uint64) {
	var chains uint64
	for i, h := range hashes {
		if d.PrefetchEntry(h) {
			chains |= 1 << i
		}
	}
	for ; chains != 0; chains &= chains - 1 {
		d.PrefetchChain(hashes[bits.TrailingZeros64(chains)])
	}
}

// Chooser is several dicts that share their keys: Of returns the one that has those of the hash.
type Chooser interface{ Of(h uint64) *Dict }

// PrefetchAllOf is Dict.PrefetchAll for several dicts.
func PrefetchAllOf(c Chooser, hashes []uint64) {
	for _, h := range hashes {
		c.Of(h).Prefetch(h)
	}
	PrefetchEntriesOf(c, hashes)
}

// PrefetchEntriesOf is Dict.PrefetchEntries for several dicts.
func PrefetchEntriesOf(c Chooser, hashes []uint64) {
	var chains uint64
	for i, h := range hashes {
		if c.Of(h).PrefetchEntry(h) {
			chains |= 1 << i
		}
	}
	for ; chains != 0; chains &= chains - 1 {
		h := hashes[bits.TrailingZeros64(chains)]
		c.Of(h).PrefetchChain(h)
	}
}

// PrefetchWorth reports whether the table is so large that lookups in it wait for memory.
func (d *Dict) PrefetchWorth() bool { return PrefetchWorth(d.used) }

// PrefetchWorth reports whether lookups among so many entries wait for memory.
func PrefetchWorth(entries int) bool { return entries >= prefetchFrom }

// Hasher hashes keys as the user of a Dict does.
type Hasher interface{ Hash(key []byte) uint64 }

// Lookahead prefetches for a command that looks up many keys in one table, one after the other. The
// zero Lookahead does nothing.
//
//	ahead := d.Lookahead(hasher, keys, 1)
//	for i, key := range keys {
//		ahead.Reach(i)
//		… look key up …
//	}
type Lookahead struct {
	d     *Dict
	c     Chooser // instead of d
	h     Hasher
	keys  [][]byte
	step  int
	ready int // keys before this index have been asked for
}

// Lookahead returns a Lookahead over the first of each step of keys: with a step of 2, over the
// keys of key, value, key, value …. It does nothing if the table is small, or for a single key.
func (d *Dict) Lookahead(h Hasher, keys [][]byte, step int) Lookahead {
	if len(keys) <= step || !d.PrefetchWorth() {
		return Lookahead{}
	}
	return Lookahead{d: d, h: h, keys: keys, step: step}
}

// LookaheadOf is Dict.Lookahead for several dicts with so many entries.
func LookaheadOf(c Chooser, entries int, h Hasher, keys [][]byte, step int) Lookahead {
	if len(keys) <= step || !PrefetchWorth(entries) {
		return Lookahead{}
	}
	return Lookahead{c: c, h: h, keys: keys, step: step}
}

// Reach is called before the key with that index is looked up, in ascending order.
func (l *Lookahead) Reach(i int) {
	if i >= l.ready {
		l.fetch(i)
	}
}

// fetch asks for a group of keys, of which the first has index i.
func (l *Lookahead) fetch(i int) {
	if l.h == nil {
		l.ready = math.MaxInt
		return
	}
	var hashes [PrefetchGroup]uint64
	n := 0
	for ; n < len(hashes) && i < len(l.keys); n++ {
		hashes[n] = l.h.Hash(l.keys[i])
		i += l.step
	}
	if l.d != nil {
		l.d.PrefetchAll(hashes[:n])
	} else {
		PrefetchAllOf(l.c, hashes[:n])
	}
	l.ready = i
}
