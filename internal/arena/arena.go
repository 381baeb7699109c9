// Package arena is the memory that keys, values and tables live in: mapped outside Go's heap, so
// that the garbage collector neither scans it nor reserves headroom for it.
//
// A block is named by a Ref and has no header: whoever owns the Ref also knows the block's size and
// gives it back with Free. The layout, from the outside in:
//
//	chunk   4 MiB mapping = 64 units of 64 KiB; one bitmap word says which units are free
//	run     1..16 neighbouring units cut into blocks of one size class
//	block   a multiple of 4 bytes; a free one holds, in its first 4 bytes, the offset of the next
//
//	unit   0        1        2..4               5                 63
//	      ┌────────┬────────┬──────────────────┬────────┬─ ─ ─ ┬────────┐
//	      │ 96 B   │ 104 B  │ 20 KiB (3 units) │ free   │      │ 96 B   │
//	      └────────┴────────┴──────────────────┴────────┴─ ─ ─ ┴────────┘
//	       run: free list head, bump offset, live count (all kept beside the chunk, not in it)
//
// Blocks above MaxSmall have a mapping of their own: they come zeroed by the kernel page by page as
// they are touched, grow by mremap without being copied, and are returned by Release in slices.
//
// What must stay true:
//   - Ref 0 is nil; chunk number 0 is never used. Every Ref is a multiple of 4 below 1<<RefBits, so
//     structures may keep up to 13 bits of their own above it. Its offset is below 4 MiB, so it can
//     be packed into 39 bits.
//   - A block never moves unless its owner calls Resize or Move.
//   - A block whose size is a multiple of 64 is aligned to 64 bytes if its class is that size
//     exactly (all powers of two are); dict relies on it for cache lines. The same holds for
//     multiples of 8. All other blocks are aligned to 4 bytes only.
//   - A run with no live block goes back to its chunk, a chunk with no run goes back to the system,
//     except one of each kept so that alternating Alloc and Free at the border stays cheap (of runs
//     only those of blocks below 16 KiB).
//     Unmapping a chunk takes up to 0.8 ms, and the last of many Frees may empty dozens: they wait
//     for Release.
//
// Cost: Alloc and Free are a few ns and O(1) (a new run: one search of a bitmap), no Go allocation
// except for the 2 KiB of bookkeeping beside each new 4 MiB chunk. Overhead in a full run is 0
// bytes a block. Rounding up to a class costs under 4 bytes to 128 bytes, 1.5 on average, under 8
// to 512 bytes, and at most 1/8 above.
//
// Limits: not safe for concurrent use: one executor owns an arena. 1<<19 chunks and big blocks
// together (2 TiB of small blocks). The kernel's vm.max_map_count (65530 as a rule) bounds the
// number of mappings, of which each big block may need one.
//
// Alloc panics when the system refuses a mapping; reserve.go says how to know before.
//
// Sources: slab allocation after Bonwick (1994); size classes eight to a doubling as in jemalloc.
package arena

import (
	"fmt"
	"math/bits"
	"unsafe"

	"godwit/internal/invariant"
)

// Ref names a block: the number of its chunk in the bits from 32 up, the byte offset of the block
// in the chunk in the lower 32. 0 is nil.
type Ref uint64

const (
	// RefBits is the number of low bits that a Ref may use; the bits above are always 0.
	RefBits = 51
	// PackedBits is the number of low bits that a packed Ref may use.
	PackedBits = numberBits + chunkShift - blockShift

	numberBits = RefBits - 32 // of a chunk number
	blockShift = 2            // blocks begin at multiples of 4
	packShift  = numberBits - blockShift
)

// Pack returns the Ref without the bits that are always 0, for tables that have little room.
func (r Ref) Pack() uint64 { return uint64(r>>32|r<<packShift) & (1<<PackedBits - 1) }

// Unpack reverses Pack. It ignores the bits above PackedBits.
func Unpack(p uint64) Ref {
	return Ref(p<<32&(1<<RefBits-1) | p>>packShift&(1<<chunkShift-1<<blockShift))
}

