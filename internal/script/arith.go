package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// The machine computes with numbers itself. It would read a string operand as Go does ("010" is
// eight), but first it asks the operands' metatables. So the metatable of strings has the
// operators, and they convert as Lua does.

func (s *State) openArith() {
	for event, op := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": func(a, b float64) float64 { return a - math.Floor(a/b)*b },
		"__pow": math.Pow,
		"__unm": func(a, _ float64) float64 { return -a },
	} {
		s.operators.set(event, s.L.NewFunction(func(L *lua.LState) int {
			return s.arith(L, event, op)
		}))
	}
}

// operators are the functions that the metatable of strings gets besides its library.
type operators struct {
	events []string
	funcs  []*lua.LFunction
}

func (o *operators) set(event string, f *lua.LFunction) {
	o.events, o.funcs = append(o.events, event), append(o.funcs, f)
}

func (o *operators) into(t *lua.LTable) {
	for i, e := range o.events {
		t.RawSetString(e, o.funcs[i])
	}
}

func (s *State) arith(L *lua.LState, event string, op func(a, b float64) float64) int {
	a, b := L.Get(1), L.Get(2)
	if event == "__unm" {
		b = a
	}
	x, okx := toNumber(a)
	y, oky := toNumber(b)
	if okx && oky {
		L.Push(lua.LNumber(op(x, y)))
		return 1
	}
	for _, v := range []lua.LValue{a, b} {
		t, ok := v.(*lua.LTable)
		if !ok {
			continue
		}
		if m, ok := L.GetMetaField(t, event).(*lua.LFunction); ok {
			L.Push(m)
			L.Push(a)
			L.Push(b)
			L.Call(2, 1)
			return 1
		}
	}
	bad, second := a, okx
	if second {
		bad = b
	}
	f := s.frame(L, 1)
	reg := -1
	if f.fn != nil {
		if reg = argB(f.inst); second && event != "__unm" {
			reg = argC(f.inst)
		}
	}
	s.raise(L, f.typeError("perform arithmetic on", bad.Type().String(), reg))
	return 0
}

// concatenate implements the operator .. for all its operands.
func (s *State) concatenate(L *lua.LState) int {
	n := L.GetTop()
	if v, ok := s.join(L, 1, n, n); ok {
		L.Push(v)
		return 1
	}
	right := L.Get(n)
	for i := n - 1; i >= 1; i-- {
		left := L.Get(i)
		_, okl := toString(left)
		_, okr := toString(right)
		if okl && okr {
			L.Push(right)
			right = s.pair(L, left, right)
			L.Pop(1)
			continue
		}
		m := L.GetMetaField(left, "__concat")
		if m == lua.LNil {
			m = L.GetMetaField(right, "__concat")
		}
		if m == lua.LNil {
			s.badConcat(L, left, right, i, i+1 == n)
		}
		L.Push(m)
		L.Push(left)
		L.Push(right)
		L.Call(2, 1)
		right = L.Get(-1)
		L.Pop(1)
	}
	L.Push(right)
	return 1
}

// badConcat raises the error for two operands. The left one is argument i. The right one is the
// next argument if isArg is true, else the result of an earlier step.
func (s *State) badConcat(L *lua.LState, left, right lua.LValue, i int, isArg bool) {
	bad, reg := left, i
	if _, ok := toString(left); ok {
		bad, reg = right, i+1
		if !isArg {
			reg = -1
		}
	}
	f := s.frame(L, 1)
	if f.fn != nil && reg > 0 {
		reg += argA(f.inst)
	}
	s.raise(L, f.typeError("concatenate", bad.Type().String(), reg))
}

func (s *State) pair(L *lua.LState, a, b lua.LValue) lua.LValue {
	x, _ := toString(a)
	y, _ := toString(b)
	s.grow(L, len(x)+len(y))
	return lua.LString(x + y)
}

// join concatenates the arguments from..to. It reports false unless all are strings or numbers.
func (s *State) join(L *lua.LState, from, to, n int) (lua.LValue, bool) {
	if n == 2 {
		a, ok := toString(L.Get(from))
		b, ok2 := toString(L.Get(to))
		if !ok || !ok2 {
			return nil, false
		}
		s.grow(L, len(a)+len(b))
		return lua.LString(a + b), true
	}
	b := s.text[:0]
	size := 0
	for i := from; i <= to; i++ {
		str, ok := toString(L.Get(i))
		if !ok {
			return nil, false
		}
		size += len(str)
		if size > maxString {
			s.grow(L, size)
		}
	}
	s.grow(L, size)
	for i := from; i <= to; i++ {
		switch t := L.Get(i).(type) {
		case lua.LString:
			b = append(b, t...)
		case lua.LNumber:
			b = append(b, formatNumber(float64(t))...)
		}
	}
	v := lua.LString(b)
	if s.text = b; cap(b) > 64<<10 {
		s.text = nil
	}
	return v, true
}
