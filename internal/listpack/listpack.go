// Package listpack is Redis's packed list of strings and integers in one run of bytes: what small hashes, sets, sorted sets and lists are
// made of, in memory and, unchanged, in RDB files and DUMP payloads.
//
// # Layout
//
//	 0        4       6                                           total-1
//	+--------+-------+---------------------+-----+---------------+------+
//	| total  | count | entry               | ... | entry         | 0xFF |
//	+--------+-------+---------------------+-----+---------------+------+
//
//	total   bytes of everything, 32-bit little endian
//	count   entries, 16-bit little endian; 65535: unknown, they have to be walked
//
//	+------------------+--------------+-----------------+
//	| encoding (1..9)  | string bytes | back (1..5)     |
//	+------------------+--------------+-----------------+
//
//	0xxxxxxx                     integer 0..127
//	10xxxxxx                     string of x bytes (up to 63)
//	110xxxxx yyyyyyyy            13-bit signed integer, high bits first
//	1110xxxx yyyyyyyy            string of xy bytes (up to 4095)
//	F0 + 4 bytes                 string, 32-bit little-endian length
//	F1 F2 F3 F4 + 2 3 4 8 bytes  signed integer, little endian
//
// back is the length of encoding and string bytes, 7 bits a byte, high bits first. It is read from its end leftwards: every byte but the leftmost
// has its top bit set. So a walk goes both ways.
//
// For example ["a", "1024"]: 0D 00 00 00 · 02 00 · 81 61 02 · C4 00 02 · FF.
//
// # Invariants
//
// What spells a canonical 64-bit integer is stored as one, in the shortest form. Blobs from outside may hold other forms: Validate accepts whatever
// can be walked safely, and everything here reads it. All functions but Validate need a validated listpack.
//
// # Complexity
//
// Head and tail are O(1), everything else walks. A change moves the bytes behind it and may move the block; positions behind it and slices taken
// before are stale. The total is limited to 1 GiB by callers who ask SafeToAdd.
//
// The format is described in Redis's listpack.c (BSD licence until 7.2).
package listpack

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// Space is a run of bytes whose gaps can be opened and closed.
type Space interface {
	// Bytes is all of it. It is stale after a Splice.
	Bytes() []byte
	// Splice replaces del bytes at offset at by ins undefined ones and returns all bytes.
	Splice(at, del, ins int) []byte
}

// Slice is a Space in ordinary Go memory.
type Slice struct{ B []byte }

// NewSlice is an empty listpack in Go memory.
func NewSlice() *Slice { return &Slice{append(make([]byte, 0, 64), empty...)} }

// Bytes implements Space.
func (s *Slice) Bytes() []byte { return s.B }

// Splice implements Space.
func (s *Slice) Splice(at, del, ins int) []byte {
	n := len(s.B)
	if ins > del {
		for cap(s.B) < n+ins-del {
			s.B = append(s.B[:cap(s.B)], 0)
		}
	}
	s.B = s.B[:n+ins-del]
	copy(s.B[at+ins:], s.B[:n][at+del:])
	return s.B
}

const (
	headerLen    = 6
	terminator   = 0xff
	countUnknown = 65535
	maxTotal     = 1 << 30 // what SafeToAdd allows, bytes
)

const empty = "\x07\x00\x00\x00\x00\x00\xff"

// Empty is a listpack without entries.
func Empty() []byte { return []byte(empty) }

// Size is the number of bytes of the listpack.
func Size(lp []byte) int { return int(binary.LittleEndian.Uint32(lp)) }

// Count is the number of entries. It is O(1) up to 65534 of them.
func Count(lp []byte) int {
	if n := int(binary.LittleEndian.Uint16(lp[4:])); n != countUnknown {
		return n
	}
	n := 0
	for p := First(lp); p != 0; p = Next(lp, p) {
		n++
	}
	return n
}

// SafeToAdd reports whether the listpack may grow by add bytes.
func SafeToAdd(lp []byte, add int) bool { return add <= maxTotal-len(lp) }

// First is the position of the first entry, 0 if there is none. Positions are offsets in bytes.
func First(lp []byte) int {
	if lp[headerLen] == terminator {
		return 0
	}
	return headerLen
}

// Last is the position of the last entry, 0 if there is none.
func Last(lp []byte) int { return Prev(lp, len(lp)-1) }

// Next is the position behind the entry at pos, 0 at the end.
func Next(lp []byte, pos int) int {
	pos = after(lp, pos)
	if lp[pos] == terminator {
		return 0
	}
	return pos
}

// After is the offset of the byte behind the entry at pos: of the next entry or of the terminator. It is a place to Insert at.
func After(lp []byte, pos int) int { return after(lp, pos) }

// End is the offset of the terminator, a place to Insert at.
func End(lp []byte) int { return len(lp) - 1 }

// Prev is the position before the entry (or terminator) at pos, 0 at the start.
func Prev(lp []byte, pos int) int {
	if pos <= headerLen {
		return 0
	}
	p := pos - 1
	c := lp[p]
	n, shift := int(c&127), 7
	for c&128 != 0 {
		p--
		c = lp[p]
		n |= int(c&127) << shift
		shift += 7
	}
	return p - n
}

// Seek is the position of the entry at the index, 0 if there is none; negative indices count from the end, -1 is the last.
func Seek(lp []byte, index int) int {
	n := int(binary.LittleEndian.Uint16(lp[4:]))
	if n == countUnknown {
		return seekUncounted(lp, index)
	}
	if index < 0 {
		index += n
	}
	if index < 0 || index >= n {
		return 0
	}
	if index > n/2 {
		return backward(lp, Last(lp), n-1-index)
	}
	return Skip(lp, First(lp), index)
}

