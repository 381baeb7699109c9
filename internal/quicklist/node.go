package quicklist

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
	"godwit/internal/lzf"
)

// kind says what a node's block holds.
type kind uint8

const (
	packed kind = iota
	plain
	compressed
)

const (
	headerSize = 32 // bytes
	refMask    = 1<<arena.RefBits - 1
	lowBits    = 64 - arena.RefBits // of count, above prev
	highBits   = 16 - lowBits       // of count, above next; the epoch is above them
	maxOff     = 1<<12 - 1
	kindMask   = 1<<2 - 1 // of the word that holds room, a multiple of 4
	lzfHead    = 4        // bytes that hold the compressed length

	minCompress = 48 // a shorter payload is not compressed
	minSaving   = 8  // bytes that compression must save
)

// node is a decoded header. It is a listpack.Space. Whoever changes it calls store at the end.
type node struct {
	q               *List
	ref             arena.Ref // the header
	prev, next, ptr arena.Ref // ptr: the block
	off, size, room int       // bytes
	count           int       // elements
	kind            kind
	epoch           byte
}

// load decodes the header at ref.
func (q *List) load(ref arena.Ref) (n node) {
	q.loadTo(&n, ref)
	return n
}

func (q *List) loadTo(n *node, ref arena.Ref) {
	b := q.s.A.Bytes(ref, headerSize)
	w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	w2, room := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint32(b[28:])
	n.q, n.ref = q, ref
	n.prev, n.next, n.ptr = arena.Ref(w0&refMask), arena.Ref(w1&refMask), arena.Ref(w2&refMask)
	n.off, n.size, n.room = int(w2>>arena.RefBits), int(binary.LittleEndian.Uint32(b[24:])),
		int(room&^kindMask)
	n.count, n.kind = int(w0>>arena.RefBits|w1>>arena.RefBits&(1<<highBits-1)<<lowBits),
		kind(room&kindMask)
	n.epoch = byte(w1 >> (arena.RefBits + highBits))
}

// store encodes the header.
func (n *node) store() {
	invariant.Check(n.count > 0 && n.count <= maxNodeCount && n.off <= maxOff,
		"quicklist: node of %d elements at offset %d", n.count, n.off)
	b := n.q.s.A.Bytes(n.ref, headerSize)
	binary.LittleEndian.PutUint64(b, uint64(n.prev)|uint64(n.count)<<arena.RefBits)
	binary.LittleEndian.PutUint64(b[8:],
		uint64(n.next)|uint64(n.count>>lowBits)<<arena.RefBits|
			uint64(n.epoch)<<(arena.RefBits+highBits))
	binary.LittleEndian.PutUint64(b[16:], uint64(n.ptr)|uint64(n.off)<<arena.RefBits)
	binary.LittleEndian.PutUint32(b[24:], uint32(n.size))
	binary.LittleEndian.PutUint32(b[28:], uint32(n.room)|uint32(n.kind))
}

// setPrev and setNext change one link of the header at ref, which may be 0.
func (q *List) setPrev(ref, to arena.Ref) { q.setLink(ref, 0, to) }
func (q *List) setNext(ref, to arena.Ref) { q.setLink(ref, 8, to) }

func (q *List) setLink(ref arena.Ref, at int, to arena.Ref) {
	if ref == 0 {
		return
	}
	b := q.s.A.Bytes(ref, headerSize)[at:]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^refMask|uint64(to))
}

func (q *List) next(ref arena.Ref) arena.Ref {
	return arena.Ref(binary.LittleEndian.Uint64(q.s.A.Bytes(ref, headerSize)[8:]) & refMask)
}

func (q *List) prev(ref arena.Ref) arena.Ref {
	return arena.Ref(binary.LittleEndian.Uint64(q.s.A.Bytes(ref, headerSize)) & refMask)
}

// edit decompresses the node at ref for a change. It is the only way to a node whose elements may
// change (whole nodes go through removeNode and Drain). The result is valid until the next edit of
// any list. ref 0 gives a node that nothing fits into.
func (q *List) edit(ref arena.Ref) *node {
	n := &q.s.work
	if ref == 0 {
		*n = node{q: q}
		return n
	}
	q.loadTo(n, ref)
	q.keep(n)
	n.decompress()
	return n
}

// makeNode allocates an unlinked node, in the state that edit returns, with a block for used bytes.
func (q *List) makeNode(k kind, size, count, used int) *node {
	n := &q.s.work
	*n = node{q: q, kind: k, size: size, count: count, room: arena.ClassSize(used),
		epoch: q.s.Epoch}
	n.ref = q.alloc(headerSize)
	n.ptr = q.alloc(n.room)
	return n
}

// newNode returns an unlinked node with one element.
func (q *List) newNode(b []byte) *node {
	if q.large(len(b)) {
		n := q.makeNode(plain, len(b), 1, len(b))
		copy(n.Bytes(), b)
		return n
	}
	n := q.emptyNode(listpack.EncodedSize(b))
	listpack.Append(n, b)
	n.count = 1
	return n
}

// emptyNode returns an unlinked packed node without elements, with room for size bytes of them.
func (q *List) emptyNode(size int) *node {
	n := q.makeNode(packed, 0, 0, size+7)
	n.size = 7
	copy(n.Bytes(), "\x07\x00\x00\x00\x00\x00\xff")
	return n
}

