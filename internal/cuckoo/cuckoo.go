// Package cuckoo is the cuckoo filter: a set that answers "surely not" or "probably", and can forget.
//
// # Layout
//
// A filter is one or more sub-filters, each a table of a power of two of buckets, each bucket a few slots, each slot a fingerprint of one byte:
//
//	sub-filter 0              sub-filter 1 (expansion times as many buckets)
//	┌────┬────┐┌────┬────┐    ┌────┬────┐┌────┬────┐┌────┬────┐┌────┬────┐
//	│ 7f │ 00 ││ 12 │ c4 │    │ 00 │ 00 ││ e1 │ 00 ││ 00 │ 00 ││ 00 │ 00 │     00: the slot is free
//	└────┴────┘└────┴────┘    └────┴────┘└────┴────┘└────┴────┘└────┴────┘
//	  bucket 0   bucket 1
//
// Of an item's hash h, the fingerprint is f = h mod 255 + 1, its two buckets are h and h XOR f·M, modulo the number of buckets. Either
// follows from the other and f alone, which is what lets a fingerprint be moved without knowing its item: a new one that finds both
// its buckets full in all sub-filters pushes one out of the newest, which goes to its other bucket, where it may push out the next, up to MaxIterations
// times. If that does not end, everything is put back and a sub-filter is added, unless Expansion is 0.
//
// # Invariants
//
//   - An item that was added, and not deleted since, is found. It holds as long as nothing is deleted that was not added: the fingerprint of another
//     item may be taken for it.
//   - Sub-filters never shrink in the order they are in: Compact moves fingerprints to earlier ones, and a bucket number is good only in a table
//     that is not larger.
//   - Bytes and hash are RedisBloom's, so values can be exchanged with it.
//
// # False positives
//
// An item that was not added meets 2 × BucketSize slots in each sub-filter, each of which holds its fingerprint with probability load / 255: with the usual 2 slots,
// 1.5 % in a full sub-filter, and as much again for each more. So it pays to reserve the right capacity.
//
// # Cost
//
// Two cache misses a sub-filter; an insertion into a nearly full one up to MaxIterations more, and the same again to put things back.
//
// Source: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than Bloom" (2014); sizing, growth and hash as in RedisBloom.
package cuckoo

import (
	"bytes"
	"math"
	"math/bits"

	"godwit/internal/invariant"
	"godwit/internal/murmur"
)

// Bounds of what a filter may be.
const (
	MaxBucketSize    = 255
	MaxMaxIterations = math.MaxUint16
	MaxExpansion     = 32768
	MaxFilters       = math.MaxUint16
	MaxBuckets       = 1<<56 - 1
)

// Memory holds the sub-filters, a block each.
type Memory interface {
	Blocks() int
	// Block is a block, to be read.
	Block(i int) []byte
	// Change is n bytes of a block from off on, to be changed.
	Change(i, off, n int) []byte
	// Append adds a block of n zero bytes.
	Append(n int) []byte
	// Truncate drops all blocks from number n on.
	Truncate(n int)
}

// Filter is a view of a filter; whoever owns the memory keeps the fields too.
type Filter struct {
	Buckets        uint64 // of the first sub-filter, a power of two
	Items, Deletes uint64 // Deletes: since the last compaction
	BucketSize     uint16 // slots
	MaxIterations  uint16
	Expansion      uint16 // a power of two, or 0: never grow
	Mem            Memory
	Limit          Limit // of growing, nil for none
}

// Limit says whether there is memory for so many bytes more.
type Limit interface{ Fits(bytes uint64) bool }

// Result is what became of an insertion.
type Result int8

// What may become of an insertion.
const (
	Inserted Result = 1
	Exists   Result = 0  // InsertUnique only
	Full     Result = -1 // Expansion is 0
	NoMemory Result = -2
)

// Geometry is the number of buckets of the first sub-filter for a capacity, and the expansion that is really used. capacity ≥ 2 × bucketSize.
func Geometry(capacity uint64, bucketSize, expansion uint16) (buckets uint64, growth uint16) {
	return powerOfTwo(max(capacity/uint64(bucketSize), 1)), uint16(powerOfTwo(uint64(expansion)))
}

// powerOfTwo rounds up; 0 stays 0.
func powerOfTwo(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len64(n-1)
}

// Valid reports whether the numbers can be those of a filter with n sub-filters.
func (f *Filter) Valid(n uint64) bool {
	return f.BucketSize >= 1 && f.BucketSize <= MaxBucketSize && f.MaxIterations >= 1 && f.Expansion <= MaxExpansion && f.Expansion&(f.Expansion-1) == 0 &&
		n >= 1 && n <= MaxFilters && (n == 1 || f.Expansion > 0) &&
		f.Buckets >= 1 && f.Buckets <= MaxBuckets && f.Buckets&(f.Buckets-1) == 0
}

// SubFilterBytes is the size of sub-filter i in bytes, false if it is beyond all bounds.
func (f *Filter) SubFilterBytes(i int) (n int64, ok bool) {
	buckets := f.Buckets
	for range i {
		hi, lo := bits.Mul64(buckets, uint64(f.Expansion))
		if hi != 0 || lo > MaxBuckets {
			return 0, false
		}
		if lo == buckets {
			break // an expansion of 1
		}
		buckets = lo
	}
	hi, lo := bits.Mul64(buckets, uint64(f.BucketSize))
	return int64(lo), hi == 0 && lo <= math.MaxInt64
}

