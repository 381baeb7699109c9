package stream

import (
	"errors"
	"slices"
)

// Builder makes a stream of what a file or a payload holds. Everything up to Build works on Go's
// heap and may run beside the executor. Its methods check what they get, in any order of calls that
// a file can bring: the first error is the stream's.
type Builder struct {
	err  error
	lim  bounds
	meta Meta
	told bool // Meta was called

	blocks  []builtEntries
	pack    packer // the block that is filled
	entries int
	values  []byte // of an entry, as they are stored
	shape   []byte // of an entry
	master  []byte // the shape of the node that is read
	number  uint8  // its number in the block that is filled; newShape: it has none
	groupsBuilder
}

// builtEntries is a block of a stream that is being built.
type builtEntries struct {
	first, last ID
	n           int
	b           []byte
}

// Errors of a Builder.
var (
	ErrOrder     = errors.New("IDs are not in ascending order")
	ErrDuplicate = errors.New("a name or an ID is there twice")
	ErrUnknown   = errors.New("a consumer's entry is not pending in the group")
	ErrOwners    = errors.New("a pending entry has no consumer, or several")
	ErrListpack  = errors.New("a node of a stream is broken")
)

// NewBuilder begins a stream.
func NewBuilder(lim Limits) *Builder { return &Builder{lim: lim.bounded(), number: newShape} }

// add adds an entry with the values in b.values. same says that the shape is that of the node which
// is read. That is once in the node, so it must not be many more times in blocks: there it has a
// number, and a block has as many bytes of entries as of that shape.
func (b *Builder) add(id ID, shape []byte, same bool) {
	k := &b.pack
	if k.n > 0 && (b.full(maxForm+len(shape)+len(b.values)) || !k.last.Less(id)) {
		b.flush()
	}
	number := b.number
	switch {
	case !same:
		number = k.number(shape, 1)
	case number == newShape:
		if number = k.number(shape, 0); number == ownShape {
			b.flush()
			number = newShape
		}
	}
	k.add(id, number, shape, b.values)
	if same {
		b.number = k.recent
	}
	b.entries++
}

// full reports whether the block that is filled has no room for n bytes more. The limits do not
// count while the shape of the node is more than half of it.
func (b *Builder) full(n int) bool {
	k := &b.pack
	return b.lim.full(len(k.b), k.n, n) &&
		(b.number == newShape || len(k.b) >= 2*len(b.master))
}

// flush ends the block that is filled.
func (b *Builder) flush() {
	if k := &b.pack; k.n > 0 {
		b.blocks = append(b.blocks, builtEntries{k.first, k.last, k.n, slices.Clone(k.b)})
		k.reset()
		b.number = newShape
	}
}

// Meta sets what Meta says; Nodes, Len, First and Groups are ignored.
func (b *Builder) Meta(m *Meta) { b.meta, b.told = *m, true }

// Entries returns the number of entries so far.
func (b *Builder) Entries() int { return b.entries }

// First returns the smallest ID of the nodes so far, 0-0 if there is none.
func (b *Builder) First() ID {
	var first ID
	for i := range b.blocks {
		if id := b.blocks[i].first; i == 0 || id.Less(first) {
			first = id
		}
	}
	return first
}

// Finish checks what can only be checked at the end. Nothing may be added afterwards.
func (b *Builder) Finish() error {
	if b.err != nil {
		return b.err
	}
	b.flush()
	slices.SortFunc(b.blocks, func(x, y builtEntries) int { return x.first.Compare(y.first) })
	var last ID
	for i := range b.blocks {
		if i > 0 && !last.Less(b.blocks[i].first) {
			return b.refuse(ErrOrder)
		}
		last = b.blocks[i].last
	}
	b.merge()
	b.pack, b.values, b.shape, b.master = packer{}, nil, nil, nil
	if !b.told {
		b.meta.LastID, b.meta.Added = last, uint64(b.entries)
	}
	if b.meta.LastID.Less(last) {
		return b.refuse(ErrOrder)
	}
	if err := b.finishGroups(); err != nil {
		return b.refuse(err)
	}
	return nil
}

// merge puts neighbours together that are small: nodes of which most entries were deleted.
func (b *Builder) merge() {
	kept := b.blocks[:0]
	for i := 0; i < len(b.blocks); {
		n, size, end := b.blocks[i].n, len(b.blocks[i].b), i+1
		for ; end < len(b.blocks); end++ {
			e := &b.blocks[end]
			n, size = n+e.n, size+len(e.b)
			if !b.lim.mergeable(size, n) {
				break
			}
		}
		for n := 0; end-i > 1; end = i + n {
			if n = b.packed(b.blocks[i:end]); n == end-i {
				break
			} // else only those before the one that failed, so that each is packed thrice at most
		}
		if end-i <= 1 {
			kept = append(kept, b.blocks[i])
			i++
			continue
		}
		k := &b.pack
		kept = append(kept, builtEntries{k.first, k.last, k.n, slices.Clone(k.b)})
		i = end
	}
	clear(b.blocks[len(kept):])
	b.blocks = kept
}

// packed packs blocks into one. It returns how many of them have a place there. If not all have,
// what it has packed is useless.
func (b *Builder) packed(blocks []builtEntries) int {
	b.pack.reset()
	for i, e := range blocks {
		if !b.pack.addLive(&block{first: e.first}, e.b) {
			return i
		}
	}
	return len(blocks)
}

// Build makes the stream. Finish must have returned nil. It is called with the executor held, once.
func (b *Builder) Build(sh *Shared) *Stream {
	s := New(sh)
	s.LastID, s.MaxDeleted, s.Added = b.meta.LastID, b.meta.MaxDeleted, b.meta.Added
	s.n, s.lim = b.entries, b.lim
	for i := range b.blocks {
		e := &b.blocks[i]
		s.entries.insertCopy(block{first: e.first, live: e.n}, e.b)
		e.b = nil
	}
	s.countLarge()
	b.buildGroups(s)
	return s
}
