// Package quicklist keeps long lists: a doubly linked list of nodes, each of which packs many elements into a listpack.
//
// # Why
//
// A linked list of elements costs two pointers and an allocation for each; one big listpack would move megabytes for a push at its head. Nodes of
// some kilobytes keep both small: moving bytes inside one is cheap, and the links are shared by hundreds of elements.
//
// # Shape
//
//	List (Go) head ──→ ┌────────┐ ←→ ┌────────┐ ←→ … ←→ ┌────────┐ ←── tail
//	                   │ header │    │ header │         │ header │   32 bytes each, which only Defrag moves
//	                   └───┬────┘    └───┬────┘         └───┬────┘
//	                       ↓             ↓                  ↓
//	                    listpack      LZF data           listpack    blocks of their own
//
// A header is four words, little endian. A Ref has 52 bits; the 12 above hold something else:
//
//	 0                 8                 16               24        28
//	+-----------------+-----------------+----------------+---------+---------------+
//	| prev  | count lo| next  | see below| block | off   | size    | room | kind   |
//	+-----------------+-----------------+----------------+---------+---------------+
//
//	count   elements in the node, 16 bits: 12 above prev, 4 above next
//	epoch   the snapshot epoch that the node was saved or born in, 8 bits above next and count
//	off     where the payload begins in the block: room before it makes pushing and popping at its front as cheap as at its back
//	size    bytes of the payload, uncompressed
//	room    bytes of the block, a multiple of 8; its lowest bits are the kind
//
// The kinds: packed, a listpack; plain, the bytes of one huge element and nothing else; lzf, a listpack that is compressed: the block
// holds the compressed length in 4 bytes, little endian, and the LZF data.
//
// # Limits of a node
//
// fill is list-max-listpack-size: -1 … -5 are 4, 8, 16, 32, 64 KiB of listpack; a count is that many elements and at most 8 KiB. One element may
// exceed it, alone in its node. From Shared.PackedThreshold bytes on an element becomes a plain node. Nodes are filled, split and merged by
// Redis's rules, so that lists have the nodes that they have there.
//
// # Compression
//
// With a depth d > 0 (list-compress-depth) every node but the first and last d is compressed, if that saves at least 8 bytes of at least 48. Reading
// decompresses into memory of the reader; a change decompresses the node itself and compresses it again when it is done.
//
// # Invariants
//
// Len and Size are exact; no node is empty; a packed node's count is its listpack's; nodes within the depth of an end are not compressed; headers
// and blocks have one owner, the list. A node's elements change through edit only, or go with
// it in removeNode and Drain.
//
// # Complexity
//
// Both ends O(1), a place in the middle O(nodes + elements of a node) from the nearer end. Memory: 32 bytes a node and what the block's size
// class rounds up.
//
// Source: the format and policy of Redis's quicklist.
package quicklist

import (
	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/lzf"
)

const (
	sizeSafety   = 8 << 10 // bytes of listpack under a limit by count
	insertGuess  = 8       // what Redis takes an entry's overhead for when it asks whether one more fits
	maxFill      = 1<<15 - 1
	maxDepth     = 1<<16 - 1
	maxNodeCount = 1<<16 - 1

	// DefaultPackedThreshold is the length in bytes from which an element has a plain node to itself.
	DefaultPackedThreshold = 1 << 30
)

// Shared is what the lists over one arena have in common. Make it with NewShared.
type Shared struct {
	A *arena.Arena
	// Epoch is what new and saved nodes are marked with, see Frozen.
	Epoch byte
	// PackedThreshold is the length in bytes from which an element has a plain node to itself.
	PackedThreshold int

	work    node            // the node that is being changed: there is only one at a time
	scratch []byte          // a decompressed node that was read by index
	packed  []byte          // where nodes are compressed to
	lzf     *lzf.Compressor // made when it is first needed
}

// NewShared prepares for lists over the arena.
func NewShared(a *arena.Arena) *Shared { return &Shared{A: a, PackedThreshold: DefaultPackedThreshold} }

// List is a quicklist. Elements that it returns are valid until any list over the same arena is changed or read again.
type List struct {
	s          *Shared
	head, tail arena.Ref
	count      int
	nodes      int
	bytes      int64
	fill       int
	depth      int
	frozen     *Frozen   // while a snapshot writes the list
	walk       arena.Ref // the next node of Defrag
}

