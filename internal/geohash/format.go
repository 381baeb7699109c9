package geohash

import (
	"math"
	"math/bits"
	"strconv"
)

// AppendMeters appends a distance with four decimals, like C's %.4f and strconv's 'f'. But strconv
// takes the slow path of big numbers there. Here the 53 bits of the number times ten thousand, in
// 128 bits, are shifted to an integer.
func AppendMeters(dst []byte, d float64) []byte {
	const decimals, pow = 4, 1e4
	if !(math.Abs(d) < (1<<63)/pow*1.99) {
		return strconv.AppendFloat(dst, d, 'f', decimals, 64)
	}
	b := math.Float64bits(d)
	exp, m := int(b>>52&0x7ff), b&(1<<52-1)
	if exp == 0 {
		exp = 1
	} else {
		m |= 1 << 52
	}
	if exp >= 1075 { // an integer that does not fit
		return strconv.AppendFloat(dst, d, 'f', decimals, 64)
	}
	hi, lo := bits.Mul64(m, pow)
	q := shiftRound(hi, lo, uint(1075-exp))
	if b>>63 != 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, q/pow, 10)
	dst = append(dst, '.')
	q %= pow
	for unit := uint64(pow / 10); unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+q/unit))
		q %= unit
	}
	return dst
}

// shiftRound returns hi:lo shifted right by n, rounded to nearest, ties to even. n is at least 1,
// and the result fits.
func shiftRound(hi, lo uint64, n uint) uint64 {
	// rest holds the bits shifted out, in 64 bits. The lowest is set if any below is.
	var q, rest, half uint64
	switch {
	case n >= 128:
		return 0 // the number has at most 110 bits
	case n > 64:
		q = hi >> (n - 64)
		rest = hi << (128 - n)
		if lo != 0 {
			rest |= 1
		}
	case n == 64:
		q, rest = hi, lo
	default:
		q = hi<<(64-n) | lo>>n
		rest = lo << (64 - n)
	}
	half = 1 << 63
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}
