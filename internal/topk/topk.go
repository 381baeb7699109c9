// Package topk keeps the k most frequent items of a stream, with estimates of how often they were
// seen. The algorithm is HeavyKeeper.
//
// # Layout
//
// Block 0 is depth rows of width buckets. An item has one bucket in each row, at MurmurHash2(item,
// seed row) mod width. Integers are little endian.
//
//	bucket   ┌───────────────┬─────────┐
//	         │ fingerprint 4 │ count 4 │   fingerprint: MurmurHash2(item, seed 1919)
//	         └───────────────┴─────────┘   count 0: the bucket is free
//
// The header has everything else:
//
//	header   ┌─────┬─────────┬─────────┬─────────┬─────────┬─────────┬────────┬────────┐
//	         │ k 4 │ width 4 │ depth 4 │ items 4 │ decay 8 │ state 8 │ used 8 │ live 8 │ …
//	         └─────┴─────────┴─────────┴─────────┴─────────┴─────────┴────────┴────────┘
//	         ┌───────────┬───────┬───────┐
//	       … │ k entries │ slots │ bytes │
//	         └───────────┴───────┴───────┘
//
//	entry    ┌───────────────┬──────────┬─────────┬─────────┬────────┐
//	         │ fingerprint 4 │ length 4 │ where 8 │ count 4 │ slot 4 │
//	         └───────────────┴──────────┴─────────┴─────────┴────────┘
//	         where: 1 + the offset in bytes, 0 if free; slot: the slot that has the entry
//
// The entries are a heap with the least count first. Free ones have count 0. The slots find the
// entry of an item: they are a hash table of entry numbers (plus 1) with linear probing, at most
// half full. The bytes are those of the items, in no order and with gaps. New ones are appended.
// When there is no room, the live ones are moved together, or the room grows.
//
// Buckets and entries are RedisBloom's arrays, except for where and slot: there it has a pointer
// and padding.
//
// # Adding
//
// In each row: a bucket with the item's fingerprint counts up; a free bucket becomes the item's;
// any other bucket decays. For each time the item is added, its count goes down by one with
// probability Decay^count, and at 0 the bucket becomes the item's. So small counts give way
// quickly, large ones hardly ever. The estimate is the largest of the item's counts. An item whose
// estimate is at least the least in the heap replaces that entry.
//
// # Chance
//
// Replicas and logs replay commands and must arrive at the same state. So the randomness comes from
// a generator (splitmix64) whose state belongs to the value, and probabilities are computed with
// IEEE products only, which are the same everywhere.
//
// # Invariants
//
//   - An estimate exceeds the truth only where fingerprints collide: 2^−32 for each pair of items
//     that meet in a bucket.
//   - Each item is in the heap at most once; entry and slot name each other.
//   - used counts the written bytes, live those of them that belong to entries.
//
// # Cost
//
// Adding takes depth hashes and cache misses, plus O(log k) in the heap. Adding n at once takes at
// worst O(depth × min(n, count)): long runs of failures are skipped.
//
// Limits: k up to 2^30; width, depth and counts below 2^32. Counts stop there.
//
// Source: Gong and others, "HeavyKeeper: an accurate algorithm for finding top-k elephant flows"
// (2018). Hashes, heap order and defaults are RedisBloom's.
package topk

import (
	"encoding/binary"
	"math"
	"math/bits"

	"godwit/internal/murmur"
)

const (
	// BucketSize and EntrySize are in bytes.
	BucketSize = 8
	EntrySize  = 24
	// MaxK is the largest k.
	MaxK = 1 << 30
	// MaxIncrement is how much may be added to an item at once.
	MaxIncrement = 100_000

	fingerprintSeed = 1919
)

// The offsets of the header's numbers.
const (
	offK     = 0
	offWidth = 4
	offDepth = 8
	offItems = 12
	offDecay = 16
	offState = 24
	offUsed  = 32
	offLive  = 40
	fixed    = 48

	firstBytes = 64 // room for items in a new list
)

// Memory holds header and buckets.
type Memory interface {
	// Head returns the header, for writing.
	Head() []byte
	// ResizeHead changes the header's length. It keeps what fits; new bytes are zero.
	ResizeHead(n int) []byte
	// Block returns a block, for reading.
	Block(i int) []byte
	// Change returns n bytes of a block from off on, for writing.
	Change(i, off, n int) []byte
}

// List is an open list. When Add returns, its changes are in the memory.
type List struct {
	K, Width, Depth uint32
	Decay           float64 // in (0, 1]

	state      uint64 // of the generator
	items      uint32 // entries in use
	used, live uint64 // bytes of items
	mem        Memory
}

// Sizes returns the lengths in bytes of the header and block 0 of an empty list. It reports false
// if they exceed the limits.
func Sizes(k, width, depth uint32) (head, buckets int64, ok bool) {
	hi, cells := bits.Mul64(uint64(width), uint64(depth))
	if hi != 0 || cells > math.MaxInt64/BucketSize/2 || k > MaxK {
		return 0, 0, false
	}
	return fixed + int64(k)*EntrySize + slotBytes(k) + firstBytes, int64(cells * BucketSize), true
}

// slotBytes returns the size of the slots: at least twice as many as entries.
func slotBytes(k uint32) int64 { return 4 << bits.Len64(2*uint64(k)-1) }

