package stream

import (
	"bytes"
	"math"
)

// shapes is where the shapes of a block are, as far as they have numbers: what a walk from the
// start of the block has met, or what an entry at its end may use.
type shapes struct {
	n  uint8
	at [maxShapes]uint16
}

// room reports whether another shape can have a number, which is defined at about that offset. So
// many numbers must be left.
func (s *shapes) room(at, left int) bool {
	return int(s.n) < maxShapes-left && at+maxForm <= math.MaxUint16
}

// note takes note of a shape that is defined at an offset and has a number.
func (s *shapes) note(at int) {
	s.at[s.n] = uint16(at)
	s.n++
}

// met takes note of the shape of an entry and returns where it is.
func (s *shapes) met(c *scan) (at int) {
	if c.head&shapeBits == newShape {
		s.note(c.body)
	}
	return s.of(c)
}

// of returns where the shape of an entry is, of which met took note.
func (s *shapes) of(c *scan) (at int) {
	if h := c.head & shapeBits; h < ownShape {
		return int(s.at[h])
	}
	return c.body
}

// match returns the number of the shape with these names, names and values in turn. The search
// begins with the shape numbered try.
func (s *shapes) match(b []byte, fields [][]byte, try uint8) (number uint8, ok bool) {
	if try < s.n && sameShape(b[s.at[try]:], fields) {
		return try, true
	}
	for i := range s.n {
		if i != try && sameShape(b[s.at[i]:], fields) {
			return i, true
		}
	}
	return 0, false
}

// sameShape reports whether b begins with the shape of the names.
func sameShape(b []byte, fields [][]byte) bool {
	n, at := getUvarint(b, 0)
	if n != uint64(len(fields)/2) {
		return false
	}
	for i := 0; i < len(fields); i += 2 {
		name := fields[i]
		n, at = getUvarint(b, at)
		if n != uint64(len(name)) || string(b[at:at+len(name)]) != string(name) {
			return false
		}
		at += len(name)
	}
	return true
}

// matchRaw is match for a shape as it is stored.
func (s *shapes) matchRaw(b, shape []byte, try uint8) (number uint8, ok bool) {
	if try < s.n && bytes.HasPrefix(b[s.at[try]:], shape) {
		return try, true
	}
	for i := range s.n {
		if i != try && bytes.HasPrefix(b[s.at[i]:], shape) {
			return i, true
		}
	}
	return 0, false
}

// shapeEnd returns the offset behind the shape at offset at.
func shapeEnd(b []byte, at int) int {
	n, at := getUvarint(b, at)
	for range n {
		var size uint64
		size, at = getUvarint(b, at)
		at += int(size)
	}
	return at
}

// shapeLen returns the length of the shape of the names.
func shapeLen(fields [][]byte) int {
	n := uvarintLen(uint64(len(fields) / 2))
	for i := 0; i < len(fields); i += 2 {
		n += uvarintLen(uint64(len(fields[i]))) + len(fields[i])
	}
	return n
}

// putShape writes the shape of the names to the start of b and returns its length.
func putShape(b []byte, fields [][]byte) int {
	at := putUvarint(b, uint64(len(fields)/2))
	for i := 0; i < len(fields); i += 2 {
		at += putUvarint(b[at:], uint64(len(fields[i])))
		at += copy(b[at:], fields[i])
	}
	return at
}
