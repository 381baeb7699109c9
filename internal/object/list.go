package object

import (
	"godwit/internal/listpack"
	"godwit/internal/quicklist"
)

// Elements is a list that is read or changed.
//
// A list begins as a listpack. It becomes a quicklist when an addition would exceed
// list-max-listpack-size (see MakeRoom). It becomes a listpack again when removals leave one node
// of at most half of that (see Shrunk). The distance keeps a list at the border from being
// converted all the time. The commands say when, because Redis asks once for a command and not for
// each element.
//
// Indexes count from 0. Elements that methods return are valid until the next change.
type Elements struct{ *Edit }

// AsList returns the list of an Edit whose value is one.
func AsList(x *Edit) Elements { return Elements{x} }

// List is the type of lists.
const List Type = 1

func init() {
	describe(List, Description{
		Name: "list",
		Encodings: []EncodingName{
			{EncListpack, "listpack"}, {EncListpackBlock, "listpack"}, {EncQuicklist, "quicklist"},
		},
		Awaited: true,
		Len:     func(x *Edit) int { return AsList(x).Len() },
		Outline: outlineList,
		Each:    eachNode,
		Digest:  digestNodes,
		Range:   rangeList,
	})
}

func outlineList(x *Edit, o *Outline) {
	o.Len = 1
	if q := AsList(x).large(); q != nil {
		o.Len = q.Nodes()
	}
}

// eachNode is Each of lists. A packed list is one node.
func eachNode(x *Edit, visit func(el *Element) bool) {
	q := AsList(x).large()
	if q == nil {
		lp := x.Bytes()
		x.node = quicklist.Payload{B: lp, Size: len(lp), Count: listpack.Count(lp)}
		x.el.Node = &x.node
		visit(&x.el)
		return
	}
	q.EachPayload(func(n *quicklist.Payload) bool {
		x.el.Node = n
		return visit(&x.el)
	})
}

func rangeList(x *Edit, from, to int, reverse bool, emit func(v listpack.Value)) {
	l, first := AsList(x), from
	if reverse {
		first = l.Len() - 1 - from
	}
	it := l.Iter(first, reverse)
	for range to - from {
		v, _ := it.Next()
		emit(v)
	}
}

// ListIter walks a list; see Elements.Iter.
type ListIter = quicklist.Iter

// quickList is a quicklist as Large.
type quickList struct {
	*quicklist.List
	captured
}

func newQuickList(l *quicklist.List) *quickList { return &quickList{List: l} }

// HeaderBytes implements Large.
func (q *quickList) HeaderBytes() int64 { return 112 }

// Clone implements Large.
func (q *quickList) Clone(h *Heap) Large { return newQuickList(q.List.Clone(h.lists)) }

// large returns the quicklist, nil if the list is a listpack.
func (l Elements) large() *quicklist.List {
	if l.Base() == EncListpack {
		return nil
	}
	return l.Large().(*quickList).List
}

// changing returns large, about to be changed.
func (l Elements) changing() *quicklist.List {
	l.change()
	if l.Base() == EncListpack {
		return nil
	}
	q := l.Large().(*quickList)
	if q.capture != nil && q.capture.Ahead != nil {
		q.capture.Ahead()
	}
	return q.List
}

// Quicklist returns the list's large form, nil if it is a listpack.
func (l Elements) Quicklist() *quicklist.List { return l.large() }

// Len returns the number of elements.
func (l Elements) Len() int {
	if q := l.large(); q != nil {
		return q.Len()
	}
	return listpack.Count(l.Bytes())
}

// MakeRoom prepares the list for n more elements of so many bytes in all. It becomes a quicklist if
// they could be too much for a listpack.
func (l Elements) MakeRoom(bytes, n int) {
	if l.Base() != EncListpack {
		return
	}
	lp, lim := l.Bytes(), l.H.Lim
	if !quicklist.Exceeds(lim.ListMaxListpackSize, len(lp)+bytes, listpack.Count(lp)+n) {
		return
	}
	q := quicklist.New(l.H.lists, lim.ListMaxListpackSize, lim.ListCompressDepth)
	q.AppendListpack(lp)
	l.SetLarge(EncQuicklist, newQuickList(q))
}

// MakeRoomFor is MakeRoom for these elements.
func (l Elements) MakeRoomFor(elems ...[]byte) {
	bytes := 0
	for _, e := range elems {
		bytes += len(e)
	}
	l.MakeRoom(bytes, len(elems))
}

// Shrunk turns a quicklist that has become small into a listpack. Call it after removals that left
// something.
func (l Elements) Shrunk() {
	q := l.large()
	if q == nil {
		return
	}
	lp := q.Single()
	if lp == nil {
		return
	}
	size, count := quicklist.Limits(l.H.Lim.ListMaxListpackSize)
	if len(lp) <= size/2 && q.Len() <= count/2 {
		l.SetPacked(EncListpack, lp)
	}
}

