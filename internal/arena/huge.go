package arena

import (
	"math/bits"
	"unsafe"
)

// Huge pages
//
// A random lookup among 100 MB also misses the processor's table of pages. One page of 2 MiB in
// place of 512 small ones saves that, but a huge page that comes at the first touch makes resident
// what is free. So the arena waits until a half of a chunk, or 2 MiB of a hash table, is resident
// to the last page, and then has the system collapse it into one page:
//
//	full for a while → FullHalves → Half.Collapse, beside the executor → Collapsed
//	                                                                     │ units are trimmed
//	        full for much longer ←───────────────────────────────────────┘
//
// The mapping is not marked (MADV_HUGEPAGE): the system would fill it up again after a trim.
//
// Contents never change, so a Collapse may meet anything the executor does meanwhile, unmapping
// included. What was trimmed meanwhile is given back once more.

const (
	halfBytes     = 2 << 20
	halfUnits     = halfBytes >> unitShift
	halvesInChunk = chunkSize / halfBytes

	// fullSweeps is how many sweeps in turn must find a half full; againSweeps is how many more if
	// it was split or could not be collapsed.
	fullSweeps  = 2
	againSweeps = 30
	// sweepChunks is how many chunks one call of FullHalves looks at: at most some 4,000 runs.
	sweepChunks = 64
)

// half is what the arena knows of 2 MiB.
type half struct {
	full  uint8  // sweeps in turn that found it full
	extra uint8  // sweeps it needs beyond fullSweeps
	huge  bool   // it is one page, as far as the arena knows
	busy  bool   // FullHalves has handed it out
	trims uint32 // how often a part of it was given back
}

// hugePages is the arena's state of huge pages.
type hugePages struct {
	at     uint32            // chunks from this number on are still to be looked at; 0: all are
	tables map[uint32][]half // by chunk number: large blocks for Tables
	halves int               // that are huge
}

// Half is 2 MiB that are in use to the last byte.
type Half struct {
	of    *half
	at    unsafe.Pointer
	chunk uint32 // 0 for a table
	index int
	trims uint32
}

// HugeBytes returns the bytes that the arena has had collapsed into huge pages.
func (a *Arena) HugeBytes() int64 { return int64(a.huge.halves) * halfBytes }

// BeginHuge starts a sweep for full halves, unless one is under way.
func (a *Arena) BeginHuge() {
	if a.huge.at == 0 {
		a.huge.at = 1
	}
}

// FullHalves goes on with the sweep and appends at most n halves to be collapsed to list. Each must
// come back through Collapsed.
func (a *Arena) FullHalves(list []Half, n int) []Half {
	h := &a.huge
	for looks := 0; h.at > 0 && looks < sweepChunks && n > len(list); looks++ {
		if h.at >= uint32(len(a.base)) {
			h.at = 0
			break
		}
		list = a.fullOf(list, h.at)
		h.at++
	}
	return list
}

// fullOf appends the halves of a chunk that have been full for long enough.
func (a *Arena) fullOf(list []Half, i uint32) []Half {
	k, halves := a.meta[i], a.huge.tables[i]
	if k != nil {
		halves = k.halves[:]
	}
	from := aligned(a.base[i])
	for n := range halves {
		h := &halves[n]
		switch {
		case h.huge || h.busy:
			continue
		case k != nil && (from != a.base[i] || !a.halfFull(k, n)):
			h.full = 0
			continue
		}
		if h.full++; int(h.full) < fullSweeps+int(h.extra) {
			continue
		}
		h.busy, h.full = true, 0
		f := Half{of: h, at: unsafe.Add(from, n*halfBytes), index: n, trims: h.trims}
		if k != nil {
			f.chunk = i
		}
		list = append(list, f)
	}
	return list
}

// aligned returns the first address from p on at which a huge page may begin.
func aligned(p unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(p, -uintptr(p)&(halfBytes-1))
}

// halfFull reports whether all units of a half belong to runs of which every block was handed out
// at some time.
func (a *Arena) halfFull(k *chunk, n int) bool {
	m := unitMask(uint32(n)*halfUnits, halfUnits)
	if k.freeUnits&m != 0 {
		return false
	}
	for left := m; left != 0; {
		r := &k.runs[k.first[bits.TrailingZeros64(left)]]
		c := &a.class[r.class]
		if (r.bump-uint32(r.unit)<<unitShift)/c.size < r.cap {
			return false
		}
		left &^= unitMask(uint32(r.unit), c.units)
	}
	return true
}

// Collapsed takes note of what became of a half. If units of it were trimmed meanwhile, their pages
// are back, and are trimmed once more.
func (a *Arena) Collapsed(f Half, ok bool) {
	h := f.of
	h.busy = false
	var k *chunk
	if f.chunk > 0 && int(f.chunk) < len(a.meta) {
		k = a.meta[f.chunk]
	}
	switch {
	case !ok:
		h.extra = againSweeps
	case f.chunk == 0 && !h.huge || k != nil && h == &k.halves[f.index] && h.trims == f.trims:
		h.huge = true
		a.huge.halves++
	case k != nil && h == &k.halves[f.index]:
		a.trimAgain(f, k)
	}
}

// trimAgain gives back the units of a half that the arena takes to be given back.
func (a *Arena) trimAgain(f Half, k *chunk) {
	first := uint32(f.index) * halfUnits
	gone := ^k.dirty & unitMask(first, halfUnits)
	for gone != 0 {
		from := uint32(bits.TrailingZeros64(gone))
		n := uint32(bits.TrailingZeros64(^(gone >> from)))
		discardMemory(unsafe.Add(a.base[f.chunk], from<<unitShift), int64(n)<<unitShift)
		gone &^= unitMask(from, n)
	}
}

// split takes note that units of a chunk go back to the system.
func (a *Arena) split(k *chunk, from, n int) {
	for i := from / halfUnits; i <= (from+n-1)/halfUnits; i++ {
		h := &k.halves[i]
		h.trims++
		h.full = 0
		if h.huge {
			h.huge, h.extra = false, againSweeps
			a.huge.halves--
		}
	}
}

// addTable begins to watch a block for Tables that is large enough for huge pages.
func (a *Arena) addTable(i uint32, p Purpose) {
	from := uintptr(aligned(a.base[i])) - uintptr(a.base[i])
	if n := (a.size[i] - int64(from)) / halfBytes; p == Tables && n > 0 {
		a.huge.tables[i] = make([]half, n)
	}
}

// dropTable ends that: the block is freed, resized or discarded.
func (a *Arena) dropTable(i uint32) {
	halves := a.huge.tables[i]
	if halves == nil {
		return
	}
	a.huge.halves -= countHuge(halves)
	for n := range halves {
		halves[n].huge = true // so that a Collapse that is under way does not count
	}
	delete(a.huge.tables, i)
}

func countHuge(halves []half) (n int) {
	for i := range halves {
		if halves[i].huge {
			n++
		}
	}
	return n
}
