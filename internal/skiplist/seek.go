package skiplist

import (
	"bytes"

	"godwit/internal/arena"
)

// Pos is a place between two nodes. Rank nodes are before it. Prev is the last of them and Next the
// first node after it; either may be 0.
type Pos struct {
	Rank       int
	Prev, Next arena.Ref
}

// SeekScore returns the place before all nodes with that score or a higher one. With past it
// returns the place after all nodes with that score. O(log N).
func (l *List) SeekScore(score float64, past bool) Pos {
	x, rank := l.head, uint32(0)
	var stop arena.Ref
	for i := l.levels - 1; i > 0; i-- {
		for {
			b := l.linkBytes(x, i)
			next, ahead := nextOf(b), aheadOf(b)
			if next == stop {
				break
			}
			if ahead > score || ahead == score && !past {
				stop = next
				break
			}
			x = next
			rank += spanOf(b)
		}
	}
	for next := l.next0(x); next != stop; next = l.next0(x) {
		if s := l.Score(next); s > score || s == score && !past {
			stop = next
			break
		}
		x = next
		rank++
	}
	return l.pos(x, stop, rank)
}

// Search is SeekScore step by step, for callers that run several at once: while one waits for
// memory, the others go on.
//
//	s := l.Search(score)
//	for next, more := s.Step(l); more; next, more = s.Step(l) {
//		… prefetch next, step the others …
//	}
type Search struct {
	score float64
	x     arena.Ref // the last node known to be before the place
	stop  arena.Ref // the first node known to be after it
	ahead arena.Ref // the node after x on level 0, if it must be looked at
	level int       // below 0 at the end
}

// Search starts a search for the first node with that score or a higher one.
func (l *List) Search(score float64) Search {
	return Search{score: score, x: l.head, level: l.levels - 1}
}

// Step makes one step. more is false at the end, also if Step is called again. read is what the
// next step reads first.
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
		b := l.linkBytes(s.x, s.level)
		next := nextOf(b)
		switch {
		case next == s.stop:
		case aheadOf(b) >= s.score:
			s.stop = next
		default:
			s.x = next
			return s.x + arena.Ref(linkAt(s.level)), true
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

// Found returns the node that was searched for, or 0.
func (s *Search) Found() arena.Ref { return s.stop }

// SeekMember is SeekScore by members. It makes sense only in a list whose scores are all the same.
// O(log N).
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
