package resp

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Doubles are sent with as few digits as read back to the same value, which is what Redis does
// since 7.2. It finds the digits with Grisu2 (Loitsch, "Printing floating-point numbers quickly and
// accurately with integers", 2010). This algorithm sometimes misses the shortest digits, or the
// closest of them: 1e23 is 99999999999999990000000. So that replies are the same bytes, the same
// algorithm with the same powers of ten is used here.
//
// How the digits are laid out depends on their number n and on the exponent e of the first digit:
//
//	whole, |e| < n+7               all digits and zeros    9223372036854776000
//	1e-6 or a short fraction       a point                 0.000015  1234.5
//	everything else                an exponent             1.5e-7  1.2345678912345679e+8

// AppendDouble appends f as Redis sends it: whole numbers up to 2^62 with all their digits, others
// with the fewest.
func AppendDouble(dst []byte, f float64) []byte {
	if f >= -1<<62 && f <= 1<<62 {
		if n := int64(f); float64(n) == f && (n != 0 || !math.Signbit(f)) {
			return strconv.AppendInt(dst, n, 10)
		}
	}
	return AppendShortest(dst, f)
}

// AppendShortest appends f with the fewest digits, as the digests of DEBUG have it. Infinities are
// inf and -inf. A NaN is nan whatever its sign bit, because no client reads "-nan".
func AppendShortest(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	}
	if math.Signbit(f) {
		dst = append(dst, '-')
		f = -f
	}
	switch {
	case f == 0:
		return append(dst, '0')
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	}
	var buf [24]byte
	digits, exp := shortestDigits(buf[:0], f)
	return layOut(dst, digits, exp)
}

// layOut appends the number digits × 10^exp. digits is not empty.
func layOut(dst, digits []byte, exp int) []byte {
	n := len(digits)
	first := exp + n - 1 // the exponent of the first digit
	order := max(first, -first)
	switch {
	case exp >= 0 && order < n+7:
		dst = append(dst, digits...)
		for range exp {
			dst = append(dst, '0')
		}
		return dst
	case exp < 0 && (exp > -7 || order < 4):
		whole := n + exp
		if whole > 0 {
			dst = append(append(dst, digits[:whole]...), '.')
			return append(dst, digits[whole:]...)
		}
		dst = append(dst, "0."...)
		for range -whole {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if n > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	if first < 0 {
		dst = append(dst, 'e', '-')
	} else {
		dst = append(dst, 'e', '+')
	}
	return strconv.AppendInt(dst, int64(order), 10)
}

// A scaled is the number frac × 2^exp.
type scaled struct {
	frac uint64
	exp  int
}

// normal returns the same number with the highest bit of frac set. frac is not 0.
func (x scaled) normal() scaled {
	shift := bits.LeadingZeros64(x.frac)
	return scaled{x.frac << shift, x.exp - shift}
}

// times returns the product, rounded to 64 bits.
func (x scaled) times(y scaled) scaled {
	hi, lo := bits.Mul64(x.frac, y.frac)
	return scaled{hi + lo>>63, x.exp + y.exp + 64}
}

// shortestDigits appends the digits of f, which is positive and finite. They mean the number
// digits × 10^exp.
func shortestDigits(dst []byte, f float64) (digits []byte, exp int) {
	const hidden = 1 << 52
	b := math.Float64bits(f)
	w := scaled{b & (hidden - 1), int(b>>52) - 1075}
	if w.exp == -1075 {
		w.exp++ // subnormal
	} else {
		w.frac |= hidden
	}
	// Everything between the middles to both neighbours reads back as f.
	high := scaled{w.frac<<1 + 1, w.exp - 1}.normal()
	low := scaled{w.frac<<1 - 1, w.exp - 1}
	if w.frac == hidden { // the neighbour below is half as far
		low = scaled{w.frac<<2 - 1, w.exp - 2}
	}
	low.frac <<= low.exp - high.exp
	low.exp = high.exp

	power, tens := powerFor(high.exp)
	w, high, low = w.normal().times(power), high.times(power), low.times(power)
	high.frac-- // the products may be wrong by one
	low.frac++
	digits, dropped := generate(dst, high, high.frac-w.frac, high.frac-low.frac)
	return digits, dropped - tens
}

// generate appends the fewest digits of a number in the interval that ends at high and is width
// long. The number to come close to lies below high by below. It returns how many digits before
// the point of high are not among them: less than 0 if the digits go beyond the point.
func generate(dst []byte, high scaled, below, width uint64) (digits []byte, dropped int) {
	shift := uint(-high.exp)
	one := uint64(1) << shift
	whole, part := high.frac>>shift, high.frac&(one-1)
	dropped = 10
	for unit := uint64(1e9); unit > 0; unit /= 10 {
		digit := whole / unit
		if digit != 0 || len(dst) > 0 {
			dst = append(dst, byte('0'+digit))
		}
		whole -= digit * unit
		dropped--
		if rest := whole<<shift + part; rest <= width {
			return closer(dst, below, width, rest, unit<<shift), dropped
		}
	}
	for {
		part *= 10
		width *= 10
		below *= 10
		digit := part >> shift
		if digit != 0 || len(dst) > 0 {
			dst = append(dst, byte('0'+digit))
		}
		part &= one - 1
		dropped--
		if part < width {
			return closer(dst, below, width, part, one), dropped
		}
	}
}

// closer lowers the last digit while that brings the number closer to the one that is meant and
// keeps it in the interval. The digits lie rest below its upper end; the last is worth unit.
func closer(digits []byte, below, width, rest, unit uint64) []byte {
	for rest < below && width-rest >= unit &&
		(rest+unit < below || below-rest > rest+unit-below) {
		digits[len(digits)-1]--
		rest += unit
	}
	return digits
}

const (
	firstPower = -348 // the smallest of tenPowers
	powerStep  = 8
)

// tenPowers are 10^-348, 10^-340 … 10^340, rounded to 64 bits.
var tenPowers = func() (powers [87]scaled) {
	ten := new(big.Float).SetPrec(2048).SetInt64(10)
	f := new(big.Float).SetPrec(2048).SetInt64(1)
	for range -firstPower {
		f.Quo(f, ten)
	}
	for i := range powers {
		m := new(big.Float).SetPrec(64).Set(f)
		exp := m.MantExp(m)
		frac, _ := m.SetMantExp(m, 64).Uint64()
		powers[i] = scaled{frac, exp - 64}
		for range powerStep {
			f.Mul(f, ten)
		}
	}
	return powers
}()

// powerFor returns a power of ten that brings a normal number with the given exponent between 2^4
// and 2^32, with its 64 bits an exponent of -60 to -32, and which power it is. Where several do, it
// has to be the one that Redis takes.
func powerFor(exp int) (power scaled, tens int) {
	guess := int(float64(-(exp + len(tenPowers))) * math.Log10(2))
	i := (guess - firstPower) / powerStep
	for {
		switch e := exp + tenPowers[i].exp + 64; {
		case e < -60:
			i++
		case e > -32:
			i--
		default:
			return tenPowers[i], firstPower + i*powerStep
		}
	}
}
