package arena

import (
	"math/bits"
	"unsafe"
)

// Units without a run stay resident, because the next run will want them soon. What is free for
// longer goes back to the system: the owner calls BeginTrim now and then, and TrimSlice until it
// has nothing more to do. That includes the empty run that each class keeps. Together these are
// tens of MB after a load of all sizes.

const (
	// trimFrom is the least that is worth a sweep: in bytes, and as a share of what is mapped.
	trimFrom  = 2 << 20
	trimShare = 50
	// trimChunks is how many chunks one slice looks at.
	trimChunks = 64
)

// Resident returns the resident bytes, as far as the arena can know. Big blocks count in full,
// whether their pages were touched or not.
func (a *Arena) Resident() int64 {
	n := a.Held() - int64(a.chunks)*chunkSize + int64(a.dirty)<<unitShift
	for i := range a.class {
		if c := &a.class[i]; c.cur != nil {
			// Blocks that were never handed out.
			end := uint32(c.cur.unit)<<unitShift + c.units<<unitShift
			n -= int64(end-c.cur.bump) &^ (pageSize - 1)
		}
	}
	return n
}

// FreeUnits returns the bytes of resident units that belong to no run.
func (a *Arena) FreeUnits() (n int64) {
	for _, k := range a.meta {
		if k != nil {
			n += int64(bits.OnesCount64(k.freeUnits&k.dirty)) << unitShift
		}
	}
	return n
}

// keptRuns returns the bytes of the empty runs that classes keep for the next block.
func (a *Arena) keptRuns() (n int64) {
	for i := range a.class {
		if c := &a.class[i]; c.cur != nil && c.cur.live == 0 {
			n += int64(c.cur.bump - uint32(c.cur.unit)<<unitShift)
		}
	}
	return n
}

// dropKeptRuns gives these runs back to their chunks.
func (a *Arena) dropKeptRuns() {
	for i := range a.class {
		c := &a.class[i]
		for c.cur != nil && c.cur.live == 0 {
			a.dropRun(c, c.cur)
		}
	}
}

// BeginTrim starts a sweep over all chunks if it is worth it. It also lets mappings go that were
// kept for blocks of their size and that nobody has wanted since the last call.
func (a *Arena) BeginTrim() {
	a.ageKept()
	if a.FreeUnits()+a.keptRuns() >= max(trimFrom, a.mapped/trimShare) {
		a.beginSweep()
	}
}

func (a *Arena) beginSweep() {
	a.dropKeptRuns()
	a.trim = uint32(len(a.meta))
}

// Trimming reports whether TrimSlice has something to do.
func (a *Arena) Trimming() bool { return a.trim > 0 }

// TrimSlice gives back the free units of the next chunks, about a MiB, and reports whether the
// sweep goes on. It takes up to 0.3 ms.
func (a *Arena) TrimSlice() (more bool) {
	left := int64(releaseBytes)
	for n := 0; n < trimChunks && a.trim > 0 && left > 0; n++ {
		i := min(a.trim, uint32(len(a.meta))) - 1
		if k := a.meta[i]; k != nil {
			for k.freeUnits&k.dirty != 0 && left > 0 {
				left -= a.trimUnits(i, k)
			}
			if k.freeUnits&k.dirty != 0 {
				break
			}
		}
		a.trim = i
	}
	return a.trim > 0
}

// trimUnits gives back the first stretch of free units and returns its bytes.
func (a *Arena) trimUnits(i uint32, k *chunk) int64 {
	idle := k.freeUnits & k.dirty
	from := bits.TrailingZeros64(idle)
	n := bits.TrailingZeros64(^(idle >> from))
	discardMemory(unsafe.Add(a.base[i], from<<unitShift), int64(n)<<unitShift)
	k.dirty &^= unitMask(uint32(from), uint32(n))
	a.dirty -= n
	a.split(k, from, n)
	return int64(n) << unitShift
}
