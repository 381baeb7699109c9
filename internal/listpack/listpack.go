// Package listpack implements Redis's listpack: a list of strings and integers packed in one run of
// bytes. Small sets, sorted sets and lists are made of it, in memory and, unchanged, in RDB files
// and DUMP payloads. Small hashes are made of it in files; in memory they are pairs (pairs.go).
//
// # Layout
//
//	 0        4       6                                           total-1
//	+--------+-------+---------------------+-----+---------------+------+
//	| total  | count | entry               | ... | entry         | 0xFF |
//	+--------+-------+---------------------+-----+---------------+------+
//
//	total   bytes of everything, 32-bit little endian
//	count   entries, 16-bit little endian; 65535: unknown, they must be walked
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
// back is the length of encoding and string bytes, 7 bits a byte, high bits first. It is read from
// its end leftwards: every byte except the leftmost has its top bit set. So a walk can go both
// ways.
//
// For example ["a", "1024"] is 0D 00 00 00 · 02 00 · 81 61 02 · C4 00 02 · FF.
//
// # Invariants
//
// An element that spells a canonical 64-bit integer is stored as one, in the shortest form. Blobs
// from outside may hold other forms: Validate accepts whatever can be walked safely, and everything
// here reads it. All functions except Validate need a validated listpack.
//
// # Complexity
//
// Head and tail are O(1), everything else walks. A change moves the bytes after it and may move the
// block: positions after it and slices taken before are invalid then. Callers that ask SafeToAdd
// limit the total to 1 GiB.
//
// The format is described in Redis's listpack.c (BSD licence until 7.2).
package listpack

import "encoding/binary"

// Space is a run of bytes whose gaps can be opened and closed.
type Space interface {
	// Bytes returns all bytes. They are invalid after a Splice.
	Bytes() []byte
	// Splice replaces del bytes at offset at by ins undefined ones and returns all bytes.
	Splice(at, del, ins int) []byte
}

// Slice is a Space in ordinary Go memory.
type Slice struct{ B []byte }

// NewSlice returns an empty listpack in Go memory.
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
	maxTotal     = 1 << 30 // bytes, for SafeToAdd
)

const empty = "\x07\x00\x00\x00\x00\x00\xff"

// Empty returns a listpack without entries.
func Empty() []byte { return []byte(empty) }

// Size returns the number of bytes of the listpack.
func Size(lp []byte) int { return int(binary.LittleEndian.Uint32(lp)) }

// Count returns the number of entries. It is O(1) up to 65534 of them.
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

// First returns the position of the first entry, or 0. Positions are offsets in bytes.
func First(lp []byte) int {
	if lp[headerLen] == terminator {
		return 0
	}
	return headerLen
}

// Last returns the position of the last entry, or 0.
func Last(lp []byte) int { return Prev(lp, len(lp)-1) }

// Next returns the position of the entry after the one at pos, or 0 at the end.
func Next(lp []byte, pos int) int {
	pos = after(lp, pos)
	if lp[pos] == terminator {
		return 0
	}
	return pos
}

// After returns the offset of the byte after the entry at pos, which begins the next entry or the
// terminator. Insert accepts it.
func After(lp []byte, pos int) int { return after(lp, pos) }

// End returns the offset of the terminator. Insert accepts it.
func End(lp []byte) int { return len(lp) - 1 }

// Prev returns the position of the entry before the one (or the terminator) at pos, or 0 at the
// start.
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

// Seek returns the position of the entry at the index, or 0. Negative indices count from the end:
// -1 is the last.
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

// Skip returns the position n entries after the one at pos, or 0 beyond the end.
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

// after returns the offset after the entry at pos.
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

// longLen returns the length of encoding and string of an entry that is neither a tiny integer nor
// a short string.
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

// backLen returns the number of bytes of back for a length. The bounds are Redis's, which leave
// each form's largest value to the next form.
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
