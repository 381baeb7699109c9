package object

import (
	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// ZIter walks over a part of a sorted set:
//
//	for it := z.ByScore(r, false, 0, -1); it.Next(); {
//		… it.Member, it.Score …
//	}
//
// It is good until the set is changed.
type ZIter struct {
	Member listpack.Value
	Score  float64

	left    int
	reverse bool
	lp      []byte // the packed form, and the position of the next member in it
	pos     int
	l       *zsetLarge // the large form, and the next node
	node    arena.Ref
}

// iterate walks over the part, from its high end if reverse.
func (z SortedSet) iterate(s span, reverse bool) ZIter {
	it := ZIter{left: s.n, reverse: reverse}
	if s.n == 0 {
		return it
	}
	at, node := s.first, s.low
	if reverse {
		at, node = s.first+s.n-1, s.high
	}
	if l, ok := z.large(); ok {
		if node == 0 {
			node = l.list.At(at)
		}
		it.l, it.node = l, node
		return it
	}
	it.lp = z.Bytes()
	it.pos = listpack.Seek(it.lp, 2*at)
	return it
}

// Len returns the number of members to come.
func (it *ZIter) Len() int { return it.left }

// Next goes to the next member, the first one at first, and reports false at the end.
func (it *ZIter) Next() bool {
	if it.left == 0 {
		return false
	}
	it.left--
	if it.l == nil {
		it.nextPacked()
		return true
	}
	list := it.l.list
	it.Member, it.Score = listpack.Str(list.Member(it.node)), list.Score(it.node)
	if it.reverse {
		it.node = list.Prev(it.node)
	} else {
		it.node = list.Next(it.node)
	}
	if it.left > 0 {
		it.l.dict.PrefetchRef(it.node) // while the caller has to do with this one
	}
	return true
}

func (it *ZIter) nextPacked() {
	at := listpack.Next(it.lp, it.pos)
	it.Member, it.Score = listpack.Get(it.lp, it.pos), zlScore(it.lp, at)
	switch {
	case it.left == 0:
	case it.reverse:
		it.pos = zlBefore(it.lp, it.pos)
	default:
		it.pos = listpack.Next(it.lp, at)
	}
}