// New makes an empty list in zeroed memory of the right Sizes.
func New(mem Memory, k, width, depth uint32, decay float64) *List {
	l := &List{K: k, Width: width, Depth: depth, Decay: decay, mem: mem}
	l.state = uint64(k)<<32 ^ uint64(width)<<16 ^ uint64(depth) ^ math.Float64bits(decay)
	head := mem.Head()
	binary.LittleEndian.PutUint32(head[offK:], k)
	binary.LittleEndian.PutUint32(head[offWidth:], width)
	binary.LittleEndian.PutUint32(head[offDepth:], depth)
	binary.LittleEndian.PutUint64(head[offDecay:], math.Float64bits(decay))
	l.save()
	return l
}

// Open returns the list in the memory.
func Open(mem Memory) *List {
	head := mem.Head()
	u32 := func(off int) uint32 { return binary.LittleEndian.Uint32(head[off:]) }
	u64 := func(off int) uint64 { return binary.LittleEndian.Uint64(head[off:]) }
	return &List{
		K: u32(offK), Width: u32(offWidth), Depth: u32(offDepth),
		Decay: math.Float64frombits(u64(offDecay)), state: u64(offState), items: u32(offItems),
		used: u64(offUsed), live: u64(offLive), mem: mem,
	}
}

func (l *List) save() {
	head := l.mem.Head()
	binary.LittleEndian.PutUint32(head[offItems:], l.items)
	binary.LittleEndian.PutUint64(head[offState:], l.state)
	binary.LittleEndian.PutUint64(head[offUsed:], l.used)
	binary.LittleEndian.PutUint64(head[offLive:], l.live)
}

// slotsAt and bytesAt return where the slots and the items' bytes begin in the header.
func (l *List) slotsAt() int { return fixed + int(l.K)*EntrySize }
func (l *List) bytesAt() int { return l.slotsAt() + int(slotBytes(l.K)) }

func (l *List) bytes() []byte { return l.mem.Head()[l.bytesAt():] }

func fingerprint(item []byte) uint32 { return murmur.Sum32(item, fingerprintSeed) }

// entry is an entry of the heap.
type entry []byte

func (l *List) entry(i uint32) entry {
	return l.mem.Head()[fixed+int(i)*EntrySize:][:EntrySize:EntrySize]
}

func (e entry) fp() uint32     { return binary.LittleEndian.Uint32(e) }
func (e entry) length() uint32 { return binary.LittleEndian.Uint32(e[4:]) }
func (e entry) where() uint64  { return binary.LittleEndian.Uint64(e[8:]) }
func (e entry) count() uint32  { return binary.LittleEndian.Uint32(e[16:]) }
func (e entry) slot() uint32   { return binary.LittleEndian.Uint32(e[20:]) }

func (e entry) set(fp, length uint32, where uint64, count, slot uint32) {
	binary.LittleEndian.PutUint32(e, fp)
	binary.LittleEndian.PutUint32(e[4:], length)
	binary.LittleEndian.PutUint64(e[8:], where)
	binary.LittleEndian.PutUint32(e[16:], count)
	binary.LittleEndian.PutUint32(e[20:], slot)
}

// item returns the item of an entry that is in use.
func (l *List) item(e entry) []byte {
	return l.bytes()[e.where()-1:][:e.length()]
}

// Add counts the item n more times. If that put the item into the list in place of another, it
// appends the other one to dst and reports replaced.
func (l *List) Add(item []byte, n uint32, dst []byte) (expelled []byte, replaced bool) {
	if n == 0 {
		return dst, false
	}
	defer l.save()
	fp := fingerprint(item)
	var best uint32
	for row := range l.Depth {
		best = max(best, l.addRow(item, fp, row, n))
	}
	root := l.entry(0)
	if best == 0 || best < root.count() {
		return dst, false
	}
	if i, ok := l.find(item, fp); ok {
		// Not the larger of the two: the buckets may have decayed since.
		lower := best < l.entry(i).count()
		binary.LittleEndian.PutUint32(l.entry(i)[16:], best)
		if lower {
			l.rise(i)
		} else {
			l.sink(i)
		}
		return dst, false
	}
	if root.where() != 0 {
		dst, replaced = append(dst, l.item(root)...), true
		l.unlink(0)
	}
	l.put(0, item, fp, best)
	l.sink(0)
	return dst, replaced
}

// bucket returns where the item's bucket of a row is.
func (l *List) bucket(item []byte, row uint32) int {
	return int(uint64(row)*uint64(l.Width)+uint64(murmur.Sum32(item, row)%l.Width)) * BucketSize
}

// addRow adds the item in one row and returns its count there, or 0 if the bucket is another's.
func (l *List) addRow(item []byte, fp, row, n uint32) uint32 {
	off := l.bucket(item, row)
	b := l.mem.Block(0)[off:]
	owner, count := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	switch {
	case count == 0:
		owner, count = fp, n
	case owner == fp:
		count += min(n, math.MaxUint32-count)
	default:
		left := l.decay(&count, n)
		if left == n && count != 0 {
			return 0 // nothing changed
		}
		if count == 0 {
			owner, count = fp, left
		}
	}
	b = l.mem.Change(0, off, BucketSize)
	binary.LittleEndian.PutUint32(b, owner)
	binary.LittleEndian.PutUint32(b[4:], count)
	if owner != fp {
		return 0
	}
	return count
}
