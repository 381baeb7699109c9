package number

import "math"

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
