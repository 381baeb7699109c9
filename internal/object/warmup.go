package object

import (
	"math"
	"math/bits"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/skiplist"
	"godwit/internal/stream"
)

// WarmupMax is how many elements a Warmup takes.
const WarmupMax = 16

// Warmup brings into the cache what the commands of a pipeline will read of large collections: it
// collects the elements that they name, then makes the lookups of all of them side by side. It
// changes nothing, and nothing may be changed between the calls.
//
//	w.Member(…), w.Score(…), w.Entries.Entry(…)   for each command
//	w.Run()
type Warmup struct {
	H *Heap

	n      int
	tables [WarmupMax]*dict.Dict
	hashes [WarmupMax]uint64

	scores   int
	scored   [WarmupMax]scoredMember
	running  int
	searches [2 * WarmupMax]scoreSearch

	Entries stream.Warmup // of streams; see Stream
}

// scoredMember is an element of tables and hashes that a sorted set gives a score.
type scoredMember struct {
	l      *zsetLarge
	at     int // its index
	member []byte
	score  float64 // its new one; NaN if it is taken out
}

// scoreSearch is the way to a place in a sorted set.
type scoreSearch struct {
	l *zsetLarge
	skiplist.Search
}

// warmSetFrom is the size in bytes from which the skiplist of a sorted set does not fit the nearer
// caches, so that two walks through it are faster than one that waits.
const warmSetFrom = 2 << 20

// table is a large collection whose elements are in a dict.
type table interface{ elements() *dict.Dict }

func (t *hashTable) elements() *dict.Dict { return t.d }
func (t *setTable) elements() *dict.Dict  { return t.d }
func (l *zsetLarge) elements() *dict.Dict { return l.dict }

// Member notes that an element of the collection at e will be looked up, which may be absent, small
// or of any type.
func (w *Warmup) Member(e Entry, member []byte) { w.add(e, member) }

// add notes the element. It returns the collection, or nil if nothing is to be gained.
func (w *Warmup) add(e Entry, member []byte) Large {
	if w.n == WarmupMax || !e.Exists() || !e.Encoding().Large() {
		return nil
	}
	large := w.H.LargeOf(e)
	t, ok := large.(table)
	if !ok || !t.elements().PrefetchWorth() {
		return nil
	}
	w.tables[w.n], w.hashes[w.n] = t.elements(), w.H.Hash(member)
	w.tables[w.n].Prefetch(w.hashes[w.n])
	w.n++
	return large
}

// Leave notes that a member of the sorted set at e will be taken out.
func (w *Warmup) Leave(e Entry, member []byte) { w.place(e, math.NaN(), member) }

// Score notes that a member of the sorted set at e will be given a score.
func (w *Warmup) Score(e Entry, score float64, member []byte) { w.place(e, score, member) }

// place is Leave with NaN, else Score.
func (w *Warmup) place(e Entry, score float64, member []byte) {
	l, ok := w.add(e, member).(*zsetLarge)
	if !ok || l.Size() < warmSetFrom {
		return
	}
	w.scored[w.scores] = scoredMember{l, w.n - 1, member, score}
	w.scores++
	if !math.IsNaN(score) {
		w.search(l, score)
	}
}

// Stream returns the stream at e whose entries may be noted in Entries, nil if there is none or if
// nothing is to be gained.
func (w *Warmup) Stream(e Entry) *stream.Stream {
	if e.Exists() && e.Encoding().Large() {
		if l, ok := w.H.LargeOf(e).(*streamLarge); ok && l.Stream.WarmupWorth() {
			return l.Stream
		}
	}
	return nil
}

// Run makes the lookups, and forgets the elements.
func (w *Warmup) Run() {
	w.Entries.Run()
	var chains uint
	for i := range w.n {
		if w.tables[i].PrefetchEntry(w.hashes[i]) {
			chains |= 1 << i
		}
	}
	// The searches fill the time until the tables' memory has come.
	w.walk(4)
	for ; chains != 0; chains &= chains - 1 {
		i := bits.TrailingZeros(chains)
		w.tables[i].PrefetchChain(w.hashes[i])
	}
	w.walk(4)
	for _, m := range w.scored[:w.scores] {
		// The member leaves the place that it has, between its neighbours.
		r := m.l.dict.Glance(w.hashes[m.at], m.member)
		if r == 0 || m.l.list.Score(r) == m.score {
			continue
		}
		w.search(m.l, m.l.list.Score(r))
		for _, near := range [...]arena.Ref{m.l.list.Next(r), m.l.list.Prev(r)} {
			if near != 0 {
				m.l.dict.PrefetchRef(near)
			}
		}
	}
	for w.walk(1) {
	}
	clear(w.tables[:w.n])
	clear(w.scored[:w.scores])
	clear(w.searches[:w.running])
	w.n, w.scores, w.running = 0, 0, 0
}

// search starts a search in the sorted set.
func (w *Warmup) search(l *zsetLarge, score float64) {
	w.searches[w.running] = scoreSearch{l, l.list.Search(score)}
	w.running++
}

// walk takes up to that many steps of each search, and reports whether any has more.
func (w *Warmup) walk(steps int) (more bool) {
	for ; steps > 0; steps-- {
		more = false
		for i := range w.searches[:w.running] {
			s := &w.searches[i]
			if next, on := s.Step(s.l.list); on {
				s.l.dict.PrefetchRef(next)
				more = true
			}
		}
		if !more {
			break
		}
	}
	return more
}
