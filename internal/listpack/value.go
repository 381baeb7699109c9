package listpack

import (
	"encoding/binary"
	"strconv"
)

// Value is one element. B aliases the listpack.
type Value struct {
	B     []byte
	N     int64
	IsInt bool
}

// Str returns an element that is a string of bytes.
func Str(b []byte) Value { return Value{B: b} }

// Int returns an element that is an integer.
func Int(n int64) Value { return Value{N: n, IsInt: true} }

// Get returns the element at pos.
func Get(lp []byte, pos int) Value {
	switch c := lp[pos]; {
	case c < 0x80:
		return Value{N: int64(c), IsInt: true}
	case c < 0xc0:
		e := pos + 1 + int(c&63)
		return Value{B: lp[pos+1 : e : e]}
	case c >= 0xe0 && c <= 0xf0:
		e := pos + longLen(lp, pos)
		pos += 2
		if c == 0xf0 {
			pos += 3
		}
		return Value{B: lp[pos:e:e]}
	}
	return Value{N: longInt(lp, pos), IsInt: true}
}

// Short returns the element at pos if it is a string of up to 63 bytes. It is for loops in which a
// call of Get would cost more than the work on the element.
func Short(lp []byte, pos int) (b []byte, ok bool) {
	n := int(lp[pos]) - 0x80
	if n < 0 || n >= 64 {
		return nil, false
	}
	return lp[pos+1 : pos+1+n], true
}

// longInt returns the integer of an entry that is neither a tiny integer nor a string.
func longInt(lp []byte, pos int) int64 {
	switch c := lp[pos]; c {
	case 0xf1:
		return int64(int16(binary.LittleEndian.Uint16(lp[pos+1:])))
	case 0xf2:
		return int64(int32(uint32(lp[pos+1])<<8|uint32(lp[pos+2])<<16|uint32(lp[pos+3])<<24) >> 8)
	case 0xf3:
		return int64(int32(binary.LittleEndian.Uint32(lp[pos+1:])))
	case 0xf4:
		return int64(binary.LittleEndian.Uint64(lp[pos+1:]))
	default:
		return int64(int16(uint16(c)<<11|uint16(lp[pos+1])<<3) >> 3)
	}
}

// Append appends the element as text.
func (v Value) Append(dst []byte) []byte {
	if v.IsInt {
		return strconv.AppendInt(dst, v.N, 10)
	}
	return append(dst, v.B...)
}

// Len returns the length of the element as text, in bytes.
func (v Value) Len() int {
	if v.IsInt {
		return IntLen(v.N)
	}
	return len(v.B)
}

// Equal reports whether the element as text is b.
func (v Value) Equal(b []byte) bool {
	if !v.IsInt {
		return string(v.B) == string(b)
	}
	n, ok := ParseInt(b)
	return ok && n == v.N
}

// Find returns the position of the first entry from pos on that equals elem, or 0. It looks at
// every (skip+1)th entry only.
func Find(lp []byte, pos int, elem []byte, skip int) int {
	if pos == 0 {
		return 0
	}
	n, isInt := ParseInt(elem)
	var last byte // compared first: names tend to differ at the end
	if len(elem) > 0 {
		last = elem[len(elem)-1]
	}
	for {
		c := lp[pos]
		switch {
		case c < 0x80:
			if isInt && n == int64(c) {
				return pos
			}
			pos += 2
		case c < 0xc0:
			size := int(c & 63)
			e := pos + size
			if size == len(elem) &&
				(size == 0 || lp[e] == last && string(lp[pos+1:e+1]) == string(elem)) {
				return pos
			}
			pos = e + 2
		case c == terminator:
			return 0
		default:
			if v := Get(lp, pos); v.IsInt && isInt && v.N == n ||
				!v.IsInt && string(v.B) == string(elem) {
				return pos
			}
			pos = after(lp, pos)
		}
		for range skip {
			switch c := lp[pos]; { // after, spelled out: most entries are short
			case c < 0x80:
				pos += 2
			case c < 0xc0:
				pos += int(c&63) + 2
			case c == terminator:
				return 0
			default:
				pos = after(lp, pos)
			}
		}
	}
}

// Between returns the number of entries from pos on that lie before the position to, which must be
// that of a later entry or pos itself.
func Between(lp []byte, pos, to int) (n int) {
	for ; pos < to; n++ {
		switch c := lp[pos]; { // after, spelled out: most entries are short
		case c < 0x80:
			pos += 2
		case c < 0xc0:
			pos += int(c&63) + 2
		default:
			pos = after(lp, pos)
		}
	}
	return n
}