// New makes an empty list. fill and depth are list-max-listpack-size and list-compress-depth.
func New(s *Shared, fill, depth int) *List {
	return &List{s: s, fill: min(max(fill, -5), maxFill), depth: min(max(depth, 0), maxDepth)}
}

// Len is the number of elements.
func (q *List) Len() int { return q.count }

// Nodes is the number of nodes.
func (q *List) Nodes() int { return q.nodes }

// Size is the memory off the heap in bytes.
func (q *List) Size() int64 { return q.bytes }

// Fill is the limit of a node as New was told, clamped to what there is.
func (q *List) Fill() int { return q.fill }

// Depth is how many nodes at each end are never compressed, 0 for all.
func (q *List) Depth() int { return q.depth }

// Limits are the most bytes and elements of a listpack under fill, a value of list-max-listpack-size; one of the two is unlimited.
func Limits(fill int) (size, count int) {
	if fill >= 0 {
		return maxInt, max(fill, 1)
	}
	return 2 << 10 << min(-fill, 5), maxInt
}

const maxInt = int(^uint(0) >> 1)

// Exceeds reports whether a listpack of that many bytes and elements is over the limit of fill.
func Exceeds(fill, size, count int) bool {
	maxSize, maxCount := Limits(fill)
	if maxSize != maxInt {
		return size > maxSize
	}
	return size > sizeSafety || count > maxCount
}

// large reports whether an element of n bytes has a plain node to itself.
func (q *List) large(n int) bool { return n >= q.s.PackedThreshold }

// fits reports whether an element of n bytes may be added to the node, which may be the zero one.
func (q *List) fits(n *node, size int) bool {
	if n.ref == 0 || n.kind == plain || q.large(size) || n.count >= maxNodeCount {
		return false
	}
	return !Exceeds(q.fill, n.size+size+insertGuess, n.count+1)
}

// PushHead adds an element before the first. b must not alias the list, here and in all that follows.
func (q *List) PushHead(b []byte) {
	n := q.edit(q.head)
	if !q.fits(n, len(b)) {
		q.insertNode(q.newNode(b), 0, q.head)
		return
	}
	listpack.Prepend(n, b)
	q.added(n)
}

// PushTail adds an element behind the last.
func (q *List) PushTail(b []byte) {
	n := q.edit(q.tail)
	if !q.fits(n, len(b)) {
		q.insertNode(q.newNode(b), q.tail, 0)
		return
	}
	listpack.Append(n, b)
	q.added(n)
}

// added counts an element that was put into the node.
func (q *List) added(n *node) {
	n.count++
	n.store()
	q.count++
}

// AppendListpack adds the elements of a listpack, as one node of their own where that is possible.
func (q *List) AppendListpack(lp []byte) {
	count := listpack.Count(lp)
	if count == 0 {
		return
	}
	if count > maxNodeCount {
		var scratch []byte
		for p := listpack.First(lp); p != 0; p = listpack.Next(lp, p) {
			scratch = listpack.Get(lp, p).Append(scratch[:0])
			q.PushTail(scratch)
		}
		return
	}
	n := q.makeNode(packed, len(lp), count, len(lp))
	copy(n.Bytes(), lp)
	q.insertNode(n, q.tail, 0)
}

// AppendPlain adds an element in a plain node, whatever its length.
func (q *List) AppendPlain(b []byte) {
	n := q.makeNode(plain, len(b), 1, len(b))
	copy(n.Bytes(), b)
	q.insertNode(n, q.tail, 0)
}

// Single is the listpack that holds the whole list, nil if there are several nodes or a plain one.
func (q *List) Single() []byte {
	if q.nodes != 1 {
		return nil
	}
	n := q.load(q.head)
	if n.kind != packed {
		return nil
	}
	return n.Bytes()
}

// Drain frees nodes of about n elements and reports whether the list is gone.
func (q *List) Drain(n int) (done bool) {
	for n > 0 && q.head != 0 {
		h := q.load(q.head)
		q.head = h.next
		q.count -= h.count
		q.nodes--
		q.freeNode(&h)
		n -= max(h.count, h.room>>8) // a big block takes as long to free as many elements
	}
	return q.head == 0
}

// Clone is a copy of the list under the same settings.
func (q *List) Clone(s *Shared) *List {
	c := New(s, q.fill, q.depth)
	for r := q.head; r != 0; {
		n := q.load(r)
		m := c.makeNode(n.kind, n.size, n.count, n.used())
		copy(s.A.Bytes(m.ptr, n.used()), n.payload())
		c.link(m, c.tail, 0)
		r = n.next
	}
	return c
}