// Purpose says what a block is for. It changes nothing but the accounting.
type Purpose uint8

// The purposes that memory is accounted by.
const (
	Keys    Purpose = iota // keys, and values stored together with them
	Values                 // values in blocks of their own, elements of collections
	Tables                 // hash tables and other indexes
	Buffers                // everything else: backlogs, queues
	NumPurposes
)

// Arena is one owner's off-heap memory. Make it with New.
type Arena struct {
	// Growing, if set, is called before the arena takes n bytes more, for a run or a big block, out
	// of its own free units or of the system. It may free blocks, but not allocate any.
	Growing func(n int64)

	// Moves counts what Move did.
	Moves Moves

	base []unsafe.Pointer // by chunk number: where the chunk is mapped, nil if the number is unused
	used [8]int64         // by purpose: bytes of size classes handed out

	class [numClasses]class
	meta  []*chunk // by chunk number: bookkeeping of a chunk of runs, nil for a big block
	size  []int64  // by chunk number: bytes mapped

	freeIdx []uint32 // chunk numbers to use again
	// hint says, by run length-1, below which number no chunk has room for such a run.
	hint       [maxUnits]uint32
	spare      uint32         // the one empty chunk that is kept mapped, 0 if none
	idle       []uint32       // chunks that were empty when they were queued for Release
	mapped     int64          // bytes mapped now
	dying      []dyingMapping // of big blocks that were freed, to be unmapped by Release
	dyingBytes int64          // of their mappings
	dyingLeft  int64          // of dyingBytes: what Release has not given back yet
	kept       keptMappings
	huge       hugePages
	guard      guard
	chunks     int    // chunks of runs
	dirty      int    // their units that are resident
	free       int    // their units that belong to no run
	moveFreely bool   // see Drain.ChooseAll
	moving     bool   // in Move
	trim       uint32 // chunks below this number are still to be trimmed
	// gone says, by chunk number, what was discarded of a big block, from its start.
	gone      map[uint32]int64
	goneBytes int64             // of big blocks, in use or dying, that the system has back
	tails     int64             // see Tails
	live      map[Ref]liveBlock // build tag invariants only: every block handed out
	freed     map[Ref]bool      // build tag invariants only: every block on a free list
}

// New returns an empty arena. It maps nothing before the first Alloc.
func New() *Arena {
	a := &Arena{base: make([]unsafe.Pointer, 1), meta: make([]*chunk, 1), size: make([]int64, 1)}
	a.gone, a.huge.tables = map[uint32]int64{}, map[uint32][]half{}
	for c := range a.class {
		a.class[c].init(c)
	}
	for i := range a.hint {
		a.hint[i] = 1
	}
	if invariant.Enabled {
		a.live, a.freed = map[Ref]liveBlock{}, map[Ref]bool{}
	}
	return a
}

// Alloc hands out a block of n bytes (n ≥ 0) with undefined contents. It panics when the system has
// no memory left.
func (a *Arena) Alloc(n int, p Purpose) Ref {
	if uint(padded(n)) > MaxSmall {
		return a.allocBig(n, p, false)
	}
	a.used[p&7] += int64(ClassSize(n))
	c := &a.class[classOf(padded(n))]
	r := c.cur
	if r == nil {
		r = a.newRun(c)
	}
	off := r.free
	if off != noBlock {
		r.free = *(*uint32)(unsafe.Add(c.base, off))
	} else {
		off = r.bump
		r.bump += c.size
	}
	r.live++
	ref := c.chunk | Ref(off)
	if r.live == r.cap {
		a.popRun(c)
	}
	if invariant.Enabled {
		a.debugAlloc(ref, n, p, false)
	}
	return ref
}

// AllocZero hands out a block of n zero bytes. Above MaxSmall that costs nothing: the kernel zeroes
// each page when it is first touched.
func (a *Arena) AllocZero(n int, p Purpose) Ref {
	if uint(padded(n)) > MaxSmall && !invariant.Enabled {
		return a.allocBig(n, p, true)
	}
	ref := a.Alloc(n, p)
	if n <= MaxSmall || invariant.Enabled {
		clear(a.Bytes(ref, n))
	}
	return ref
}

