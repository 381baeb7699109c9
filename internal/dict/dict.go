// Package dict is the hash table behind databases and large collections: it maps a 64-bit hash and
// a key to the Ref of the entry that holds the key. The table stores no keys; Funcs reads them.
//
// # Layout
//
// A table is a power of two of 64-byte buckets, one cache line each, chosen by the low bits of the
// hash:
//
//	byte 0       meta
//	bytes 1…9    fingerprints (hash bits 25..32) of slots 0..8
//	bytes 10…63  slots of 6 bytes:  | 9 hash bits (16..24) | 39 bits of packed Ref |
//
//	meta         bits 0-3  entries in this bucket, in slots 0..count-1 without a gap
//	             bit 4     slot 8 is no entry but the Ref of the next bucket of the chain
//
// A chain's entries are packed: each bucket before the last holds 8 entries and a link; the last of
// several holds at least 2. So up to 9 entries take one line. The last bucket of several has only
// the bytes that its entries need, rounded up to 4: the tenth entry takes 24 bytes more, the
// eleventh 4. Fingerprints are compared at once: seven in one word, two in the next.
//
// The 9 hash bits kept above the Ref serve twice. Compared in a lookup, they spare it nearly every
// wrong entry that the fingerprint lets pass (1 in 256 for each candidate). And together with the
// fingerprint they are the index bits 16 to 32. So tables of 2^16 to 2^33 buckets grow without
// looking at a single entry: one cache miss saved for each. (Smaller tables ask Funcs.Hash; their
// entries are few.) In a table of more than 2^25 buckets the fingerprint begins to lose its worth:
// at 2^28 buckets it lets 1 in 32 wrong entries pass.
//
// A dict looks at the bits 0 to 32 of a hash and at no others.
//
// # Resizing
//
// Two tables while rehashing: buckets [0, moved) of tab[0] have been moved to tab[1] with their
// whole chain, the others not. So an entry's place is known from its hash and `moved`: no operation
// looks into both tables. Find, Insert and Delete move one bucket each; RehashSlice moves more. A
// moved part of a large old table is returned to the system as it goes (arena.Discard), and a large
// new one is zeroed by the kernel page by page, so a doubling neither stalls nor holds both tables
// whole.
//
// Shrinking goes by at most a factor of maxShrink at a time, so that a burst of inserts cannot
// meet a table much too small for it before the rehash is through.
//
// # Invariants
//
//   - Keys are unique (the caller's duty), and so are Refs.
//   - Every Ref survives Pack and Unpack, which arena guarantees.
//   - Funcs.Hash(r) is the hash that r was inserted with, as long as r is in the table.
//   - used > 0 implies that tab[0] exists; tab[1] exists exactly while rehashing.
//
// # Cost
//
// Find: one line for the bucket (1.0 to 1.2 on average between the load limits), one for the entry.
// Insert and Delete: the same. Memory: 9 to 13 bytes an entry in a table that is not being resized
// (docs/measurements/dict.md). An empty Dict has no table; up to 9 entries take 64 bytes.
//
// Limits: not safe for concurrent use. Hashes must be seeded against collision attacks by the
// caller.
//
// Sources: bucket layout after "cache-conscious" chained hashing as in MemC3 and Valkey 8's table;
// reverse-binary cursor by Pieter Noordhuis (Redis, 2012); word-parallel byte compare from Lamport
// 1975.
package dict

