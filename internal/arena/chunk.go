package arena

import (
	"fmt"
	"math/bits"
	"unsafe"

	"godwit/internal/invariant"
)

const (
	// MaxSmall is the largest block, in bytes, that shares a chunk with others.
	MaxSmall = 256 << 10

	unitShift     = 16
	unitsPerChunk = 64
	chunkShift    = unitShift + 6
	chunkSize     = unitsPerChunk << unitShift
	maxUnits      = 16      // longest run: 1 MiB
	pageSize      = 4 << 10 // big blocks are accounted in these; the system may round up further

	// The classes: 4, 8 … 128, then 136, 144 … 512, then eight to each doubling.
	fineStep, fineMax = 1 << blockShift, 128
	evenStep, evenMax = 8, 512

	fineClasses = fineMax / fineStep
	evenClasses = fineClasses + (evenMax-fineMax)/evenStep
	numClasses  = evenClasses + 9*8

	// keepBelow bounds the blocks for which a class keeps an empty run. Who fills a larger block
	// does not notice what a new run costs, and a growing table needs no size twice.
	keepBelow = 16 << 10

	noBlock = ^uint32(0)
)

// class is one size of block and the runs of that size that have room.
//
// The runs with room form a list through next and prev. Its head is open for allocation, and what
// Alloc needs of it is copied here. A full run is on no list; Free puts it back.
type class struct {
	cur   *run           // head of the list
	base  unsafe.Pointer // where cur's chunk is mapped
	chunk Ref            // number of cur's chunk, shifted to its place in a Ref
	size  uint32         // bytes in a block
	units uint32         // units in a run
	tail  uint32         // bytes from a run's last block to the end of that page
}

// run is a part of one chunk, cut into blocks of one class. Blocks from bump on were never used.
type run struct {
	free       uint32 // offset in the chunk of the first free block below bump, or noBlock
	bump       uint32 // offset in the chunk of the first block that was never handed out
	live       uint32 // blocks handed out
	cap        uint32 // blocks in the run
	class      uint8
	unit       uint8 // index of the first unit
	listed     bool
	chunk      uint32
	next, prev *run
}

// chunk is the bookkeeping of a mapping that holds runs.
type chunk struct {
	freeUnits uint64 // bit i: unit i belongs to no run
	dirty     uint64 // bit i: unit i was used since the system last gave it zeroed
	drained   uint64 // bit i: unit i belongs to a run that a Drain empties, which is on no list
	first     [unitsPerChunk]uint8
	runs      [unitsPerChunk]run // by first unit
	queued    bool               // listed in Arena.idle
	halves    [halvesInChunk]half
}

// classOf returns the number of the smallest class that holds n bytes. n must not exceed MaxSmall.
func classOf(n int) int {
	switch {
	case n <= fineMax:
		return int(uint(max(n, 1)-1) / fineStep)
	case n <= evenMax:
		return fineClasses + int(uint(n-1-fineMax)/evenStep)
	}
	s := bits.Len(uint(n-1)) - 4
	return evenClasses + (s-6)*8 + (n-1)>>s - 8
}

// init fills in class number c. The run length is the shortest that wastes at most 1/32 of the run
// at its end. That end is never touched, so this saves address space more than memory.
func (cl *class) init(c int) {
	var size int
	switch {
	case c < fineClasses:
		size = fineStep * (c + 1)
	case c < evenClasses:
		size = fineMax + evenStep*(c-fineClasses+1)
	default:
		c -= evenClasses
		size = (c%8 + 9) << (c/8 + 6)
	}
	cl.size = uint32(size)
	best, bestWaste := 1, 2.0
	for u := 1; u <= maxUnits; u++ {
		bytes := u << unitShift
		waste := float64(bytes%size) / float64(bytes)
		if bytes < size || waste >= bestWaste {
			continue
		}
		best, bestWaste = u, waste
		if waste <= 1.0/32 {
			break
		}
	}
	cl.units = uint32(best)
	full := best << unitShift / size * size
	cl.tail = uint32((full+pageSize-1)&^(pageSize-1) - full)
}

// setCur makes r the head of the class's list in the copies that Alloc uses.
func (a *Arena) setCur(c *class, r *run) {
	c.cur = r
	if r == nil {
		c.base, c.chunk = nil, 0
		return
	}
	c.base, c.chunk = a.base[r.chunk], Ref(r.chunk)<<32
}

// popRun takes the full head off the class's list.
func (a *Arena) popRun(c *class) {
	r := c.cur
	next := r.next
	r.next, r.listed = nil, false
	if next != nil {
		next.prev = nil
	}
	a.setCur(c, next)
}

// runChanged is called by Free when a full run has room again or a run becomes empty.
func (a *Arena) runChanged(r *run) {
	c := &a.class[r.class]
	drained := a.meta[r.chunk].drained>>r.unit&1 != 0
	if !r.listed && !drained {
		a.list(c, r)
	}
	if r.live == 0 && (drained || c.cur != r || r.next != nil || c.size >= keepBelow) {
		a.dropRun(c, r)
	}
}

// list puts a run with room on its class's list.
func (a *Arena) list(c *class, r *run) {
	// It goes after the head: the head is filled up first, so that thin runs have time to empty.
	r.listed = true
	head := c.cur
	if head == nil {
		a.setCur(c, r)
		return
	}
	r.prev, r.next = head, head.next
	if head.next != nil {
		head.next.prev = r
	}
	head.next = r
}

// unlist takes a run off its class's list, if it is on it.
func (a *Arena) unlist(c *class, r *run) {
	if !r.listed {
		return
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		a.setCur(c, r.next)
	}
	r.next, r.prev, r.listed = nil, nil, false
}

