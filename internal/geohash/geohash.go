// Package geohash converts places on Earth to sorted set scores and back, finds the scores that an
// area may have, and measures distances: all that the GEO commands compute, over numbers only.
//
// # Scores
//
// A coordinate is scaled to [0, 2^26] and cut to an integer. Longitudes range from -180 to 180,
// latitudes from -85.05112878 to 85.05112878, where a Mercator map ends. The bits of the two
// integers are interleaved, the longitude's first:
//
//	bit   51 50 49 48 …  1  0
//	      x  y  x  y  …  x  y      x: longitude, y: latitude, most significant bits first
//
// So scores are integers below 2^52 that a float64 holds exactly. All places in one cell of a 2^n
// by 2^n grid share their first 2n bits: they are a range of scores. Decoding returns the middle of
// the cell of 2^26 by 2^26, up to 0.3 m from what was encoded.
//
// The upper ends of the two intervals are valid. Longitude 180 is column 2^26, one bit more than
// there is room for, and gives scores from 2^53 on, which a float64 rounds to even numbers. The
// highest latitude gives scores from 2^52 on. Redis stores the same, but its searches do not reach
// those places from elsewhere.
//
// # Searching
//
// An Area has three parts in a search. Area.Spans returns the spans of scores that it may have,
// each with the rectangles of the grid that matter. Span.Next leaps over the rest (the BIGMIN of
// Tropf and Herzog, 1981). Area.Has decides for one place. The spans begin with those of Redis's
// search, in its order: the cell of the center and its neighbours, of a size that depends on the
// radius. What those do not cover follows: near the poles, across the ±180° meridian, and for large
// boxes.
//
// # Distances
//
// Distances are haversines on a sphere with Redis's radius. Printed and stored digits must be those
// that Redis computes with the C library, whose sines are correctly rounded in all but one of
// thousands. So Distance evaluates them in double-double arithmetic (accurate.go). Comparisons that
// are not close make do with less.
//
// Products are converted to float64 before they are added. That forbids a fused multiplication,
// because results must not depend on the processor.
package geohash

// The bounds of coordinates in degrees.
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

// unscale returns the lower edge of a column or row of the finest grid.
func unscale(i uint32, bound float64) float64 {
	return -bound + float64(float64(i)/side*(2*bound))
}

// middle returns the coordinate in the middle of a column or row.
func middle(i uint32, bound float64) float64 {
	return min(max((unscale(i, bound)+unscale(i+1, bound))/2, -bound), bound)
}

// Valid reports whether both coordinates, in degrees, are within bounds.
func Valid(lon, lat float64) bool {
	return -MaxLon <= lon && lon <= MaxLon && -MaxLat <= lat && lat <= MaxLat
}

// Encode returns the score of a valid place.
func Encode(lon, lat float64) uint64 {
	return interleave(scale(lon, MaxLon, steps), scale(lat, MaxLat, steps))
}

// Decode returns the place of a score. Every score has one: it holds two numbers of 32 bits, which
// are brought within bounds.
func Decode(score uint64) (lon, lat float64) {
	x, y := deinterleave(score)
	return middle(x, MaxLon), middle(y, MaxLat)
}

// Score converts a sorted set's score to an integer as x86 processors do. Go leaves the result open
// for negative and large numbers.
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

// interleave puts the bits of x, the longitude, into the odd places and those of y into the even
// ones.
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

// alphabet is geohash.org's: digits and letters without a, i, l and o.
const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// AppendText appends the standard geohash of a score's place: 11 characters, the last of which is
// 0, since there are bits for ten only. The standard divides latitudes from -90 to 90, so the place
// is encoded again.
func AppendText(dst []byte, score uint64) []byte {
	lon, lat := Decode(score)
	z := interleave(scale(lon, MaxLon, steps), scale(lat, 90, steps))
	for shift := 2*steps - 5; shift >= 0; shift -= 5 {
		dst = append(dst, alphabet[z>>shift&31])
	}
	return append(dst, alphabet[0])
}
