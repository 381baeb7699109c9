// Package geohash turns places on Earth into sorted set scores and back, says which scores an area may have, and measures distances: everything
// that the GEO commands compute, over numbers only.
//
// # Scores
//
// A coordinate is scaled to [0, 2^26] (longitudes from -180 to 180, latitudes from -85.05112878 to 85.05112878, where a Mercator map ends) and
// cut to an integer; the bits of the two are interleaved, the longitude's first:
//
//	bit   51 50 49 48 …  1  0
//	      x  y  x  y  …  x  y      x: longitude, y: latitude, most significant bits first
//
// So scores are integers below 2^52 that a float64 holds exactly, and all places in one cell of a 2^n by 2^n grid share their first 2n bits: a
// range of scores. Decoding gives the middle of the cell of 2^26 by 2^26, up to 0.3 m beside what was encoded.
//
// The upper ends of the two intervals belong to them: longitude 180 is column 2^26, one bit more than there is room for, and gives scores from 2^53
// on (which a float64 rounds to even numbers), the highest latitude scores from 2^52 on. Redis stores the same, but its searches do not reach them
// from elsewhere.
//
// # Searching
//
// An Area gives the spans of scores that it may have (Area.Spans), each with the rectangles of the grid that are of interest, so that a walk
// can leap over the rest (Span.Next, the BIGMIN of Tropf and Herzog, 1981), and decides for a place whether it belongs (Area.Has). The spans
// begin with those of Redis's search, in its order: the cell of the center and its neighbours, of a size that depends on the radius. What
// those do not cover, near the poles, across the ±180° meridian and for large boxes, follows.
//
// # Distances
//
// Haversines on a sphere with Redis's radius. Printed and stored digits are to be those that Redis computes with the C library, whose sines are
// correctly rounded but for one in thousands; so Distance evaluates them in double-double arithmetic (accurate.go). Comparisons that are not
// close are decided with less.
//
// Products are converted to float64 before they are added, which forbids a fused multiplication: results must not depend on the processor.
package geohash

// The bounds of coordinates, in degrees.
const (
	MaxLon = 180.0
	MaxLat = 85.05112878
)

const (
	steps = 26 // bits of a coordinate
	side  = 1 << steps
)

// scale maps a coordinate in [-bound, bound] to [0, 2^step].
func scale(v, bound float64, step uint) uint32 {
	return uint32((v + bound) / (2 * bound) * float64(uint64(1)<<step))
}

// unscale is the lower edge of a column or row of the finest grid.
func unscale(i uint32, bound float64) float64 {
	return -bound + float64(float64(i)/side*(2*bound))
}

// middle is the coordinate in the middle of a column or row.
func middle(i uint32, bound float64) float64 {
	return min(max((unscale(i, bound)+unscale(i+1, bound))/2, -bound), bound)
}

// Valid reports whether both coordinates, in degrees, are within bounds.
func Valid(lon, lat float64) bool {
	return -MaxLon <= lon && lon <= MaxLon && -MaxLat <= lat && lat <= MaxLat
}

// Encode is the score of a valid place.
func Encode(lon, lat float64) uint64 {
	return interleave(scale(lon, MaxLon, steps), scale(lat, MaxLat, steps))
}

// Decode is the place that a score stands for. Any score stands for one: of 32 bits each, brought within bounds.
func Decode(score uint64) (lon, lat float64) {
	x, y := deinterleave(score)
	return middle(x, MaxLon), middle(y, MaxLat)
}

// Score is the integer that a sorted set's score stands for, a conversion that Go leaves open for negative and large ones: as x86 processors do it.
func Score(f float64) uint64 {
	const half = 1 << 63
	switch {
	case f >= half && f-half < half:
		return uint64(int64(f-half)) + half
	case f >= half:
		return 0
	case f >= -half:
		return uint64(int64(f))
	}
	return half
}

// interleave puts the bits of x, the longitude, into the odd places and those of y into the even ones.
func interleave(x, y uint32) uint64 { return spread(x)<<1 | spread(y) }

func deinterleave(z uint64) (x, y uint32) { return squeeze(z >> 1), squeeze(z) }

// spread moves bit i to bit 2i.
func spread(v uint32) uint64 {
	z := uint64(v)
	z = (z | z<<16) & 0x0000ffff0000ffff
	z = (z | z<<8) & 0x00ff00ff00ff00ff
	z = (z | z<<4) & 0x0f0f0f0f0f0f0f0f
	z = (z | z<<2) & 0x3333333333333333
	return (z | z<<1) & 0x5555555555555555
}

// squeeze moves bit 2i to bit i and drops the others.
func squeeze(z uint64) uint32 {
	z &= 0x5555555555555555
	z = (z | z>>1) & 0x3333333333333333
	z = (z | z>>2) & 0x0f0f0f0f0f0f0f0f
	z = (z | z>>4) & 0x00ff00ff00ff00ff
	z = (z | z>>8) & 0x0000ffff0000ffff
	return uint32(z | z>>16)
}

// alphabet is that of geohash.org: digits and letters without a, i, l and o.
const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// AppendText appends the standard geohash of a score's place: 11 characters, the last of which is 0, since there are bits for ten only. The standard
// divides latitudes from -90 to 90, so the place is encoded again.
func AppendText(dst []byte, score uint64) []byte {
	lon, lat := Decode(score)
	z := interleave(scale(lon, MaxLon, steps), scale(lat, 90, steps))
	for shift := 2*steps - 5; shift >= 0; shift -= 5 {
		dst = append(dst, alphabet[z>>shift&31])
	}
	return append(dst, alphabet[0])
}
