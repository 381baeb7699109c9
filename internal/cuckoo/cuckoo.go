// Package cuckoo implements the cuckoo filter: a set that answers "surely not" or "probably", and
// from which items can be deleted.
//
// # Layout
//
// A filter has one or more sub-filters. A sub-filter is a table of a power of two of buckets, a
// bucket a few slots, a slot a fingerprint of one byte:
//
//	sub-filter 0              sub-filter 1 (expansion times as many buckets)
//	┌────┬────┐┌────┬────┐    ┌────┬────┐┌────┬────┐┌────┬────┐┌────┬────┐
//	│ 7f │ 00 ││ 12 │ c4 │    │ 00 │ 00 ││ e1 │ 00 ││ 00 │ 00 ││ 00 │ 00 │     00: the slot is free
//	└────┴────┘└────┴────┘    └────┴────┘└────┴────┘└────┴────┘└────┴────┘
//	  bucket 0   bucket 1
//
// An item's hash h gives the fingerprint f = h mod 255 + 1 and two buckets, h and h XOR f·M, modulo
// the number of buckets. Either bucket follows from the other one and f. So a fingerprint can be
// moved without knowing its item. If a new fingerprint finds both its buckets full in all
// sub-filters, it pushes another one out of the newest. That one goes to its other bucket, where it
// may push out the next, up to MaxIterations times. If that does not end, everything is put back
// and a sub-filter is added, unless Expansion is 0.
//
// # Invariants
//
//   - An item that was added and not deleted since is found, as long as only added items are
//     deleted. The deletion of another one may remove its fingerprint.
//   - Sub-filters never get smaller from one to the next. Compact moves fingerprints to earlier
//     ones, and a bucket number is valid only in a table that is not larger.
//   - Bytes and hash are RedisBloom's, so values can be exchanged with it.
//
// # False positives
//
// An item that was not added meets 2 × BucketSize slots in each sub-filter. Each holds its
// fingerprint with probability load / 255. With the usual 2 slots that is 1.5 % in a full
// sub-filter, and as much again for each further one. So it pays to reserve the right capacity.
//
// # Cost
//
// A lookup takes two cache misses for each sub-filter. An insertion into a nearly full filter takes
// up to MaxIterations more, and the same again to put things back.
//
// Source: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than Bloom"
// (2014). Sizing, growth and hash are RedisBloom's.
package cuckoo

import (
	"bytes"
	"math"
	"math/bits"

	"godwit/internal/invariant"
	"godwit/internal/murmur"
)

// The limits of a filter.
const (
	MaxBucketSize    = 255
	MaxMaxIterations = math.MaxUint16
	MaxExpansion     = 32768
	MaxFilters       = math.MaxUint16
	MaxBuckets       = 1<<56 - 1
)

// Memory holds the sub-filters, one block each.
type Memory interface {
	Blocks() int
	// Block returns a block, for reading.
	Block(i int) []byte
	// Change returns n bytes of a block from off on, for writing.
	Change(i, off, n int) []byte
	// Append adds a block of n zero bytes and returns it.
	Append(n int) []byte
	// Truncate drops all blocks from number n on.
	Truncate(n int)
}

// Filter is a view of a filter. Whoever owns the memory stores the fields too.
type Filter struct {
	Buckets        uint64 // of the first sub-filter, a power of two
	Items, Deletes uint64 // Deletes counts from the last compaction
	BucketSize     uint16 // in slots
	MaxIterations  uint16
	Expansion      uint16 // a power of two; 0: never grow
	Mem            Memory
	Limit          Limit // on growing; nil: none
}

// Limit reports whether there is memory for that many more bytes.
type Limit interface{ Fits(bytes uint64) bool }

// Result says what an insertion did.
type Result int8

// The results of an insertion.
const (
	Inserted Result = 1
	Exists   Result = 0  // from InsertUnique only
	Full     Result = -1 // Expansion is 0
	NoMemory Result = -2
)

// Geometry returns the number of buckets of the first sub-filter for a capacity, and the expansion
// that is really used. capacity must be at least 2 × bucketSize.
func Geometry(capacity uint64, bucketSize, expansion uint16) (buckets uint64, growth uint16) {
	return powerOfTwo(max(capacity/uint64(bucketSize), 1)), uint16(powerOfTwo(uint64(expansion)))
}

// powerOfTwo rounds up to a power of two. 0 stays 0.
func powerOfTwo(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len64(n-1)
}

// Valid reports whether the numbers can be those of a filter with n sub-filters.
func (f *Filter) Valid(n uint64) bool {
	return f.BucketSize >= 1 && f.BucketSize <= MaxBucketSize && f.MaxIterations >= 1 &&
		f.Expansion <= MaxExpansion && f.Expansion&(f.Expansion-1) == 0 &&
		n >= 1 && n <= MaxFilters && (n == 1 || f.Expansion > 0) &&
		f.Buckets >= 1 && f.Buckets <= MaxBuckets && f.Buckets&(f.Buckets-1) == 0
}

// SubFilterBytes returns the size of sub-filter i in bytes, and false if it exceeds the limits.
func (f *Filter) SubFilterBytes(i int) (n int64, ok bool) {
	buckets := f.Buckets
	for range i {
		hi, lo := bits.Mul64(buckets, uint64(f.Expansion))
		if hi != 0 || lo > MaxBuckets {
			return 0, false
		}
		if lo == buckets {
			break // the expansion is 1
		}
		buckets = lo
	}
	hi, lo := bits.Mul64(buckets, uint64(f.BucketSize))
	return int64(lo), hi == 0 && lo <= math.MaxInt64
}

// Grow adds a sub-filter. It reports false if there is no memory for it.
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

// other returns the other of the two buckets.
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

// bucket returns where the slots of a bucket begin.
func (t *table) bucket(h uint64) int { return int(h&t.mask) * t.slots }

// find returns where the bucket has that byte, or −1.
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

// Count returns how often the item was probably added and not deleted since. If its two buckets are
// the same, each of its slots counts twice, as in RedisBloom.
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

// kick makes room in the newest sub-filter by moving fingerprints to their other buckets. If it
// fails, it changes nothing.
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

// Delete removes one addition of the item and reports whether there was one.
func (f *Filter) Delete(item []byte) bool {
	p := hash(item)
	for i := f.Mem.Blocks() - 1; i >= 0; i-- {
		t := f.table(i)
		at := t.place(p, p.fp)
		if at < 0 {
			continue
		}
		f.set(i, at, 0)
		// In a value that was read from elsewhere, Items may be anything.
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
