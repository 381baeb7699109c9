// Package topk keeps the k items of a stream that were seen most often, with estimates of how often: HeavyKeeper.
//
// # Layout
//
// Block 0 is depth rows of width buckets; an item has one in each row, at MurmurHash2(item, seed row) mod width. Integers are little endian.
//
//	bucket   ┌───────────────┬─────────┐
//	         │ fingerprint 4 │ count 4 │   fingerprint: MurmurHash2(item, seed 1919); count 0: the bucket is free
//	         └───────────────┴─────────┘
//
// The header has everything else:
//
//	header   ┌─────┬─────────┬─────────┬─────────┬─────────┬─────────┬────────┬────────┬───────────┬───────┬───────┐
//	         │ k 4 │ width 4 │ depth 4 │ items 4 │ decay 8 │ state 8 │ used 8 │ live 8 │ k entries │ slots │ bytes │
//	         └─────┴─────────┴─────────┴─────────┴─────────┴─────────┴────────┴────────┴───────────┴───────┴───────┘
//
//	entry    ┌───────────────┬──────────┬─────────┬─────────┬────────┐
//	         │ fingerprint 4 │ length 4 │ where 8 │ count 4 │ slot 4 │   where: 1 + the offset in bytes, 0 if free; slot: which slot has the entry
//	         └───────────────┴──────────┴─────────┴─────────┴────────┘
//
// The entries are a heap, the one with the least count first; free ones have count 0. The slots find the entry of an item: a hash table of entry
// numbers (plus 1) with linear probing, at most half full. The bytes are those of the items, in no order and with gaps: new ones are written behind the last; when there
// is no room, what still counts is moved together, or there is made more.
//
// Buckets and entries are RedisBloom's arrays, but for what it holds at where and slot: a pointer and padding.
//
// # Adding
//
// In each row: a bucket with the item's fingerprint counts on; a free one becomes the item's; any other decays: for each time the item is added, its count
// goes down by one with probability Decay^count, and at 0 the bucket becomes the item's. So small counts give way quickly, large ones hardly ever. The
// estimate is the largest of the item's counts; an item whose estimate is at least the least in the heap replaces that.
//
// # Chance
//
// Replicas and logs replay commands and must arrive at the same state. So the randomness is a generator (splitmix64) whose state belongs to the value,
// and probabilities are computed with nothing but IEEE products, which are the same everywhere.
//
// # Invariants
//
//   - An estimate exceeds the truth only where fingerprints collide (2^−32 for each pair of items that meet in a bucket).
//   - Each item is in the heap at most once; entry and slot name each other.
//   - Of the bytes, used are written, live of them belong to entries.
//
// # Cost
//
// depth hashes and cache misses to add, plus O(log k) in the heap. Adding n at once is O(depth × min(n, count)) at worst: long runs without luck are skipped.
//
// Limits: k up to 2^30, width, depth and counts below 2^32; counts stop there.
//
// Source: Gong and others, "HeavyKeeper: an accurate algorithm for finding top-k elephant flows" (2018); hashes, heap order and defaults as in RedisBloom.
package topk

import (
	"encoding/binary"
	"math"
	"math/bits"

	"godwit/internal/murmur"
)

const (
	// BucketSize and EntrySize are sizes in bytes.
	BucketSize = 8
	EntrySize  = 24
	// MaxK is the longest list.
	MaxK = 1 << 30
	// MaxIncrement is how much may be added to an item at once.
	MaxIncrement = 100_000

	fingerprintSeed = 1919
)

// Where the numbers of the header are.
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

	firstBytes = 64 // of items, in a new list
)

// Memory holds header and buckets.
type Memory interface {
	// Head is the header, which may be changed.
	Head() []byte
	// ResizeHead gives the header another length: what was there is kept as far as there is room, new bytes are zero.
	ResizeHead(n int) []byte
	// Block is a block, to be read.
	Block(i int) []byte
	// Change is n bytes of a block from off on, to be changed.
	Change(i, off, n int) []byte
}

// List is a list that is being used. What Add changes is in the memory when it returns.
type List struct {
	K, Width, Depth uint32
	Decay           float64 // in (0, 1]

	state      uint64 // of the generator
	items      uint32 // entries that are not free
	used, live uint64 // bytes of items
	mem        Memory
}

// Sizes is how many bytes header and block 0 of an empty list have; it reports false if that is beyond all bounds.
func Sizes(k, width, depth uint32) (head, buckets int64, ok bool) {
	hi, cells := bits.Mul64(uint64(width), uint64(depth))
	if hi != 0 || cells > math.MaxInt64/BucketSize/2 || k > MaxK {
		return 0, 0, false
	}
	return fixed + int64(k)*EntrySize + slotBytes(k) + firstBytes, int64(cells * BucketSize), true
}

// slotBytes is the size of twice as many slots as entries, at least.
func slotBytes(k uint32) int64 { return 4 << bits.Len64(2*uint64(k)-1) }

// New makes an empty list in memory of the right Sizes that is zero.
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

// Open uses the list that is in the memory.
func Open(mem Memory) *List {
	head := mem.Head()
	u32 := func(off int) uint32 { return binary.LittleEndian.Uint32(head[off:]) }
	u64 := func(off int) uint64 { return binary.LittleEndian.Uint64(head[off:]) }
	return &List{
		K: u32(offK), Width: u32(offWidth), Depth: u32(offDepth), Decay: math.Float64frombits(u64(offDecay)),
		state: u64(offState), items: u32(offItems), used: u64(offUsed), live: u64(offLive), mem: mem,
	}
}

func (l *List) save() {
	head := l.mem.Head()
	binary.LittleEndian.PutUint32(head[offItems:], l.items)
	binary.LittleEndian.PutUint64(head[offState:], l.state)
	binary.LittleEndian.PutUint64(head[offUsed:], l.used)
	binary.LittleEndian.PutUint64(head[offLive:], l.live)
}

// slotsAt is where the slots are in the header, bytesAt where the bytes of the items are.
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

// item is the bytes of an entry that is not free.
func (l *List) item(e entry) []byte {
	return l.bytes()[e.where()-1:][:e.length()]
}

// Add counts the item n times more. If that put the item into the list in place of another, that one is appended to dst and replaced is true.
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

// bucket is where the item's bucket of a row is.
func (l *List) bucket(item []byte, row uint32) int {
	return int(uint64(row)*uint64(l.Width)+uint64(murmur.Sum32(item, row)%l.Width)) * BucketSize
}

// addRow does a row and returns the item's count in it, 0 if the bucket is another's.
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
			return 0 // nothing happened
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
