package object

import (
	"slices"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
)

// Sketch is the value of the types that count and filter by chance: Bloom and cuckoo filters,
// count-min sketches, top-k lists and t-digests. To this package all of them are a small header and
// blocks of bytes in a fixed order. What these mean is the business of the packages bloom, cuckoo
// and so on.
//
//	Sketch (Go) ──→ header   a few to some hundred bytes
//	            ├─→ block 0  any number of bytes
//	            ├─→ block 1
//	            └─→ …
//
// Header and blocks are arena blocks of their own. So even a sketch of gigabytes costs the
// collector nothing, and a block can be replaced without touching others.
//
// # Changes and snapshots
//
// A change of a sketch is announced: Edit.ChangingSketch comes first, and every changed range of a
// block goes through Change. While a snapshot writes the sketch (frozenSketch), a page of 256 bytes
// that changes before its turn is copied then. The header is small and copied when the writing
// begins. Blocks that are dropped or resized before their turn stay until it has come.
//
// # Invariants
//
// bytes is the sum of the size classes of header and blocks. A block is written to only through
// what Change, Append and Resize have returned, before the next call of anything.
//
// Complexity: Change is O(1), and while a snapshot runs O(n) in the length of the range. Limits: as
// many bytes as the arena maps.
type Sketch struct {
	captured
	h      *Heap
	head   sketchBlock
	blocks []sketchBlock
	bytes  int64
}

type sketchBlock struct {
	ref arena.Ref
	n   int
}

// NewSketch makes a sketch with a header of so many zero bytes and no blocks.
func NewSketch(h *Heap, head int) *Sketch {
	s := &Sketch{h: h}
	s.head = s.alloc(head)
	return s
}

func (s *Sketch) alloc(n int) sketchBlock {
	s.bytes += int64(arena.ClassSize(n))
	return sketchBlock{s.h.A.AllocZero(n, arena.Values), n}
}

func (s *Sketch) free(b sketchBlock) {
	s.bytes -= int64(arena.ClassSize(b.n))
	s.h.A.Free(b.ref, b.n, arena.Values)
}

func (s *Sketch) view(b sketchBlock) []byte { return s.h.A.Bytes(b.ref, b.n) }

// Head returns the header. It may be written to by whoever has called Edit.ChangingSketch.
func (s *Sketch) Head() []byte { return s.view(s.head) }

// ResizeHead gives the header another length and returns it. Old bytes are kept as far as there is
// room, new bytes are zero.
func (s *Sketch) ResizeHead(n int) []byte {
	old := s.head
	s.head = s.alloc(n)
	copy(s.view(s.head), s.view(old))
	s.free(old)
	return s.Head()
}

// Blocks returns the number of blocks.
func (s *Sketch) Blocks() int { return len(s.blocks) }

// BlockLen returns the length of block i in bytes.
func (s *Sketch) BlockLen(i int) int { return s.blocks[i].n }

// Block returns block i, to be read.
func (s *Sketch) Block(i int) []byte { return s.view(s.blocks[i]) }

// Prefetch hints that the cache line at the offset of block i will be read soon.
func (s *Sketch) Prefetch(i, off int) { s.h.A.Prefetch(s.blocks[i].ref, off) }

// Change returns the n bytes of block i from off on, to be changed.
func (s *Sketch) Change(i, off, n int) []byte {
	if s.capture != nil {
		s.frozen().keep(i, off, n)
	}
	return s.Block(i)[off : off+n : off+n]
}

// Append adds a block of n zero bytes and returns it.
func (s *Sketch) Append(n int) []byte {
	b := s.alloc(n)
	s.blocks = append(s.blocks, b)
	return s.view(b)
}

// Resize gives block i another length and returns it. Old bytes are kept as far as there is room,
// new bytes are zero.
func (s *Sketch) Resize(i, n int) []byte {
	old := s.blocks[i]
	if n == old.n {
		return s.Change(i, 0, n)
	}
	nb := s.alloc(n)
	copy(s.view(nb), s.view(old))
	s.drop(i)
	s.blocks[i] = nb
	return s.view(nb)
}