// link puts the node between prev and next, either of which may be 0, and stores it.
func (q *List) link(n *node, prev, next arena.Ref) {
	n.prev, n.next = prev, next
	n.store()
	q.setNext(prev, n.ref)
	q.setPrev(next, n.ref)
	if prev == 0 {
		q.head = n.ref
	}
	if next == 0 {
		q.tail = n.ref
	}
	q.nodes++
	q.count += n.count
}

// insertNode links the node and compresses nodes as needed.
func (q *List) insertNode(n *node, prev, next arena.Ref) {
	ref := n.ref
	q.link(n, prev, next)
	q.settle(ref)
}

// removeNode unlinks and frees the node with all its elements.
func (q *List) removeNode(n *node) {
	if q.frozen != nil {
		q.frozen.removed(n)
	}
	if q.walk == n.ref {
		q.walk = n.next
	}
	q.setNext(n.prev, n.next)
	q.setPrev(n.next, n.prev)
	if n.prev == 0 {
		q.head = n.next
	}
	if n.next == 0 {
		q.tail = n.prev
	}
	q.nodes--
	q.count -= n.count
	q.freeNode(n)
	q.settle(0)
}

func (q *List) freeNode(n *node) {
	if n.ptr != 0 { // else a snapshot has taken it
		q.free(n.ptr, n.room)
	}
	q.free(n.ref, headerSize)
}

func (q *List) alloc(n int) arena.Ref {
	q.bytes += int64(arena.ClassSize(n))
	return q.s.A.Alloc(n, arena.Values)
}

func (q *List) free(r arena.Ref, n int) {
	q.bytes -= int64(arena.ClassSize(n))
	q.s.A.Free(r, n, arena.Values)
}

// used returns how many bytes of the block the payload takes, from off on.
func (n *node) used() int {
	if n.kind == compressed {
		return lzfHead + int(binary.LittleEndian.Uint32(n.q.s.A.Bytes(n.ptr, lzfHead)))
	}
	return n.size
}

// payload returns the used bytes of the block.
func (n *node) payload() []byte {
	end := n.off + n.used()
	return n.q.s.A.Bytes(n.ptr, end)[n.off:]
}

// Bytes implements listpack.Space. The node must not be compressed.
func (n *node) Bytes() []byte { return n.q.s.A.Bytes(n.ptr, n.off+n.size)[n.off:] }

// read returns the payload, decompressed into buf if needed.
func (n *node) read(buf *[]byte) []byte {
	if n.kind != compressed {
		return n.Bytes()
	}
	if cap(*buf) < n.size {
		*buf = make([]byte, n.size)
	}
	*buf = (*buf)[:n.size]
	n.inflate(*buf)
	return *buf
}

// inflate decompresses the payload into dst.
func (n *node) inflate(dst []byte) {
	if err := lzf.Decompress(dst, n.payload()[lzfHead:]); err != nil {
		panic("quicklist: a node does not decompress") // we compressed it ourselves
	}
}

// decompress gives a compressed node its listpack back, in a block of that size.
func (n *node) decompress() {
	if n.kind != compressed {
		return
	}
	room := arena.ClassSize(n.size)
	ptr := n.q.alloc(room)
	n.inflate(n.q.s.A.Bytes(ptr, n.size))
	n.q.free(n.ptr, n.room)
	n.ptr, n.room, n.kind = ptr, room, packed
	n.store()
}

// compress compresses a packed node if that saves memory.
func (n *node) compress() {
	if n.kind != packed {
		return
	}
	s := n.q.s
	m := s.deflate(n.Bytes())
	room := arena.ClassSize(lzfHead + m)
	if m == 0 || room >= n.room {
		return
	}
	ptr := n.q.alloc(room)
	s.putDeflated(ptr, m)
	n.q.free(n.ptr, n.room)
	n.ptr, n.room, n.off, n.kind = ptr, room, 0, compressed
	n.store()
}

// deflate compresses a listpack into s.packed and returns the compressed length, or 0 if that saves
// nothing.
func (s *Shared) deflate(b []byte) int {
	if len(b) < minCompress {
		return 0
	}
	if s.lzf == nil {
		s.lzf = new(lzf.Compressor)
	}
	if cap(s.packed) < len(b) {
		s.packed = make([]byte, len(b))
	}
	return s.lzf.Compress(s.packed[:len(b)-minSaving-1], b)
}

// putDeflated writes the result of deflate to a block.
func (s *Shared) putDeflated(ptr arena.Ref, m int) {
	b := s.A.Bytes(ptr, lzfHead+m)
	binary.LittleEndian.PutUint32(b, uint32(m))
	copy(b[lzfHead:], s.packed[:m])
}

// settle restores the rule of compression after nodes were added, removed or changed: the outermost
// nodes are uncompressed, the ones next to them and the node at ref (0: none) are compressed. All
// others already are.
func (q *List) settle(ref arena.Ref) {
	if q.depth == 0 {
		return
	}
	left, right := q.head, q.tail
	outer := false
	for range q.depth {
		if left == 0 {
			return
		}
		q.openNode(left)
		q.openNode(right)
		outer = outer || left == ref || right == ref
		if left == right || q.next(left) == right {
			return // no node is deep enough
		}
		left, right = q.next(left), q.prev(right)
	}
	if ref != 0 && !outer {
		q.closeNode(ref)
	}
	q.closeNode(left)
	q.closeNode(right)
}

func (q *List) openNode(ref arena.Ref) {
	n := q.load(ref)
	n.decompress()
}

func (q *List) closeNode(ref arena.Ref) {
	n := q.load(ref)
	n.compress()
}
