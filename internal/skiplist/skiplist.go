// Package skiplist keeps members in the order of a score, and of their bytes where scores are equal, and knows the rank of each: the index
// behind large sorted sets. Finding a member by its bytes is a dict's business, beside the list.
//
// # Layout
//
// A node is one block:
//
//	 0       8               16              24                                      then
//	+-------+---------------+---------------+-------------------------+- - -+--------+-----+--------+
//	| score | epoch | prev  | levels | next | next 1, span 1, ahead 1 |     |        | len | member |
//	+-------+---------------+---------------+-------------------------+- - -+--------+-----+--------+
//	 float64  8 bits  52 bits 5 bits  52 bits  Ref 8, uint32 4, float64 8  levels-1 times  uvarint
//
//	prev    the node before this one on level 0, 0 in the first
//	epoch   the mark of the snapshotter, in the 12 bits that a Ref leaves free
//	levels  the number of levels less 1, in the bits that a Ref leaves free
//	next i  the next node that has a level i
//	span i  how many nodes the link of level i passes, its end included; on level 0 that is always 1 and not stored
//	ahead i a copy of that next node's score: a search that must not go so far does not touch the node (docs/measurements/skiplist.md)
//
// So a member of 14 bytes takes 40 bytes in three nodes of four and 48 on average: one block where an index by pointers needs a node,
// its array of levels and a string. Score, links of the lowest levels and a short member share one or two cache lines.
//
// The head is a node of MaxLevel levels without a member, before all others.
//
// # Invariants
//
//   - Level i+1's nodes are a subset of level i's; level 0 has all of them, in order, doubly linked.
//   - A link without a next node has as its span the number of nodes behind, so that spans from any node to the end add up to what lies
//     behind it.
//   - (score, member) pairs are unique: the caller's duty. No score is NaN.
//   - head links of levels from List.levels up are not looked at.
//
// # Cost
//
// Insert, Remove, At, seeks: O(log N) expected, about 3 log4 N nodes touched. Rank climbs from the node to the end and compares nothing. A changed
// score that leaves the order alone is written in place, and beside the links to the node if it has more than one level; any other moves
// links and not bytes.
//
// Limits: not safe for concurrent use; below 1<<32 nodes.
//
// Sources: William Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees" (1990), p = 1/4, and its "cookbook" for the spans
// ("linear list operations").
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

// List is a skiplist. Make it with New. Refs of nodes are good until the node is removed.
type List struct {
	a      *arena.Arena
	rnd    *rand.Rand
	head   arena.Ref
	tail   arena.Ref // the last node, 0 if there is none
	len    int
	levels int   // levels in use, at least 1
	bytes  int64 // size classes of all blocks
}

// path is a way down to a place between two nodes: on each level the last node before the place, and how many nodes lead up to it, itself included.
type path struct {
	node [MaxLevel]arena.Ref
	rank [MaxLevel]uint32
}

// New makes an empty list over the arena. The random source chooses levels.
func New(a *arena.Arena, rnd *rand.Rand) *List {
	l := &List{a: a, rnd: rnd, levels: 1}
	l.head = l.alloc(0, nil, MaxLevel)
	l.setLink(l.head, 0, link{})
	return l
}

// Len is the number of nodes in the list.
func (l *List) Len() int { return l.len }

// Size is the memory of all nodes, in bytes of size classes, loose ones included.
func (l *List) Size() int64 { return l.bytes }

// First is the node with the lowest score, 0 if there is none.
func (l *List) First() arena.Ref { return l.Next(l.head) }

// Last is the node with the highest score, 0 if there is none.
func (l *List) Last() arena.Ref { return l.tail }

// Next is the node behind r, 0 if there is none.
func (l *List) Next(r arena.Ref) arena.Ref { return l.next0(r) }

// Prev is the node before r, 0 if there is none.
func (l *List) Prev(r arena.Ref) arena.Ref { return l.prev(r) }

// randomLevels draws a number of levels: each more with probability 1/4.
func (l *List) randomLevels() int {
	return 1 + bits.TrailingZeros64(l.rnd.Uint64()|1<<(2*MaxLevel-1))/2
}

// before reports whether r sorts before a member with that score.
func (l *List) before(r arena.Ref, score float64, member []byte) bool {
	s := l.Score(r)
	return s < score || s == score && bytes.Compare(l.Member(r), member) < 0
}

// Compare is the order of two nodes, loose or not: below 0, 0 or above.
func (l *List) Compare(r, o arena.Ref) int {
	switch s, t := l.Score(r), l.Score(o); {
	case s < t:
		return -1
	case s > t:
		return 1
	}
	return bytes.Compare(l.Member(r), l.Member(o))
}

