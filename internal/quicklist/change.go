package quicklist

import (
	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// PopHead removes the first element. The list must not be empty.
func (q *List) PopHead() { q.pop(q.head, true) }

// PopTail removes the last element. The list must not be empty.
func (q *List) PopTail() { q.pop(q.tail, false) }

func (q *List) pop(ref arena.Ref, head bool) {
	n := q.edit(ref)
	if n.count == 1 {
		q.removeNode(n)
		return
	}
	lp := n.Bytes()
	pos := listpack.First(lp)
	if !head {
		pos = listpack.Last(lp)
	}
	listpack.Delete(n, pos, 1)
	n.count--
	n.store()
	q.count--
}

// DeleteRange removes n elements from the index on, or as many as there are. It returns how many it
// removed.
func (q *List) DeleteRange(index, n int) int {
	ref, i := q.locate(index)
	left := min(n, q.count-index)
	if ref == 0 || left <= 0 {
		return 0
	}
	removed := left
	for left > 0 {
		h := q.load(ref)
		gone := min(left, h.count-i)
		if gone == h.count {
			q.removeNode(&h)
		} else {
			q.cut(ref, i, gone)
		}
		left -= gone
		ref, i = h.next, 0
	}
	return removed
}

// cut removes n elements from index i on from one node, but not all of its elements.
func (q *List) cut(ref arena.Ref, i, n int) {
	w := q.edit(ref)
	listpack.Delete(w, listpack.Seek(w.Bytes(), i), n)
	w.count -= n
	w.store()
	q.count -= n
	q.settle(ref)
}

// Insert adds an element before or after the one that it.Next returned. The iterator must not be
// used again.
func (q *List) Insert(it *Iter, b []byte, after bool) {
	n := q.edit(it.node)
	ref, pos := n.ref, it.pos
	atEnd := n.kind == plain
	beside := n.prev
	if after {
		beside = n.next
	}
	if !atEnd {
		lp := n.Bytes()
		if after {
			pos = listpack.After(lp, pos)
			atEnd = pos == listpack.End(lp)
		} else {
			atEnd = pos == listpack.First(lp)
		}
	}
	if q.fits(n, len(b)) {
		listpack.Insert(n, pos, b)
		q.added(n)
		q.settle(ref)
		return
	}
	if atEnd {
		q.insertBeside(ref, beside, b, after)
		q.settle(ref) // edit may have opened it
		return
	}
	q.splitInsert(ref, pos, b, after)
}

// insertBeside adds an element between the full node at ref and its neighbour (0: none). It goes
// into the neighbour if it fits there.
func (q *List) insertBeside(ref, beside arena.Ref, b []byte, after bool) {
	if beside != 0 {
		if h := q.load(beside); q.fits(&h, len(b)) {
			n := q.edit(beside)
			if after {
				listpack.Prepend(n, b)
			} else {
				listpack.Append(n, b)
			}
			q.added(n)
			q.settle(beside)
			return
		}
	} else {
		q.edit(ref).finish()
	}
	if after {
		q.insertNode(q.newNode(b), ref, beside)
	} else {
		q.insertNode(q.newNode(b), beside, ref)
	}
}

// splitInsert splits the full packed node at ref before the byte position pos and adds an element
// there.
func (q *List) splitInsert(ref arena.Ref, pos int, b []byte, after bool) {
	other := q.split(ref, pos, after)
	if q.large(len(b)) {
		if after {
			q.insertNode(q.newNode(b), ref, other)
		} else {
			q.insertNode(q.newNode(b), other, ref)
		}
		q.settle(ref)
		q.settle(other)
		return
	}
	n := q.edit(other)
	if after {
		listpack.Prepend(n, b)
	} else {
		listpack.Append(n, b)
	}
	q.added(n)
	q.settle(other)
	q.mergeAround(ref)
}

// split moves the elements after the byte position pos (or before it, if after is false) to a new
// node on that side, and returns the new node.
func (q *List) split(ref arena.Ref, pos int, after bool) arena.Ref {
	old := q.load(ref)
	lp := old.Bytes()
	first := listpack.First(lp)
	before := 0
	for p := first; p != pos; p = listpack.Next(lp, p) {
		before++
	}
	part, count, from := lp[first:pos], before, first
	if after {
		part, count, from = lp[pos:listpack.End(lp)], old.count-before, pos
	}
	n := q.emptyNode(len(part))
	other := n.ref
	listpack.AppendRaw(n, part, count)
	n.count = count
	if after {
		q.link(n, ref, old.next)
	} else {
		q.link(n, old.prev, ref)
	}
	n = q.edit(ref)
	listpack.Delete(n, from, count)
	n.count -= count
	n.store()
	q.count -= count
	return other
}

// mergeAround merges small neighbours near a node that was split: its two left ones, its two right
// ones, then itself with the nodes now left and right of it.
func (q *List) mergeAround(center arena.Ref) {
	if p := q.prev(center); p != 0 {
		q.merge(q.prev(p), p)
	}
	if n := q.next(center); n != 0 {
		q.merge(n, q.next(n))
	}
	if p := q.prev(center); q.merge(p, center) {
		center = p
	}
	q.merge(center, q.next(center))
	q.settle(center)
}

// merge appends the elements of the node at right to its left neighbour if both exist and fit one
// node. It reports whether it did.
func (q *List) merge(left, right arena.Ref) bool {
	if left == 0 || right == 0 {
		return false
	}
	l, r := q.load(left), q.load(right)
	if l.kind == plain || r.kind == plain || l.count+r.count > maxNodeCount ||
		Exceeds(q.fill, l.size+r.size-7, l.count+r.count) {
		return false
	}
	lp := r.read(&q.s.scratch)
	n := q.edit(left)
	listpack.AppendRaw(n, lp[listpack.First(lp):listpack.End(lp)], r.count)
	n.count += r.count
	n.store()
	q.count += r.count
	q.removeNode(&r)
	q.settle(left)
	return true
}

// Replace puts b in the place of the element that it.Next returned. The iterator must not be used
// again.
func (q *List) Replace(it *Iter, b []byte) {
	n := q.edit(it.node)
	ref, big := n.ref, q.large(len(b))
	if n.kind == packed && !big {
		listpack.Replace(n, it.pos, b)
		n.store()
		q.settle(ref)
		return
	}
	if n.kind == plain && big {
		copy(n.Splice(0, n.size, len(b)), b)
		n.store()
		return
	}
	q.replaceKind(it, b, n.kind == plain)
}

// replaceKind is Replace for a new element that cannot be in the node of the old one.
func (q *List) replaceKind(it *Iter, b []byte, wasPlain bool) {
	ref := it.node
	q.Insert(it, b, true)
	h := q.load(ref)
	if wasPlain || h.count == 1 {
		q.removeNode(&h)
		return
	}
	// The node was split after the element.
	q.cut(ref, h.count-1, 1)
}
