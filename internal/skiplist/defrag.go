package skiplist

import "godwit/internal/arena"

// Defrag is a walk over a list that offers its nodes to be moved. The zero value is at the
// beginning. The list may change between steps: the walk goes on at the score and member that it
// has reached.
type Defrag struct {
	begun  bool
	score  float64
	member []byte
}

// Reset puts the walk back to the beginning.
func (w *Defrag) Reset() { w.begun = false }

// Step offers n more nodes to be moved. It returns what is left of n, and whether the last node was
// among them. It calls moved for each node that has moved. O(log N + n).
func (w *Defrag) Step(l *List, n int, moved func(from, to arena.Ref)) (left int, done bool) {
	var p path
	if w.begun {
		l.find(&p, w.score, w.member)
	} else {
		l.head = l.a.Move(l.head, l.size(l.head), arena.Values)
		for i := range l.levels {
			p.node[i] = l.head
		}
	}
	r := l.next0(p.node[0])
	for ; r != 0 && n > 0; n-- {
		levels := l.nodeLevels(r)
		if l.a.Drained(r) {
			to := l.a.Move(r, l.size(r), arena.Values)
			if to != r {
				l.relink(&p, levels, to)
				moved(r, to)
				r = to
			}
		}
		for i := range levels {
			p.node[i] = r
		}
		r = l.next0(r)
	}
	if r == 0 {
		w.begun = false
		return n, true
	}
	w.begun, w.score, w.member = true, l.Score(r), append(w.member[:0], l.Member(r)...)
	return 0, false
}

// relink makes all links to the node after p lead to its new place.
func (l *List) relink(p *path, levels int, to arena.Ref) {
	for i := range levels {
		k := l.link(p.node[i], i)
		k.next = to
		l.setLink(p.node[i], i, k)
	}
	if next := l.next0(to); next != 0 {
		l.setPrev(next, to)
	} else {
		l.tail = to
	}
}
