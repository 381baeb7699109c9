package object

import (
	"math/big"
	"strings"
)

// LongDouble is a number as INCRBYFLOAT computes with it: x86's 80-bit extended precision with a
// 64-bit significand. Redis's long double is that where nearly all of its servers run, and the last
// digits of replies show it. The zero value is 0.
//
// It differs from the hardware format in two ways that no reply can show: there is no -0, and there
// are no subnormal numbers (they print as 0 with the 17 decimals that replies have).
type LongDouble struct {
	f     *big.Float // nil: the number is small.
	small smallFloat
}

const (
	longDoublePrec   = 64      // bits of the significand
	longDoubleMaxExp = 16384   // f < 2^16384
	longDoubleMinExp = -16446  // up to 2^-16446, half of the smallest number, texts mean 0
	longDoubleText   = 5 << 10 // bytes; longer texts are no number (Redis's buffer)
	longDoubleDigits = 17      // decimals of replies
)

func (d LongDouble) float() *big.Float {
	if d.f == nil {
		return d.small.float()
	}
	return d.f
}

// inRange reports whether f is finite in the format.
func inRange(f *big.Float) bool {
	return !f.IsInf() && f.MantExp(nil) <= longDoubleMaxExp
}

// MaxLongDouble returns the largest finite number.
func MaxLongDouble() LongDouble {
	m := new(big.Float).SetPrec(longDoublePrec).SetUint64(1<<64 - 1)
	return LongDouble{f: m.SetMantExp(m, longDoubleMaxExp-64)}
}

// IsInf reports whether the number is an infinity ("inf" is a valid text).
func (d LongDouble) IsInf() bool { return d.f != nil && d.f.IsInf() }

// Neg returns the number with the other sign.
func (d LongDouble) Neg() LongDouble {
	if d.f == nil {
		d.small.neg = !d.small.neg
		return d
	}
	return LongDouble{f: new(big.Float).Neg(d.f)}
}

// Cmp compares as big.Float does.
func (d LongDouble) Cmp(o LongDouble) int { return d.float().Cmp(o.float()) }

// Float64 returns the nearest double: an infinity for what is too large, 0 for what is too small.
func (d LongDouble) Float64() float64 {
	f, _ := d.float().Float64()
	return f
}

// Add returns the rounded sum, and false when it is not finite. The result is an infinity then, or
// zero for the sum of opposite infinities.
func (d LongDouble) Add(o LongDouble) (LongDouble, bool) {
	if d.f == nil && o.f == nil {
		return LongDouble{small: d.small.add(o.small)}, true
	}
	a, b := d.float(), o.float()
	sum := new(big.Float).SetPrec(longDoublePrec)
	switch {
	case a.IsInf() && b.IsInf() && a.Signbit() != b.Signbit():
		return LongDouble{f: sum}, false
	default:
		sum.Add(a, b)
	}
	if !inRange(sum) {
		return LongDouble{f: sum.SetInf(sum.Signbit())}, false
	}
	return LongDouble{f: sum}, true
}

// Append appends the number with at most 17 decimals and no trailing zeros, never with an exponent.
func (d LongDouble) Append(dst []byte) []byte {
	if d.f == nil && d.small.plain() {
		return d.small.append(dst)
	}
	n := len(dst)
	dst = d.float().Append(dst, 'f', longDoubleDigits)
	end := len(dst)
	for end > n && dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	if dst = dst[:end]; string(dst[n:]) == "-0" {
		dst = append(dst[:n], '0')
	}
	return dst
}

// ParseLongDouble reads what C's strtold reads, as far as Redis accepts it: the whole of b, no
// spaces, no NaN, decimal or hexadecimal, "inf" and "infinity". It refuses what overflows and what
// is too small to be anything but zero.
func ParseLongDouble(b []byte) (LongDouble, bool) {
	if len(b) == 0 || len(b) >= longDoubleText {
		return LongDouble{}, false
	}
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	if small, ok := parseSmall(b); ok {
		small.neg = neg
		return LongDouble{small: small}, true
	}
	return parseLong(b, neg)
}

// parseLong is ParseLongDouble for the text after the sign, whatever it is.
func parseLong(b []byte, neg bool) (LongDouble, bool) {
	if strings.EqualFold(string(b), "inf") || strings.EqualFold(string(b), "infinity") {
		return LongDouble{f: new(big.Float).SetInf(neg)}, true
	}
	base := uint64(10)
	if len(b) > 2 && b[0] == '0' && b[1]|32 == 'x' {
		base, b = 16, b[2:]
	}
	digits, exp, ok := scanNumber(b, base)
	if !ok {
		return LongDouble{}, false
	}
	f, ok := scale(digits, exp, base)
	if ok && neg {
		f.Neg(f)
	}
	return LongDouble{f: f}, ok
}

// scanNumber reads digits with an optional point and exponent. The number is digits × base^exp, or
// × 2^exp for base 16.
func scanNumber(b []byte, base uint64) (digits []byte, exp int64, ok bool) {
	digits = make([]byte, 0, 32)
	seen, point := false, false
	step, mark := int64(1), byte('e')
	if base == 16 {
		step, mark = 4, 'p'
	}
	i := 0
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c >= '0' && c <= '9' || base == 16 && c|32 >= 'a' && c|32 <= 'f':
		default:
			goto end
		}
		seen = true
		if point {
			exp -= step
		}
		if c != '0' || len(digits) > 0 {
			digits = append(digits, c)
		}
	}
end:
	if !seen {
		return nil, 0, false
	}
	if i == len(b) {
		return digits, exp, true
	}
	if b[i]|32 != mark {
		return nil, 0, false
	}
	e, ok := scanExponent(b[i+1:])
	return digits, exp + e, ok
}

// scanExponent reads a signed decimal, saturating far outside of what matters.
func scanExponent(b []byte) (int64, bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	e := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = min(e*10+int64(c-'0'), 1<<30)
	}
	if neg {
		e = -e
	}
	return e, true
}

// scale returns digits × 10^exp or × 2^exp, rounded once, and false when it overflows or vanishes.
func scale(digits []byte, exp int64, base uint64) (*big.Float, bool) {
	f := new(big.Float).SetPrec(longDoublePrec)
	if len(digits) == 0 {
		return f, true
	}
	mant, _ := new(big.Int).SetString(string(digits), int(base))
	if base == 16 {
		if exp > 1<<20 || exp < -1<<20 {
			return f, false
		}
		f.SetMantExp(f.SetInt(mant), int(exp))
	} else {
		// Far beyond the range no digit counts, and powers of ten must stay small enough to
		// compute.
		if order := exp + int64(len(digits)); order > 5000 || order < -5000 {
			return f, false
		}
		if exp >= 0 {
			f.SetInt(mant.Mul(mant, pow10(exp)))
		} else {
			n := new(big.Float).SetPrec(uint(max(mant.BitLen(), 1))).SetInt(mant)
			p := pow10(-exp)
			f.Quo(n, new(big.Float).SetPrec(uint(p.BitLen())).SetInt(p))
		}
	}
	return f, inRange(f) && !vanishes(f)
}

// vanishes reports whether a number that is not 0 is too small for the format.
func vanishes(f *big.Float) bool {
	m := new(big.Float)
	e := f.MantExp(m) // f = m × 2^e, 0.5 <= m < 1
	return f.Sign() != 0 &&
		(e <= longDoubleMinExp || e == longDoubleMinExp+1 && m.Abs(m).Cmp(big.NewFloat(0.5)) == 0)
}

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
