package skiplist

import "godwit/internal/arena"

// Loose makes a node that is in no order yet, to be given to an Appender or to Free. Its score may be changed by SetLoose.
func (l *List) Loose(score float64, member []byte) arena.Ref {
	return l.alloc(score, member, l.randomLevels())
}

// SetLoose changes the score of a loose node.
func (l *List) SetLoose(r arena.Ref, score float64) { l.setScore(r, score) }

// Appender builds a list from nodes that come in order: O(1) a node and no comparison. Nothing else may change the list meanwhile.
type Appender struct {
	l *List
	p path
}

// Append begins to add nodes behind the last.
func (l *List) Append() *Appender {
	ap := &Appender{l: l}
	l.findRank(&ap.p, uint32(l.len))
	return ap
}

// Add links the loose node r in behind the last.
func (ap *Appender) Add(r arena.Ref) {
	l := ap.l
	k := l.nodeLevels(r)
	l.put(&ap.p, r)
	for i := range k {
		ap.p.node[i], ap.p.rank[i] = r, uint32(l.len)
	}
}
