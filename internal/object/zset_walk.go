package object

import (
	"sort"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/skiplist"
)

// ZWalk walks over a sorted set upwards and leaps to scores. It is for searches that decide on the
// way what they need: no ranks are counted and no members are read. The zero value is ready for
// Open. Its buffer may serve many walks.
//
//	w.Open(z)
//	for w.Seek(from); …; w.Next() {
//		score, ok := w.Score() …
//	}
//
// It is valid until the set is changed, and so are the places that it gives.
type ZWalk struct {
	l        *zsetLarge
	node     arena.Ref
	searches []skiplist.Search // of SeekAll, as are
	starts   []float64

	// lp is the packed form, followed by all its pairs: it is read once, however often the walk
	// leaps.
	lp    []byte
	pairs []zpair
	i     int
}

type zpair struct {
	score float64
	pos   int
}

// ZPlace is where a member is in a sorted set.
type ZPlace uint64

// Open begins to walk over the set. Seek comes next.
func (w *ZWalk) Open(z SortedSet) {
	w.l, w.pairs, w.i = nil, w.pairs[:0], 0
	if l, ok := z.large(); ok {
		w.l = l
		return
	}
	w.lp = z.Bytes()
	for pos := listpack.First(w.lp); pos != 0; pos = zlAfter(w.lp, pos) {
		w.pairs = append(w.pairs, zpair{zlScore(w.lp, listpack.Next(w.lp, pos)), pos})
	}
}

// Close forgets the set, whose memory the walk would keep otherwise.
func (w *ZWalk) Close() { w.l, w.lp = nil, nil }

// Seek goes to the first member with that score or a higher one. O(log N).
func (w *ZWalk) Seek(score float64) {
	if w.l != nil {
		w.node = w.l.list.SeekScore(score, false).Next
		return
	}
	w.i = sort.Search(len(w.pairs), func(i int) bool { return w.pairs[i].score >= score })
}

// SeekAll finds where Seek would go for each of the scores, for Start. All searches run at once, so
// that their cache misses, some twelve each in a large set, overlap.
func (w *ZWalk) SeekAll(scores []float64) {
	w.starts, w.searches = scores, w.searches[:0]
	if w.l == nil {
		return
	}
	for _, score := range scores {
		w.searches = append(w.searches, w.l.list.Search(score))
	}
	for more := true; more; {
		more = false
		for i := range w.searches {
			if next, on := w.searches[i].Step(w.l.list); on {
				w.l.dict.PrefetchRef(next)
				more = true
			}
		}
	}
}

// Start goes to where the i-th of SeekAll's scores leads.
func (w *ZWalk) Start(i int) {
	if w.l == nil {
		w.Seek(w.starts[i])
		return
	}
	w.node = w.searches[i].Found()
}

// Score returns the score of the member that the walk is at; ok is false at the end.
func (w *ZWalk) Score() (score float64, ok bool) {
	if w.l != nil {
		if w.node == 0 {
			return 0, false
		}
		return w.l.list.Score(w.node), true
	}
	if w.i >= len(w.pairs) {
		return 0, false
	}
	return w.pairs[w.i].score, true
}

// Next goes to the next member. There is one that the walk is at.
func (w *ZWalk) Next() {
	if w.l == nil {
		w.i++
		return
	}
	if w.node = w.l.list.Next(w.node); w.node != 0 {
		w.l.dict.PrefetchRef(w.node)
	}
}

// Place returns where the member is that the walk is at.
func (w *ZWalk) Place() ZPlace {
	if w.l != nil {
		return ZPlace(w.node)
	}
	return ZPlace(w.pairs[w.i].pos)
}

// Member returns the member at a place.
func (w *ZWalk) Member(p ZPlace) listpack.Value {
	if w.l != nil {
		return listpack.Str(w.l.list.Member(arena.Ref(p)))
	}
	return listpack.Get(w.lp, int(p))
}
