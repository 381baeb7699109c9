package arena

import (
	"fmt"
	"unsafe"
)

// What happens when the system refuses memory
//
// The limits of a process (ulimit, vm.overcommit_memory, vm.max_map_count) show when a mapping
// fails. By then a command is in the middle of its work. So a guarded arena looks ahead. Now and
// then it tries whether headroom more bytes are available (Probe). Its owner asks Short before it
// begins something that takes memory. What has begun goes on with the reserve: a few mappings that
// are never touched and are given up one by one. Only when these are gone does Alloc panic.
//
// The headroom also serves Go's heap, which ends the process when it is refused memory. It grows by
// 64 MiB of addresses at a time.

const (
	reservePieces = 8 // one chunk each
	headroom      = 128 << 20
	// probeEvery is how many bytes are mapped between two tries.
	probeEvery = 16 << 20
)

// guard is the state of a guarded arena.
type guard struct {
	on       bool
	short    bool // the system refused memory at the last try
	pieces   []unsafe.Pointer
	unprobed int64          // bytes mapped since the last try
	stuck    []dyingMapping // mappings that the system would not unmap
}

// Guard makes the arena keep a reserve and look ahead.
func (a *Arena) Guard() {
	a.guard.on = true
	a.Probe(0)
}

// Short reports whether the system has refused memory lately. Then nothing that takes more may be
// begun.
func (a *Arena) Short() bool { return a.guard.short }

// Probe reports whether n more bytes, and headroom besides them, are available now.
func (a *Arena) Probe(n int64) bool {
	g := &a.guard
	if !g.on {
		return true
	}
	g.unprobed = 0
	for len(g.pieces) < reservePieces {
		p, err := mapReserve(chunkSize, len(g.pieces)%2 == 0)
		if err != nil {
			g.short = true
			a.dropKept(len(a.kept.maps))
			return false
		}
		g.pieces = append(g.pieces, p)
	}
	ok := a.canMap(headroom)
	g.short = !ok
	if ok && (n == 0 || a.canMap(n+headroom)) {
		return true
	}
	a.dropKept(len(a.kept.maps)) // for the caller to release
	return false
}

// Fits reports whether a block of n bytes is small, or is available from the system now. Work that
// can be refused asks this first.
func (a *Arena) Fits(n int) bool { return n <= 1<<20 || a.Probe(int64(n)) }

// mapOrReserve maps size bytes, with the help of the reserve if needed.
func (a *Arena) mapOrReserve(size int64) unsafe.Pointer {
	return a.orReserve(size, func() (unsafe.Pointer, error) { return mapMemory(size) })
}

// remapOrReserve resizes a mapping, with the help of the reserve if needed. The mapping may move.
func (a *Arena) remapOrReserve(p unsafe.Pointer, from, to int64) unsafe.Pointer {
	return a.orReserve(to-from, func() (unsafe.Pointer, error) { return remapMemory(p, from, to) })
}

// orReserve returns what try maps. That takes more bytes than before, or fewer than none if a
// mapping shrinks. When the system refuses, it gives up what waits for Release, then the reserve,
// and panics when both are gone.
func (a *Arena) orReserve(more int64, try func() (unsafe.Pointer, error)) unsafe.Pointer {
	g := &a.guard
	b, err := try()
	if err == nil {
		if g.unprobed += max(more, 0); g.unprobed >= probeEvery {
			a.Probe(0)
		}
		return b
	}
	g.short = g.on
	for ; err != nil; b, err = try() {
		switch n := len(g.pieces); {
		case a.Idle():
			a.Release()
		case len(a.kept.maps) > 0:
			a.dropKept(len(a.kept.maps))
		case n > 0:
			p := g.pieces[n-1]
			g.pieces = g.pieces[:n-1]
			a.unmap(p, chunkSize)
		default:
			panic(fmt.Sprintf(
				"out of memory: the system refused %d bytes more (%v) with %d bytes mapped",
				more, err, a.mapped))
		}
	}
	return b
}

// canMap reports whether the system would map size bytes.
func (a *Arena) canMap(size int64) bool {
	p, err := mapTrial(size)
	return err == nil && a.unmap(p, size)
}

// unmap gives a mapping back and reports whether its addresses are free. To cut a piece out of
// neighbouring mappings takes one more mapping, which the system may refuse. Then the pages go back
// now and the addresses later.
func (a *Arena) unmap(p unsafe.Pointer, size int64) bool {
	g := &a.guard
	for n := len(g.stuck); n > 0; n = len(g.stuck) {
		m := g.stuck[n-1]
		if tryUnmap(m.base, m.size) != nil {
			break
		}
		g.stuck = g.stuck[:n-1]
	}
	if tryUnmap(p, size) == nil {
		return true
	}
	discardMemory(p, size)
	g.stuck = append(g.stuck, dyingMapping{base: p, size: size})
	return false
}

// unguard gives the reserve back.
func (a *Arena) unguard() {
	for _, p := range a.guard.pieces {
		_ = tryUnmap(p, chunkSize) // the process is ending, or will not try again
	}
	for _, m := range a.guard.stuck {
		_ = tryUnmap(m.base, m.size)
	}
}
