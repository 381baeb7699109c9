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
