package skiplist

import (
	"encoding/binary"
	"math"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// The layout of a node: see the package comment.
const (
	offNext   = 0
	offPrev   = 5
	offEpoch  = 10
	offShape  = 11
	offScore  = 12
	headerLen = 16
	moreScore = 4 // bytes of a score that is no uint32, behind the links

	linkLen  = 17
	offSpan  = 5 // the span in a link
	offAhead = 9 // the next node's score in a link

	isLong     = 1 << 5 // in the shape: there is more of the score
	shapeLevel = isLong - 1
)

// Refs are kept in 5 bytes: 20 bits of chunk number and 22 of offset, less two that are always 0.
const (
	placeBytes  = 5
	placeMask   = 1<<(8*placeBytes) - 1
	placeShift  = 2
	placeOffset = 20 // bits of the offset
)

// pack returns the Ref in 40 bits.
func pack(r arena.Ref) uint64 {
	v := uint64(r)>>32<<placeOffset | uint64(uint32(r))>>placeShift
	invariant.Check(v <= placeMask && unpack(v) == r, "skiplist: Ref %#x does not fit", uint64(r))
	return v
}

// unpack returns the Ref in the low 40 bits of v.
func unpack(v uint64) arena.Ref {
	const low = 1<<placeOffset - 1
	return arena.Ref(v&(low<<placeOffset)<<(32-placeOffset) | v&low<<placeShift)
}

func putPlace(b []byte, r arena.Ref) {
	v := pack(r)
	b[4] = byte(v >> 32)
	binary.LittleEndian.PutUint32(b, uint32(v))
}

// isShort reports whether the score can be kept as a uint32. Minus zero cannot.
func isShort(score float64) bool {
	return score >= 0 && score <= math.MaxUint32 && score == float64(uint32(score)) &&
		!math.Signbit(score)
}

// alloc makes a loose node.
func (l *List) alloc(score float64, member []byte, levels int) arena.Ref {
	shape := byte(levels - 1)
	if !isShort(score) {
		shape |= isLong
	}
	at := memberAt(shape)
	n := nodeSize(shape, len(member))
	r := l.a.Alloc(n, arena.Values)
	l.bytes += int64(arena.ClassSize(n))
	b := l.a.Bytes(r, n)
	clear(b[:offShape])
	b[offShape] = shape
	l.setScore(r, score)
	copy(b[at+binary.PutUvarint(b[at:], uint64(len(member))):], member)
	return r
}

// nodeSize returns the number of bytes of a node.
func nodeSize(shape byte, member int) int {
	n := memberAt(shape) + 1 + member
	for v := member; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// linkAt returns where the link of level i begins. There is none of level 0.
func linkAt(i int) int { return headerLen + (i-1)*linkLen }

// behindLinks returns where the links end.
func behindLinks(shape byte) int { return headerLen + int(shape&shapeLevel)*linkLen }

// memberAt returns where the member's length begins.
func memberAt(shape byte) int {
	return behindLinks(shape) + int(shape&isLong)/isLong*moreScore
}

// header returns the part that every node has.
func (l *List) header(r arena.Ref) []byte { return l.a.Bytes(r, headerLen) }

func (l *List) shape(r arena.Ref) byte { return l.header(r)[offShape] }

// size returns the number of bytes of the node.
func (l *List) size(r arena.Ref) int { return nodeSize(l.shape(r), len(l.Member(r))) }

// Free frees a loose node, or a node of a list that is freed as a whole.
func (l *List) Free(r arena.Ref) {
	n := l.size(r)
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
	b := l.header(r)
	if b[offShape]&isLong == 0 {
		return float64(binary.LittleEndian.Uint32(b[offScore:]))
	}
	return l.longScore(r)
}

// longScore is Score for a node with more of it behind the links.
//
//go:noinline
func (l *List) longScore(r arena.Ref) float64 {
	b := l.a.From(r)
	low := binary.LittleEndian.Uint32(b[offScore:])
	high := binary.LittleEndian.Uint32(b[behindLinks(b[offShape]):])
	return math.Float64frombits(uint64(high)<<32 | uint64(low))
}

// holds reports whether the node has room for that score.
func (l *List) holds(r arena.Ref, score float64) bool {
	return l.shape(r)&isLong != 0 || isShort(score)
}

// setScore writes a score for which the node has room.
func (l *List) setScore(r arena.Ref, score float64) {
	b := l.a.From(r)
	if b[offShape]&isLong == 0 {
		binary.LittleEndian.PutUint32(b[offScore:], uint32(score))
		return
	}
	v := math.Float64bits(score)
	binary.LittleEndian.PutUint32(b[offScore:], uint32(v))
	binary.LittleEndian.PutUint32(b[behindLinks(b[offShape]):], uint32(v>>32))
}

// Member returns the node's member. It is valid until the node is freed.
func (l *List) Member(r arena.Ref) []byte {
	b := l.a.From(r)
	b = b[memberAt(b[offShape]):]
	if n := b[0]; n < 0x80 {
		return b[1 : 1+int(n) : 1+int(n)]
	}
	n, w := binary.Uvarint(b)
	return b[w : w+int(n) : w+int(n)]
}

// Epoch returns the snapshot epoch that the node is marked with.
func (l *List) Epoch(r arena.Ref) byte { return l.header(r)[offEpoch] }

// SetEpoch marks the node with a snapshot epoch.
func (l *List) SetEpoch(r arena.Ref, epoch byte) { l.header(r)[offEpoch] = epoch }

func (l *List) prev(r arena.Ref) arena.Ref {
	return unpack(binary.LittleEndian.Uint64(l.header(r)[offPrev:]))
}

func (l *List) setPrev(r, to arena.Ref) { putPlace(l.header(r)[offPrev:], to) }

func (l *List) nodeLevels(r arena.Ref) int { return int(l.shape(r)&shapeLevel) + 1 }

func (l *List) next0(r arena.Ref) arena.Ref {
	return unpack(binary.LittleEndian.Uint64(l.header(r)[offNext:]))
}

// link is a link of a level: where it leads, how many nodes it passes, and the score of the node it
// leads to. Level 0 has no such score.
type link struct {
	next  arena.Ref
	span  uint32
	score float64
}

// linkBytes returns the link of level i from 1 up, which the node must have.
func (l *List) linkBytes(r arena.Ref, i int) []byte {
	return l.a.Bytes(r, linkAt(i+1))[linkAt(i):]
}

// The parts of linkBytes, for searches that do not read all of them.
func nextOf(b []byte) arena.Ref { return unpack(binary.LittleEndian.Uint64(b)) }
func spanOf(b []byte) uint32    { return binary.LittleEndian.Uint32(b[offSpan:]) }
func aheadOf(b []byte) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[offAhead:]))
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
	b := l.linkBytes(r, i)
	return link{nextOf(b), spanOf(b), aheadOf(b)}
}

func (l *List) setLink(r arena.Ref, i int, to link) {
	if i == 0 {
		putPlace(l.header(r)[offNext:], to.next)
		return
	}
	b := l.linkBytes(r, i)
	putPlace(b, to.next)
	binary.LittleEndian.PutUint32(b[offSpan:], to.span)
	binary.LittleEndian.PutUint64(b[offAhead:], math.Float64bits(to.score))
}

// addSpan adds d, modulo 2^32, to the span of the link of level i. Level 0 has no spans.
func (l *List) addSpan(r arena.Ref, i int, d uint32) {
	b := l.linkBytes(r, i)[offSpan:]
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)+d)
}
