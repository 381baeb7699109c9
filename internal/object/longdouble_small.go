package object

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"
)

// smallFloat is a LongDouble that a short text means, as most do: up to 38 digits, up to 27 of them
// decimals. It is mant × 2^exp. Either mant has its highest bit, or the number is 0. The same
// numbers come out as from big.Float, without its memory: every step is exact in 128 or 192 bits
// and rounded once, half to even.
type smallFloat struct {
	mant uint64
	exp  int32
	neg  bool
}

const (
	smallDigits   = 38 // 10^38 < 2^127
	smallDecimals = 27 // 5^27 < 2^63
)

// fives are the powers of 5.
var fives = func() (p [smallDecimals + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()

// float returns the number as a new big.Float.
func (s smallFloat) float() *big.Float {
	f := new(big.Float).SetPrec(longDoublePrec).SetUint64(s.mant)
	if s.neg {
		f.Neg(f)
	}
	return f.SetMantExp(f, int(s.exp))
}

// parseSmall reads digits with an optional point. It reports false for all other texts and for
// those that are too long.
func parseSmall(b []byte) (s smallFloat, ok bool) {
	hi, lo, digits, decimals, point := uint64(0), uint64(0), 0, 0, false
	for i, c := range b {
		if c == '.' && !point && len(b) > 1 {
			point = true
			decimals = len(b) - i - 1
			continue
		}
		if c -= '0'; c > 9 {
			return s, false
		}
		if hi|lo != 0 || c != 0 {
			digits++
		}
		if digits > smallDigits {
			return s, false
		}
		over, carry := uint64(0), uint64(0)
		over, lo = bits.Mul64(lo, 10)
		lo, carry = bits.Add64(lo, uint64(c), 0)
		hi = 10*hi + over + carry
	}
	if decimals > smallDecimals || len(b) == 0 {
		return s, false
	}
	return divided(hi, lo, decimals), true
}

// divided returns the number of 128 bits / 10^decimals. It is less than 2^127.
func divided(hi, lo uint64, decimals int) smallFloat {
	if hi|lo == 0 {
		return smallFloat{}
	}
	d := fives[decimals]
	down := bits.LeadingZeros64(d)
	d <<= down
	exp := down - decimals
	if hi == 0 {
		hi, lo = lo, 0
		exp -= 64
	}
	up := bits.LeadingZeros64(hi)
	hi, lo = hi<<up|lo>>(64-up), lo<<up
	exp -= up
	if hi >= d { // nothing is lost: the last bit is 0
		hi, lo = hi>>1, hi<<63|lo>>1
		exp++
	}
	q, r := bits.Div64(hi, lo, d)
	s := smallFloat{mant: q, exp: int32(exp)}
	order := 1 // r > d/2
	if r < d-r {
		order = -1
	} else if r == d-r {
		order = 0
	}
	return s.round(order)
}

// round rounds a number that is cut off. order says how what was cut off compares with half of the
// last bit.
func (s smallFloat) round(order int) smallFloat {
	if order > 0 || order == 0 && s.mant&1 != 0 {
		if s.mant++; s.mant == 0 {
			s.mant = 1 << 63
			s.exp++
		}
	}
	return s
}

// add returns the rounded sum.
func (s smallFloat) add(o smallFloat) smallFloat {
	if s.mant == 0 || o.mant != 0 && (o.exp > s.exp || o.exp == s.exp && o.mant > s.mant) {
		s, o = o, s
	}
	if o.mant == 0 {
		return s
	}
	// s is the larger one. Both get 64 bits more; what o has beyond them leaves a 1 in its last.
	var hi, lo uint64
	switch n := uint(s.exp - o.exp); {
	case n <= 64:
		hi, lo = o.mant>>n, o.mant<<(64-n)
	case n < 128:
		lo = o.mant >> (n - 64)
		if lo<<(n-64) != o.mant {
			lo |= 1
		}
	default:
		lo = 1
	}
	if s.neg == o.neg {
		var carry uint64
		if hi, carry = bits.Add64(hi, s.mant, 0); carry != 0 {
			hi, lo = hi>>1|1<<63, hi<<63|lo>>1|lo&1
			s.exp++
		}
	} else {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(s.mant, hi, borrow)
		if hi|lo == 0 {
			return smallFloat{}
		}
		if hi == 0 {
			hi, lo = lo, 0
			s.exp -= 64
		}
		n := bits.LeadingZeros64(hi)
		hi, lo = hi<<n|lo>>(64-n), lo<<n
		s.exp -= int32(n)
	}
	s.mant = hi
	return s.round(cmp.Compare(lo, 1<<63))
}

// plain reports whether append can write the number.
func (s smallFloat) plain() bool { return s.mant == 0 || s.exp <= 0 && s.exp >= -128 }

// append does what LongDouble.Append does.
func (s smallFloat) append(dst []byte) []byte {
	const one = 1e17 // one of the last decimal is 1/one
	var whole, hi, lo uint64
	switch n := uint(-s.exp); { // hi and lo are the 128 bits behind the point
	case s.mant == 0:
	case n < 64:
		whole, hi = s.mant>>n, s.mant<<(64-n)
	default:
		hi, lo = s.mant>>(n-64), s.mant<<(128-n)
	}
	carried, low := bits.Mul64(lo, one)
	part, mid := bits.Mul64(hi, one)
	mid, carry := bits.Add64(mid, carried, 0)
	part += carry
	if mid > 1<<63 || mid == 1<<63 && (low != 0 || part&1 != 0) {
		if part++; part == one {
			whole, part = whole+1, 0
		}
	}
	if s.neg && whole|part != 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, whole, 10)
	if part == 0 {
		return dst
	}
	n := len(dst)
	dst = strconv.AppendUint(dst, part+one, 10) // a 1 before the 17 decimals
	dst[n] = '.'
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
