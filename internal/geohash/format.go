package geohash

import (
	"math"
	"math/bits"
	"strconv"
)

// AppendMeters appends a distance with four decimals, like C's %.4f.
func AppendMeters(dst []byte, d float64) []byte { return appendFixed(dst, d, 4) }

// AppendCoord appends a coordinate like C's %.17f, without trailing zeros.
func AppendCoord(dst []byte, deg float64) []byte {
	dst = appendFixed(dst, deg, 17)
	n := len(dst)
	for dst[n-1] == '0' {
		n--
	}
	if dst[n-1] == '.' {
		n--
	}
	return dst[:n]
}

var pow10 = [...]uint64{1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
	1e15, 1e16, 1e17}

// appendFixed formats like strconv's 'f' with that many decimals, but strconv takes the slow path
// of big numbers there. Here the 53 bits of the number times a power of ten, in 128 bits, are
// shifted to an integer.
func appendFixed(dst []byte, f float64, decimals int) []byte {
	pow := pow10[decimals]
	if !(math.Abs(f) < (1<<63)/float64(pow)*1.99) {
		return strconv.AppendFloat(dst, f, 'f', decimals, 64)
	}
	b := math.Float64bits(f)
	exp, m := int(b>>52&0x7ff), b&(1<<52-1)
	if exp == 0 {
		exp = 1
	} else {
		m |= 1 << 52
	}
	if exp >= 1075 { // an integer that does not fit
		return strconv.AppendFloat(dst, f, 'f', decimals, 64)
	}
	hi, lo := bits.Mul64(m, pow)
	q := shiftRound(hi, lo, uint(1075-exp))
	if b>>63 != 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, q/pow, 10)
	dst = append(dst, '.')
	for q %= pow; decimals > 0; decimals-- {
		pow /= 10
		dst = append(dst, byte('0'+q/pow))
		q %= pow
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
