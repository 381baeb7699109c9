// Package skiplist keeps members in the order of a score, and of their bytes where scores are
// equal, and knows the rank of each. It is the index behind large sorted sets. Finding a member by
// its bytes is the business of a dict beside the list.
//
// # Layout
//
// A node is one block:
//
//	 0      5      10      11      12      16                             then
//	+------+------+-------+-------+-------+-------------------------+- - -+--------+-----+--------+
//	| next | prev | epoch | shape | score | next 1, span 1, ahead 1 |     | (more) | len | member |
//	+------+------+-------+-------+-------+-------------------------+- - -+--------+-----+--------+
//	 place  place  byte    byte    4 bytes place, uint32, float64    (1)   4 bytes  uvarint
//
//	(1)     levels-1 such links
//	place   a Ref in 5 bytes, see pack
//	prev    the node before this one on level 0, 0 in the first
//	epoch   the mark of the snapshotter
//	shape   bits 0-4: the number of levels less 1; bit 5: there is more of the score
//	score   a uint32, as counters, ranks and seconds are; or the low half of a float64 whose high
//	        half is in more
//	next i  the next node that has a level i
//	span i  how many nodes the link of level i passes, its end included; on level 0 that is always 1
//	        and not stored
//	ahead i a copy of that next node's score: a search that must not go so far does not touch the
//	        node (docs/measurements/skiplist.md)
//
// So a member of 14 bytes with a score of 4 bytes takes 32 bytes in three nodes of four, and 38 on
// average. That is one block where an index by pointers needs a node, its array of levels and a
// string. The score, the links of the lowest levels and a short member share one or two cache
// lines.
//
// The head is a node of MaxLevel levels without a member, before all others.
//
// # Invariants
//
//   - The nodes of level i+1 are a subset of those of level i. Level 0 has all of them, in order,
//     doubly linked.
//   - A link without a next node has as its span the number of nodes after it. So the spans from
//     any node to the end add up to the nodes after it.
//   - (score, member) pairs are unique: that is the caller's duty. No score is NaN.
//   - The head's links of levels from List.levels up are not used.
//
// # Cost
//
// Insert, Remove, At and seeks take O(log N) expected, about 3 log4 N nodes touched. Rank climbs
// from the node to the end and compares nothing. A changed score that leaves the order alone is
// written in place, and also beside the links to the node if it has more than one level. Any other
// changed score moves links and no bytes, unless there is no room for it.
//
// Limits: the list is not safe for concurrent use and holds fewer than 1<<32 nodes.
//
// Sources: William Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees" (1990), p =
// 1/4, and its "cookbook" for the spans ("linear list operations").
package skiplist

