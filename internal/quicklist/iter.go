package quicklist

import (
	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// Iter walks a list. While it is in use, the list may be changed only through it.
type Iter struct {
	q       *List
	reverse bool
	changed bool      // the node was changed and must be settled
	node    arena.Ref // the node that lp belongs to
	lp      []byte    // the node's payload; nil before the node is read
	plain   bool
	pos     int // position of the element that Next returned last
	at      int // position of the element that Next returns next; 0: the node is done
	buf     []byte
}

// plainPos is the position of the only element of a plain node.
const plainPos = 1

// Iter starts a walk at the index, to the end of the list or, in reverse, to its start. If the
// index is out of range, the walk has no elements.
func (q *List) Iter(index int, reverse bool) Iter {
	it := Iter{q: q, reverse: reverse}
	ref, i := q.locate(index)
	if ref == 0 {
		return it
	}
	it.open(ref)
	if !it.plain {
		it.at = listpack.Seek(it.lp, i)
	}
	return it
}

// IterListpack returns a walk over a listpack that belongs to no list. Only Next, Pos and Removed
// may be used.
func IterListpack(lp []byte, index int, reverse bool) Iter {
	return Iter{lp: lp, at: listpack.Seek(lp, index), reverse: reverse}
}

// Pos returns the position, in its listpack, of the element that Next returned.
func (it *Iter) Pos() int { return it.pos }

// Removed tells the walk that the element that Next returned was removed from its listpack, which
// is now lp.
func (it *Iter) Removed(lp []byte) {
	it.lp = lp
	if !it.reverse && it.at != 0 {
		it.at = it.pos
	}
}

// locate finds the node of the element at the index, coming from the nearer end, and the element's
// index in it.
func (q *List) locate(index int) (ref arena.Ref, i int) {
	if index < 0 || index >= q.count {
		return 0, 0
	}
	if index <= q.count/2 {
		for ref = q.head; ; {
			n := q.load(ref)
			if index < n.count {
				return ref, index
			}
			index -= n.count
			ref = n.next
		}
	}
	left := q.count - index // elements from the index to the end
	for ref = q.tail; ; {
		n := q.load(ref)
		if left <= n.count {
			return ref, n.count - left
		}
		left -= n.count
		ref = n.prev
	}
}

// At returns the element at the index.
func (q *List) At(index int) (v listpack.Value, ok bool) {
	ref, i := q.locate(index)
	if ref == 0 {
		return v, false
	}
	n := q.load(ref)
	b := n.read(&q.s.scratch)
	if n.kind == plain {
		return listpack.Str(b), true
	}
	return listpack.Get(b, listpack.Seek(b, i)), true
}

// End returns the first or last element. The list must not be empty.
func (q *List) End(head bool) listpack.Value {
	ref := q.tail
	if head {
		ref = q.head
	}
	n := q.load(ref)
	b := n.read(&q.s.scratch)
	switch {
	case n.kind == plain:
		return listpack.Str(b)
	case head:
		return listpack.Get(b, listpack.First(b))
	default:
		return listpack.Get(b, listpack.Last(b))
	}
}

// open makes the node the current one, before its first element in the direction of the walk. ref 0
// ends the walk.
func (it *Iter) open(ref arena.Ref) {
	it.node, it.at, it.lp = ref, 0, nil
	if ref == 0 {
		return
	}
	n := it.q.load(ref)
	it.lp, it.plain = n.read(&it.buf), n.kind == plain
	switch {
	case it.plain:
		it.at = plainPos
	case it.reverse:
		it.at = listpack.Last(it.lp)
	default:
		it.at = listpack.First(it.lp)
	}
}

// leave moves to the next node and reports whether there is one.
func (it *Iter) leave() bool {
	if it.node == 0 {
		return false
	}
	ref := it.q.next(it.node)
	if it.reverse {
		ref = it.q.prev(it.node)
	}
	it.Close()
	it.open(ref)
	return ref != 0
}

// Next returns the next element. It is valid until any other call.
func (it *Iter) Next() (v listpack.Value, ok bool) {
	if it.at == 0 && !it.leave() {
		return v, false
	}
	lp, pos := it.lp, it.at
	it.pos = pos
	switch {
	case it.plain:
		it.at = 0
		return listpack.Str(lp), true
	case it.reverse:
		it.at = listpack.Prev(lp, pos)
	default:
		it.at = listpack.Next(lp, pos)
	}
	return listpack.Get(lp, pos), true
}

// Chunk returns the rest of the current node, as a listpack and the position to go on from. The
// walk must not be in reverse. A loop over the listpack is faster than one over Next; Next then
// continues after the node. In a plain node, and at the end, the position is 0 and only Next can go
// on.
func (it *Iter) Chunk() (lp []byte, pos int) {
	if it.plain || it.at == 0 && (!it.leave() || it.plain) {
		return nil, 0
	}
	pos, it.at = it.at, 0
	return it.lp, pos
}

// Delete removes the element that Next returned. The walk goes on after it. After deletions Close
// must be called.
func (it *Iter) Delete() {
	q := it.q
	n := q.edit(it.node)
	if n.count == 1 {
		ref := n.next
		if it.reverse {
			ref = n.prev
		}
		it.changed = false
		q.removeNode(n)
		it.open(ref)
		return
	}
	listpack.Delete(n, it.pos, 1)
	n.count--
	n.store()
	q.count--
	it.changed = true
	it.Removed(n.Bytes())
}

// Close ends a walk that has changed the list.
func (it *Iter) Close() {
	if it.changed {
		it.changed = false
		it.q.settle(it.node)
	}
}
