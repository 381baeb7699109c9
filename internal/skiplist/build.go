package skiplist

import "godwit/internal/arena"

// Loose makes a node that is not in the list, to be given to an Appender or to Free.
func (l *List) Loose(score float64, member []byte) arena.Ref {
	return l.alloc(score, member, l.randomLevels())
}

// Appender builds a list from nodes that come in order: O(1) for each node, without comparisons.
// Nothing else may change the list meanwhile.
type Appender struct {
	l *List
	p path
}

// Append returns an Appender that adds nodes after the last.
func (l *List) Append() *Appender {
	ap := &Appender{l: l}
	l.findRank(&ap.p, uint32(l.len))
	return ap
}

// Add links the loose node r after the last node.
func (ap *Appender) Add(r arena.Ref) {
	l := ap.l
	k := l.nodeLevels(r)
	l.put(&ap.p, r)
	for i := range k {
		ap.p.node[i], ap.p.rank[i] = r, uint32(l.len)
	}
}
