package arena

import (
	"unsafe"

	"godwit/internal/invariant"
)

// A big block has a chunk number and a mapping of its own and starts at offset 0.

func bigSize(n int) int64 { return int64(ClassSize(padded(n))) }

func (a *Arena) allocBig(n int, p Purpose) Ref {
	if n < 0 {
		panic("arena: negative size")
	}
	size := bigSize(n)
	a.growing(size)
	i := a.addChunk(size, nil)
	a.used[p&7] += int64(ClassSize(n))
	ref := Ref(i) << 32
	if invariant.Enabled {
		a.debugAlloc(ref, n, p, true)
	}
	return ref
}

// Giving pages back costs up to 0.2 ms a MiB, so mappings are not unmapped by Free, but in slices by Release: one command that frees a
// block, or a slice of work that frees many elements, stays short however large they are.
// Nothing bounds what waits but the owner, who is asked for time whenever the arena grows.
const releaseBytes = 1 << 20 // what one Release gives back of them

// dyingMapping is the mapping of a block that was freed.
type dyingMapping struct {
	base       unsafe.Pointer
	size, done int64 // done bytes from the start are back with the system
}

func (a *Arena) freeBig(ref Ref, n int, p Purpose) {
	a.used[p&7] -= int64(ClassSize(n))
	i := uint32(ref >> 32)
	size := a.size[i]
	a.dying = append(a.dying, dyingMapping{base: a.base[i], size: size})
	a.dyingBytes += size
	a.forgetChunk(i)
}

// releaseBig gives back about releaseBytes of the mappings that wait for it.
func (a *Arena) releaseBig() {
	for left := int64(releaseBytes); left > 0 && len(a.dying) > 0; {
		m := &a.dying[len(a.dying)-1]
		n := min(m.size-m.done, left)
		left -= n
		if m.done+n < m.size {
			discardMemory(unsafe.Add(m.base, m.done), n)
			m.done += n
			a.goneBytes += n
			return
		}
		a.unmap(m.base, m.size)
		a.mapped -= m.size
		a.dyingBytes -= m.size
		a.goneBytes -= m.done
		a.dying = a.dying[:len(a.dying)-1]
	}
}

func (a *Arena) resizeBig(ref Ref, oldN, newN int, p Purpose) Ref {
	i := ref >> 32
	if invariant.Enabled {
		a.debugUncanary(ref, oldN, p)
	}
	if from, to := a.size[i], bigSize(newN); from != to {
		if to > from {
			a.growing(to - from)
		}
		b := a.remapOrReserve(a.base[i], from, to)
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
