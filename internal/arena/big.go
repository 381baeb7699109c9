package arena

import (
	"fmt"
	"unsafe"

	"godwit/internal/invariant"
)

// A big block has a chunk number and a mapping of its own and starts at offset 0.

func bigSize(n int) int64 { return int64(ClassSize(padded(n))) }

func (a *Arena) allocBig(n int, p Purpose) Ref {
	if n < 0 {
		panic("arena: negative size")
	}
	i := a.addChunk(bigSize(n), nil)
	a.used[p&7] += int64(ClassSize(n))
	ref := Ref(i) << 32
	if invariant.Enabled {
		a.debugAlloc(ref, n, p, true)
	}
	return ref
}

func (a *Arena) freeBig(ref Ref, n int, p Purpose) {
	a.used[p&7] -= int64(ClassSize(n))
	a.dropChunk(uint32(ref >> 32))
}

func (a *Arena) resizeBig(ref Ref, oldN, newN int, p Purpose) Ref {
	i := ref >> 32
	if invariant.Enabled {
		a.debugUncanary(ref, oldN, p)
	}
	if from, to := a.size[i], bigSize(newN); from != to {
		b, err := remapMemory(a.base[i], from, to)
		if err != nil {
			panic(fmt.Sprintf("out of memory: the system refused to resize a mapping from %d to %d bytes (%v) with %d bytes mapped", from, to, err, a.mapped))
		}
		a.base[i], a.size[i] = b, to
		a.mapped += to - from
	}
	a.used[p&7] += int64(ClassSize(newN) - ClassSize(oldN))
	if invariant.Enabled {
		a.debugCanary(ref, newN, p)
	}
	return ref
}

// Discard tells that bytes [from, to) of a big block are not needed any more: whole pages among them
// go back to the system and read as zero afterwards. A no-op for blocks up to MaxSmall. n is the
// block's size.
//
// It lets the owner of a very large block give it up in slices, so that neither peak memory nor the
// final munmap is large.
func (a *Arena) Discard(ref Ref, n, from, to int) {
	if padded(n) <= MaxSmall {
		return
	}
	if invariant.Enabled {
		a.debugAccess(ref, n)
	}
	page := discardPage()
	from = (from + page - 1) &^ (page - 1)
	to = min(to, n) &^ (page - 1)
	if from < to {
		discardMemory(unsafe.Add(a.base[ref>>32], from), int64(to-from))
	}
}
