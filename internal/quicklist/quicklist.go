// Package quicklist keeps long lists. A quicklist is a doubly linked list of nodes, each of which
// packs many elements into a listpack.
//
// # Why
//
// A linked list of elements costs two pointers and an allocation for each. One big listpack would
// move megabytes for a push at its head. Nodes of a few kilobytes keep both costs small: moving
// bytes inside one is cheap, and hundreds of elements share its links.
//
// # Shape
//
//	List (Go) head ──→ ┌────────┐ ←→ ┌────────┐ ←→ … ←→ ┌────────┐ ←── tail
//	                   │ header │    │ header │         │ header │   32 bytes each; only Defrag
//	                   └───┬────┘    └───┬────┘         └───┬────┘   moves them
//	                       ↓             ↓                  ↓
//	                    listpack      LZF data           listpack    blocks of their own
//
// A header is four words, little endian. A Ref has 51 bits; the 13 bits above it hold something
// else:
//
//	 0                 8                 16               24        28
//	+-----------------+-----------------+----------------+---------+---------------+
//	| prev  | count lo| next  | see below| block | off   | size    | room | kind   |
//	+-----------------+-----------------+----------------+---------+---------------+
//
//	count   elements in the node, 16 bits: 13 above prev, 3 above next
//	epoch   the snapshot epoch in which the node was saved or created, 8 bits above next and count
//	off     where the payload begins in the block: room before it makes pushing and popping at the
//	        front as cheap as at the back
//	size    bytes of the payload, uncompressed
//	room    bytes of the block, a multiple of 4; its lowest bits are the kind
//
// The kinds are packed, a listpack; plain, the bytes of one huge element; and lzf, a compressed
// listpack: its block holds the compressed length in 4 bytes, little endian, and the LZF data.
//
// # Limits of a node
//
// fill is list-max-listpack-size. -1 to -5 mean 4, 8, 16, 32 and 64 KiB of listpack. A positive
// value means that many elements and at most 8 KiB. One element may exceed the limit, alone in its
// node. An element of at least Shared.PackedThreshold bytes becomes a plain node. Nodes are filled,
// split and merged by Redis's rules, so that lists have the same nodes as in Redis.
//
// # Compression
//
// With a depth d > 0 (list-compress-depth), all nodes except the first and last d are compressed if
// they have at least 48 bytes and that saves at least 8. Reading decompresses into the reader's
// memory. A change decompresses the node itself and compresses it again when it is done.
//
// # Invariants
//
//   - Len and Size are exact. No node is empty. A packed node's count is its listpack's.
//   - Nodes within the depth of an end are not compressed.
//   - Headers and blocks have one owner, the list.
//   - A node's elements change through edit only, or go with the node in removeNode and Drain.
//
// # Complexity
//
// Both ends are O(1). A place in the middle is O(nodes + elements of a node) from the nearer end. A
// node takes 32 bytes, plus what the size class of its block rounds up. The nodes at the ends have
// room for elements to come, an eighth of the list each at most.
//
// Source: the format and policy of Redis's quicklist.
package quicklist

import (
	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/lzf"
)

const (
	sizeSafety = 8 << 10 // bytes of listpack under a limit by count
	// insertGuess is the overhead that Redis assumes when it asks whether one more entry fits.
	insertGuess  = 8
	maxFill      = 1<<15 - 1
	maxDepth     = 1<<16 - 1
	maxNodeCount = 1<<16 - 1

	// slackShare bounds the room that a node at an end has for elements to come: an eighth of the
	// list's bytes.
	slackShare = 8

	// DefaultPackedThreshold is the length in bytes from which an element gets a plain node.
	DefaultPackedThreshold = 1 << 30
)

// Shared is what the lists over one arena have in common. NewShared makes it.
type Shared struct {
	A *arena.Arena
	// Epoch marks new and saved nodes, see Frozen.
	Epoch byte
	// PackedThreshold is the length in bytes from which an element has a plain node to itself.
	PackedThreshold int

	work    node            // the node being changed: there is only one at a time
	scratch []byte          // a decompressed node that was read by index
	packed  []byte          // the result of compressing a node
	lzf     *lzf.Compressor // made when first needed
}