// Truncate drops all blocks from number n on.
func (s *Sketch) Truncate(n int) {
	for i := n; i < len(s.blocks); i++ {
		s.drop(i)
	}
	s.blocks = s.blocks[:n]
}

// drop frees block i, or leaves it to the snapshot that still needs it.
func (s *Sketch) drop(i int) {
	b := s.blocks[i]
	if s.capture != nil && s.frozen().adopt(i) {
		s.bytes -= int64(arena.ClassSize(b.n))
		return
	}
	s.free(b)
}

// Len implements Large: the number of blocks, the header among them.
func (s *Sketch) Len() int { return len(s.blocks) + 1 }

// Size implements Large.
func (s *Sketch) Size() int64 { return s.bytes }

// Drain implements Large: the blocks from the last to the first, then the header. A block is freed
// as a whole, which is cheap: the arena gives big ones back in slices.
func (s *Sketch) Drain(n int) (done bool) {
	for ; n > 0 && len(s.blocks) > 0; n-- {
		last := len(s.blocks) - 1
		s.free(s.blocks[last])
		s.blocks = s.blocks[:last]
	}
	if n <= 0 {
		return false
	}
	s.free(s.head)
	s.head = sketchBlock{}
	return true
}

// HeaderBytes implements Large.
func (s *Sketch) HeaderBytes() int64 { return 112 }

// Clone implements Large.
func (s *Sketch) Clone(h *Heap) Large {
	c := NewSketch(h, s.head.n)
	copy(c.Head(), s.Head())
	for i := range s.blocks {
		copy(c.Append(s.blocks[i].n), s.Block(i))
	}
	return c
}

// Value hands the sketch over to the entry that is built from the value.
func (s *Sketch) Value(t Type) Value { return Value{Type: t, Enc: EncSketch, H: s.h.add(s)} }

// Detach makes the sketch the value of an entry without a key; see NewDetached.
func (s *Sketch) Detach(t Type) *Edit { return detachLarge(s.h, t, EncSketch, s) }

// Discard frees a sketch that no entry has.
func (s *Sketch) Discard() { freeLarge(s) }

// Sketch returns the sketch of an entry that has one, to be read.
func (x *Edit) Sketch() *Sketch { return x.Large().(*Sketch) }

// ChangingSketch returns the sketch of an entry that has one, to be changed.
func (x *Edit) ChangingSketch() *Sketch {
	x.change()
	s := x.Sketch()
	if s.capture != nil && s.capture.Ahead != nil {
		s.capture.Ahead()
	}
	return s
}

// frozenSketch is a sketch as it was at one moment, given out chunk by chunk while the sketch goes
// on changing.
//
// The walk goes through the blocks from the first byte to the last. A page that changes before the
// walk is there is copied, and the copy is given out in its place. A block that is dropped before
// that stays here until the end.
type frozenSketch struct {
	a       *arena.Arena
	blocks  []frozenBlock
	at, off int // the walk's place: a block, a multiple of sketchChunk in it
	copies  map[uint64]arena.Ref
	bytes   int64 // of copies and adopted blocks
	kept    int64 // of all that ever were
	scratch []byte
}

type frozenBlock struct {
	sketchBlock
	gone    bool // not the sketch's any more
	adopted bool // … and to be freed here
}

const (
	// sketchPage is how many bytes of a sketch are copied when something changes. It is a small
	// multiple of the cache line that a filter touches, so that changes at random places leave few
	// bytes behind.
	sketchPage = 256
	// sketchChunk is what is given out at once, in bytes.
	sketchChunk = 16 << 10
)

func pageKey(block, page int) uint64 { return uint64(block)<<40 | uint64(page) }

// begin implements Large.
func (s *Sketch) begin(c *Capture) {
	f := &frozenSketch{a: s.h.A, copies: map[uint64]arena.Ref{},
		blocks: make([]frozenBlock, len(s.blocks))}
	c.parts, c.Len = f, 0
	c.Header = slices.Clone(s.Head())
	for i, b := range s.blocks {
		f.blocks[i].sketchBlock = b
		c.Blocks = append(c.Blocks, b.n)
		c.Len += (b.n + sketchChunk - 1) / sketchChunk
	}
}

