package cuckoo

import (
	"encoding/binary"
	"math"
)

const (
	// compactAt is the ratio of deletions since the last compaction to items at which a filter of
	// several sub-filters is compacted.
	compactAt = 0.10
	// compactBudget is how many fingerprints a deletion may look at to compact the newest
	// sub-filter: about a millisecond's worth.
	compactBudget = 1 << 15
	// emptyPerLook is how many bytes of free slots take as long to skip as one fingerprint to look
	// at. It leaves sub-filters of 8 MiB and more to CF.COMPACT: a deletion would take too long to
	// find out that they are empty.
	emptyPerLook = 256
)

// Compact moves all fingerprints that find a place there to earlier sub-filters, and removes the
// newest sub-filters if they are empty then. It is O(memory).
func (f *Filter) Compact() {
	for i := f.Mem.Blocks() - 1; i > 0; i-- {
		f.empty(i, math.MaxInt)
	}
	f.Deletes = 0
}

// compact does what Compact does, from the newest sub-filter on, until one cannot be removed or the
// budget is used up.
func (f *Filter) compact(budget int) {
	for i := f.Mem.Blocks() - 1; i > 0; i-- {
		if budget -= len(f.Mem.Block(i)) / emptyPerLook; budget <= 0 {
			return
		}
		looked, empty := f.empty(i, budget)
		if !empty {
			return
		}
		budget -= looked
	}
}

// empty moves up to budget fingerprints of sub-filter i to earlier ones. It removes the sub-filter
// if it is the newest and nothing is left in it.
func (f *Filter) empty(i, budget int) (looked int, empty bool) {
	t := f.table(i)
	empty = true
	for at := 0; at < len(t.b); at++ {
		if t.b[at] == 0 {
			// In a sub-filter that is worth compacting, most slots are free.
			for at+8 < len(t.b) && binary.LittleEndian.Uint64(t.b[at:]) == 0 {
				at += 8
			}
			if t.b[at] == 0 {
				continue
			}
		}
		if looked == budget {
			return looked, false
		}
		looked++
		// The bucket's number has as many bits of the hash as a table that is not larger needs.
		p := fingerprint{uint64(at / t.slots), t.b[at]}
		if f.relocate(p, i) {
			f.set(i, at, 0)
		} else {
			empty = false
		}
	}
	if empty && i == f.Mem.Blocks()-1 {
		f.Mem.Truncate(i)
	}
	return looked, empty
}

// relocate finds a place for a fingerprint in a sub-filter before end.
func (f *Filter) relocate(p fingerprint, end int) bool {
	for i := range end {
		t := f.table(i)
		if at := t.place(p, 0); at >= 0 {
			f.set(i, at, p.fp)
			return true
		}
	}
	return false
}
