package number

import "math"

// Go's math.Pow multiplies in float64, and its errors show in the fourteen digits that Lua prints.
// C's pow is right to the last bit nearly always. Pow therefore computes with pairs of float64,
// which have some 100 bits: x^y is 2^(y*log2 x), or for small whole y a product.

// pair is the sum of two numbers. The second one is small: adding it to the first changes nothing.
type pair struct{ hi, lo float64 }

// wholePowers is the largest exponent for which Pow multiplies.
const wholePowers = 64

// Pow returns x ^ y as C's pow does.
func Pow(x, y float64) float64 {
	switch a := math.Abs(x); {
	case x != x && y != 0 || y != y && x != 1:
		if math.Signbit(x) && math.Abs(math.Mod(y, 2)) == 1 {
			return -x // C's pow flips this sign even for a NaN
		}
		return x + y
	case y == 2:
		return x * x
	case y == 1:
		return x
	case y == 0.5 && x > 0:
		return math.Sqrt(x)
	case x < 0 && a <= math.MaxFloat64 && math.Trunc(y) != y:
		return (x - x) / (x - x) // the sign of this NaN is the processor's
	case a == 0 || a == 1 || a > math.MaxFloat64 || y == 0 ||
		math.Abs(y) > 1<<63:
		return math.Pow(x, y)
	case math.Trunc(y) == y && math.Abs(y) <= wholePowers:
		return wholePow(x, int(y))
	case x > 0:
		return positivePow(x, y)
	case math.Mod(y, 2) == 0:
		return positivePow(a, y)
	default:
		return -positivePow(a, y)
	}
}

// wholePow multiplies. The power of two in x stays apart, so that nothing overflows on the way.
func wholePow(x float64, n int) float64 {
	m, e := math.Frexp(x)
	base, result := pair{m, 0}, pair{1, 0}
	for i := max(n, -n); i > 0; i >>= 1 {
		if i&1 != 0 {
			result = result.times(base)
		}
		base = base.times(base)
	}
	if n < 0 {
		hi := 1 / result.hi
		lo := (math.FMA(-hi, result.hi, 1) - hi*result.lo) / result.hi
		result = sum(hi, lo)
	}
	return result.scaled(e * n)
}

// positivePow returns x ^ y for a positive finite x.
func positivePow(x, y float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	t := logarithm(m).plus(ln2.times(pair{float64(e), 0})).times(pair{y, 0})
	switch {
	case t.hi > 710:
		return math.Inf(1)
	case t.hi < -750:
		return 0
	}
	k := math.Round(t.hi / ln2.hi)
	p := expMinus1(t.plus(ln2.times(pair{-k, 0})))
	return pair{1, 0}.plus(p).scaled(int(k))
}

// ln2 is the natural logarithm of 2.
var ln2 = pair{math.Ln2, 2.319046813846299558e-17}

// logarithm returns the natural logarithm of a number near 1: that of Go, corrected by a step of
// Newton's method.
func logarithm(m float64) pair {
	l := math.Log(m)
	d := expMinus1(pair{-l, 0}).times(pair{m, 0}).plus(pair{m - 1, 0})
	return pair{l, 0}.plus(pair{d.hi, d.lo - d.hi*d.hi/2})
}

// expMinus1 returns e^r - 1 for |r| < 1: Taylor's series for a 256th of r, squared eight times.
func expMinus1(r pair) pair {
	const parts = 8
	r = pair{r.hi / (1 << parts), r.lo / (1 << parts)}
	x := r.hi
	tail := 1. / 24 * (1 + x/5*(1+x/6*(1+x/7*(1+x/8))))
	square := r.times(r)
	p := pair{1. / 6, 1. / 6 * 0x1p-54}.plus(pair{x * tail, 0}).times(r).plus(pair{0.5, 0})
	p = p.times(square).plus(r)
	for range parts {
		p = pair{2 * p.hi, 2 * p.lo}.plus(p.times(p))
	}
	return p
}

// sum returns a + b without an error, for |a| >= |b|.
func sum(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

func (a pair) plus(b pair) pair {
	s := a.hi + b.hi
	t := s - a.hi
	return sum(s, (a.hi-(s-t))+(b.hi-t)+(a.lo+b.lo))
}

func (a pair) times(b pair) pair {
	p := float64(a.hi * b.hi) // not fused with an addition
	return sum(p, math.FMA(a.hi, b.hi, -p)+(a.hi*b.lo+a.lo*b.hi))
}

// scaled returns the number times 2^e.
func (a pair) scaled(e int) float64 { return math.Ldexp(a.hi+a.lo, e) }
