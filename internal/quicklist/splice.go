package quicklist

import (
	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// Splice implements listpack.Space: it replaces del bytes at offset at by ins undefined ones. It
// moves the shorter side, before or after, as long as the block has room on that side.
func (n *node) Splice(at, del, ins int) []byte {
	invariant.Check(at >= 0 && del >= 0 && ins >= 0 && at+del <= n.size,
		"quicklist: splice %d -%d +%d of %d bytes", at, del, ins, n.size)
	grow := ins - del
	size := n.size + grow
	front := at < n.size-at-del
	off := n.off - grow
	switch {
	case front && off >= 0 && off <= maxOff:
		b := n.q.s.A.Bytes(n.ptr, n.room)
		copy(b[off:off+at], b[n.off:])
		n.off, n.size = off, size
	case size > n.room:
		n.expand(at, del, ins, front)
	case n.off+size > n.room || front && grow > 0:
		n.shift(at, del, ins, spare(n.room, size, front))
	case front && grow < 0: // off has become too large to be stored
		n.shift(at, del, ins, 0)
	default:
		n.shift(at, del, ins, n.off)
	}
	if grow < 0 {
		n.tighten()
	}
	return n.Bytes()
}

// spare returns where a payload of size bytes is put in a block of room bytes. The free space goes
// to the side that grows.
func spare(room, size int, front bool) int {
	if !front {
		return 0
	}
	return min(room-size, maxOff)
}

// shift does a Splice within the block. The payload begins at off afterwards.
func (n *node) shift(at, del, ins, off int) {
	b := n.q.s.A.Bytes(n.ptr, n.room)
	head, tail := b[n.off:n.off+at], b[n.off+at+del:n.off+n.size]
	to := off + at + ins
	if to > n.off+at+del { // the tail moves away from the head
		copy(b[to:to+len(tail)], tail)
		copy(b[off:], head)
	} else {
		copy(b[off:], head)
		copy(b[to:to+len(tail)], tail)
	}
	n.off, n.size = off, n.size+ins-del
}

// expand does a Splice that needs a larger block.
func (n *node) expand(at, del, ins int, front bool) {
	a := n.q.s.A
	size := n.size + ins - del
	room := n.roomFor(size)
	off := spare(room, size, front)
	if !front || room > arena.MaxSmall {
		n.resize(room)
		n.shift(at, del, ins, off)
		return
	}
	// Resize would copy everything to a place where it does not stay.
	ptr := n.q.alloc(room)
	to, from := a.Bytes(ptr, room), a.Bytes(n.ptr, n.off+n.size)[n.off:]
	copy(to[off:], from[:at])
	copy(to[off+at+ins:], from[at+del:])
	n.q.free(n.ptr, n.room)
	n.ptr, n.room, n.off, n.size = ptr, room, off, size
}

// roomFor returns the size of a block for a payload of size bytes. A node at an end of a long list
// gets room for the elements that will follow, at most slackShare of the list: growing by a size
// class at a time would copy ten times as many bytes as are pushed. All others get what they need.
func (n *node) roomFor(size int) int {
	if n.prev != 0 && n.next != 0 {
		return arena.ClassSize(size)
	}
	limit, _ := Limits(n.q.fill)
	if limit == maxInt {
		limit = sizeSafety
	}
	slack := min(int(n.q.bytes/slackShare), limit-size)
	return arena.ClassSize(size + max(slack, 0))
}

// tighten shrinks the block once a quarter of it would be more than is needed.
func (n *node) tighten() {
	if room := n.roomFor(n.size); room <= n.room-n.room/4 {
		n.shift(0, 0, 0, 0)
		n.resize(room)
	}
}

// finish takes the room for elements that will follow from a node at an end, before another node
// takes its place there.
func (n *node) finish() {
	if n.ref == 0 {
		return
	}
	if room := arena.ClassSize(n.size); n.kind == packed && room < n.room {
		n.shift(0, 0, 0, 0)
		n.resize(room)
		n.store()
	}
}

// resize changes the size of the block.
func (n *node) resize(room int) {
	n.q.bytes += int64(room - n.room)
	n.ptr = n.q.s.A.Resize(n.ptr, n.room, room, arena.Values)
	n.room = room
}
