package number

import "math"

// Go's trigonometric functions differ from C's in the last digit of every fourth result. Those of
// this file are computed with pairs; the inverse ones are Go's, corrected by a step of Newton's
// method.

// Parts of half of pi, and the number of them up to which an angle can be reduced with pairs.
const (
	halfPi1, halfPi2, halfPi3 = math.Pi / 2, 6.123233995736766036e-17, -1.497384904859169777e-33

	maxQuadrants = 1 << 20
)

// reduce returns k mod 4 and r such that x is k halves of pi and r.
func reduce(x float64) (k int, r pair) {
	n := math.Round(x / halfPi1)
	if math.Abs(n) >= maxQuadrants {
		return reduceLarge(x)
	}
	p := pair{-n, 0}.times(pair{halfPi1, 0})
	return int(n) & 3, pair{x, 0}.plus(pair{p.hi, 0}).plus(pair{p.lo, 0}).plus(
		pair{-n, 0}.times(pair{halfPi2, halfPi3}))
}

// sinCos returns the sine and the cosine of x. ok is false if x is not finite.
func sinCos(x float64) (s, c pair, ok bool) {
	if x-x != 0 {
		return pair{}, pair{}, false
	}
	k, r := reduce(x)
	q := r.times(r)
	t := q.hi
	tail := t / 120 * (1 - t/42*(1-t/72*(1-t/110*(1-t/156*(1-t/210*(1-t/272*(1-t/342)))))))
	s = r.times(q).times(pair{-1. / 6, -1. / 6 * 0x1p-54}.plus(pair{tail, 0}))
	s = r.plus(s)
	tail = -t / 720 * (1 - t/56*(1-t/90*(1-t/132*(1-t/182*(1-t/240*(1-t/306))))))
	c = q.times(q).times(pair{1. / 24, 1. / 24 * 0x1p-54}.plus(pair{tail, 0}))
	c = pair{1, 0}.plus(pair{-q.hi / 2, -q.lo / 2}).plus(c)
	switch k {
	case 1:
		s, c = c, s.negated()
	case 2:
		s, c = s.negated(), c.negated()
	case 3:
		s, c = c.negated(), s
	}
	return s, c, true
}

func (a pair) negated() pair { return pair{-a.hi, -a.lo} }

// Sin returns the sine of x as C's sin does.
func Sin(x float64) float64 {
	if s, _, ok := sinCos(x); ok && x != 0 {
		return s.hi
	}
	return math.Sin(x)
}

// Cos returns the cosine of x as C's cos does.
func Cos(x float64) float64 {
	if _, c, ok := sinCos(x); ok {
		return c.hi
	}
	return math.Cos(x)
}

// Tan returns the tangent of x as C's tan does.
func Tan(x float64) float64 {
	s, c, ok := sinCos(x)
	if !ok || x == 0 {
		return math.Tan(x)
	}
	t := s.hi / c.hi
	return t + s.plus(c.times(pair{-t, 0})).hi/c.hi
}

// Atan2 returns the angle of the point (x, y) as C's atan2 does.
func Atan2(y, x float64) float64 {
	a := math.Atan2(y, x)
	if m := math.Abs(x) + math.Abs(y); y == 0 || !(m < 1e150) || math.Abs(y) < 1e-150 {
		return a
	}
	s, c, _ := sinCos(a)
	d := pair{y, 0}.times(c).plus(pair{-x, 0}.times(s))
	return a + d.hi/(x*c.hi+y*s.hi)
}

// Atan returns the arc tangent of x as C's atan does.
func Atan(x float64) float64 { return Atan2(x, 1) }

// Asin returns the arc sine of x as C's asin does.
func Asin(x float64) float64 {
	a := math.Asin(x)
	if s, c, ok := sinCos(a); ok && math.Abs(c.hi) > 1e-5 && x != 0 {
		return a + pair{x, 0}.plus(s.negated()).hi/c.hi
	}
	return a
}

// Acos returns the arc cosine of x as C's acos does.
func Acos(x float64) float64 {
	a := 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x))
	if s, c, ok := sinCos(a); ok && s.hi > 1e-5 {
		return a + c.plus(pair{-x, 0}).hi/s.hi
	}
	return a
}
