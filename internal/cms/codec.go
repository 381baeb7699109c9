package cms

import (
	"encoding/binary"
	"math"
)

// HeadSize is the length of a sketch's header in bytes: width, depth and the total, 8 bytes each,
// little endian.
const HeadSize = 24

// PutHead writes the header.
func (s *Sketch) PutHead(b []byte) {
	binary.LittleEndian.PutUint64(b, s.Width)
	binary.LittleEndian.PutUint64(b[8:], s.Depth)
	binary.LittleEndian.PutUint64(b[16:], s.Count)
}

// Open returns the sketch with that header.
func Open(head []byte, mem Memory) Sketch {
	return Sketch{binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:]),
		binary.LittleEndian.Uint64(head[16:]), mem}
}

// Valid reports whether the numbers can be those of a sketch with counters of that many bytes.
func (s *Sketch) Valid(counters int) bool {
	n, ok := Bytes(s.Width, s.Depth)
	return s.Width > 0 && s.Depth > 0 && ok && n == int64(counters) && s.Count <= math.MaxInt64
}
