package object

import (
	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
	"godwit/internal/quicklist"
)

// A snapshot writes a large collection over many turns, while commands go on changing it. For that time the collection has a Track.
//
// Elements carry the epoch that they were saved or born in. Those that were there when the tracking began are the ones with another epoch than the
// heap's. A walk (Track.Step) gives each to the Track's Sink and marks it; a command that is about to change or remove one gives it to the Sink first and marks it
// (keep). So every element of that moment is given exactly once as it was then, in whatever order the two come by, and nothing is kept of it but
// what the Sink keeps. Lists and sketches are the exception, for their order matters: quicklist.Frozen and frozenSketch give their parts in order and hold
// copies of those that were changed before their turn.
//
// A tracked collection that is dropped is not freed: it is an orphan then, and whoever closes the Track frees it.

// EpochEnd is one more than the largest epoch: hash fields have 7 bits for it.
const EpochEnd = 128

// SetEpoch begins an epoch. Saving says whether a snapshot runs in it.
func (h *Heap) SetEpoch(epoch byte, saving bool) {
	h.Epoch, h.lists.Epoch, h.Saving = epoch, epoch, saving
}

// Sink takes the elements of a tracked collection.
type Sink interface {
	Element(el *Element)
}

// Track is a large collection that is being saved.
type Track struct {
	Outline // when tracking began

	// Ahead, if set, is called before each change of a list or sketch. Changes leave copies behind: Ahead is where the walk can keep ahead of them. It
	// may close the Track.
	Ahead func()

	large  tracked
	sink   Sink
	orphan bool
	left   int       // elements not yet given
	cursor uint64    // of a dict's scan
	at     arena.Ref // the next node of a skiplist, coming from the last
	frozen *quicklist.Frozen
	sketch *frozenSketch
	el     Element
	visit  func(r arena.Ref)
	refs   []arena.Ref
}

// watched is the part of a large collection that a Track attaches to.
type watched struct{ tr *Track }

func (w *watched) watch() **Track { return &w.tr }

// tracked is what large collections do for a Track.
type tracked interface {
	Large
	watch() **Track
	begin(tr *Track)                   // fills in the numbers
	step(tr *Track, n int) (done bool) // gives about n elements
}

// Track begins the tracking of the large collection of an entry, which no Track has yet.
func (h *Heap) Track(e Entry, s Sink) *Track {
	l := h.LargeOf(e).(tracked)
	invariant.Check(*l.watch() == nil, "object: tracked twice")
	tr := &Track{Outline: Outline{Type: e.Type(), Len: l.Len()}, large: l, sink: s}
	l.begin(tr)
	tr.left = tr.Len
	*l.watch() = tr
	return tr
}

// Step gives about n elements to the sink and reports whether there are no more.
func (tr *Track) Step(n int) (done bool) {
	done = tr.large.step(tr, n)
	invariant.Check(!done || tr.left == 0, "object: %d elements of a collection were not given", tr.left)
	return done
}

// Copied is the memory in bytes that the tracking itself takes, and all that it has ever taken.
func (tr *Track) Copied() (now, ever int64) {
	switch {
	case tr.frozen != nil:
		return tr.frozen.Copied()
	case tr.sketch != nil:
		return tr.sketch.bytes, tr.sketch.kept
	}
	return 0, 0
}

// CompressCopies says that nodes of a list had best be compressed when they have to be copied.
func (tr *Track) CompressCopies() {
	if tr.frozen != nil {
		tr.frozen.CompressCopies()
	}
}

// Size is the memory of the collection in bytes, as it is now.
func (tr *Track) Size() int64 { return tr.large.Size() }

// Close ends the tracking, done or not, and hands over what was dropped meanwhile.
func (tr *Track) Close() Owned {
	*tr.large.watch() = nil
	if tr.frozen != nil {
		tr.frozen.Close()
	}
	if tr.sketch != nil {
		tr.sketch.close()
	}
	if tr.orphan {
		return Owned{Large: tr.large}
	}
	return Owned{}
}

// Orphan reports whether a snapshot still needs what is owned. From now on it is the snapshot's to free.
func (o Owned) Orphan(h *Heap) bool {
	if o.Large == nil {
		return h.adopt(o.Block)
	}
	tr := *o.Large.(tracked).watch()
	if tr == nil {
		return false
	}
	tr.orphan = true
	return true
}

// give hands tr.el to the sink.
func (tr *Track) give() {
	tr.left--
	tr.sink.Element(&tr.el)
}

// older reports whether an element with that mark has to be given to the Track now that it is about to be changed.
func (w *watched) older(h *Heap, mark byte) bool {
	if !h.Saving || mark == h.Epoch {
		return false
	}
	invariant.Check(w.tr != nil, "object: an element of epoch %d changes unseen in epoch %d", mark, h.Epoch)
	return true
}

