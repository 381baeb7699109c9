package object

import (
	"bytes"
	"math"
)

// ParseWeight reads a number of SORT as strtod does, which is less strict than ParseScore: white
// space may precede it, a NUL ends it, the empty string is 0. It refuses nan and what is too large
// or too small for a float64 of full precision.
func ParseWeight(b []byte) (float64, bool) {
	if n, ok := smallInt(b); ok {
		return n, true
	}
	b, _, _ = bytes.Cut(b, []byte{0})
	f, n, lost := scanFloat(b)
	if n != len(b) || f != f || lost || f != 0 && math.Abs(f) < 0x1p-1022 {
		return 0, false
	}
	return f, true
}
