package script

import (
	"math"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// rand48 is the 48-bit linear congruential generator that POSIX describes as lrand48. Redis gives
// it to scripts. Its state carries over from script to script.
type rand48 struct{ x uint64 }

const rand48Start = 0x1234abcd330e

func (r *rand48) seed(n int32) { r.x = uint64(uint32(n))<<16 | 0x330e }

func (r *rand48) next() int32 {
	r.x = (r.x*0x5deece66d + 0xb) & (1<<48 - 1)
	return int32(r.x >> 17)
}

func (s *State) openMath() {
	t := s.L.NewTable()
	one := map[string]func(float64) float64{
		"abs": math.Abs, "acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil,
		"cos": math.Cos, "cosh": math.Cosh, "exp": math.Exp, "floor": math.Floor, "log": math.Log,
		"log10": math.Log10, "sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan,
		"tanh": math.Tanh,
		"deg":  func(x float64) float64 { return x / (math.Pi / 180) },
		"rad":  func(x float64) float64 { return x * (math.Pi / 180) },
	}
	funcs := map[string]lua.LGFunction{
		"atan2": s.binary(math.Atan2), "fmod": s.binary(math.Mod), "mod": s.binary(math.Mod),
		"pow": s.binary(math.Pow), "frexp": s.mathFrexp, "ldexp": s.mathLdexp, "modf": s.mathModf,
		"max": s.mathMax, "min": s.mathMin, "random": s.mathRandom, "randomseed": s.mathSeed,
	}
	for name, f := range one {
		funcs[name] = func(L *lua.LState) int {
			L.Push(lua.LNumber(f(s.argNumber(L, 1))))
			return 1
		}
	}
	s.library(t, funcs)
	t.RawSetString("pi", lua.LNumber(math.Pi))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	s.env.RawSetString("math", t)
	os := s.L.NewTable()
	s.library(os, map[string]lua.LGFunction{"clock": s.osClock})
	s.env.RawSetString("os", os)
}

func (s *State) binary(f func(a, b float64) float64) lua.LGFunction {
	return func(L *lua.LState) int {
		L.Push(lua.LNumber(f(s.argNumber(L, 1), s.argNumber(L, 2))))
		return 1
	}
}

func (s *State) mathFrexp(L *lua.LState) int {
	f, e := math.Frexp(s.argNumber(L, 1))
	L.Push(lua.LNumber(f))
	L.Push(lua.LNumber(e))
	return 2
}

func (s *State) mathLdexp(L *lua.LState) int {
	L.Push(lua.LNumber(math.Ldexp(s.argNumber(L, 1), s.argInt(L, 2))))
	return 1
}

func (s *State) mathModf(L *lua.LState) int {
	x := s.argNumber(L, 1)
	i, f := math.Modf(x)
	if math.IsInf(x, 0) {
		i, f = x, math.Copysign(0, x)
	}
	L.Push(lua.LNumber(i))
	L.Push(lua.LNumber(f))
	return 2
}

func (s *State) mathMax(L *lua.LState) int {
	most := s.argNumber(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if n := s.argNumber(L, i); n > most {
			most = n
		}
	}
	L.Push(lua.LNumber(most))
	return 1
}

func (s *State) mathMin(L *lua.LState) int {
	least := s.argNumber(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if n := s.argNumber(L, i); n < least {
			least = n
		}
	}
	L.Push(lua.LNumber(least))
	return 1
}

// mathRandom returns a random number. Its bounds are C ints: of larger numbers the lower 32 bits
// count.
func (s *State) mathRandom(L *lua.LState) int {
	const most = math.MaxInt32
	r := float64(s.random.next()%most) / most
	switch L.GetTop() {
	case 0:
		L.Push(lua.LNumber(r))
	case 1:
		u := int32(s.argInt(L, 1))
		if u < 1 {
			s.badArg(L, 1, "interval is empty")
		}
		L.Push(lua.LNumber(math.Floor(r*float64(u)) + 1))
	case 2:
		l, u := int32(s.argInt(L, 1)), int32(s.argInt(L, 2))
		if l > u {
			s.badArg(L, 2, "interval is empty")
		}
		L.Push(lua.LNumber(math.Floor(r*float64(u-l+1)) + float64(l)))
	default:
		s.raise(L, "wrong number of arguments")
	}
	return 1
}

func (s *State) mathSeed(L *lua.LState) int {
	s.random.seed(int32(s.argInt(L, 1)))
	return 0
}

// osClock returns the seconds since the process began to run scripts. Scripts only use differences.
func (s *State) osClock(L *lua.LState) int {
	L.Push(lua.LNumber(time.Since(s.born).Seconds()))
	return 1
}