// trackBatch is how many blocks of a table are brought into the cache at once.
const trackBatch = 32

// scan walks a dict for step: about n entries.
func (tr *Track) scan(n int, next func(cursor uint64, emit func(r arena.Ref)) uint64, prefetch func(r arena.Ref)) (done bool) {
	if tr.refs == nil {
		tr.refs = make([]arena.Ref, 0, 2*trackBatch)
	}
	collect := func(r arena.Ref) { tr.refs = append(tr.refs, r) }
	for n > 0 {
		tr.refs = tr.refs[:0]
		for len(tr.refs) < trackBatch {
			tr.cursor = next(tr.cursor, collect)
			n--
			if tr.cursor == 0 {
				done = true
				break
			}
		}
		for _, r := range tr.refs {
			prefetch(r)
		}
		for _, r := range tr.refs {
			tr.visit(r)
		}
		n -= len(tr.refs)
		if done {
			return true
		}
	}
	return false
}

// begin implements tracked.
func (t *hashTable) begin(tr *Track) {
	if t.heap.n > 0 {
		tr.MinDeadline = t.heap.at(t.h.A, 0).deadline
	}
	tr.visit = func(r arena.Ref) {
		if b := t.h.A.From(r); b[0]>>markBits != t.h.Epoch {
			t.give(b)
		}
	}
}

// step implements tracked.
func (t *hashTable) step(tr *Track, n int) bool { return tr.scan(n, t.d.Scan, t.d.PrefetchRef) }

// keep is called before a field's block is changed or freed.
func (t *hashTable) keep(b []byte) {
	if t.older(t.h, b[0]>>markBits) {
		t.give(b)
	}
}

func (t *hashTable) give(b []byte) {
	field, end := fieldOf(b)
	value, _ := valueOf(b, end)
	t.tr.el = Element{Name: listpack.Str(field), Value: listpack.Str(value), Deadline: t.deadline(b)}
	t.tr.give()
	b[0] = b[0]&markDeadline | t.h.Epoch<<markBits
}

// begin implements tracked.
func (t *setTable) begin(tr *Track) {
	tr.visit = func(r arena.Ref) {
		if b := t.h.A.From(r); b[0] != t.h.Epoch {
			t.give(r, b)
		}
	}
}

// step implements tracked.
func (t *setTable) step(tr *Track, n int) bool { return tr.scan(n, t.d.Scan, t.d.PrefetchRef) }

// keep is called before a member's block is freed.
func (t *setTable) keep(r arena.Ref) {
	if b := t.h.A.From(r); t.older(t.h, b[0]) {
		t.give(r, b)
	}
}

func (t *setTable) give(r arena.Ref, b []byte) {
	t.tr.el = Element{Name: listpack.Str(t.member(r))}
	t.tr.give()
	b[0] = t.h.Epoch
}

// begin implements tracked. The walk goes from the highest score down, as Redis writes files: reading one in that order inserts at the front.
func (l *zsetLarge) begin(tr *Track) { tr.at = l.list.Last() }

// step implements tracked. Members that came since are passed over and count too: no turn is longer for them.
func (l *zsetLarge) step(tr *Track, n int) bool {
	for ; n > 0 && tr.at != 0; n-- {
		r := tr.at
		tr.at = l.list.Prev(r)
		if l.list.Epoch(r) != l.h.Epoch {
			l.give(r)
		}
	}
	return tr.at == 0
}

// keep is called before a member's node is moved or freed. The walk must not stand on it then.
func (l *zsetLarge) keep(r arena.Ref) {
	if l.older(l.h, l.list.Epoch(r)) {
		l.give(r)
	}
	if l.tr != nil && l.tr.at == r {
		l.tr.at = l.list.Prev(r)
	}
}

func (l *zsetLarge) give(r arena.Ref) {
	l.tr.el = Element{Name: listpack.Str(l.list.Member(r)), Score: l.list.Score(r)}
	l.tr.give()
	l.list.SetEpoch(r, l.h.Epoch)
}

// begin implements tracked.
func (q *quickList) begin(tr *Track) {
	tr.Len = q.List.Nodes()
	tr.frozen = q.List.Freeze()
}

// step implements tracked. A node counts as a good deal of elements.
func (q *quickList) step(tr *Track, n int) bool {
	return tr.frozen.Step(max(n/NodeWeight, 1), func(fn *quicklist.Payload) {
		tr.el = Element{Node: fn}
		tr.give()
	})
}

// NodeWeight is how many small elements a node of a list takes as long to write as; Step counts with it.
const NodeWeight = 32