// Free takes back a block. n and p must be those that it was allocated (or last resized) with.
func (a *Arena) Free(ref Ref, n int, p Purpose) {
	if invariant.Enabled {
		a.debugFree(ref, n, p)
	}
	if uint(padded(n)) > MaxSmall {
		a.freeBig(ref, n, p)
		return
	}
	a.used[p&7] -= int64(ClassSize(n))
	chunkNo, off := uint32(ref>>32), uint32(ref)
	k := a.meta[chunkNo]
	r := &k.runs[k.first[off>>unitShift&(unitsPerChunk-1)]]
	*(*uint32)(unsafe.Add(a.base[chunkNo], off)) = r.free
	r.free = off
	r.live--
	if r.live+1 == r.cap || r.live == 0 {
		a.runChanged(r)
	}
}

// Resize gives the block of oldN bytes room for newN and returns where it is now. The first
// min(oldN, newN) bytes are kept; bytes beyond are undefined. Within one size class the block stays
// in place. Big blocks grow by mremap, which moves page tables and not bytes.
func (a *Arena) Resize(ref Ref, oldN, newN int, p Purpose) Ref {
	oldBig, newBig := padded(oldN) > MaxSmall, padded(newN) > MaxSmall
	switch {
	case oldBig && newBig:
		return a.resizeBig(ref, oldN, newN, p)
	case !oldBig && !newBig && classOf(padded(oldN)) == classOf(padded(newN)):
		if invariant.Enabled {
			a.debugResize(ref, oldN, newN, p)
		}
		a.used[p&7] += int64(ClassSize(newN) - ClassSize(oldN)) // they differ only with padding
		return ref
	}
	to := a.Alloc(newN, p)
	copy(a.Bytes(to, min(oldN, newN)), a.Bytes(ref, min(oldN, newN)))
	a.Free(ref, oldN, p)
	return to
}

// Bytes returns the block's first n bytes; n must not exceed the block's size. The slice has
// capacity n and is valid until the block is freed or resized.
func (a *Arena) Bytes(ref Ref, n int) []byte {
	if invariant.Enabled {
		a.debugAccess(ref, n)
	}
	return unsafe.Slice((*byte)(unsafe.Add(a.base[ref>>32], uint32(ref))), n)
}

// From returns the memory from the block's start to the end of its chunk, for reading a header that
// says how long the block is. Nothing beyond the block may be read, let alone written.
func (a *Arena) From(ref Ref) []byte {
	if invariant.Enabled {
		return a.Bytes(ref, a.debugSize(ref))
	}
	return unsafe.Slice((*byte)(unsafe.Add(a.base[ref>>32], uint32(ref))),
		a.size[ref>>32]-int64(uint32(ref)))
}

// Pointer returns the block's address, which is valid as long as the block is. It is for the
// packages that may use unsafe; others use Bytes.
func (a *Arena) Pointer(ref Ref) unsafe.Pointer {
	return unsafe.Add(a.base[ref>>32], uint32(ref))
}

// Prefetch hints that the cache line at the given offset of the block will be read soon.
func (a *Arena) Prefetch(ref Ref, off int) { PrefetchAt(unsafe.Add(a.Pointer(ref), off)) }

// Used returns the number of bytes handed out, rounded up to size classes, less what was discarded.
// The sum is written out because with maxmemory every command asks for it, and the compiler does
// not unroll a loop.
func (a *Arena) Used() int64 {
	u := &a.used
	return (u[0] + u[1]) + (u[2] + u[3]) + ((u[4] + u[5]) + (u[6] + u[7]))
}

// UsedBy returns the part of Used that was allocated for one purpose.
func (a *Arena) UsedBy(p Purpose) int64 { return a.used[p&7] }

// Tails returns the number of bytes that no block can use although their pages are resident: from
// the last block of each run to the end of the page. Used does not contain them. They are up to 3 %
// of it for some block sizes.
func (a *Arena) Tails() int64 { return a.tails }