func seekUncounted(lp []byte, index int) int {
	if index < 0 {
		return backward(lp, Last(lp), -1-index)
	}
	return Skip(lp, First(lp), index)
}

// Skip is the position n entries behind the one at pos, 0 beyond the end.
func Skip(lp []byte, pos, n int) int {
	for ; n > 0 && pos != 0; n-- {
		pos = Next(lp, pos)
	}
	return pos
}

func backward(lp []byte, pos, n int) int {
	for ; n > 0 && pos != 0; n-- {
		pos = Prev(lp, pos)
	}
	return pos
}

// after is the offset behind the entry at pos.
func after(lp []byte, pos int) int {
	switch c := lp[pos]; {
	case c < 0x80:
		return pos + 2
	case c < 0xc0:
		return pos + 2 + int(c&63)
	}
	n := longLen(lp, pos)
	return pos + n + backLen(n)
}

// longLen is the length of encoding and string of an entry that is neither a tiny integer nor a short string.
func longLen(lp []byte, pos int) int {
	switch c := lp[pos]; {
	case c < 0xe0:
		return 2
	case c < 0xf0:
		return 2 + (int(c&15)<<8 | int(lp[pos+1]))
	case c == 0xf0:
		return 5 + int(binary.LittleEndian.Uint32(lp[pos+1:]))
	case c == 0xf1:
		return 3
	case c == 0xf2:
		return 4
	case c == 0xf3:
		return 5
	default:
		return 9
	}
}

// backLen is the number of bytes of back for a length. The bounds are those of Redis, which leave each form's largest value to the next.
func backLen(n int) int {
	switch {
	case n <= 127:
		return 1
	case n < 16383:
		return 2
	case n < 2097151:
		return 3
	case n < 268435455:
		return 4
	default:
		return 5
	}
}

func putBack(b []byte, n int) {
	for i := backLen(n) - 1; i > 0; i-- {
		b[i] = byte(n)&127 | 128
		n >>= 7
	}
	b[0] = byte(n)
}

// Value is one element. B aliases the listpack.
type Value struct {
	B     []byte
	N     int64
	IsInt bool
}

// Str is an element that is a string of bytes.
func Str(b []byte) Value { return Value{B: b} }

// Int is an element that is an integer.
func Int(n int64) Value { return Value{N: n, IsInt: true} }

// Get is the element at pos.
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

// Short is the element at pos if it is a string of up to 63 bytes. For loops in which a call to Get would cost more than what is done with the
// element.
func Short(lp []byte, pos int) (b []byte, ok bool) {
	n := int(lp[pos]) - 0x80
	if n < 0 || n >= 64 {
		return nil, false
	}
	return lp[pos+1 : pos+1+n], true
}

// longInt is the integer of an entry that is neither a tiny integer nor a string.
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

// Len is the length of the element as text, in bytes.
func (v Value) Len() int {
	if v.IsInt {
		return IntLen(v.N)
	}
	return len(v.B)
}

// Equal reports whether the element is b as text.
func (v Value) Equal(b []byte) bool {
	if !v.IsInt {
		return string(v.B) == string(b)
	}
	n, ok := ParseInt(b)
	return ok && n == v.N
}

// Find is the position of the first entry from pos on that equals elem, looking at every (skip+1)th only; 0 if there is none.
func Find(lp []byte, pos int, elem []byte, skip int) int {
	if pos == 0 {
		return 0
	}
	n, isInt := ParseInt(elem)
	var last byte // compared before the rest: names tend to differ at the end
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
			if size == len(elem) && (size == 0 || lp[e] == last && string(lp[pos+1:e+1]) == string(elem)) {
				return pos
			}
			pos = e + 2
		case c == terminator:
			return 0
		default:
			if v := Get(lp, pos); v.IsInt && isInt && v.N == n || !v.IsInt && string(v.B) == string(elem) {
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

// errCorrupt is what Validate says; where the damage is would help nobody, the blob comes whole from a file or a client.
var errCorrupt = errors.New("listpack: corrupt")

// Validate checks bytes from outside completely: header, every entry and its way back, count and terminator.
func Validate(lp []byte) error {
	if len(lp) < headerLen+1 || Size(lp) != len(lp) {
		return errCorrupt
	}
	end := len(lp) - 1
	pos, count := headerLen, 0
	for lp[pos] != terminator {
		n := entryLen(lp[pos:end])
		if n == 0 || n+backLen(n) > end-pos {
			return errCorrupt
		}
		var back [5]byte
		putBack(back[:], n)
		w := backLen(n)
		if string(lp[pos+n:pos+n+w]) != string(back[:w]) {
			return errCorrupt
		}
		pos += n + w
		count++
	}
	if h := int(binary.LittleEndian.Uint16(lp[4:])); pos != end || h != countUnknown && h != count {
		return errCorrupt
	}
	return nil
}

// entryLen is the length of encoding and string of the entry that b begins with, 0 if its header is broken or cut off. The result may be more than b.
func entryLen(b []byte) int {
	if len(b) == 0 || b[0] > 0xf4 {
		return 0
	}
	switch c := b[0]; {
	case c < 0x80:
		return 1
	case c < 0xc0:
		return 1 + int(c&63)
	case c >= 0xe0 && c < 0xf0 && len(b) < 2, c == 0xf0 && len(b) < 5:
		return 0
	}
	return longLen(b, 0)
}