import (
	"unsafe"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// Chosen by measurement: docs/measurements/dict.md.
const (
	maxLoad   = 10 // entries a bucket above which the table doubles
	fullLoad  = 20 // above which it doubles even if MayGrow advises against it
	minLoad   = 1  // entries a bucket below which it shrinks
	maxShrink = 8  // largest factor of one shrink
)

const (
	refMask  = 1<<arena.PackedBits - 1
	tagShift = 16 // first hash bit kept above the Ref
	tagBits  = 8*slotBytes - arena.PackedBits
	tagMask  = 1<<tagBits - 1
	fpShift  = tagShift + tagBits // first bit of the fingerprint
	// tagIndex are the index bits that the kept hash bits give.
	tagIndex = (tagMask | 0xff<<tagBits) << tagShift
)

// Funcs reads entries for the dict.
type Funcs struct {
	Hash  func(r arena.Ref) uint64           // hash of the entry's key
	Match func(r arena.Ref, key []byte) bool // whether the entry's key is key
	// MayGrow reports whether a table with that many more bytes may be made now. nil means always.
	// Against its advice chains grow longer, up to fullLoad.
	MayGrow func(bytes int) bool
	// Fixed reports whether the table must keep its size. nil means never.
	Fixed func() bool
	// Far is the offset of another byte of an entry that PrefetchEntry fetches along with its
	// first, for entries that often lie on two cache lines. 0: none.
	Far int
}

// Dict is a hash table. New makes it, or Init in memory of the caller's. What lookups read comes
// first, within one cache line if the dict is aligned to one.
type Dict struct {
	tab   [2]table
	moved uint64 // buckets of tab[0] that are in tab[1] now; 0 unless rehashing
	used  int

	a *arena.Arena
	f *Funcs

	// Pause, while above 0, keeps buckets where they are: there is no rehash step and no resize.
	// Iterators that span operations count it up and down again.
	Pause int

	longest [2]int // no chain of the table has ever been longer
	bytes   int64  // size classes of all blocks owned
	// drain counts the buckets of tab[0] that Drain has emptied. Drain alone uses it, while not
	// rehashing.
	drain uint64
}

// table is one power-of-two array of buckets; base is nil if there is none.
type table struct {
	base unsafe.Pointer
	mask uint64 // buckets - 1
	ref  arena.Ref
}

// New returns an empty dict that allocates from a. It takes no memory before the first Insert.
func New(a *arena.Arena, f Funcs) *Dict {
	d := &struct {
		Dict
		f Funcs
	}{f: f}
	d.Init(a, &d.f)
	return &d.Dict
}

// Init makes the zero Dict an empty one. Many dicts may share one f. A Dict that is in use may be
// copied to another place, if nobody uses it at the old one any more.
func (d *Dict) Init(a *arena.Arena, f *Funcs) { d.a, d.f = a, f }

// Len returns the number of entries.
func (d *Dict) Len() int { return d.used }

// Rehashing reports whether two tables are in use.
func (d *Dict) Rehashing() bool { return d.tab[1].base != nil }

// TableBytes returns the memory of the tables themselves, in bytes of size classes. It does not
// include entries, nor what a table that is being resized or drained has given back.
func (d *Dict) TableBytes() int64 { return d.bytes }

// RehashingBytes returns the part of TableBytes that the end of a resize will free, or 0 if there
// is none.
func (d *Dict) RehashingBytes() int64 {
	if !d.Rehashing() {
		return 0
	}
	return d.a.Counted(d.tab[0].ref, d.tab[0].bytes())
}

// Find returns the entry with this key, or 0. O(1).
func (d *Dict) Find(h uint64, key []byte) arena.Ref {
	if d.tab[1].base != nil && d.Pause == 0 {
		d.step()
	}
	return d.Glance(h, key)
}

// Glance is Find that leaves a rehash where it is.
func (d *Dict) Glance(h uint64, key []byte) arena.Ref {
	if d.used == 0 {
		return 0
	}
	b := d.home(h)
	lanes, tag := fpLanes(h), tagOf(h)
	for {
		for m := b.matches(lanes); m != 0; m &= m - 1 {
			s := b.slot(slotOf(m))
			if (s^tag)&^refMask == 0 && d.f.Match(arena.Unpack(s), key) {
				return arena.Unpack(s)
			}
		}
		if b[0]&hasLink == 0 {
			return 0
		}
		b = d.next(b)
	}
}

// Insert adds an entry. Its key must not be in the table. O(1).
func (d *Dict) Insert(h uint64, r arena.Ref) {
	if d.tab[1].base != nil {
		if d.Pause == 0 {
			d.step()
		}
	} else if uint64(d.used) >= (d.tab[0].mask+1)*maxLoad || d.tab[0].base == nil {
		d.grow()
	}
	if invariant.Enabled {
		invariant.Check(r != 0 && arena.Unpack(r.Pack()) == r, "dict: insert of malformed Ref %#x",
			uint64(r))
		b, _ := d.locate(h, r)
		invariant.Check(b == nil, "dict: Ref %#x inserted twice", uint64(r))
	}
	i := d.side(h)
	d.longest[i] = max(d.longest[i], d.put(d.tab[i].at(h), fpOf(h), r.Pack()|tagOf(h)))
	d.used++
}

// Replace puts new in the place of old: the same key in another block. old must be present.
func (d *Dict) Replace(h uint64, old, new arena.Ref) {
	b, i := d.locate(h, old)
	if b == nil {
		panic("dict: Replace of an entry that is not in the table")
	}
	b.setSlot(i, new.Pack()|tagOf(h))
}

// Delete removes the entry r and reports whether it was there. The caller owns its block. O(1).
func (d *Dict) Delete(h uint64, r arena.Ref) bool {
	if d.tab[1].base != nil && d.Pause == 0 {
		d.step()
	}
	b, i := d.locate(h, r)
	if b == nil {
		return false
	}
	d.remove(d.home(h), b, i)
	d.used--
	d.shrinkIfSparse()
	return true
}

// Unpause ends what Pause++ began, and does the resize that deletes could not start meanwhile.
func (d *Dict) Unpause() {
	d.Pause--
	d.shrinkIfSparse()
}

// home returns the first bucket of the chain for an entry with hash h.
func (d *Dict) home(h uint64) *bucket { return d.tab[d.side(h)].at(h) }

// side returns which table an entry with hash h is in, or would be put in.
func (d *Dict) side(h uint64) int {
	if h&d.tab[0].mask < d.moved {
		return 1
	}
	return 0
}

// locate returns the bucket and slot of the entry r, or nil.
func (d *Dict) locate(h uint64, r arena.Ref) (*bucket, int) {
	if d.used == 0 {
		return nil, 0
	}
	b := d.home(h)
	want := r.Pack() | tagOf(h)
	for {
		for i := range b.count() {
			if b.slot(i) == want {
				return b, i
			}
		}
		if b[0]&hasLink == 0 {
			return nil, 0
		}
		b = d.next(b)
	}
}

// at returns the bucket that index bits i select. Bits above the mask are ignored.
func (t *table) at(i uint64) *bucket {
	return (*bucket)(unsafe.Add(t.base, (i&t.mask)<<bucketShift))
}

// tagOf returns the part of h that is kept above the Ref, in its place.
func tagOf(h uint64) uint64 { return h >> tagShift & tagMask << arena.PackedBits }
