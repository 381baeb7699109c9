package skiplist

import (
	"fmt"

	"godwit/internal/arena"
)

// Check walks the whole list and reports the first violation of an invariant. No node may be loose.
func (l *List) Check() error {
	pos := map[arena.Ref]int{l.head: 0}
	bytes := int64(arena.ClassSize(l.size(l.head)))
	prev, n := arena.Ref(0), 0
	for r := l.First(); r != 0; r = l.Next(r) {
		n++
		pos[r] = n
		if l.prev(r) != prev {
			return fmt.Errorf("skiplist: node %d: prev is %#x, not %#x", n, l.prev(r), prev)
		}
		if prev != 0 && !l.before(prev, l.Score(r), l.Member(r)) {
			return fmt.Errorf("skiplist: node %d is not behind the one before", n)
		}
		bytes += int64(arena.ClassSize(l.size(r)))
		prev = r
	}
	switch {
	case n != l.len:
		return fmt.Errorf("skiplist: %d nodes, %d counted", n, l.len)
	case prev != l.tail:
		return fmt.Errorf("skiplist: tail is %#x, not %#x", l.tail, prev)
	case bytes != l.bytes:
		return fmt.Errorf("skiplist: %d bytes, %d accounted", bytes, l.bytes)
	}
	for i := range l.levels {
		if err := l.checkLevel(i, pos); err != nil {
			return err
		}
	}
	return nil
}

// checkLevel walks one level. pos numbers the nodes of level 0 from 1.
func (l *List) checkLevel(i int, pos map[arena.Ref]int) error {
	high := 0
	for r := range pos {
		if r != l.head && l.nodeLevels(r) > i {
			high++
		}
	}
	met := 0
	for r := l.head; r != 0; {
		ahead := l.link(r, i)
		next, span := ahead.next, ahead.span
		to := l.len
		if next != 0 {
			met++
			to = pos[next]
			if i > 0 && ahead.score != l.Score(next) {
				return fmt.Errorf("skiplist: level %d: node %d has the score %v for node %d of %v",
					i, pos[r], ahead.score, to, l.Score(next))
			}
		}
		if int(span) != to-pos[r] {
			return fmt.Errorf("skiplist: level %d: span of node %d is %d, not %d", i, pos[r], span,
				to-pos[r])
		}
		r = next
	}
	if met != high {
		return fmt.Errorf("skiplist: level %d links %d of %d nodes", i, met, high)
	}
	if i > 0 && i == l.levels-1 && met == 0 {
		return fmt.Errorf("skiplist: level %d is empty", i)
	}
	return nil
}