// Grow adds a sub-filter; it reports false if there is no memory for it.
func (f *Filter) Grow() bool {
	if f.Mem.Blocks() >= MaxFilters {
		return false
	}
	n, ok := f.SubFilterBytes(f.Mem.Blocks())
	if !ok || f.Limit != nil && !f.Limit.Fits(uint64(n)) {
		return false
	}
	f.Mem.Append(int(n))
	return true
}

// fingerprint is an item as the filter knows it.
type fingerprint struct {
	h  uint64 // its first bucket, modulo their number
	fp byte
}

const altFactor = 0x5bd1e995

func hash(item []byte) fingerprint {
	h := murmur.Sum64A(item, 0)
	return fingerprint{h, byte(h%255) + 1}
}

// other is the other of the two buckets.
func other(h uint64, fp byte) uint64 { return h ^ uint64(fp)*altFactor }

// table is a sub-filter.
type table struct {
	b     []byte
	mask  uint64
	slots int
}

func (f *Filter) table(i int) table {
	b := f.Mem.Block(i)
	n := uint64(len(b)) / uint64(f.BucketSize)
	invariant.Check(n > 0 && n&(n-1) == 0, "cuckoo: %d buckets", n)
	return table{b, n - 1, int(f.BucketSize)}
}

// bucket is where the slots of a bucket begin.
func (t *table) bucket(h uint64) int { return int(h&t.mask) * t.slots }

// find is where the bucket has that byte, −1 if nowhere.
func (t *table) find(h uint64, fp byte) int {
	at := t.bucket(h)
	if i := bytes.IndexByte(t.b[at:at+t.slots], fp); i >= 0 {
		return at + i
	}
	return -1
}

// place finds the byte (0: a free slot) in either bucket of the item.
func (t *table) place(p fingerprint, fp byte) int {
	if at := t.find(p.h, fp); at >= 0 {
		return at
	}
	return t.find(other(p.h, p.fp), fp)
}

func (t *table) count(p fingerprint) (n uint64) {
	a, b := t.bucket(p.h), t.bucket(other(p.h, p.fp))
	for i := range t.slots {
		if t.b[a+i] == p.fp {
			n++
		}
		if t.b[b+i] == p.fp {
			n++
		}
	}
	return n
}

func (f *Filter) set(i, at int, fp byte) {
	f.Mem.Change(i, at, 1)[0] = fp
}

// Has reports whether the item was probably added.
func (f *Filter) Has(item []byte) bool { return f.has(hash(item)) }

func (f *Filter) has(p fingerprint) bool {
	for i := range f.Mem.Blocks() {
		t := f.table(i)
		if t.place(p, p.fp) >= 0 {
			return true
		}
	}
	return false
}

// Count is how often the item was probably added and not deleted since. Where its two buckets are one, each of its slots counts twice, as in RedisBloom.
func (f *Filter) Count(item []byte) (n uint64) {
	p := hash(item)
	for i := range f.Mem.Blocks() {
		t := f.table(i)
		n += t.count(p)
	}
	return n
}

// Insert adds an item once more.
func (f *Filter) Insert(item []byte) Result { return f.insert(hash(item)) }

// InsertUnique adds an item unless it is probably there.
func (f *Filter) InsertUnique(item []byte) Result {
	p := hash(item)
	if f.has(p) {
		return Exists
	}
	return f.insert(p)
}

func (f *Filter) insert(p fingerprint) Result {
	for {
		for i := f.Mem.Blocks() - 1; i >= 0; i-- {
			t := f.table(i)
			if at := t.place(p, 0); at >= 0 {
				f.set(i, at, p.fp)
				f.Items++
				return Inserted
			}
		}
		switch {
		case f.kick(p):
			f.Items++
			return Inserted
		case f.Expansion == 0:
			return Full
		case !f.Grow():
			return NoMemory
		}
	}
}

// kick makes room in the newest sub-filter by moving fingerprints to their other buckets. If it fails, all is as it was.
func (f *Filter) kick(p fingerprint) bool {
	last := f.Mem.Blocks() - 1
	t := f.table(last)
	swap := func(at int, fp byte) byte {
		old := t.b[at]
		f.set(last, at, fp)
		return old
	}
	h, fp, victim := p.h, p.fp, 0
	for range f.MaxIterations {
		fp = swap(t.bucket(h)+victim, fp)
		h = other(h&t.mask, fp)
		if at := t.find(h, 0); at >= 0 {
			f.set(last, at, fp)
			return true
		}
		victim = (victim + 1) % t.slots
	}
	for range f.MaxIterations {
		victim = (victim + t.slots - 1) % t.slots
		h = other(h&t.mask, fp)
		fp = swap(t.bucket(h)+victim, fp)
	}
	return false
}

// Delete forgets one addition of the item and reports whether there was one.
func (f *Filter) Delete(item []byte) bool {
	p := hash(item)
	for i := f.Mem.Blocks() - 1; i >= 0; i-- {
		t := f.table(i)
		at := t.place(p, p.fp)
		if at < 0 {
			continue
		}
		f.set(i, at, 0)
		// Of a value that was read from elsewhere, Items may be anything.
		if f.Items > 0 {
			f.Items--
		}
		f.Deletes++
		if f.Mem.Blocks() > 1 && float64(f.Deletes) > float64(f.Items)*compactAt {
			f.compact(compactBudget)
			f.Deletes = 0
		}
		return true
	}
	return false
}
