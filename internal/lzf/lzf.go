// Package lzf compresses in the LZF format. It is fast, modest in ratio, and what Redis writes into
// compressed list nodes and RDB strings.
//
// # Format
//
// A stream is a sequence of items. Each begins with a control byte:
//
//	000nnnnn, n+1 bytes                   literal run of 1..32 bytes
//	nnnooooo, oooooooo         n = 1..6   match of n+2 bytes
//	111ooooo, nnnnnnnn, oooooooo          match of n+9 bytes, 9..264
//
// A match copies bytes from o+1 before the current place. o has 13 bits, the high ones first. A
// match may overlap what it writes: runs of one byte are stored that way. There is no header and no
// end mark; both lengths travel beside the data.
//
// For example "aaaaaaaaaa" is 00 61 · E0 00 00: one literal, and a match of 9 at distance 1.
//
// # Complexity and limits
//
// Compression is one pass with a hash table of the last place of each three bytes. There are no
// chains, so the first candidate decides. Compress never writes more than its output holds;
// Decompress trusts nothing.
//
// The format is that of Marc Lehmann's LibLZF.
package lzf

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

const (
	tableBits   = 13
	maxLiteral  = 32
	maxDistance = 1 << 13
	minMatch    = 3
	maxMatch    = 264
)

// ErrCorrupt reports data that is not an LZF stream of the stated length.
var ErrCorrupt = errors.New("lzf: corrupt")

// Compressor is the memory for compression. The zero value is ready. It may be reused, and the
// result does not depend on earlier use.
type Compressor struct {
	// last is the last place of three bytes, by their hash: base plus the offset after them. A
	// value that is not above base belongs to an earlier call.
	last [1 << tableBits]uint32
	base uint32

	// shift is that of the hash: a short input uses only a part of the table, which stays cached.
	shift uint8
}

// Compress writes src to the start of dst and returns the number of bytes written. It returns 0 if
// dst is too short for the result, or src is empty. The slices must not overlap.
func (c *Compressor) Compress(dst, src []byte) int {
	if len(src) > math.MaxInt32 {
		return 0
	}
	if uint64(c.base)+uint64(len(src)) > math.MaxUint32 {
		*c = Compressor{}
	}
	c.shift = uint8(32 - min(max(bits.Len(uint(len(src)))+1, 6), tableBits))
	w := writer{dst: dst, src: src}
	c.compress(&w, 0)
	c.base += uint32(len(src))
	if w.full || !w.literals(len(src)) {
		return 0
	}
	return w.n
}

// compress writes the items for w.src from i on, up to the last match, or until w is full.
func (c *Compressor) compress(w *writer, i int) {
	src := w.src
	// A search loads four bytes, of which three count. The last three of src are not searched for.
	for i+4 <= len(src) {
		at := c.find(src, i)
		if at < 0 {
			i++
			continue
		}
		n := matchLen(src, at, i)
		if !w.literals(i) || !w.match(i-at, n) {
			break
		}
		end := i + n
		// To find what follows the match again, the last two places inside it are enough.
		for i = max(i+1, end-2); i < end && i+4 <= len(src); i++ {
			c.find(src, i)
		}
		i = end
	}
}

// find returns where the three bytes at i were last seen, or -1 if they were not or too long ago.
// It remembers i. src must have four bytes at i.
func (c *Compressor) find(src []byte, i int) int {
	v := binary.LittleEndian.Uint32(src[i:]) << 8
	slot := &c.last[v*0x9e3779b1>>(c.shift&31)&(1<<tableBits-1)]
	at := int(*slot) - int(c.base) - 1
	*slot = c.base + uint32(i) + 1
	if at < 0 || i-at > maxDistance || binary.LittleEndian.Uint32(src[at:])<<8 != v {
		return -1
	}
	return at
}

// matchLen returns how many bytes of src from at on repeat from i on. at is before i, and minMatch
// bytes are known to match.
func matchLen(src []byte, at, i int) int {
	limit := min(len(src)-i, maxMatch)
	n := minMatch
	for ; n+8 <= limit; n += 8 {
		x := binary.LittleEndian.Uint64(src[at+n:]) ^ binary.LittleEndian.Uint64(src[i+n:])
		if x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < limit && src[at+n] == src[i+n] {
		n++
	}
	return n
}

// writer puts items into dst. from is where the unwritten literals begin.
type writer struct {
	dst, src []byte
	n        int
	from     int
	full     bool
}

// literals writes src up to end as literal runs.
func (w *writer) literals(end int) bool {
	for w.from < end {
		run := min(end-w.from, maxLiteral)
		if w.n+1+run > len(w.dst) {
			w.full = true
			return false
		}
		w.dst[w.n] = byte(run - 1)
		if to, from := w.dst[w.n+1:], w.src[w.from:]; run <= 8 && len(to) >= 8 && len(from) >= 8 {
			// Most runs are short, and what is after them is overwritten.
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
		} else {
			copy(to, from[:run])
		}
		w.n += 1 + run
		w.from += run
	}
	return true
}

// match writes a copy of n bytes from distance bytes back.
func (w *writer) match(distance, n int) bool {
	w.from += n
	off, l := distance-1, n-2
	if w.n+3 > len(w.dst) {
		w.full = true // for a short match one byte too early, which does not matter
		return false
	}
	b := w.dst[w.n : w.n+3]
	if l < 7 {
		b[0], b[1] = byte(l<<5|off>>8), byte(off)
		w.n += 2
		return true
	}
	b[0], b[1], b[2] = byte(7<<5|off>>8), byte(l-7), byte(off)
	w.n += 3
	return true
}

// Decompress writes the original of src into dst, whose length must be that of the original. The
// slices must not overlap. Hostile data can at most overwrite dst.
func Decompress(dst, src []byte) error {
	out := 0
	for i := 0; i < len(src); {
		ctrl := int(src[i])
		i++
		if ctrl < maxLiteral {
			n := ctrl + 1
			if n > len(src)-i || n > len(dst)-out {
				return ErrCorrupt
			}
			copy(dst[out:], src[i:i+n])
			i += n
			out += n
			continue
		}
		n := ctrl >> 5
		if n == 7 {
			if i == len(src) {
				return ErrCorrupt
			}
			n += int(src[i])
			i++
		}
		n += 2
		if i == len(src) {
			return ErrCorrupt
		}
		at := out - (ctrl&31<<8 | int(src[i])) - 1
		i++
		if at < 0 || n > len(dst)-out {
			return ErrCorrupt
		}
		repeat(dst, at, out, n)
		out += n
	}
	if out != len(dst) {
		return ErrCorrupt
	}
	return nil
}

// repeat copies n bytes of dst from at to out. at is before out. If both overlap, the beginning
// repeats.
func repeat(dst []byte, at, out, n int) {
	if out-at >= n {
		copy(dst[out:out+n], dst[at:])
		return
	}
	for end := out + n; out < end; out += copy(dst[out:end], dst[at:out]) {
		continue
	}
}