// NewShared prepares for lists over the arena.
func NewShared(a *arena.Arena) *Shared {
	return &Shared{A: a, PackedThreshold: DefaultPackedThreshold}
}

// List is a quicklist. Elements that it returns are valid until any list over the same arena is
// changed or read again.
type List struct {
	s          *Shared
	head, tail arena.Ref
	count      int
	nodes      int
	bytes      int64
	fill       int
	depth      int
	frozen     *Frozen   // set while a snapshot writes the list
	walk       arena.Ref // the next node for Defrag
}

// New returns an empty list. fill and depth are list-max-listpack-size and list-compress-depth.
func New(s *Shared, fill, depth int) *List {
	return &List{s: s, fill: min(max(fill, -5), maxFill), depth: min(max(depth, 0), maxDepth)}
}

// Len returns the number of elements.
func (q *List) Len() int { return q.count }

// Nodes returns the number of nodes.
func (q *List) Nodes() int { return q.nodes }

// Size returns the memory outside of Go's heap in bytes.
func (q *List) Size() int64 { return q.bytes }

// Fill returns the limit of a node as passed to New, clamped to the valid values.
func (q *List) Fill() int { return q.fill }

// Depth returns how many nodes at each end are never compressed. 0 means all.
func (q *List) Depth() int { return q.depth }

// Limits returns the most bytes and elements of a listpack under fill, a value of
// list-max-listpack-size. One of the two is unlimited.
func Limits(fill int) (size, count int) {
	if fill >= 0 {
		return maxInt, max(fill, 1)
	}
	return 2 << 10 << min(-fill, 5), maxInt
}

const maxInt = int(^uint(0) >> 1)

// Exceeds reports whether a listpack of that many bytes and elements exceeds the limit of fill.
func Exceeds(fill, size, count int) bool {
	maxSize, maxCount := Limits(fill)
	if maxSize != maxInt {
		return size > maxSize
	}
	return size > sizeSafety || count > maxCount
}

// large reports whether an element of n bytes gets a plain node to itself.
func (q *List) large(n int) bool { return n >= q.s.PackedThreshold }

// fits reports whether an element of size bytes may be added to the node, which may be the zero
// node.
func (q *List) fits(n *node, size int) bool {
	if n.ref == 0 || n.kind == plain || q.large(size) || n.count >= maxNodeCount {
		return false
	}
	return !Exceeds(q.fill, n.size+size+insertGuess, n.count+1)
}

// PushHead adds an element before the first. Neither here nor in the methods below may b alias the
// list.
func (q *List) PushHead(b []byte) {
	n := q.edit(q.head)
	if !q.fits(n, len(b)) {
		n.finish()
		q.insertNode(q.newNode(b), 0, q.head)
		return
	}
	listpack.Prepend(n, b)
	q.added(n)
}

// PushTail adds an element after the last.
func (q *List) PushTail(b []byte) {
	n := q.edit(q.tail)
	if !q.fits(n, len(b)) {
		n.finish()
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

// AppendListpack adds the elements of a listpack, as one node of their own if possible.
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
	q.edit(q.tail).finish()
	n := q.makeNode(packed, len(lp), count, len(lp))
	copy(n.Bytes(), lp)
	q.insertNode(n, q.tail, 0)
}

// AppendPlain adds an element in a plain node, whatever its length.
func (q *List) AppendPlain(b []byte) {
	q.edit(q.tail).finish()
	n := q.makeNode(plain, len(b), 1, len(b))
	copy(n.Bytes(), b)
	q.insertNode(n, q.tail, 0)
}

// Single returns the listpack that holds the whole list, or nil if there are several nodes or a
// plain one.
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

// Drain frees nodes with about n elements and reports whether the list is gone.
func (q *List) Drain(n int) (done bool) {
	for n > 0 && q.head != 0 {
		h := q.load(q.head)
		q.head = h.next
		q.count -= h.count
		q.nodes--
		q.freeNode(&h)
		n -= max(h.count, h.room>>8) // freeing a big block takes as long as that many elements
	}
	return q.head == 0
}

// Clone returns a copy of the list with the same settings.
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
