package lzf

import "math"

// History is how many bytes before a piece are useful for Piece: matches reach no further back.
const History = maxDistance

// Bound returns the most bytes that n bytes take when compressed.
func Bound(n int) int { return n + n/maxLiteral + 4 }

// Piece compresses src[from:], the next piece of an input that is too long to be compressed at
// once, and returns the number of bytes written to dst. Appended to what it wrote for the pieces
// before, these are a stream of the whole input. src[:from] is the end of the pieces before: at
// least History bytes, or all there were. A from of 0 begins an input.
//
// dst must have room for Bound(len(src) - from) bytes. The result depends only on the input and on
// how it is cut into pieces. An input must be shorter than 2 GiB.
func (c *Compressor) Piece(dst, src []byte, from int) int {
	if from == 0 {
		*c = Compressor{}
	}
	if uint64(c.base)+uint64(len(src)) > math.MaxUint32 || int64(c.base) < int64(from) {
		panic("lzf: a piece out of its order")
	}
	c.base -= uint32(from)
	c.shift = 32 - tableBits
	w := writer{dst: dst, src: src, from: from}
	c.compress(&w, from)
	c.base += uint32(len(src))
	if w.full || !w.literals(len(src)) {
		panic("lzf: a piece does not fit")
	}
	return w.n
}
