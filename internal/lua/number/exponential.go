package number

import "math"

// Exp returns e^x as C's exp does.
func Exp(x float64) float64 {
	if !(math.Abs(x) < 700) {
		return math.Exp(x)
	}
	k := math.Round(x / ln2.hi)
	p := expMinus1(pair{x, 0}.plus(ln2.times(pair{-k, 0})))
	return pair{1, 0}.plus(p).scaled(int(k))
}

// Log returns the natural logarithm of x as C's log does.
func Log(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return math.Log(x)
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	l := ln2.times(pair{float64(e), 0}).plus(logarithm(m))
	return l.hi + l.lo
}

// Log10 returns the decimal logarithm of x. C computes it from the natural one, in parts.
func Log10(x float64) float64 {
	const (
		perE  = 0.43429448190325182     // log10 of e
		high2 = 0.301029995663611771306 // log10 of 2
		low2  = 3.69423907715893078616e-13
	)
	if !(x > 0) || x > math.MaxFloat64 {
		return math.Log10(x)
	}
	m, e := math.Frexp(x)
	if m, e = 2*m, e-1; e < 0 {
		m, e = m/2, e+1
	}
	k := float64(e)
	return float64(k*high2) + (float64(k*low2) + float64(perE*Log(m)))
}

// Sinh returns the hyperbolic sine of x as C's sinh does.
func Sinh(x float64) float64 {
	h, a := math.Copysign(0.5, x), math.Abs(x)
	switch t := math.Expm1(a); {
	case a < 0x1p-28 || !(a < 700):
		return math.Sinh(x)
	case a < 1:
		return h * (2*t - float64(t*t)/(t+1))
	case a < 22:
		return h * (t + t/(t+1))
	}
	return h * Exp(a)
}

// Cosh returns the hyperbolic cosine of x as C's cosh does.
func Cosh(x float64) float64 {
	switch a := math.Abs(x); {
	case !(a < 700):
		return math.Cosh(x)
	case a < math.Ln2/2:
		t := math.Expm1(a)
		return 1 + float64(t*t)/(2*(1+t))
	case a < 22:
		t := Exp(a)
		return float64(0.5*t) + 0.5/t
	default:
		return 0.5 * Exp(a)
	}
}

// Tanh returns the hyperbolic tangent of x as C's tanh does.
func Tanh(x float64) float64 {
	a, z := math.Abs(x), 1.0
	switch {
	case a < 0x1p-55 || a != a:
		return x
	case a < 1:
		t := math.Expm1(-2 * a)
		z = -t / (t + 2)
	case a < 22:
		z = 1 - 2/(math.Expm1(2*a)+2)
	}
	return math.Copysign(z, x)
}
