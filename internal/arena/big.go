package arena

import (
	"slices"
	"unsafe"

	"godwit/internal/invariant"
)

// A big block has a chunk number and a mapping of its own and starts at offset 0.

func bigSize(n int) int64 { return int64(ClassSize(padded(n))) }

// allocBig hands out a big block. With zero set its bytes are zero.
func (a *Arena) allocBig(n int, p Purpose, zero bool) Ref {
	if n < 0 {
		panic("arena: negative size")
	}
	size := bigSize(n)
	var i uint32
	if b := a.revive(size, zero); b != nil {
		i = a.numberChunk(b, size, nil)
		if invariant.Enabled {
			debugFill(dyingMapping{base: b, size: size}, freshByte)
		}
	} else {
		a.growing(size)
		i = a.addChunk(size, nil)
	}
	a.addTable(i, p)
	a.used[p&7] += int64(ClassSize(n))
	ref := Ref(i) << 32
	if invariant.Enabled {
		a.debugAlloc(ref, n, p, true)
	}
	return ref
}

// Giving pages back costs up to 0.2 ms a MiB. So Free does not unmap mappings; Release does, in
// slices. A command that frees a block, and a slice of work that frees many elements, stay short
// however large the blocks are. Nothing bounds what waits except the owner, who is asked for time
// whenever the arena grows.

// releaseBytes is how many bytes of mappings one Release gives back.
const releaseBytes = 1 << 20

// dyingMapping is the mapping of a block that was freed.
type dyingMapping struct {
	base       unsafe.Pointer
	size, done int64 // done bytes from the start are back with the system
}

func (a *Arena) freeBig(ref Ref, n int, p Purpose) {
	a.used[p&7] -= a.Counted(ref, n)
	i := uint32(ref >> 32)
	m := dyingMapping{base: a.base[i], size: a.size[i], done: a.gone[i]}
	delete(a.gone, i)
	a.dropTable(i)
	a.forgetChunk(i)
	if invariant.Enabled {
		debugFill(m, poisonByte)
	}
	if m.done > 0 || m.size > keptBytes/2 {
		a.bury(m)
		return
	}
	for a.kept.bytes+m.size > keptBytes {
		a.dropKept(1)
	}
	a.kept.maps = append(a.kept.maps, m)
	a.kept.bytes += m.size
}

// bury queues a mapping for Release.
func (a *Arena) bury(m dyingMapping) {
	a.dying = append(a.dying, m)
	a.dyingBytes += m.size
	a.dyingLeft += m.size - m.done
}

// keptBytes bounds the mappings of freed blocks that are kept for the next block of their size. So
// replacing a large value by one of the same size, again and again, needs no new pages: for a value
// of 1 MiB these cost five times what copying it does.
const keptBytes = 8 << 20

// keptMappings holds these mappings. The one freed last is at the end.
type keptMappings struct {
	maps  []dyingMapping
	bytes int64
	old   int // how many of the first were there at the last ageKept
}

// reviveLooks is how many of the dying mappings revive looks at: blocks too large to keep.
const reviveLooks = 8

// revive takes a whole mapping of the size from those that are kept or wait for Release, or returns
// nil. The mapping holds old bytes, so it is not for a block that must be zero.
func (a *Arena) revive(size int64, zero bool) unsafe.Pointer {
	if zero {
		return nil
	}
	r := &a.kept
	if k := lastOf(r.maps, size); k >= 0 {
		b := r.maps[k].base
		r.maps = slices.Delete(r.maps, k, k+1)
		r.bytes -= size
		if k < r.old {
			r.old--
		}
		return b
	}
	from := max(0, len(a.dying)-reviveLooks)
	if k := lastOf(a.dying[from:], size); k >= 0 {
		b := a.dying[from+k].base
		a.dying = slices.Delete(a.dying, from+k, from+k+1)
		a.dyingBytes -= size
		a.dyingLeft -= size
		return b
	}
	return nil
}

// lastOf returns the index of the last mapping of the size of which nothing is given back, or -1.
func lastOf(maps []dyingMapping, size int64) int {
	for k := len(maps) - 1; k >= 0; k-- {
		if maps[k].size == size && maps[k].done == 0 {
			return k
		}
	}
	return -1
}

// dropKept leaves the n oldest of the kept mappings to Release.
func (a *Arena) dropKept(n int) {
	r := &a.kept
	for _, m := range r.maps[:n] {
		a.bury(m)
		r.bytes -= m.size
	}
	r.maps = slices.Delete(r.maps, 0, n)
	r.old = max(0, r.old-n)
}

// ageKept drops the mappings that nobody has wanted since the last call.
func (a *Arena) ageKept() {
	a.dropKept(a.kept.old)
	a.kept.old = len(a.kept.maps)
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
			a.dyingLeft -= n
			return
		}
		a.unmap(m.base, m.size)
		a.mapped -= m.size
		a.dyingBytes -= m.size
		a.dyingLeft -= m.size - m.done
		a.goneBytes -= m.done
		a.dying = a.dying[:len(a.dying)-1]
	}
}

func (a *Arena) resizeBig(ref Ref, oldN, newN int, p Purpose) Ref {
	i := ref >> 32
	if invariant.Enabled {
		invariant.Check(a.gone[uint32(i)] == 0, "resize of block %#x, part of which is given up",
			uint64(ref))
		a.debugUncanary(ref, oldN, p)
	}
	if from, to := a.size[i], bigSize(newN); from != to {
		if to > from {
			a.growing(to - from)
		}
		a.dropTable(uint32(i))
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

// Discard gives up the first bytes of a big block, up to the offset to. Whole pages among them go
// back to the system, read as zero from now on, and no longer count in Used. It returns by how many
// bytes Used shrank; what earlier calls gave up is not among them. n is the block's size. The block
// must not be resized afterwards. For blocks up to MaxSmall, Discard does nothing.
//
// It lets a structure that moves to another block return the old one as it goes.
func (a *Arena) Discard(ref Ref, n, to int, p Purpose) (freed int64) {
	if padded(n) <= MaxSmall {
		return 0
	}
	if invariant.Enabled {
		a.debugAccess(ref, n)
	}
	i := uint32(ref >> 32)
	from := a.gone[i]
	end := int64(min(to, n) &^ (discardPage() - 1))
	if end <= from {
		return 0
	}
	a.dropTable(i)
	discardMemory(unsafe.Add(a.base[i], from), end-from)
	a.gone[i] = end
	a.goneBytes += end - from
	a.used[p&7] -= end - from
	return end - from
}

// Counted returns what a block of n bytes counts in Used: its size class, less what was discarded.
func (a *Arena) Counted(ref Ref, n int) int64 {
	size := int64(ClassSize(n))
	if padded(n) > MaxSmall && len(a.gone) > 0 {
		size -= a.gone[uint32(ref>>32)]
	}
	return size
}
