package script

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openBase registers the base library, as far as Redis offers it to scripts. Files, print and
// function environments are left out.
func (s *State) openBase() {
	s.library(s.env, map[string]lua.LGFunction{
		"assert": s.baseAssert, "collectgarbage": s.baseCollect, "error": s.baseError,
		"getmetatable": s.baseGetMeta, "load": s.baseLoad, "loadstring": s.baseLoadString,
		"next": s.baseNext, "pcall": s.basePcall, "rawequal": s.baseRawEqual,
		"rawget": s.baseRawGet, "rawset": s.baseRawSet, "select": s.baseSelect,
		"setmetatable": s.baseSetMeta, "tonumber": s.baseToNumber, "tostring": s.baseToString,
		"type": s.baseType, "unpack": s.baseUnpack, "xpcall": s.baseXpcall,
		"pairs": s.basePairs, "ipairs": s.baseIpairs, "gcinfo": s.baseGCInfo,
	})
	s.env.RawSetString("_VERSION", lua.LString("Lua 5.1"))
	s.iterate = s.L.NewFunction(s.iterateArray)
	s.openArith()
}

func (s *State) baseAssert(L *lua.LState) int {
	if lua.LVIsFalse(s.argAny(L, 1)) {
		s.raise(L, s.optString(L, 2, "assertion failed!"))
	}
	return L.GetTop()
}

func (s *State) baseCollect(L *lua.LState) int {
	switch opt := s.optString(L, 1, "collect"); opt {
	case "count":
		L.Push(lua.LNumber(float64(s.heap()) / 1024))
	case "collect", "stop", "restart", "step", "setpause", "setstepmul":
		L.Push(s.numbers[0])
	default:
		s.badArg(L, 1, "invalid option '"+opt+"'")
	}
	return 1
}

// baseGCInfo implements gcinfo, the old form of collectgarbage("count"), in whole KiB.
func (s *State) baseGCInfo(L *lua.LState) int {
	L.Push(lua.LNumber(s.heap() / 1024))
	return 1
}

func (s *State) baseError(L *lua.LState) int {
	level := s.optInt(L, 2, 1)
	v := L.Get(1)
	if str, ok := v.(lua.LString); ok && level > 0 {
		v = lua.LString(where(L, level)) + str
	} else if n, ok := v.(lua.LNumber); ok && level > 0 {
		v = lua.LString(where(L, level) + formatNumber(float64(n)))
	}
	s.throw(L, v)
	return 0
}

func (s *State) baseGetMeta(L *lua.LState) int {
	v := s.argAny(L, 1)
	if t, ok := v.(*lua.LTable); ok && s.raw(t) != t {
		if s.raw(t) == s.env {
			L.Push(s.proxies[s.env.Metatable.(*lua.LTable)])
		} else {
			L.Push(lua.LNil) // a proxy's metatable is internal
		}
		return 1
	}
	if _, ok := v.(lua.LString); ok {
		L.Push(s.shown)
		return 1
	}
	mt := L.GetMetatable(v)
	if t, ok := mt.(*lua.LTable); ok && s.proxies[t] != nil {
		mt = s.proxies[t]
	}
	L.Push(mt)
	return 1
}

func (s *State) baseSetMeta(L *lua.LState) int {
	t := s.argTable(L, 1)
	mt := L.Get(2)
	if mt.Type() != lua.LTNil && mt.Type() != lua.LTTable || L.GetTop() < 2 {
		s.badArg(L, 2, "nil or table expected")
	}
	if s.raw(t) != t {
		s.throw(L, lua.LString("Attempt to modify a readonly table"))
	}
	if old, ok := t.Metatable.(*lua.LTable); ok && old.RawGetString("__metatable") != lua.LNil {
		s.raise(L, "cannot change a protected metatable")
	}
	t.Metatable = mt
	L.SetTop(1)
	return 1
}

// chunkName returns a chunk's name as messages show it.
func chunkName(name string) string {
	const size = 60 // of the name in messages as in C, with the terminating zero
	switch {
	case name == "":
	case name[0] == '=':
		return name[1:min(len(name), size)]
	case name[0] == '@':
		if name = name[1:]; len(name) > size-9 {
			return "..." + name[len(name)-(size-9):]
		}
		return name
	}
	const frame = len(`[string "..."]`) + 3
	line, _, more := strings.Cut(strings.ReplaceAll(name, "\r", "\n"), "\n")
	if more || len(line) > size-frame {
		line = line[:min(len(line), size-frame)] + "..."
	}
	return `[string "` + line + `"]`
}

func (s *State) load(L *lua.LState, src, name string) int {
	s.spend(L, len(src)/8)
	chunk := chunkName(name)
	if s.sources == nil {
		s.sources = map[string]string{}
	}
	s.sources[chunk] = name
	f, err := s.compile(src, chunk)
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(f)
	return 1
}

func (s *State) baseLoadString(L *lua.LState) int {
	src := s.argString(L, 1)
	return s.load(L, src, s.optString(L, 2, src))
}

func (s *State) baseLoad(L *lua.LState) int {
	f := s.argFunction(L, 1)
	name := s.optString(L, 2, "=(load)")
	var b strings.Builder
	for {
		L.Push(f)
		L.Call(0, 1)
		v := L.Get(-1)
		L.Pop(1)
		piece, ok := toString(v)
		if v != lua.LNil && !ok {
			L.Push(lua.LNil)
			L.Push(lua.LString("reader function must return a string"))
			return 2
		}
		if piece == "" {
			break
		}
		s.grow(L, len(piece))
		if b.WriteString(piece); b.Len() > maxSource {
			break // too long: compiling reports it
		}
	}
	return s.load(L, b.String(), name)
}

