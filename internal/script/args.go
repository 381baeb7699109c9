package script

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/script/syntax"
)

// toNumber converts as Lua does: it takes numbers, and strings that look like one.
func toNumber(v lua.LValue) (float64, bool) {
	switch t := v.(type) {
	case lua.LNumber:
		return float64(t), true
	case lua.LString:
		return syntax.ParseNumber(cString(string(t)))
	}
	return 0, false
}

// formatNumber formats a number like C's %.14g.
func formatNumber(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < 1e14 {
		if n == 0 && math.Signbit(n) {
			return "-0"
		}
		return strconv.FormatInt(int64(n), 10)
	}
	return string(appendG(nil, n, 14))
}

// appendG appends a number in the form of C's %g.
func appendG(b []byte, n float64, precision int) []byte {
	switch {
	case math.IsInf(n, 1):
		return append(b, "inf"...)
	case math.IsInf(n, -1):
		return append(b, "-inf"...)
	case math.IsNaN(n):
		if math.Signbit(n) {
			return append(b, "-nan"...)
		}
		return append(b, "nan"...)
	}
	return strconv.AppendFloat(b, n, 'g', precision, 64)
}

// toString converts as Lua does: it takes strings and numbers.
func toString(v lua.LValue) (string, bool) {
	switch t := v.(type) {
	case lua.LString:
		return string(t), true
	case lua.LNumber:
		return formatNumber(float64(t)), true
	}
	return "", false
}

// display formats any value for a message.
func (s *State) display(v lua.LValue) string {
	if str, ok := toString(v); ok {
		return str
	}
	return v.Type().String()
}

func (s *State) argString(L *lua.LState, n int) string {
	v := L.Get(n)
	if str, ok := v.(lua.LString); ok {
		return string(str)
	}
	str, ok := toString(v)
	if !ok {
		s.badType(L, n, "string")
	}
	return str
}

func (s *State) argNumber(L *lua.LState, n int) float64 {
	v := L.Get(n)
	if f, ok := v.(lua.LNumber); ok {
		return float64(f)
	}
	f, ok := toNumber(v)
	if !ok {
		s.badType(L, n, "number")
	}
	return f
}

func (s *State) argInt(L *lua.LState, n int) int { return int(s.argNumber(L, n)) }

func (s *State) optInt(L *lua.LState, n, def int) int {
	if L.Get(n) == lua.LNil {
		return def
	}
	return s.argInt(L, n)
}

func (s *State) optString(L *lua.LState, n int, def string) string {
	if L.Get(n) == lua.LNil {
		return def
	}
	return s.argString(L, n)
}

// argTable returns a table argument as the script gave it, which may be a proxy.
func (s *State) argTable(L *lua.LState, n int) *lua.LTable {
	t, ok := L.Get(n).(*lua.LTable)
	if !ok {
		s.badType(L, n, "table")
	}
	return t
}

// argWritable returns a table argument that the caller is going to change.
func (s *State) argWritable(L *lua.LState, n int) *lua.LTable {
	t := s.argTable(L, n)
	if s.raw(t) != t || s.proxies[t] != nil {
		s.throw(L, lua.LString("Attempt to modify a readonly table"))
	}
	return t
}

func (s *State) argFunction(L *lua.LState, n int) *lua.LFunction {
	f, ok := L.Get(n).(*lua.LFunction)
	if !ok {
		s.badType(L, n, "function")
	}
	return f
}

func (s *State) argAny(L *lua.LState, n int) lua.LValue {
	if n > L.GetTop() {
		s.badArg(L, n, "value expected")
	}
	return L.Get(n)
}

// library registers functions in a table.
func (s *State) library(t *lua.LTable, funcs map[string]lua.LGFunction) {
	for name, f := range funcs {
		fn := s.L.NewFunction(f)
		s.names[fn] = name
		t.RawSetString(name, fn)
	}
}
