package quicklist

import "godwit/internal/arena"

// Defrag offers the blocks of some more nodes to be moved, about n KiB of them. If begin is set it
// starts at the head. It returns what is left of n, and whether the last node was among them. The
// list may change between calls. A list that a snapshot writes is left alone, because the snapshot
// knows nodes by their places.
func (q *List) Defrag(begin bool, n int) (left int, done bool) {
	if begin {
		q.walk = q.head
	}
	if q.frozen != nil {
		q.walk = 0
	}
	for n > 0 && q.walk != 0 {
		h := q.load(q.walk)
		q.moveNode(&h)
		q.walk = h.next
		n -= 1 + h.room>>10
	}
	return n, q.walk == 0
}

// moveNode offers the header and the block of a node to be moved.
func (q *List) moveNode(n *node) {
	a := q.s.A
	from, block := n.ref, n.ptr
	n.ptr = a.Move(block, n.room, arena.Values)
	n.ref = a.Move(from, headerSize, arena.Values)
	if n.ref == from && n.ptr == block {
		return
	}
	n.store()
	if n.ref == from {
		return
	}
	if q.head == from {
		q.head = n.ref
	}
	if q.tail == from {
		q.tail = n.ref
	}
	q.setNext(n.prev, n.ref)
	q.setPrev(n.next, n.ref)
}
