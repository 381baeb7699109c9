package stream

import "math/bits"

// Deleted entries stay in their block until they are half of it. Then what is left is written anew,
// together with a block beside it if both are at most three quarters of a block then. So deleted
// entries are at most half. The cost is O(1) for each of them, and O(block) for each merge. There
// is at most one merge for each block that was ever made.
//
// After nine of ten entries of a million were deleted at random, the stream has a fifth of the
// memory. Merging up to half a block leaves 0.22 instead of 0.20.

// settle writes the block at p, of which n entries were deleted just now, anew if too much of it
// was deleted. It returns the place of the block that has its entries now.
func (s *Stream) settle(p pos, n int) pos { return s.compact(p, n, true) }

// settleBack is settle, but the block that follows stays as it is.
func (s *Stream) settleBack(p pos, n int) pos { return s.compact(p, n, false) }

func (s *Stream) compact(p pos, n int, forward bool) pos {
	x := &s.entries
	if d := x.at(p); !d.compactable(n) {
		return p
	}
	if q, ok := x.prev(p); ok && s.merge(q, p) {
		return q
	}
	if q, ok := x.next(p); ok && forward && s.merge(p, q) {
		return p
	}
	s.repack(p)
	return p
}

// compactable reports whether the block, of which n entries were deleted just now, is to be written
// anew. A block with long names, which a file has brought, may turn out to have no other form. So
// such a one is tried again when its deleted entries have grown by an eighth to a quarter.
func (d *block) compactable(n int) bool {
	k := max(bits.Len(uint(d.dead))-3, 0)
	return d.dead >= d.live && (d.n <= maxNodeBytes || d.dead>>k != (d.dead-n)>>k)
}

// repack writes what is left of the block at p anew. It reports false, and the deleted entries
// stay, if a shape that had a number finds none.
func (s *Stream) repack(p pos) bool {
	d, k := s.entries.at(p), &s.sh.pack
	k.reset()
	if !k.addLive(&d, s.entries.data(&d)) {
		return false
	}
	s.replace(p)
	return true
}

// merge makes one block of the blocks at p and q, which follows, and reports whether they were
// small enough.
func (s *Stream) merge(p, q pos) bool {
	x, k := &s.entries, &s.sh.pack
	d, e := x.at(p), x.at(q)
	if !s.lim.mergeable(d.liveBytes()+e.liveBytes(), d.live+e.live) {
		return false
	}
	k.reset()
	if !k.addLive(&d, x.data(&d)) || !k.addLive(&e, x.data(&e)) {
		return false
	}
	s.replace(p)
	if _, more := x.remove(q); !more {
		s.tail.known = false
	}
	return true
}

// liveBytes is about the length of what was not deleted.
func (d *block) liveBytes() int { return d.n * d.live / (d.live + d.dead) }

// replace puts what was packed in the place of the block at p.
func (s *Stream) replace(p pos) {
	x, k := &s.entries, &s.sh.pack
	d := x.alloc(k.first, len(k.b))
	d.n, d.live = len(k.b), k.n
	copy(x.data(&d), k.b)
	x.replace(p, d)
	if _, more := x.next(p); !more {
		s.tail.known = false
	}
}
