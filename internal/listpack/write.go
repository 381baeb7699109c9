package listpack

import (
	"encoding/binary"
	"math"
)

// intForm returns the length of the encoding of an integer.
func intForm(n int64) int {
	switch {
	case n >= 0 && n <= 127:
		return 1
	case n >= -4096 && n <= 4095:
		return 2
	case n >= math.MinInt16 && n <= math.MaxInt16:
		return 3
	case n >= -1<<23 && n < 1<<23:
		return 4
	case n >= math.MinInt32 && n <= math.MaxInt32:
		return 5
	default:
		return 9
	}
}

// elem is an element to be written as an entry.
type elem struct {
	Value
	n int // length of encoding and string
}

func stringElem(b []byte) elem {
	if n, ok := ParseInt(b); ok {
		return intElem(n)
	}
	return elem{Value{B: b}, stringForm(len(b))}
}

func intElem(n int64) elem { return elem{Value{N: n, IsInt: true}, intForm(n)} }

// valueElem keeps the kind of the value. Its bytes spell no integer, or come from a listpack that
// had them as a string.
func valueElem(v Value) elem {
	if v.IsInt {
		return intElem(v.N)
	}
	return elem{v, stringForm(len(v.B))}
}

// stringForm returns the length of a string's encoding and bytes.
func stringForm(n int) int {
	switch {
	case n < 64:
		return 1 + n
	case n < 4096:
		return 2 + n
	default:
		return 5 + n
	}
}

func (e *elem) size() int { return e.n + backLen(e.n) }

// put writes the entry to the start of b.
func (e *elem) put(b []byte) {
	e.putBody(b)
	putBack(b[e.n:], e.n)
}

// putBody writes encoding and string.
func (e *elem) putBody(b []byte) {
	if e.IsInt {
		e.putInt(b)
	} else {
		var w int
		switch n := len(e.B); {
		case n < 64:
			b[0] = 0x80 | byte(n)
			w = 1
		case n < 4096:
			b[0], b[1] = 0xe0|byte(n>>8), byte(n)
			w = 2
		default:
			b[0] = 0xf0
			binary.LittleEndian.PutUint32(b[1:], uint32(n))
			w = 5
		}
		copy(b[w:], e.B)
	}
}

func (e *elem) putInt(b []byte) {
	switch v := uint64(e.N); e.n {
	case 1:
		b[0] = byte(v)
	case 2:
		b[0], b[1] = 0xc0|byte(v>>8)&31, byte(v)
	case 3:
		b[0] = 0xf1
		binary.LittleEndian.PutUint16(b[1:], uint16(v))
	case 4:
		b[0], b[1], b[2], b[3] = 0xf2, byte(v), byte(v>>8), byte(v>>16)
	case 5:
		b[0] = 0xf3
		binary.LittleEndian.PutUint32(b[1:], uint32(v))
	default:
		b[0] = 0xf4
		binary.LittleEndian.PutUint64(b[1:], v)
	}
}

// EncodedSize returns the number of bytes that b adds to a listpack.
func EncodedSize(b []byte) int {
	e := stringElem(b)
	return e.size()
}

// sealed updates the header after a change of add entries.
func sealed(lp []byte, add int) {
	binary.LittleEndian.PutUint32(lp, uint32(len(lp)))
	if n := int(binary.LittleEndian.Uint16(lp[4:])); n != countUnknown && add != 0 {
		binary.LittleEndian.PutUint16(lp[4:], uint16(min(n+add, countUnknown)))
	}
}

func insert(s Space, pos int, e elem) {
	lp := s.Splice(pos, 0, e.size())
	e.put(lp[pos:])
	sealed(lp, 1)
}

// Append adds b at the end. Neither here nor in the functions below may an element alias the space
// that it is added to.
func Append(s Space, b []byte) { insert(s, len(s.Bytes())-1, stringElem(b)) }

// AppendInt adds an integer at the end.
func AppendInt(s Space, n int64) { insert(s, len(s.Bytes())-1, intElem(n)) }

// AppendValue adds an element of another listpack at the end.
func AppendValue(s Space, v Value) { insert(s, len(s.Bytes())-1, valueElem(v)) }

// AppendPair adds two elements at the end for the price of one.
func AppendPair(s Space, a, b []byte) {
	InsertPair(s, len(s.Bytes())-1, a, b)
}

// Prepend adds b at the start.
func Prepend(s Space, b []byte) { insert(s, headerLen, stringElem(b)) }

// Insert adds b before the entry at pos. pos may also be an offset from After or End.
func Insert(s Space, pos int, b []byte) { insert(s, pos, stringElem(b)) }

// InsertInt is Insert for an integer.
func InsertInt(s Space, pos int, n int64) { insert(s, pos, intElem(n)) }

// InsertPair adds two elements before the entry at pos.
func InsertPair(s Space, pos int, a, b []byte) { insertTwo(s, pos, stringElem(a), stringElem(b)) }

// InsertPairInt is InsertPair with an integer second.
func InsertPairInt(s Space, pos int, a []byte, n int64) {
	insertTwo(s, pos, stringElem(a), intElem(n))
}

func insertTwo(s Space, pos int, a, b elem) {
	lp := s.Splice(pos, 0, a.size()+b.size())
	a.put(lp[pos:])
	b.put(lp[pos+a.size():])
	sealed(lp, 2)
}

// AppendRaw adds count encoded entries at the end, such as a part of another listpack.
func AppendRaw(s Space, entries []byte, count int) {
	InsertRaw(s, len(s.Bytes())-1, entries, count)
}

// InsertRaw is AppendRaw before the entry at pos.
func InsertRaw(s Space, pos int, entries []byte, count int) {
	lp := s.Splice(pos, 0, len(entries))
	copy(lp[pos:], entries)
	sealed(lp, count)
}

// Replace puts b in the place of the entry at pos.
func Replace(s Space, pos int, b []byte) { replace(s, pos, stringElem(b)) }

// ReplaceInt is Replace with an integer.
func ReplaceInt(s Space, pos int, n int64) { replace(s, pos, intElem(n)) }

func replace(s Space, pos int, e elem) {
	lp := s.Bytes()
	if old := after(lp, pos) - pos; old != e.size() {
		lp = s.Splice(pos, old, e.size())
	} else {
		// Splice also reports a change in place to a Space that wants to know of every change.
		lp = s.Splice(pos, 0, 0)
	}
	e.put(lp[pos:])
	sealed(lp, 0)
}

// Delete removes n entries from pos on, or as many as there are.
func Delete(s Space, pos, n int) {
	lp := s.Bytes()
	end, gone := pos, 0
	for gone < n && lp[end] != terminator {
		end = after(lp, end)
		gone++
	}
	sealed(s.Splice(pos, end-pos, 0), -gone)
}

// Truncate removes everything.
func Truncate(s Space) {
	lp := s.Splice(headerLen, len(s.Bytes())-1-headerLen, 0)
	lp[4], lp[5] = 0, 0
	sealed(lp, 0)
}
