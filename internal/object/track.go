package object

import (
	"godwit/internal/arena"
	"godwit/internal/invariant"
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

// NodeWeight is how many small elements a node of a list takes as long to write as; Step counts with it.
const NodeWeight = 32