// find fills in the way to the place of a member with that score: its own place if it is there.
func (l *List) find(p *path, score float64, member []byte) {
	x, rank := l.head, uint32(0)
	var stop arena.Ref // the node at which the level above ended
	for i := l.levels - 1; i > 0; i-- {
		for {
			to := l.link(x, i)
			if to.next == stop || to.score > score || to.score == score && bytes.Compare(l.Member(to.next), member) >= 0 {
				stop = to.next
				break
			}
			x = to.next
			rank += to.span
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

// findRank fills in the way to the place before the node with that rank.
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

// Insert adds a member that must not be in the list with that score, and returns its node. O(log N).
func (l *List) Insert(score float64, member []byte) arena.Ref {
	var p path
	l.find(&p, score, member)
	r := l.alloc(score, member, l.randomLevels())
	l.put(&p, r)
	return r
}

// put links the loose node r in at the place that p leads to.
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

// take unlinks the node that p leads to, which stays allocated.
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

// Remove takes the node out and frees it. O(log N).
func (l *List) Remove(r arena.Ref) {
	var p path
	l.find(&p, l.Score(r), l.Member(r))
	l.take(&p, r)
	l.Free(r)
}

// RemoveRange takes out n nodes from rank first on, giving each to f before it is freed. O(log N + n).
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

// SetScore gives the node another score: in place if it stays between its neighbours, else by moving its links. O(log N), as a rule O(1) in place.
func (l *List) SetScore(r arena.Ref, score float64) {
	member := l.Member(r)
	next, prev := l.next0(r), l.prev(r)
	if (next == 0 || !l.before(next, score, member)) && (prev == 0 || l.before(prev, score, member)) {
		l.rescore(r, score)
		return
	}
	var p path
	l.find(&p, l.Score(r), member)
	l.take(&p, r)
	l.setScore(r, score)
	l.find(&p, score, member)
	l.put(&p, r)
}

// rescore changes a score that stays in its place, and the copies of it in the links that lead to the node.
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

// Rank is the number of nodes before r. O(log N).
func (l *List) Rank(r arena.Ref) int {
	behind := uint32(0) // r is left by its highest link, and so on: each node met is at least as high
	for r != 0 {
		to := l.link(r, l.nodeLevels(r)-1)
		behind += to.span
		r = to.next
	}
	return l.len - 1 - int(behind)
}

// At is the node with that rank, 0 if there is none. O(log N).
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
	for i := l.levels - 1; at != want; i-- {
		for {
			to := l.link(x, i)
			if to.next == 0 || at+to.span > want {
				break
			}
			x = to.next
			at += to.span
		}
	}
	return x
}

// Pos is a place between two nodes: Rank nodes are before it, the last of which is Prev; Next is the first behind it. Either is 0 if there is none.
type Pos struct {
	Rank       int
	Prev, Next arena.Ref
}

// SeekScore is the place before all nodes with that score or a higher one; with past, the place behind all nodes with that score. O(log N).
func (l *List) SeekScore(score float64, past bool) Pos {
	x, rank := l.head, uint32(0)
	var stop arena.Ref
	for i := l.levels - 1; i >= 0; i-- {
		for {
			to := l.link(x, i)
			if to.next == stop {
				break
			}
			if i == 0 {
				to.score = l.Score(to.next)
			}
			if to.score > score || to.score == score && !past {
				stop = to.next
				break
			}
			x = to.next
			rank += to.span
		}
	}
	return l.pos(x, stop, rank)
}

// Search is SeekScore step by step, for callers that run several at once: while one waits for memory the others go on.
//
//	s := l.Search(score)
//	for next, more := s.Step(l); more; next, more = s.Step(l) {
//		… prefetch next, step the others …
//	}
type Search struct {
	score float64
	x     arena.Ref // the last node known to be before the place
	stop  arena.Ref // the first one known to be behind it
	ahead arena.Ref // behind x on level 0, if it has to be looked at
	level int       // below 0 at the end
}

// Search begins a search for the first node with that score or a higher one.
func (l *List) Search(score float64) Search {
	return Search{score: score, x: l.head, level: l.levels - 1}
}

// Step goes on to the next node; more is false at the end, also when called again. read is what the next step reads first.
func (s *Search) Step(l *List) (read arena.Ref, more bool) {
	if s.ahead != 0 {
		if l.Score(s.ahead) >= s.score {
			s.stop, s.ahead, s.level = s.ahead, 0, -1
			return 0, false
		}
		s.x, s.ahead = s.ahead, 0
	}
	if s.level < 0 {
		return 0, false
	}
	for ; s.level > 0; s.level-- {
		to := l.link(s.x, s.level)
		switch {
		case to.next == s.stop:
		case to.score >= s.score:
			s.stop = to.next
		default:
			s.x = to.next
			return s.x + arena.Ref(memberAt(s.level)), true
		}
	}
	next := l.next0(s.x)
	if next == s.stop {
		s.level = -1
		return 0, false
	}
	s.ahead = next
	return next, true
}

// Found is the node that was searched for, 0 if there is none.
func (s *Search) Found() arena.Ref { return s.stop }

// SeekMember is SeekScore by members: it makes sense in a list whose scores are all the same. O(log N).
func (l *List) SeekMember(member []byte, past bool) Pos {
	x, rank := l.head, uint32(0)
	var stop arena.Ref
	for i := l.levels - 1; i >= 0; i-- {
		for {
			to := l.link(x, i)
			if to.next == stop {
				break
			}
			if c := bytes.Compare(l.Member(to.next), member); c > 0 || c == 0 && !past {
				stop = to.next
				break
			}
			x = to.next
			rank += to.span
		}
	}
	return l.pos(x, stop, rank)
}

func (l *List) pos(x, next arena.Ref, rank uint32) Pos {
	if x == l.head {
		x = 0
	}
	return Pos{int(rank), x, next}
}
