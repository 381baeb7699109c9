package listpack

import "encoding/binary"

// Pairs are a listpack of field, value, field, value … without what a hash in memory does not need:
// the total, which its owner knows, the lengths for a walk backwards, and the terminator. With five
// fields they take 16 bytes less.
//
//	 0       1
//	+-------+----------------+-------+----------------+-------+
//	| count | field          | value | field          | value | …
//	+-------+----------------+-------+----------------+-------+
//
//	count   pairs; 255: they are, or once were, more than 254, and the next 4 bytes have the number
//
// Fields and values are entries as in a listpack, without their back. So Get reads them, and both
// forms turn into each other byte by byte. Positions are offsets, 0 is none. A walk is O(bytes).

const (
	pairsShort = 1   // bytes of a count up to 254
	pairsLong  = 5   // and of one that was once larger
	pairsMany  = 255 // says that there is a long one
)

// PairsEmpty returns no pairs.
func PairsEmpty() []byte { return []byte{0} }

// PairsCount returns the number of pairs.
func PairsCount(b []byte) int {
	if b[0] != pairsMany {
		return int(b[0])
	}
	return int(binary.LittleEndian.Uint32(b[pairsShort:]))
}

// pairsHeader returns the number of bytes before the first field.
func pairsHeader(b []byte) int {
	if b[0] != pairsMany {
		return pairsShort
	}
	return pairsLong
}

// PairsFirst returns the position of the first field, or 0.
func PairsFirst(b []byte) int {
	if h := pairsHeader(b); len(b) > h {
		return h
	}
	return 0
}

// PairsNext returns the position of the field after the one at pos, or 0 at the end.
func PairsNext(b []byte, pos int) int {
	if pos = bodyEnd(b, bodyEnd(b, pos)); pos == len(b) {
		return 0
	}
	return pos
}

// PairsValue returns the position of the value of the field at pos.
func PairsValue(b []byte, pos int) int { return bodyEnd(b, pos) }

// bodyEnd returns the offset after encoding and string of the entry at pos.
func bodyEnd(b []byte, pos int) int {
	switch c := b[pos]; {
	case c < 0x80:
		return pos + 1
	case c < 0xc0:
		return pos + 1 + int(c&63)
	}
	return pos + longLen(b, pos)
}

// PairsFind returns the position of the field, or 0.
func PairsFind(b, field []byte) int {
	n, isInt := ParseInt(field)
	var last byte // compared first: names tend to differ at the end
	if len(field) > 0 {
		last = field[len(field)-1]
	}
	for pos := pairsHeader(b); pos < len(b); {
		at := pos
		switch c := b[pos]; {
		case c < 0x80:
			if isInt && n == int64(c) {
				return at
			}
			pos++
		case c < 0xc0:
			size := int(c & 63)
			e := pos + size
			if size == len(field) &&
				(size == 0 || b[e] == last && string(b[pos+1:e+1]) == string(field)) {
				return at
			}
			pos = e + 1
		default:
			if v := Get(b, pos); v.IsInt && isInt && v.N == n ||
				!v.IsInt && string(v.B) == string(field) {
				return at
			}
			pos += longLen(b, pos)
		}
		switch c := b[pos]; { // bodyEnd, spelled out
		case c < 0x80:
			pos++
		case c < 0xc0:
			pos += int(c&63) + 1
		default:
			pos += longLen(b, pos)
		}
	}
	return 0
}

// PairsAppend adds a pair at the end. Here and below no element may alias the space.
func PairsAppend(s Space, field, value []byte) {
	if b := s.Bytes(); b[0] == pairsMany-1 {
		b = s.Splice(pairsShort, 0, pairsLong-pairsShort)
		b[0] = pairsMany
		binary.LittleEndian.PutUint32(b[pairsShort:], pairsMany-1)
	}
	f, v := stringElem(field), stringElem(value)
	at := len(s.Bytes())
	b := s.Splice(at, 0, f.n+v.n)
	f.putBody(b[at:])
	v.putBody(b[at+f.n:])
	countPairs(b, 1)
}

// PairsReplace gives the field at pos another value.
func PairsReplace(s Space, pos int, value []byte) {
	b := s.Bytes()
	v := stringElem(value)
	pos = bodyEnd(b, pos)
	if old := bodyEnd(b, pos) - pos; old != v.n {
		b = s.Splice(pos, old, v.n)
	} else {
		b = s.Splice(pos, 0, 0) // which tells the Space of the change
	}
	v.putBody(b[pos:])
}

// PairsDelete removes the field at pos with its value.
func PairsDelete(s Space, pos int) {
	b := s.Bytes()
	countPairs(s.Splice(pos, bodyEnd(b, bodyEnd(b, pos))-pos, 0), -1)
}

// countPairs adds to a count that has room for it.
func countPairs(b []byte, add int) {
	if b[0] != pairsMany {
		b[0] = byte(int(b[0]) + add)
		return
	}
	binary.LittleEndian.PutUint32(b[pairsShort:], uint32(PairsCount(b)+add))
}

// PairsOf appends the pairs of a listpack of field, value … to dst.
func PairsOf(dst, lp []byte) []byte {
	if n := Count(lp) / 2; n < pairsMany {
		dst = append(dst, byte(n))
	} else {
		dst = binary.LittleEndian.AppendUint32(append(dst, pairsMany), uint32(n))
	}
	for p := First(lp); p != 0; p = Next(lp, p) {
		dst = append(dst, lp[p:bodyEnd(lp, p)]...)
	}
	return dst
}

// PairsListpack appends the listpack of the pairs to dst.
func PairsListpack(dst, b []byte) []byte {
	start := len(dst)
	dst = append(dst, empty[:headerLen]...)
	n := 0
	for p := pairsHeader(b); p < len(b); n++ {
		e := bodyEnd(b, p)
		dst = append(dst, b[p:e]...)
		if size := e - p; size <= 127 {
			dst = append(dst, byte(size))
		} else {
			var back [5]byte
			putBack(back[:], size)
			dst = append(dst, back[:backLen(size)]...)
		}
		p = e
	}
	dst = append(dst, terminator)
	sealed(dst[start:], n)
	return dst
}