import (
	"bytes"
	"math/bits"
	"math/rand/v2"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// MaxLevel is the largest number of levels of a node: enough for 4^32 nodes.
const MaxLevel = 32

// List is a skiplist. New makes it. The Ref of a node is valid until the node is removed.
type List struct {
	a      *arena.Arena
	rnd    *rand.Rand
	head   arena.Ref
	tail   arena.Ref // the last node; 0: none
	len    int
	levels int   // levels in use, at least 1
	bytes  int64 // size classes of all blocks
}

// path is a way down to a place between two nodes: on each level the last node before the place,
// and how many nodes lead up to it, itself included.
type path struct {
	node [MaxLevel]arena.Ref
	rank [MaxLevel]uint32
}

// New returns an empty list over the arena. The random source chooses levels.
func New(a *arena.Arena, rnd *rand.Rand) *List {
	l := &List{a: a, rnd: rnd, levels: 1}
	l.head = l.alloc(0, nil, MaxLevel)
	l.setLink(l.head, 0, link{})
	return l
}

// Len returns the number of nodes in the list.
func (l *List) Len() int { return l.len }

// Size returns the memory of all nodes, loose ones included, in bytes of size classes.
func (l *List) Size() int64 { return l.bytes }

// First returns the node with the lowest score, or 0.
func (l *List) First() arena.Ref { return l.Next(l.head) }

// Last returns the node with the highest score, or 0.
func (l *List) Last() arena.Ref { return l.tail }

// Next returns the node after r, or 0.
func (l *List) Next(r arena.Ref) arena.Ref { return l.next0(r) }

// Prev returns the node before r, or 0.
func (l *List) Prev(r arena.Ref) arena.Ref { return l.prev(r) }

// randomLevels draws a number of levels. Each further level has probability 1/4.
func (l *List) randomLevels() int {
	return 1 + bits.TrailingZeros64(l.rnd.Uint64()|1<<(2*MaxLevel-1))/2
}

// before reports whether r sorts before a member with that score.
func (l *List) before(r arena.Ref, score float64, member []byte) bool {
	s := l.Score(r)
	return s < score || s == score && bytes.Compare(l.Member(r), member) < 0
}

// Compare returns the order of two nodes, loose or not: below 0, 0 or above.
func (l *List) Compare(r, o arena.Ref) int {
	switch s, t := l.Score(r), l.Score(o); {
	case s < t:
		return -1
	case s > t:
		return 1
	}
	return bytes.Compare(l.Member(r), l.Member(o))
}

// find fills in the path to the place of a member with that score. If the member is in the list,
// that is its own place.
func (l *List) find(p *path, score float64, member []byte) {
	x, rank := l.head, uint32(0)
	var stop arena.Ref // the node at which the level above ended
	for i := l.levels - 1; i > 0; i-- {
		for {
			b := l.linkBytes(x, i)
			next, ahead := nextOf(b), aheadOf(b)
			if next == stop || ahead > score ||
				ahead == score && bytes.Compare(l.Member(next), member) >= 0 {
				stop = next
				break
			}
			x = next
			rank += spanOf(b)
		}
		p.node[i], p.rank[i] = x, rank
	}
	for {
		next := l.next0(x)
		if next == stop || !l.before(next, score, member) {
			break
		}
		x = next
		rank++
	}
	p.node[0], p.rank[0] = x, rank
}

// findRank fills in the path to the place before the node with that rank.
func (l *List) findRank(p *path, at uint32) {
	x, rank := l.head, uint32(0)
	for i := l.levels - 1; i >= 0; i-- {
		for {
			to := l.link(x, i)
			if to.next == 0 || rank+to.span > at {
				break
			}
			x = to.next
			rank += to.span
		}
		p.node[i], p.rank[i] = x, rank
	}
}

// Insert adds a member and returns its node. The list must not have the member with that score.
// O(log N).
func (l *List) Insert(score float64, member []byte) arena.Ref {
	var p path
	l.find(&p, score, member)
	r := l.alloc(score, member, l.randomLevels())
	l.put(&p, r)
	return r
}

// put links the loose node r at the place that p leads to.
func (l *List) put(p *path, r arena.Ref) {
	k := l.nodeLevels(r)
	for ; l.levels < k; l.levels++ {
		p.node[l.levels], p.rank[l.levels] = l.head, 0
		l.setLink(l.head, l.levels, link{span: uint32(l.len)})
	}
	at, score := p.rank[0], l.Score(r)
	for i := range k {
		to := l.link(p.node[i], i)
		d := at - p.rank[i]
		to.span -= d
		l.setLink(r, i, to)
		l.setLink(p.node[i], i, link{r, d + 1, score})
	}
	for i := k; i < l.levels; i++ {
		l.addSpan(p.node[i], i, 1)
	}
	prev := p.node[0]
	if prev == l.head {
		prev = 0
	}
	l.setPrev(r, prev)
	if next := l.next0(r); next != 0 {
		l.setPrev(next, r)
	} else {
		l.tail = r
	}
	l.len++
}

// take unlinks the node that p leads to. The node stays allocated.
func (l *List) take(p *path, r arena.Ref) {
	invariant.Check(l.next0(p.node[0]) == r, "skiplist: the node is not where its score belongs")
	k := l.nodeLevels(r)
	for i := range k {
		to := l.link(r, i)
		to.span += l.link(p.node[i], i).span - 1
		l.setLink(p.node[i], i, to)
	}
	for i := k; i < l.levels; i++ {
		l.addSpan(p.node[i], i, ^uint32(0))
	}
	if next := l.next0(p.node[0]); next != 0 {
		l.setPrev(next, l.prev(r))
	} else {
		l.tail = l.prev(r)
	}
	l.len--
	for l.levels > 1 {
		if l.link(l.head, l.levels-1).next != 0 {
			break
		}
		l.levels--
	}
}

// Remove unlinks and frees the node. O(log N).
func (l *List) Remove(r arena.Ref) {
	var p path
	l.find(&p, l.Score(r), l.Member(r))
	l.take(&p, r)
	l.Free(r)
}

// RemoveRange removes n nodes from rank first on. It gives each to f before it frees it. O(log N +
// n).
func (l *List) RemoveRange(first, n int, f func(r arena.Ref)) {
	var p path
	l.findRank(&p, uint32(first))
	for range n {
		r := l.next0(p.node[0])
		f(r)
		l.take(&p, r)
		l.Free(r)
	}
}

// SetScore gives the node another score and returns the node: in place if it stays between its
// neighbours, else by moving its links. If there is no room for the score, another node takes the
// place of this one, which is freed. O(log N), in place as a rule O(1).
func (l *List) SetScore(r arena.Ref, score float64) arena.Ref {
	if !l.holds(r, score) {
		to := l.Insert(score, l.Member(r))
		l.SetEpoch(to, l.Epoch(r))
		l.Remove(r)
		return to
	}
	member := l.Member(r)
	next, prev := l.next0(r), l.prev(r)
	if (next == 0 || !l.before(next, score, member)) &&
		(prev == 0 || l.before(prev, score, member)) {
		l.rescore(r, score)
		return r
	}
	var p path
	l.find(&p, l.Score(r), member)
	l.take(&p, r)
	l.setScore(r, score)
	l.find(&p, score, member)
	l.put(&p, r)
	return r
}

// rescore changes a score that stays in its place, and its copies in the links that lead to the
// node.
func (l *List) rescore(r arena.Ref, score float64) {
	if k := l.nodeLevels(r); k > 1 {
		var p path
		l.find(&p, l.Score(r), l.Member(r))
		for i := 1; i < k; i++ {
			to := l.link(p.node[i], i)
			to.score = score
			l.setLink(p.node[i], i, to)
		}
	}
	l.setScore(r, score)
}

// Rank returns the number of nodes before r. O(log N).
func (l *List) Rank(r arena.Ref) int {
	behind := uint32(0) // follow the highest link of each node: each next one is at least as high
	for r != 0 {
		i := l.nodeLevels(r) - 1
		if i == 0 {
			if r = l.next0(r); r != 0 {
				behind++
			}
			continue
		}
		b := l.linkBytes(r, i)
		behind += spanOf(b)
		r = nextOf(b)
	}
	return l.len - 1 - int(behind)
}

// At returns the node with that rank, or 0. O(log N).
func (l *List) At(rank int) arena.Ref {
	if rank < 0 || rank >= l.len {
		return 0
	}
	switch rank {
	case 0:
		return l.First()
	case l.len - 1:
		return l.tail
	}
	x, at, want := l.head, uint32(0), uint32(rank)+1
	for i := l.levels - 1; i > 0 && at != want; i-- {
		for {
			b := l.linkBytes(x, i)
			next, span := nextOf(b), spanOf(b)
			if next == 0 || at+span > want {
				break
			}
			x = next
			at += span
		}
	}
	for ; at != want; at++ {
		x = l.next0(x)
	}
	return x
}