// newRun opens a run for a class that has none with room.
func (a *Arena) newRun(c *class) *run {
	a.growing(int64(c.units) << unitShift)
	if c.cur != nil { // growing has freed something
		return c.cur
	}
	i, unit := a.findUnits(c.units)
	k := a.meta[i]
	m := unitMask(unit, c.units)
	k.freeUnits &^= m
	a.free -= int(c.units)
	a.dirty += bits.OnesCount64(m &^ k.dirty)
	k.dirty |= m
	for u := unit; u < unit+c.units; u++ {
		k.first[u] = uint8(unit)
	}
	r := &k.runs[unit]
	*r = run{free: noBlock, bump: unit << unitShift, cap: c.units << unitShift / c.size,
		class: uint8(classOf(int(c.size))), unit: uint8(unit), listed: true, chunk: i}
	a.setCur(c, r)
	a.tails += int64(c.tail)
	return r
}

// dropRun gives an empty run's units back to its chunk. If that was the chunk's last run, and
// another empty chunk is already kept, it queues the chunk for Release.
func (a *Arena) dropRun(c *class, r *run) {
	a.unlist(c, r)
	i := r.chunk
	k := a.meta[i]
	m := unitMask(uint32(r.unit), c.units)
	k.freeUnits |= m
	k.drained &^= m
	a.free += int(c.units)
	a.tails -= int64(c.tail)
	if invariant.Enabled {
		a.debugDropRun(r, c)
	}
	*r = run{}
	for u := range a.hint {
		a.hint[u] = min(a.hint[u], i)
	}
	if ^k.freeUnits != 0 {
		return
	}
	switch {
	case a.spare == 0:
		a.spare = i
	case a.spare != i && !k.queued:
		k.queued = true
		a.idle = append(a.idle, i)
	}
}

// growing lets the owner free something before the arena takes n bytes more. It does not while a
// block moves, because the owner might free that block.
func (a *Arena) growing(n int64) {
	if a.Growing != nil && !a.moving {
		a.Growing(n)
	}
}

// findUnits returns the lowest chunk that has n neighbouring free units, and the first of these. So
// high chunks thin out and can be returned.
func (a *Arena) findUnits(n uint32) (chunkNo, unit uint32) {
	for i := a.hint[n-1]; int(i) < len(a.meta); i++ {
		k := a.meta[i]
		if k == nil {
			continue
		}
		if m := starts(k.freeUnits, n); m != 0 {
			a.hint[n-1] = i
			if a.spare == i {
				a.spare = 0
			}
			return i, uint32(bits.TrailingZeros64(m))
		}
	}
	i := a.addChunk(chunkSize, &chunk{freeUnits: ^uint64(0)})
	for u := range a.hint {
		a.hint[u] = min(a.hint[u], i)
	}
	a.hint[n-1] = i
	return i, 0
}

// starts returns the set of bits at which n set bits of free begin.
func starts(free uint64, n uint32) uint64 {
	for have := uint32(1); have < n && free != 0; {
		step := min(have, n-have)
		free &= free >> step
		have += step
	}
	return free
}

func unitMask(unit, n uint32) uint64 { return (1<<n - 1) << unit }

// Trim returns to the system what is free in whole pieces: the runs and the chunk kept as a
// reserve, and the memory of free units in chunks that are still in use.
func (a *Arena) Trim() {
	a.dropKeptRuns()
	a.dropKept(len(a.kept.maps))
	for a.Release() {
	}
	if a.spare != 0 {
		a.dropChunk(a.spare)
		a.spare = 0
	}
	for i, k := range a.meta {
		if k == nil {
			continue
		}
		for k.freeUnits&k.dirty != 0 {
			a.trimUnits(uint32(i), k)
		}
	}
}

// checkChunk verifies the runs of one chunk: counts, free lists and the unit map.
func (a *Arena) checkChunk(i uint32) error {
	k := a.meta[i]
	for n := range k.halves {
		if k.halves[n].huge && ^k.dirty&unitMask(uint32(n)*halfUnits, halfUnits) != 0 {
			return fmt.Errorf("arena: chunk %d: half %d is huge, but in part given back", i, n)
		}
	}
	for u := uint32(0); u < unitsPerChunk; {
		if k.freeUnits>>u&1 == 1 {
			u++
			continue
		}
		r := &k.runs[u]
		c := &a.class[r.class]
		if uint32(k.first[u]) != u || r.chunk != i || uint32(r.unit) != u {
			return fmt.Errorf("arena: chunk %d unit %d starts no run", i, u)
		}
		if err := a.checkRun(r, c); err != nil {
			return err
		}
		u += c.units
	}
	return nil
}

func (a *Arena) checkRun(r *run, c *class) error {
	start := uint32(r.unit) << unitShift
	carved := (r.bump - start) / c.size
	n := r.live
	for off := r.free; off != noBlock; n++ {
		if off < start || off >= r.bump || (off-start)%c.size != 0 || n > carved {
			return fmt.Errorf(
				"arena: class %d: free list of the run at chunk %d unit %d is damaged at offset %d",
				c.size, r.chunk, r.unit, off)
		}
		off = *(*uint32)(unsafe.Add(a.base[r.chunk], off))
	}
	if n != carved || carved > r.cap {
		return fmt.Errorf("arena: class %d: run at chunk %d unit %d: %d live and free of %d carved",
			c.size, r.chunk, r.unit, n, carved)
	}
	drained := a.meta[r.chunk].drained>>r.unit&1 != 0
	if r.listed == (r.live == r.cap || drained) {
		return fmt.Errorf("arena: class %d: run at chunk %d unit %d: %d of %d live, listed %v",
			c.size, r.chunk, r.unit, r.live, r.cap, r.listed)
	}
	return nil
}