// step implements Large. A chunk counts as a good deal of elements.
func (s *Sketch) step(c *Capture, n int) (done bool) {
	f := c.parts.(*frozenSketch)
	for n = max(n/NodeWeight, 1); f.at < len(f.blocks); n-- {
		if f.off >= f.blocks[f.at].n {
			f.at, f.off = f.at+1, 0
			continue
		}
		if n <= 0 {
			return false
		}
		from, block := f.off, f.at
		b := f.chunk()
		f.off += len(b)
		c.el = Element{Block: block, Value: listpack.Str(b)}
		c.give()
		f.forget(block, from, f.off)
	}
	return true
}

// frozen returns the sketch as it was, while it is captured.
func (s *Sketch) frozen() *frozenSketch { return s.capture.parts.(*frozenSketch) }

// chunk returns the next chunk as it was.
func (f *frozenSketch) chunk() []byte {
	fb := f.blocks[f.at]
	b := f.a.Bytes(fb.ref, fb.n)[f.off:min(f.off+sketchChunk, fb.n)]
	if len(f.copies) == 0 {
		return b
	}
	f.scratch = append(f.scratch[:0], b...)
	for at := 0; at < len(b); at += sketchPage {
		if r, ok := f.copies[pageKey(f.at, (f.off+at)/sketchPage)]; ok {
			copy(f.scratch[at:], f.a.Bytes(r, sketchPage))
		}
	}
	return f.scratch
}

// forget frees the copies of a range that was given out.
func (f *frozenSketch) forget(block, from, to int) {
	if len(f.copies) == 0 {
		return
	}
	for at := from; at < to; at += sketchPage {
		k := pageKey(block, at/sketchPage)
		if r, ok := f.copies[k]; ok {
			f.a.Free(r, sketchPage, arena.Buffers)
			delete(f.copies, k)
			f.bytes -= sketchPage
		}
	}
}

// passed reports whether the walk has given out all of block i up to the offset.
func (f *frozenSketch) passed(i, off int) bool { return i < f.at || i == f.at && off < f.off }

// keep is called before n bytes of block i change.
func (f *frozenSketch) keep(i, off, n int) {
	if n == 0 || i >= len(f.blocks) || f.blocks[i].gone {
		return
	}
	fb := f.blocks[i]
	invariant.Check(off >= 0 && off+n <= fb.n, "object: %d bytes at %d of a block of %d", n, off,
		fb.n)
	for page := off / sketchPage; page*sketchPage < off+n; page++ {
		k := pageKey(i, page)
		if f.passed(i, page*sketchPage) || f.copies[k] != 0 {
			continue
		}
		r := f.a.Alloc(sketchPage, arena.Buffers)
		copy(f.a.Bytes(r, sketchPage), f.a.Bytes(fb.ref, fb.n)[page*sketchPage:])
		f.copies[k] = r
		f.hold(sketchPage)
	}
}

// adopt is called when the sketch gives up block i; it reports whether the block is the walk's now.
func (f *frozenSketch) adopt(i int) bool {
	if i >= len(f.blocks) || f.blocks[i].gone {
		return false
	}
	b := &f.blocks[i]
	b.gone = true
	if b.adopted = !f.passed(i, b.n-1); b.adopted {
		f.hold(int64(arena.ClassSize(b.n)))
	}
	return b.adopted
}

func (f *frozenSketch) hold(n int64) {
	f.bytes += n
	f.kept += n
}

// Copied implements frozen.
func (f *frozenSketch) Copied() (now, ever int64) { return f.bytes, f.kept }

// CompressCopies implements frozen. Pages are too short for that.
func (f *frozenSketch) CompressCopies() {}

// Close frees what only the walk needs.
func (f *frozenSketch) Close() {
	for _, r := range f.copies {
		f.a.Free(r, sketchPage, arena.Buffers)
	}
	for _, b := range f.blocks {
		if b.adopted {
			f.a.Free(b.ref, b.n, arena.Values)
		}
	}
	f.copies, f.blocks, f.bytes = nil, nil, 0
}
