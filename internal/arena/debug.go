package arena

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"godwit/internal/invariant"
)

// Under the build tag invariants each block is followed by a canary and recorded in a.live:
//
//	n bytes for the owner | 8 bytes of canary
//
// A fresh block is filled with freshByte, so that nobody relies on zeroes. A freed one is filled
// with poisonByte, which is verified when the block is handed out again.
const (
	canarySize = 8
	canary     = 0xc0de_1eaf_ca5c_ade5
	freshByte  = 0xa5
	poisonByte = 0xdb
)

type liveBlock struct {
	n int
	p Purpose
}

// padded returns the size with which a block of n bytes is allocated.
func padded(n int) int {
	if invariant.Enabled {
		return n + canarySize
	}
	return n
}

func (a *Arena) debugAlloc(ref Ref, n int, p Purpose, big bool) {
	invariant.Check(p < NumPurposes, "alloc for unknown purpose %d", p)
	invariant.Check(ref&(1<<blockShift-1) == 0 && ref>>RefBits == 0 && ref != 0,
		"malformed Ref %#x", uint64(ref))
	_, twice := a.live[ref]
	invariant.Check(!twice, "block %#x handed out twice", uint64(ref))
	a.live[ref] = liveBlock{n: n, p: p}
	if !big {
		b := a.raw(ref, ClassSize(padded(n)))
		if a.freed[ref] {
			delete(a.freed, ref)
			for i, c := range b[4:] {
				invariant.Check(c == poisonByte,
					"block %#x of %d bytes was written at offset %d after it was freed",
					uint64(ref), n, i+4)
			}
		}
		for i := range b {
			b[i] = freshByte
		}
	}
	a.debugCanary(ref, n, p)
}

// raw is Bytes without the checks.
func (a *Arena) raw(ref Ref, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(a.base[ref>>32], uint32(ref))), n)
}

// debugCanary records the block with size n and writes its canary.
func (a *Arena) debugCanary(ref Ref, n int, p Purpose) {
	a.live[ref] = liveBlock{n: n, p: p}
	binary.LittleEndian.PutUint64(a.raw(ref, n+canarySize)[n:], canary)
}

// debugUncanary verifies that the block is live with exactly this size and purpose, and undamaged.
func (a *Arena) debugUncanary(ref Ref, n int, p Purpose) {
	l, ok := a.live[ref]
	invariant.Check(ok,
		"free or resize of %#x, which is not a live block (double free or stale Ref)", uint64(ref))
	invariant.Check(l.n == n && l.p == p,
		"block %#x has size %d and purpose %d, given up as %d and %d", uint64(ref), l.n, l.p, n, p)
	invariant.Check(binary.LittleEndian.Uint64(a.raw(ref, n+canarySize)[n:]) == canary,
		"canary of block %#x of %d bytes is damaged: written past its end", uint64(ref), n)
}

func (a *Arena) debugFree(ref Ref, n int, p Purpose) {
	a.debugUncanary(ref, n, p)
	delete(a.live, ref)
	if padded(n) <= MaxSmall {
		b := a.raw(ref, ClassSize(padded(n)))
		for i := range b {
			b[i] = poisonByte
		}
		a.freed[ref] = true
	}
}

// debugFill fills a mapping whose block was freed, or handed out again. It leaves mappings alone
// that are too large to be kept: filling these would take too long.
func debugFill(m dyingMapping, with byte) {
	if m.size > keptBytes || m.done > 0 {
		return
	}
	b := unsafe.Slice((*byte)(m.base), m.size)
	for i := range b {
		b[i] = with
	}
}

func (a *Arena) debugResize(ref Ref, oldN, newN int, p Purpose) {
	a.debugUncanary(ref, oldN, p)
	a.debugCanary(ref, newN, p)
}

func (a *Arena) debugAccess(ref Ref, n int) {
	l, ok := a.live[ref]
	invariant.Check(ok, "access to %#x, which is not a live block (stale Ref?)", uint64(ref))
	invariant.Check(n >= 0 && n <= l.n, "access to %d bytes of block %#x of %d bytes", n,
		uint64(ref), l.n)
}

func (a *Arena) debugSize(ref Ref) int {
	l, ok := a.live[ref]
	invariant.Check(ok, "access to %#x, which is not a live block (stale Ref?)", uint64(ref))
	return l.n
}

func (a *Arena) debugClose() {
	for ref, l := range a.live {
		panic(fmt.Sprintf("arena: %d blocks never freed, one of them %#x of %d bytes, purpose %d",
			len(a.live), uint64(ref), l.n, l.p))
	}
}

// debugDropRun forgets the free blocks of a run whose memory gets another use.
func (a *Arena) debugDropRun(r *run, c *class) {
	for off := uint32(r.unit) << unitShift; off < r.bump; off += c.size {
		delete(a.freed, Ref(r.chunk)<<32|Ref(off))
	}
}
