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
		{"asin", invalid(number.Asin, 1)}, {"atan2", binary(number.Atan2)},
		{"atan", unary(number.Atan)},
		{"ceil", unary(math.Ceil)}, {"cosh", unary(number.Cosh)}, {"cos", unary(number.Cos)},
		{"deg", unary(func(x float64) float64 { return x / radian })}, {"exp", unary(number.Exp)},
		{"floor", mathFloor}, {"fmod", binary(math.Mod)}, {"frexp", mathFrexp},
		{"ldexp", mathLdexp}, {"log10", invalid(number.Log10, 1)}, {"log", unary(number.Log)},
		{"max", mathMax}, {"min", mathMin}, {"modf", mathModf}, {"pow", mathPow},
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
	nan := lua.Number(math.Copysign(math.NaN(), sign))
	return func(t *lua.Thread) int {
		x := t.Number(1)
		if y := f(x); y == y {
			t.Push(lua.Number(y))
		} else if x != x {
			t.Push(lua.Number(x))
		} else {
			t.Push(nan)
		}
		return 1
	}
}

// binary makes a function of two numbers.
func binary(f func(x, y float64) float64) func(t *lua.Thread) int {
	nan := lua.Number(math.Copysign(math.NaN(), -1))
	return func(t *lua.Thread) int {
		y := t.Number(2) // compilers for C tend to have the last argument checked first
		x := t.Number(1)
		if z := f(x, y); z == z {
			t.Push(lua.Number(z))
		} else if x != x {
			t.Push(lua.Number(x))
		} else if y != y {
			t.Push(lua.Number(y))
		} else {
			t.Push(nan)
		}
		return 1
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

func mathMax(t *lua.Thread) int {
	most := t.Number(1)
	for i, n := 2, t.Top(); i <= n; i++ {
		if x := t.Number(i); x > most {
			most = x
		}
	}
	return t.Return(lua.Number(most))
}

func mathMin(t *lua.Thread) int {
	least := t.Number(1)
	for i, n := 2, t.Top(); i <= n; i++ {
		if x := t.Number(i); x < least {
			least = x
		}
	}
	return t.Return(lua.Number(least))
}
