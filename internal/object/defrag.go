package object

import (
	"godwit/internal/arena"
	"godwit/internal/skiplist"
)

// Moving blocks
//
// Active defragmentation empties sparse runs of the arena (arena.Drain) by moving their blocks.
// Each block has one owner, so each structure offers the blocks it owns to arena.Move and stores
// what comes back; nobody else knows where they are between commands. Bytes stay the same: a
// snapshot need not know, but for the places that its Captures remember.
//
//	entry, string, packed value   Heap.DefragEntry, for every slot of every database
//	large collection              Large.Defrag, in steps, for every one in Heap.slots
//
// What is on its way out (lazy frees, tables that were flushed) is left alone, and so are strings
// that a snapshot reads.

// DefragWalk is where Heap.Defrag stands. The zero value is before the first collection.
type DefragWalk struct {
	slot   int   // handle of the collection
	large  Large // which is there since the walk came to it
	cursor uint64
	begun  bool
	left   int // what may still be done in this step, in elements
	nodes  skiplist.Defrag

	Found, Moved int64 // collections that were offered as a whole; those with moved blocks
	hits         int64 // Arena.Moves.Hits when the collection was begun
}

// enter begins the walk of a collection.
func (w *DefragWalk) enter(l Large, hits int64) {
	w.large, w.cursor, w.begun, w.hits = l, 0, false, hits
	w.nodes.Reset()
}

// Defrag offers blocks of about n more elements of the large collections to be moved. It reports
// whether all were offered, in which case the walk begins anew. Collections may come, change and go
// between calls.
func (h *Heap) Defrag(w *DefragWalk, n int) (done bool) {
	w.slot, w.left = max(w.slot, 1), n
	for ; w.left > 0 && w.slot < len(h.slots); w.left-- {
		l := h.slots[w.slot]
		if l != nil {
			if l != w.large {
				w.enter(l, h.A.Moves.Hits)
			}
			if !l.Defrag(w) {
				return false
			}
			w.left -= stepCost
			w.Found++
			if h.A.Moves.Hits > w.hits {
				w.Moved++
			}
		}
		w.large = nil
		w.slot++
	}
	if w.slot < len(h.slots) {
		return false
	}
	w.slot, w.large = 0, nil
	return true
}

// stepCost is what a collection costs beside its elements, in elements.
const stepCost = 4

// bytesCost returns what n bytes cost to be moved, in elements.
func bytesCost(n int) int { return n >> 10 }

// DefragEntry offers an entry's own block and the block of its value to be moved and returns where
// the entry is from now on.
func (h *Heap) DefragEntry(r arena.Ref) arena.Ref {
	e := View(h.A, r)
	if e.Encoding().inBlock() {
		if s := e.SDS(); s.Ref != 0 && h.frozenAt(s.Ref) == nil {
			if to := h.A.Move(s.Ref, int(s.Cap), arena.Values); to != s.Ref {
				s.Ref = to
				e.setSDS(s)
			}
		}
	}
	if !h.A.Drained(r) {
		return r
	}
	return h.A.Move(r, e.blockSize(), arena.Values)
}

// defragDict is a step over a dict whose entries move blocks; done is reported at the end.
func (w *DefragWalk) defragDict(a *arena.Arena, next func(cursor uint64) uint64) (done bool) {
	for w.left > 0 {
		bytes := a.Moves.Bytes
		w.cursor = next(w.cursor)
		if w.cursor == 0 {
			return true
		}
		w.left -= bucketCost + bytesCost(int(a.Moves.Bytes-bytes))
	}
	return false
}

// bucketCost is what a chain of a dict costs, in elements.
const bucketCost = 6

// Defrag implements Large.
func (t *hashTable) Defrag(w *DefragWalk) (done bool) {
	a := t.h.A
	if !w.begun && t.heap.room > 0 {
		t.heap.ref = a.Move(t.heap.ref, t.heap.room*slotLen, arena.Tables)
	}
	w.begun = true
	move := func(r arena.Ref) arena.Ref {
		if !a.Drained(r) {
			return r
		}
		b := a.From(r)
		_, end := fieldOf(b)
		_, size := valueOf(b, end)
		to := a.Move(r, arena.ClassSize(size), arena.Values)
		if to != r {
			if b = a.From(to); b[0]&markDeadline != 0 {
				t.heap.moved(a, blockIndex(b), to)
			}
		}
		return to
	}
	return w.defragDict(a, func(c uint64) uint64 { return t.d.Defrag(c, move) })
}

// Defrag implements Large.
func (t *setTable) Defrag(w *DefragWalk) (done bool) {
	a := t.h.A
	move := func(r arena.Ref) arena.Ref {
		if !a.Drained(r) {
			return r
		}
		return a.Move(r, memberSize(len(t.member(r))), arena.Values)
	}
	return w.defragDict(a, func(c uint64) uint64 { return t.d.Defrag(c, move) })
}

// Defrag implements Large: the nodes in their order, then the dict's own blocks.
func (l *zsetLarge) Defrag(w *DefragWalk) (done bool) {
	if !w.begun {
		w.left, w.begun = w.nodes.Step(l.list, w.left, func(from, to arena.Ref) {
			l.dict.Replace(l.h.Hash(l.list.Member(to)), from, to)
			if l.capture != nil && l.capture.at == from {
				l.capture.at = to
			}
		})
		if !w.begun {
			return false
		}
	}
	same := func(r arena.Ref) arena.Ref { return r }
	return w.defragDict(l.h.A, func(c uint64) uint64 { return l.dict.Defrag(c, same) })
}

// Defrag implements Large.
func (q *quickList) Defrag(w *DefragWalk) (done bool) {
	begin := !w.begun
	w.begun = true
	w.left, done = q.List.Defrag(begin, w.left)
	return done
}

// Defrag implements Large. A sketch that a snapshot writes is left alone: the walk knows its
// blocks.
func (s *Sketch) Defrag(w *DefragWalk) (done bool) {
	if s.capture != nil {
		return true
	}
	a := s.h.A
	if !w.begun {
		w.begun = true
		s.head.ref = a.Move(s.head.ref, s.head.n, arena.Values)
	}
	for ; w.left > 0 && w.cursor < uint64(len(s.blocks)); w.cursor++ {
		b := &s.blocks[w.cursor]
		b.ref = a.Move(b.ref, b.n, arena.Values)
		w.left -= 1 + bytesCost(min(b.n, arena.MaxSmall))
	}
	return w.cursor >= uint64(len(s.blocks))
}
