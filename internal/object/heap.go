package object

import (
	"hash/maphash"
	"math/rand/v2"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/quicklist"
	"godwit/internal/stream"
)

// Large is a collection in its big form: a small Go header whose elements are all in the arena.
type Large interface {
	// Len returns the number of elements.
	Len() int
	// Size returns the bytes off the heap, size classes and tables included. It is O(1).
	Size() int64
	// HeaderBytes returns the bytes that the collection takes of Go's heap, as measured.
	HeaderBytes() int64
	// Drain frees about n elements. Once it reports done, everything is freed and the collection
	// must not be used again. Between calls nothing else may be called.
	Drain(n int) (done bool)
	// Defrag offers more of its blocks to arena.Move, while w.left is above 0, and reports whether
	// all have been offered. w says where it stands, and whether it has begun.
	Defrag(w *DefragWalk) (done bool)
	// Clone returns a deep copy.
	Clone(h *Heap) Large

	// capturing returns where the collection notes its Capture. begin fills in the outline of c,
	// and step hands about n elements over to it and reports whether it has handed over all.
	capturing() **Capture
	begin(c *Capture)
	step(c *Capture, n int) (done bool)
}

// Limits are the thresholds of the encodings, as the configuration names them. Entries are numbers
// of elements (of fields, for hashes), values are bytes. ListMaxListpackSize and ListCompressDepth
// have the sign conventions of their directives.
type Limits struct {
	HashMaxListpackEntries, HashMaxListpackValue                    int
	SetMaxIntsetEntries, SetMaxListpackEntries, SetMaxListpackValue int
	ZSetMaxListpackEntries, ZSetMaxListpackValue                    int
	ListMaxListpackSize, ListCompressDepth                          int
	Stream                                                          stream.Limits
}

// Heap is what the collections of a keyspace share. It also holds the large ones: an entry names
// its own by a handle, because no Go pointer may lie off the heap.
type Heap struct {
	A    *arena.Arena
	Rand *rand.Rand
	Lim  *Limits
	Now  int64 // unix ms, the clock of the running command
	// Epoch is that of the running or the last snapshot, below EpochEnd. What is new or saved is
	// marked with it. See SetEpoch.
	Epoch byte
	// Saving is set while a snapshot runs. What has an older epoch must be shown to it before it
	// changes.
	Saving bool
	// Partial is set while a snapshot of some keys only runs: collections without a Capture are not
	// to be saved.
	Partial bool
	// Sizing is set while the keyspace keeps the sizes of slots: it wants to hear of every change.
	Sizing bool

	seed         maphash.Seed
	heads        int64 // see HeaderBytes
	sketches     int   // in slots
	sketchesMade int64
	slots        []Large // by handle; slot 0 is never used
	free         []uint32
	lists        *quicklist.Shared
	streams      *stream.Shared

	frozen      map[arena.Ref]*FrozenString // by block
	frozenBytes int64                       // see FrozenBytes

	popped []byte // see Elements.Pop
}

// NewHeap makes an empty heap over the arena.
func NewHeap(a *arena.Arena, seed maphash.Seed, rng *rand.Rand, lim *Limits) *Heap {
	return &Heap{A: a, Rand: rng, Lim: lim, seed: seed, slots: make([]Large, 1),
		lists: quicklist.NewShared(a), streams: &stream.Shared{A: a}}
}

// Hash returns the hash of an element.
func (h *Heap) Hash(b []byte) uint64 { return maphash.Bytes(h.seed, b) }

// add gives the collection a handle.
func (h *Heap) add(l Large) uint32 {
	h.heads += l.HeaderBytes()
	if _, ok := l.(*Sketch); ok {
		h.sketches++
		h.sketchesMade++
	}
	if n := len(h.free); n > 0 {
		i := h.free[n-1]
		h.free = h.free[:n-1]
		h.slots[i] = l
		return i
	}
	h.slots = append(h.slots, l)
	return uint32(len(h.slots) - 1)
}

// take gives the handle back and returns the collection, which is the caller's now.
func (h *Heap) take(i uint32) Large {
	l := h.slots[i]
	invariant.Check(i != 0 && l != nil, "object: handle %d of no collection", i)
	h.heads -= l.HeaderBytes()
	if _, ok := l.(*Sketch); ok {
		h.sketches--
	}
	h.slots[i] = nil
	h.free = append(h.free, i)
	return l
}

// Sketches returns the number of sketches, which are values that only Godwit and RedisBloom know,
// and how many there have been in all.
func (h *Heap) Sketches() (now int, ever int64) { return h.sketches, h.sketchesMade }

// LargeOf returns the large collection of an entry. The entry's encoding must be a large one.
func (h *Heap) LargeOf(e Entry) Large { return h.slots[e.handle()] }

// HeaderBytes returns what values take of Go's heap: headers of large collections, the table of
// handles, the books of copies of frozen strings, groups and consumers of streams.
func (h *Heap) HeaderBytes() int64 {
	return h.heads + int64(cap(h.slots))*16 + int64(cap(h.free))*4 + h.streams.GoBytes
}

// LargeCount returns the number of large collections.
func (h *Heap) LargeCount() int { return len(h.slots) - 1 - len(h.free) }

// Size returns the memory in bytes that key and value take, allocation rounding included.
func (h *Heap) Size(e Entry) int64 {
	n := int64(e.blockSize())
	switch enc := e.Encoding(); {
	case enc.inBlock():
		n += int64(e.SDS().Cap)
	case enc.Large():
		n += h.LargeOf(e).Size()
	}
	return n
}

// Owned is what an entry owns beside its own block. Whoever frees or replaces the entry must free
// that too.
type Owned struct {
	Block Block // a string's or packed collection's own block
	Large Large // a large collection, off the heap's books now
}

// Owns reports whether the entry owns anything beside its block.
func (e Entry) Owns() bool {
	enc := e.Encoding()
	return enc.inBlock() || enc.Large()
}

// Take tells what the entry owns and hands it to the caller.
func (h *Heap) Take(e Entry) Owned {
	switch enc := e.Encoding(); {
	case enc.inBlock():
		return Owned{Block: e.SDS()}
	case enc.Large():
		return Owned{Large: h.take(e.handle())}
	}
	return Owned{}
}

// Free frees all of it at once; what a snapshot still needs is left to that.
func (o Owned) Free(h *Heap) {
	switch {
	case o.Orphan(h):
	case o.Large != nil:
		freeLarge(o.Large)
	default:
		o.Block.Free(h.A)
	}
}
