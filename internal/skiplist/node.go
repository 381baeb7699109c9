package skiplist

import (
	"encoding/binary"
	"math"

	"godwit/internal/arena"
)

// The layout of a node: see the package comment.
const (
	offScore  = 0
	offPrev   = 8
	offNext   = 16
	offTower  = 24 // links of the levels from 1 up
	linkBytes = 20
	offSpan   = 8  // the span in a link
	offAhead  = 12 // the next node's score in a link

	refMask = 1<<arena.RefBits - 1
)

// alloc makes a loose node.
func (l *List) alloc(score float64, member []byte, levels int) arena.Ref {
	n := nodeSize(levels, len(member))
	r := l.a.Alloc(n, arena.Values)
	l.bytes += int64(arena.ClassSize(n))
	b := l.a.Bytes(r, n)
	binary.LittleEndian.PutUint64(b[offScore:], math.Float64bits(score))
	binary.LittleEndian.PutUint64(b[offPrev:], 0)
	binary.LittleEndian.PutUint64(b[offNext:], uint64(levels-1)<<arena.RefBits)
	at := memberAt(levels)
	copy(b[at+binary.PutUvarint(b[at:], uint64(len(member))):], member)
	return r
}

// nodeSize returns the number of bytes of a node.
func nodeSize(levels, member int) int {
	n := memberAt(levels) + 1 + member
	for v := member; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// memberAt returns where the member's length begins.
func memberAt(levels int) int { return offTower + (levels-1)*linkBytes }

// Free frees a loose node, or a node of a list that is freed as a whole.
func (l *List) Free(r arena.Ref) {
	n := nodeSize(l.nodeLevels(r), len(l.Member(r)))
	l.a.Free(r, n, arena.Values)
	l.bytes -= int64(arena.ClassSize(n))
}

// Close frees the head after all nodes are freed. The list must not be used again.
func (l *List) Close() {
	l.Free(l.head)
	l.head, l.tail, l.len = 0, 0, 0
}

// Score returns the node's score.
func (l *List) Score(r arena.Ref) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(l.a.Bytes(r, 8)))
}

func (l *List) setScore(r arena.Ref, score float64) {
	binary.LittleEndian.PutUint64(l.a.Bytes(r, 8), math.Float64bits(score))
}

// Member returns the node's member. It is valid until the node is freed.
func (l *List) Member(r arena.Ref) []byte {
	at := memberAt(l.nodeLevels(r))
	b := l.a.From(r)[at:]
	if n := b[0]; n < 0x80 {
		return b[1 : 1+int(n) : 1+int(n)]
	}
	n, w := binary.Uvarint(b)
	return b[w : w+int(n) : w+int(n)]
}

// Epoch returns the snapshot epoch that the node is marked with.
func (l *List) Epoch(r arena.Ref) byte {
	return byte(binary.LittleEndian.Uint64(l.a.Bytes(r, 16)[offPrev:]) >> arena.RefBits)
}

// SetEpoch marks the node with a snapshot epoch.
func (l *List) SetEpoch(r arena.Ref, epoch byte) {
	b := l.a.Bytes(r, 16)[offPrev:]
	v := binary.LittleEndian.Uint64(b) & refMask
	binary.LittleEndian.PutUint64(b, v|uint64(epoch)<<arena.RefBits)
}

func (l *List) prev(r arena.Ref) arena.Ref {
	return arena.Ref(binary.LittleEndian.Uint64(l.a.Bytes(r, 16)[offPrev:]) & refMask)
}

func (l *List) setPrev(r, to arena.Ref) {
	b := l.a.Bytes(r, 16)[offPrev:]
	v := binary.LittleEndian.Uint64(b) &^ refMask
	binary.LittleEndian.PutUint64(b, v|uint64(to))
}

func (l *List) nodeLevels(r arena.Ref) int {
	return int(binary.LittleEndian.Uint64(l.a.Bytes(r, 24)[offNext:])>>arena.RefBits)&(MaxLevel-1) +
		1
}

func (l *List) next0(r arena.Ref) arena.Ref {
	return arena.Ref(binary.LittleEndian.Uint64(l.a.Bytes(r, 24)[offNext:]) & refMask)
}

// link is a link of a level: where it leads, how many nodes it passes, and the score of the node it
// leads to. Level 0 has no such score.
type link struct {
	next  arena.Ref
	span  uint32
	score float64
}

// link returns the link of level i, which the node must have.
func (l *List) link(r arena.Ref, i int) link {
	if i == 0 {
		next := l.next0(r)
		if next == 0 {
			return link{}
		}
		return link{next: next, span: 1}
	}
	b := l.a.Bytes(r, memberAt(i+1))[memberAt(i):]
	return link{arena.Ref(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint32(b[offSpan:]),
		math.Float64frombits(binary.LittleEndian.Uint64(b[offAhead:]))}
}

func (l *List) setLink(r arena.Ref, i int, to link) {
	if i == 0 {
		b := l.a.Bytes(r, 24)[offNext:]
		v := binary.LittleEndian.Uint64(b) &^ refMask
		binary.LittleEndian.PutUint64(b, v|uint64(to.next))
		return
	}
	b := l.a.Bytes(r, memberAt(i+1))[memberAt(i):]
	binary.LittleEndian.PutUint64(b, uint64(to.next))
	binary.LittleEndian.PutUint32(b[offSpan:], to.span)
	binary.LittleEndian.PutUint64(b[offAhead:], math.Float64bits(to.score))
}

// addSpan adds d, modulo 2^32, to the span of the link of level i. Level 0 has no spans.
func (l *List) addSpan(r arena.Ref, i int, d uint32) {
	b := l.a.Bytes(r, memberAt(i+1))[memberAt(i)+offSpan:]
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)+d)
}