// Push adds an element at the head or the tail. MakeRoom comes first.
func (l Elements) Push(b []byte, head bool) {
	switch q := l.changing(); {
	case q == nil && head:
		listpack.Prepend(l.Edit, b)
	case q == nil:
		listpack.Append(l.Edit, b)
	case head:
		q.PushHead(b)
	default:
		q.PushTail(b)
	}
}

// PushValue is Push of an element of any list; it must not alias this one.
func (l Elements) PushValue(v listpack.Value, head bool) {
	if v.IsInt {
		var digits [20]byte
		l.Push(v.Append(digits[:0]), head)
		return
	}
	l.Push(v.B, head)
}

// Pop removes the element at the head or the tail of the list and returns it. The list must not be
// empty. The memory is valid until the next Pop of any list.
func (l Elements) Pop(head bool) listpack.Value {
	v := l.End(head)
	switch {
	case v.IsInt:
	case len(v.B) > scratchMax:
		v.B = append([]byte(nil), v.B...)
	default:
		l.H.popped = append(l.H.popped[:0], v.B...)
		v.B = l.H.popped
	}
	l.Drop(head)
	return v
}

// scratchMax is how many bytes of popped elements a heap keeps memory for.
const scratchMax = 64 << 10

// Drop removes the element at the head or the tail of a list that is not empty.
func (l Elements) Drop(head bool) {
	switch q := l.changing(); {
	case q == nil && head:
		listpack.Delete(l.Edit, listpack.First(l.Bytes()), 1)
	case q == nil:
		listpack.Delete(l.Edit, listpack.Last(l.Bytes()), 1)
	case head:
		q.PopHead()
	default:
		q.PopTail()
	}
}

// End returns the element at the head or the tail of a list that is not empty.
func (l Elements) End(head bool) listpack.Value {
	if q := l.large(); q != nil {
		return q.End(head)
	}
	lp := l.Bytes()
	if head {
		return listpack.Get(lp, listpack.First(lp))
	}
	return listpack.Get(lp, listpack.Last(lp))
}

// At returns the element at the index; a negative one counts from the end, -1 is the last.
func (l Elements) At(index int) (v listpack.Value, ok bool) {
	if q := l.large(); q != nil {
		if index < 0 {
			index += q.Len()
		}
		return q.At(index)
	}
	lp := l.Bytes()
	pos := listpack.Seek(lp, index)
	if pos == 0 {
		return v, false
	}
	return listpack.Get(lp, pos), true
}

// Iter walks from the index to the end of the list or, in reverse, to its start. With an index that
// is out of range it visits nothing. Meanwhile only Insert, Replace and Delete with the iterator
// may change the list.
func (l Elements) Iter(index int, reverse bool) ListIter {
	if q := l.large(); q != nil {
		return q.Iter(index, reverse)
	}
	return quicklist.IterListpack(l.Bytes(), index, reverse)
}

// Insert adds an element before or after the one that it.Next returned. Call MakeRoom before the
// walk. The walk is over afterwards.
func (l Elements) Insert(it *ListIter, b []byte, after bool) {
	if q := l.changing(); q != nil {
		q.Insert(it, b, after)
		return
	}
	pos := it.Pos()
	if after {
		pos = listpack.After(l.Bytes(), pos)
	}
	listpack.Insert(l.Edit, pos, b)
}

// Replace puts b in the place of the element that it.Next returned. Call MakeRoom before the walk.
// The walk is over afterwards.
func (l Elements) Replace(it *ListIter, b []byte) {
	if q := l.changing(); q != nil {
		q.Replace(it, b)
		return
	}
	listpack.Replace(l.Edit, it.Pos(), b)
}

// Delete removes the element that it.Next returned; the walk goes on. it.Close comes at its end.
func (l Elements) Delete(it *ListIter) {
	if l.changing() != nil {
		it.Delete()
		return
	}
	listpack.Delete(l.Edit, it.Pos(), 1)
	it.Removed(l.Bytes())
}

// DeleteRange removes n elements from the index on, or as many as there are.
func (l Elements) DeleteRange(index, n int) {
	if n <= 0 {
		return
	}
	if q := l.changing(); q != nil {
		q.DeleteRange(index, n)
		return
	}
	if pos := listpack.Seek(l.Bytes(), index); pos != 0 {
		listpack.Delete(l.Edit, pos, n)
	}
}

// SetPackedThreshold sets from how many bytes on an element of a quicklist has a node to itself. It
// is for tests; 0 is the default.
func (h *Heap) SetPackedThreshold(bytes int) {
	if bytes == 0 {
		bytes = quicklist.DefaultPackedThreshold
	}
	h.lists.PackedThreshold = bytes
}

// begin implements Large.
func (q *quickList) begin(c *Capture) {
	c.Len = q.List.Nodes()
	c.parts = q.List.Freeze()
}

// step implements Large. A node counts as NodeWeight elements.
func (q *quickList) step(c *Capture, n int) bool {
	return c.parts.(*quicklist.Frozen).Step(max(n/NodeWeight, 1), func(fn *quicklist.Payload) {
		c.el = Element{Node: fn}
		c.give()
	})
}