func (s *State) baseNext(L *lua.LState) int {
	k, v := s.raw(s.argTable(L, 1)).Next(L.Get(2))
	if k == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	if v == s.env {
		v = s.proxies[s.env]
	}
	L.Push(k)
	L.Push(v)
	return 2
}

func (s *State) basePairs(L *lua.LState) int {
	t := s.argTable(L, 1)
	L.Push(s.env.RawGetString("next"))
	L.Push(t)
	L.Push(lua.LNil)
	return 3
}

func (s *State) baseIpairs(L *lua.LState) int {
	t := s.argTable(L, 1)
	L.Push(s.iterate)
	L.Push(t) // as given: what is behind a proxy never leaves the library
	L.Push(s.numbers[0])
	return 3
}

func (s *State) iterateArray(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	i := s.argInt(L, 2) + 1
	v := rawIndex(t, i)
	if v == lua.LNil {
		L.Push(v)
		return 1
	}
	L.Push(s.number(int64(i)))
	L.Push(v)
	return 2
}

// rawIndex returns t[i], whichever part of the table holds it.
func rawIndex(t *lua.LTable, i int) lua.LValue {
	if i > 0 && i < lua.MaxArrayIndex {
		return t.RawGetInt(i)
	}
	return t.RawGet(lua.LNumber(i))
}

func (s *State) baseRawEqual(L *lua.LState) int {
	L.Push(lua.LBool(L.RawEqual(s.argAny(L, 1), s.argAny(L, 2))))
	return 1
}

func (s *State) baseRawGet(L *lua.LState) int {
	t := s.argTable(L, 1)
	L.Push(s.raw(t).RawGet(s.argAny(L, 2)))
	return 1
}

func (s *State) baseRawSet(L *lua.LState) int {
	t := s.argWritable(L, 1)
	k, v := s.argAny(L, 2), s.argAny(L, 3)
	if n, ok := k.(lua.LNumber); ok && math.IsNaN(float64(n)) {
		s.raise(L, "table index is NaN")
	} else if k == lua.LNil {
		s.raise(L, "table index is nil")
	}
	t.RawSet(k, v)
	L.SetTop(1)
	return 1
}

func (s *State) baseSelect(L *lua.LState) int {
	top := L.GetTop()
	if v, ok := L.Get(1).(lua.LString); ok && strings.HasPrefix(string(v), "#") {
		L.Push(s.number(int64(top - 1)))
		return 1
	}
	n := s.argInt(L, 1)
	if n < 0 {
		n += top
	} else if n > top {
		n = top
	}
	if n < 1 {
		s.badArg(L, 1, "index out of range")
	}
	return top - n
}

func (s *State) baseToNumber(L *lua.LState) int {
	base := s.optInt(L, 2, 10)
	if base == 10 {
		if n, ok := toNumber(s.argAny(L, 1)); ok {
			L.Push(lua.LNumber(n))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	}
	str := s.argString(L, 1)
	if base < 2 || base > 36 {
		s.badArg(L, 2, "base out of range")
	}
	L.Push(inBase(str, base))
	return 1
}

// inBase reads an integer in a base as C's strtoul does: 64 bits, with a sign, saturating.
func inBase(str string, base int) lua.LValue {
	str = strings.Trim(str, " \t\n\r\v\f")
	neg := strings.HasPrefix(str, "-")
	if neg || strings.HasPrefix(str, "+") {
		str = str[1:]
	}
	if base == 16 && len(str) > 2 && str[0] == '0' && str[1]|32 == 'x' {
		str = str[2:]
	}
	n, over := uint64(0), str == ""
	if over {
		return lua.LNil
	}
	for i := range len(str) {
		c := str[i]
		d := 99
		switch {
		case '0' <= c && c <= '9':
			d = int(c - '0')
		case 'a' <= c|32 && c|32 <= 'z':
			d = int(c|32-'a') + 10
		}
		if d >= base {
			return lua.LNil
		}
		if n > (math.MaxUint64-uint64(d))/uint64(base) {
			over = true
		}
		n = n*uint64(base) + uint64(d)
	}
	if over {
		n = math.MaxUint64
	} else if neg {
		n = -n
	}
	return lua.LNumber(float64(n))
}

func (s *State) baseToString(L *lua.LState) int {
	L.Push(s.tostring(L, s.argAny(L, 1)))
	return 1
}

// tostring returns tostring(v), metamethods included.
func (s *State) tostring(L *lua.LState, v lua.LValue) lua.LValue {
	switch t := v.(type) {
	case lua.LString:
		return t
	case lua.LNumber:
		return lua.LString(formatNumber(float64(t)))
	}
	if m := L.GetMetaField(v, "__tostring"); m != lua.LNil {
		L.Push(m)
		L.Push(v)
		L.Call(1, 1)
		r := L.Get(-1)
		L.Pop(1)
		return r
	}
	return lua.LString(v.String())
}

func (s *State) baseType(L *lua.LState) int {
	L.Push(lua.LString(s.argAny(L, 1).Type().String()))
	return 1
}

// maxResults is how many values fit on Lua's stack of C functions.
const maxResults = 8000

func (s *State) baseUnpack(L *lua.LState) int {
	top := L.GetTop()
	t := s.raw(s.argTable(L, 1))
	from := s.optInt(L, 2, 1)
	to := length(t)
	if L.Get(3) != lua.LNil {
		to = int(int32(s.argInt(L, 3)))
	}
	if from = int(int32(from)); from > to {
		return 0
	}
	n := to - from + 1
	if n <= 0 || n+top > maxResults {
		s.raise(L, "too many results to unpack")
	}
	for i := from; i <= to; i++ {
		L.Push(rawIndex(t, i))
	}
	return n
}
