package geohash

import "math"

// wide is the unevaluated sum of two float64s, with |lo| at most half a unit in the last place of
// hi: about 106 bits. Sources: T. J. Dekker, "A floating-point technique for extending the
// available precision" (1971); D. E. Knuth, The Art of Computer Programming 4.2.2.
type wide struct{ hi, lo float64 }

// sum returns a+b exactly.
func sum(a, b float64) wide {
	s := a + b
	bb := s - a
	return wide{s, (a - (s - bb)) + (b - bb)}
}

// renorm returns a+b exactly. |a| must not be below |b|.
func renorm(a, b float64) wide {
	s := a + b
	return wide{s, b - (s - a)}
}

// product returns a*b exactly.
func product(a, b float64) wide {
	p := a * b
	return wide{p, math.FMA(a, b, -p)}
}

func (a wide) add(b wide) wide {
	s := sum(a.hi, b.hi)
	return renorm(s.hi, s.lo+a.lo+b.lo)
}

func (a wide) mul(b wide) wide {
	p := product(a.hi, b.hi)
	return renorm(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a wide) neg() wide { return wide{-a.hi, -a.lo} }

// halfPi is π/2 in three parts.
var halfPi = [3]float64{1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33}

// inverse lists 1/(n+2)!, the coefficients of the Taylor series.
var inverse = [...]wide{
	{0.5, 0}, {0.16666666666666666, 9.25185853854297e-18},
	{0.041666666666666664, 2.3129646346357427e-18}, {0.008333333333333333, 1.1564823173178714e-19},
	{0.001388888888888889, -5.300543954373577e-20}, {0.0001984126984126984, 1.7209558293420705e-22},
	{2.48015873015873e-05, 2.1511947866775882e-23},
	{2.7557319223985893e-06, -1.858393274046472e-22},
	{2.755731922398589e-07, 2.3767714622250297e-23},
	{2.505210838544172e-08, -1.448814070935912e-24}, {2.08767569878681e-09, -1.20734505911326e-25},
	{1.6059043836821613e-10, 1.2585294588752098e-26},
	{1.1470745597729725e-11, 2.0655512752830745e-28}, {7.647163731819816e-13, 7.03872877733453e-30},
	{4.779477332387385e-14, 4.399205485834081e-31},
	{2.8114572543455206e-15, 1.6508842730861433e-31},
	{1.5619206968586225e-16, 1.1910679660273754e-32},
	{8.22063524662433e-18, 2.2141894119604265e-34}, {4.110317623312165e-19, 1.4412973378659527e-36},
	{1.9572941063391263e-20, -1.3643503830087908e-36},
	{8.896791392450574e-22, -7.911402614872376e-38},
	{3.868170170630684e-23, -8.843177655482344e-40},
	{1.6117375710961184e-24, -3.6846573564509766e-41},
	{6.446950284384474e-26, -1.9330404233703465e-42},
}

// taylor sums the terms from r^first/first! on, taking every second one with alternating signs, and
// divides by r^(first-2). It takes r squared. |r| is at most π/4, so the terms left out are below
// 2^-80 of the first.
func taylor(r2 wide, first int) wide {
	last := len(inverse) - 1 - (len(inverse)-1-(first-2))%2
	s := inverse[last]
	for i := last - 2; i >= first-2; i -= 2 {
		s = inverse[i].add(s.mul(r2).neg())
	}
	return s.mul(r2).neg()
}

// sinCos returns sine and cosine of x. |x| is at most 7.
func sinCos(x float64) (sin, cos wide) {
	k := math.RoundToEven(x / halfPi[0])
	r := wide{x, 0}
	for _, p := range halfPi {
		r = r.add(product(-k, p))
	}
	r2 := r.mul(r)
	sin = r.add(r.mul(taylor(r2, 3)))
	cos = wide{1, 0}.add(taylor(r2, 2))
	switch int(k) & 3 {
	case 1:
		return cos, sin.neg()
	case 2:
		return sin.neg(), cos.neg()
	case 3:
		return cos.neg(), sin
	}
	return sin, cos
}

// sine returns sin(x) rounded to nearest. |x| is at most 7.
func sine(x float64) float64 {
	s, _ := sinCos(x)
	return s.hi
}

// cosine returns cos(x) rounded to nearest. |x| is at most 7.
func cosine(x float64) float64 {
	_, c := sinCos(x)
	return c.hi
}

// arcsine returns asin(x) rounded to nearest. x is at least 0. Above 1, by rounding, it counts as
// 1.
func arcsine(x float64) float64 {
	if x >= 1 {
		return halfPi[0]
	}
	y := math.Asin(x)
	s, c := sinCos(y) // one step of Newton's method, from 53 bits to 100
	return y + (wide{x, 0}.add(s.neg())).hi/c.hi
}
