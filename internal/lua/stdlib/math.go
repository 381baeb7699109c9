package stdlib

import (
	"math"

	"godwit/internal/lua"
	"godwit/internal/lua/number"
)

// radian is the number of radians per degree. As in C, it is the quotient of two doubles.
var radian = func(pi float64) float64 { return pi / 180 }(math.Pi)

// OpenMath adds the library math to the globals.
func OpenMath(s *lua.State) {
	r := &rand48{rand48Start}
	tab := library(s, "math", []function{{"abs", mathAbs}, {"acos", invalid(number.Acos, 1)},
		{"asin", invalid(number.Asin, 1)}, {"atan2", binary(number.Atan2, second)},
		{"atan", unary(number.Atan)},
		{"ceil", unary(math.Ceil)}, {"cosh", unary(number.Cosh)}, {"cos", unary(number.Cos)},
		{"deg", unary(func(x float64) float64 { return x / radian })}, {"exp", unary(number.Exp)},
		{"floor", mathFloor}, {"fmod", binary(math.Mod, positive)}, {"frexp", mathFrexp},
		{"ldexp", mathLdexp}, {"log10", invalid(number.Log10, 1)}, {"log", unary(number.Log)},
		{"max", extreme(true)}, {"min", extreme(false)}, {"modf", mathModf}, {"pow", mathPow},
		{"rad", unary(func(x float64) float64 { return x * radian })}, {"random", r.random},
		{"randomseed", r.randomSeed}, {"sinh", unary(number.Sinh)}, {"sin", unary(number.Sin)},
		{"sqrt", unary(math.Sqrt)}, {"tanh", unary(number.Tanh)}, {"tan", unary(number.Tan)}})
	tab.SetString("pi", lua.Number(math.Pi))
	tab.SetString("huge", lua.Number(math.Inf(1)))
	tab.SetString("mod", tab.GetString("fmod"))
}

// unary makes a function of one number.
func unary(f func(float64) float64) func(t *lua.Thread) int { return invalid(f, -1) }

// invalid makes a function of one number that returns a NaN with a sign for invalid arguments. The
// sign shows when it is printed.
func invalid(f func(float64) float64, sign float64) func(t *lua.Thread) int {
	nan := math.Copysign(math.NaN(), sign)
	return func(t *lua.Thread) int {
		x := t.Number(1)
		y := f(x)
		switch {
		case y == y:
		case x != x:
			y = x
		default:
			y = nan
		}
		return t.Return(lua.Number(y))
	}
}

// second and positive say which of two NaNs a function returns.
func second(_, y float64) float64 { return y }

func positive(x, y float64) float64 {
	if math.Signbit(x) {
		return y
	}
	return x
}

// binary makes a function of two numbers. nans returns what it returns for two NaNs.
func binary(f, nans func(x, y float64) float64) func(t *lua.Thread) int {
	nan := math.Copysign(math.NaN(), -1)
	return func(t *lua.Thread) int {
		y := t.Number(2) // compilers for C tend to have the last argument checked first
		x := t.Number(1)
		z := f(x, y)
		switch {
		case z == z:
		case x != x && y != y:
			z = nans(x, y)
		case x != x:
			z = x
		case y != y:
			z = y
		default:
			z = nan
		}
		return t.Return(lua.Number(z))
	}
}

func mathAbs(t *lua.Thread) int {
	return t.Return(lua.Number(math.Abs(t.Number(1))))
}

// mathFloor is not made by unary because the compiler knows math.Floor as an instruction.
func mathFloor(t *lua.Thread) int {
	return t.Return(lua.Number(math.Floor(t.Number(1))))
}

func mathPow(t *lua.Thread) int {
	y := t.Number(2)
	return t.Return(lua.Number(number.Pow(t.Number(1), y)))
}

func mathFrexp(t *lua.Thread) int {
	f, e := math.Frexp(t.Number(1))
	t.Push(lua.Number(f))
	t.Push(lua.Int(e))
	return 2
}

func mathLdexp(t *lua.Thread) int {
	e := cInt(t, 2)
	return t.Return(lua.Number(math.Ldexp(t.Number(1), e)))
}

func mathModf(t *lua.Thread) int {
	x := t.Number(1)
	i, f := math.Modf(x)
	if math.IsInf(x, 0) {
		i, f = x, math.Copysign(0, x)
	}
	t.Push(lua.Number(i))
	t.Push(lua.Number(f))
	return 2
}

// extreme makes the functions max and min.
func extreme(largest bool) func(t *lua.Thread) int {
	return func(t *lua.Thread) int {
		best := t.Number(1)
		for i, n := 2, t.Top(); i <= n; i++ {
			if x := t.Number(i); largest && x > best || !largest && x < best {
				best = x
			}
		}
		return t.Return(lua.Number(best))
	}
}

// rand48 is the 48-bit linear congruential generator that POSIX describes as lrand48. Redis gives
// it to scripts. Its state carries over from script to script.
type rand48 struct{ x uint64 }

const rand48Start = 0x1234abcd330e

func (r *rand48) seed(n int32) { r.x = uint64(uint32(n))<<16 | 0x330e }

func (r *rand48) next() int32 {
	r.x = (r.x*0x5deece66d + 0xb) & (1<<48 - 1)
	return int32(r.x >> 17)
}

// random returns a random number. Its bounds are C ints.
func (r *rand48) random(t *lua.Thread) int {
	const most = math.MaxInt32
	x := float64(r.next()%most) / most
	switch t.Top() {
	case 0:
	case 1:
		u := cInt(t, 1)
		if u < 1 {
			t.ArgError(1, "interval is empty")
		}
		x = math.Floor(x*float64(u)) + 1
	case 2:
		l, u := cInt(t, 1), cInt(t, 2)
		if l > u {
			t.ArgError(2, "interval is empty")
		}
		x = math.Floor(x*float64(int32(u-l+1))) + float64(l)
	default:
		t.Error("wrong number of arguments")
	}
	return t.Return(lua.Number(x))
}

func (r *rand48) randomSeed(t *lua.Thread) int {
	r.seed(int32(cInt(t, 1)))
	return 0
}