// Mapped returns the number of bytes of address space mapped now. It is an upper bound of the
// memory that the arena occupies, since pages count only once they are touched.
func (a *Arena) Mapped() int64 { return a.mapped }

// Close unmaps everything. Under the build tag invariants it panics if a block was never freed.
func (a *Arena) Close() {
	if invariant.Enabled {
		a.debugClose()
	}
	for i, b := range a.base {
		if b != nil {
			a.unmap(b, a.size[i])
		}
	}
	a.dropKept(len(a.kept.maps))
	for _, m := range a.dying {
		a.unmap(m.base, m.size)
	}
	a.unguard()
	*a = Arena{}
}

// Check walks the arena's bookkeeping and reports the first thing that does not add up.
func (a *Arena) Check() error {
	var mapped int64
	chunks, dirty, free := 0, 0, 0
	huge := 0
	for i, b := range a.base {
		if b == nil {
			continue
		}
		mapped += a.size[i]
		if k := a.meta[i]; k != nil {
			chunks++
			huge += countHuge(k.halves[:])
			dirty += bits.OnesCount64(k.dirty)
			free += bits.OnesCount64(k.freeUnits)
			if err := a.checkChunk(uint32(i)); err != nil {
				return err
			}
		}
	}
	if mapped += a.dyingBytes + a.kept.bytes; mapped != a.mapped {
		return fmt.Errorf("arena: %d bytes mapped, %d accounted", mapped, a.mapped)
	}
	for _, halves := range a.huge.tables {
		huge += countHuge(halves)
	}
	if huge != a.huge.halves {
		return fmt.Errorf("arena: %d huge pages, %d accounted", huge, a.huge.halves)
	}
	if chunks != a.chunks || dirty != a.dirty || free != a.free {
		return fmt.Errorf(
			"arena: %d chunks with %d dirty and %d free units; accounted are %d, %d and %d",
			chunks, dirty, free, a.chunks, a.dirty, a.free)
	}
	return nil
}

// addChunk maps size bytes under a free chunk number. meta is nil for a big block.
func (a *Arena) addChunk(size int64, meta *chunk) uint32 {
	b := a.mapOrReserve(size)
	a.mapped += size
	return a.numberChunk(b, size, meta)
}

// numberChunk gives the mapping at b a chunk number.
func (a *Arena) numberChunk(b unsafe.Pointer, size int64, meta *chunk) uint32 {
	var i uint32
	if n := len(a.freeIdx); n > 0 {
		i, a.freeIdx = a.freeIdx[n-1], a.freeIdx[:n-1]
	} else {
		i = uint32(len(a.base))
		if i >= 1<<numberBits {
			panic("arena: out of chunk numbers")
		}
		a.base = append(a.base, nil)
		a.meta = append(a.meta, nil)
		a.size = append(a.size, 0)
	}
	a.base[i], a.meta[i], a.size[i] = b, meta, size
	if meta != nil {
		a.chunks++
		a.free += unitsPerChunk
	}
	return i
}

func (a *Arena) dropChunk(i uint32) {
	a.unmap(a.base[i], a.size[i])
	a.mapped -= a.size[i]
	if k := a.meta[i]; k != nil {
		a.uncount(k)
	}
	a.forgetChunk(i)
}

// forgetChunk frees the chunk number.
func (a *Arena) forgetChunk(i uint32) {
	a.base[i], a.meta[i], a.size[i] = nil, nil, 0
	a.freeIdx = append(a.freeIdx, i)
}

// ClassSize returns the number of bytes that a block of n bytes really takes.
func ClassSize(n int) int {
	switch {
	case n <= fineStep:
		return fineStep
	case n <= fineMax:
		return (n + fineStep - 1) &^ (fineStep - 1)
	case n <= evenMax:
		return (n + evenStep - 1) &^ (evenStep - 1)
	case n <= MaxSmall:
		s := bits.Len(uint(n-1)) - 4
		return ((n-1)>>s + 1) << s
	}
	return (n + pageSize - 1) &^ (pageSize - 1)
}
