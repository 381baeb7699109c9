package object

import (
	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// A snapshot writes a large collection over many turns, while commands go on changing it. For that
// time the collection has a Capture.
//
// Elements carry the epoch that they were saved or born in. Those that were there when the capture
// began have another epoch than the heap. A walk (Capture.Step) hands each of them to the
// ElementWriter and marks it. A command that is about to change or remove one hands it over first,
// and marks it (keep). So every element is handed over exactly once, as it was when the capture
// began, and nothing is kept of it but what the ElementWriter keeps. The order does not matter.
//
// It does matter for lists and sketches: quicklist.Frozen and frozenSketch hand over their parts in
// order and hold copies of those that were changed before their turn.
//
// A collection that is dropped meanwhile is not freed: it is an orphan, and whoever closes the
// Capture frees it.

// EpochEnd is one more than the largest epoch: hash fields have 7 bits for it.
const EpochEnd = 128

// SetEpoch begins an epoch. Saving says whether a snapshot runs in it.
func (h *Heap) SetEpoch(epoch byte, saving bool) {
	h.Epoch, h.lists.Epoch, h.Saving = epoch, epoch, saving
}

// ElementWriter takes the elements of a large collection that is being saved.
type ElementWriter interface {
	Element(el *Element)
}

// Capture is a large collection as it was when a snapshot met it.
type Capture struct {
	Outline // as it was

	// Ahead, if set, is called before each change of a list or sketch. Changes leave copies behind:
	// Ahead is where the walk can keep ahead of them. It may close the Capture.
	Ahead func()

	large  Large
	to     ElementWriter
	orphan bool
	left   int       // elements not yet handed over
	cursor uint64    // of a dict's scan
	at     arena.Ref // the next node of a skiplist, coming from the last
	parts  frozen    // of a list or sketch
	el     Element
	visit  func(r arena.Ref)
	refs   []arena.Ref
}

// frozen is a collection whose parts come in order, with copies of those that were changed.
type frozen interface {
	// Copied returns the bytes that the copies take, and all that they have ever taken.
	Copied() (now, ever int64)
	CompressCopies()
	Close()
}

// captured is the part of a large collection that a Capture attaches to.
type captured struct{ capture *Capture }

func (l *captured) capturing() **Capture { return &l.capture }

// Capture begins to save the large collection of an entry. The collection must not have a Capture.
func (h *Heap) Capture(e Entry, to ElementWriter) *Capture {
	l := h.LargeOf(e)
	invariant.Check(*l.capturing() == nil, "object: a collection is captured twice")
	c := &Capture{Outline: Outline{Type: e.Type(), Len: l.Len()}, large: l, to: to}
	l.begin(c)
	c.left = c.Len
	*l.capturing() = c
	return c
}

// Step hands about n elements to the ElementWriter and reports whether there are no more.
func (c *Capture) Step(n int) (done bool) {
	done = c.large.step(c, n)
	invariant.Check(!done || c.left == 0, "object: %d elements of a collection were not given",
		c.left)
	return done
}

// Copied returns the bytes that copies of changed parts take, and all that they have ever taken.
func (c *Capture) Copied() (now, ever int64) {
	if c.parts == nil {
		return 0, 0
	}
	return c.parts.Copied()
}

// CompressCopies makes the capture compress the parts that it must copy, if they can be compressed.
func (c *Capture) CompressCopies() {
	if c.parts != nil {
		c.parts.CompressCopies()
	}
}

// Size returns the memory of the collection in bytes, as it is now.
func (c *Capture) Size() int64 { return c.large.Size() }

// Close ends the capture, done or not, and returns what was dropped meanwhile.
func (c *Capture) Close() Owned {
	*c.large.capturing() = nil
	if c.parts != nil {
		c.parts.Close()
	}
	if c.orphan {
		return Owned{Large: c.large}
	}
	return Owned{}
}

// Orphan reports whether a snapshot still needs what is owned, and is going to free it.
func (o Owned) Orphan(h *Heap) bool {
	if o.Large == nil {
		return h.adopt(o.Block)
	}
	c := *o.Large.capturing()
	if c == nil {
		return false
	}
	c.orphan = true
	return true
}

// give hands c.el to the ElementWriter.
func (c *Capture) give() {
	c.left--
	c.to.Element(&c.el)
}

// older reports whether an element with that mark has to be handed over before it is changed.
func (l *captured) older(h *Heap, mark byte) bool {
	if !h.Saving || mark == h.Epoch || h.Partial && l.capture == nil {
		return false
	}
	invariant.Check(l.capture != nil,
		"object: an element of epoch %d changes unseen in epoch %d", mark, h.Epoch)
	return true
}

// captureBatch is how many blocks of a table are brought into the cache at once.
const captureBatch = 32

// scan walks a dict for step: about n entries.
func (c *Capture) scan(n int, next func(cursor uint64, emit func(r arena.Ref)) uint64,
	prefetch func(r arena.Ref)) (done bool) {
	if c.refs == nil {
		c.refs = make([]arena.Ref, 0, 2*captureBatch)
	}
	collect := func(r arena.Ref) { c.refs = append(c.refs, r) }
	for n > 0 {
		c.refs = c.refs[:0]
		for len(c.refs) < captureBatch {
			c.cursor = next(c.cursor, collect)
			n--
			if c.cursor == 0 {
				done = true
				break
			}
		}
		for _, r := range c.refs {
			prefetch(r)
		}
		for _, r := range c.refs {
			c.visit(r)
		}
		n -= len(c.refs)
		if done {
			return true
		}
	}
	return false
}

// NodeWeight is how many small elements take as long to write as a node of a list. Step counts with
// it.
const NodeWeight = 32
