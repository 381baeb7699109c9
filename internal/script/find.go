package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file holds the functions of the string library that search: find, match, gmatch and gsub.

func (s *State) strFind(L *lua.LState) int  { return s.find(L, true) }
func (s *State) strMatch(L *lua.LState) int { return s.find(L, false) }

func (s *State) find(L *lua.LState, positions bool) int {
	src, pat := s.argString(L, 1), s.argString(L, 2)
	init := s.optInt(L, 3, 1)
	if init < 0 {
		init += len(src) + 1
	}
	init = min(max(init-1, 0), len(src))
	if positions && (lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(cString(pat), "^$*+?.([%-")) {
		s.spend(L, len(src)/256)
		i := strings.Index(src[init:], pat)
		if i < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(s.number(int64(init + i + 1)))
		L.Push(s.number(int64(init + i + len(pat))))
		return 2
	}
	pat = cString(pat)
	m := matcher{s: s, L: L, src: src, pat: pat}
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	for at := init; ; at++ {
		m.begin()
		m.step()
		if end := m.match(at, p); end >= 0 {
			if !positions {
				return m.push(at, end, true)
			}
			L.Push(s.number(int64(at + 1)))
			L.Push(s.number(int64(end)))
			return m.push(at, end, false) + 2
		}
		if at >= len(src) || p == 1 {
			break
		}
	}
	L.Push(lua.LNil)
	return 1
}

func (s *State) strGmatch(L *lua.LState) int {
	m := matcher{s: s, src: s.argString(L, 1), pat: cString(s.argString(L, 2))}
	at := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		m.L = L
		for ; at <= len(m.src); at++ {
			m.begin()
			m.step()
			end := m.match(at, 0)
			if end < 0 {
				continue
			}
			from := at
			at = end
			if end == from {
				at++
			}
			return m.push(from, end, true)
		}
		return 0
	}))
	return 1
}

func (s *State) strGsub(L *lua.LState) int {
	src, pat := s.argString(L, 1), s.argString(L, 2)
	repl := L.Get(3)
	switch repl.Type() {
	case lua.LTNumber:
		str, _ := toString(repl)
		repl = lua.LString(str)
	case lua.LTString, lua.LTTable, lua.LTFunction:
	default:
		s.badArg(L, 3, "string/function/table expected")
	}
	most := s.optInt(L, 4, len(src)+1)
	pat = cString(pat)
	m := matcher{s: s, L: L, src: src, pat: pat}
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	var b []byte
	at, n := 0, 0
	for n < most {
		m.begin()
		m.step()
		end := m.match(at, p)
		if end >= 0 {
			n++
			before := len(b)
			b = m.replace(b, at, end, repl)
			s.grow(L, len(b)-before)
			if len(b) > maxString {
				s.raise(L, "resulting string too large")
			}
		}
		switch {
		case end > at:
			at = end
		case at < len(src):
			b = append(b, src[at])
			at++
		default:
			at++
		}
		if at > len(src) || p == 1 {
			break
		}
	}
	if at < len(src) {
		b = append(b, src[at:]...)
	}
	s.grow(L, len(src)/2)
	L.Push(lua.LString(b))
	L.Push(s.number(int64(n)))
	return 2
}

// replace appends the replacement of the match src[from:to].
func (m *matcher) replace(b []byte, from, to int, repl lua.LValue) []byte {
	L := m.L
	var v lua.LValue
	switch t := repl.(type) {
	case lua.LString:
		return m.template(b, from, to, string(t))
	case *lua.LTable:
		v = L.GetTable(t, m.value(0, from, to))
	default:
		L.Push(repl)
		n := m.push(from, to, true)
		L.Call(n, 1)
		v = L.Get(-1)
		L.Pop(1)
	}
	if lua.LVIsFalse(v) {
		return append(b, m.src[from:to]...)
	}
	str, ok := toString(v)
	if !ok {
		m.fail("invalid replacement value (a " + v.Type().String() + ")")
	}
	return append(b, str...)
}

func (m *matcher) template(b []byte, from, to int, repl string) []byte {
	for i := 0; i < len(repl); i++ {
		c := repl[i]
		if c != '%' {
			b = append(b, c)
			continue
		}
		i++
		switch {
		case i >= len(repl):
			b = append(b, 0)
		case '1' <= repl[i] && repl[i] <= '9':
			str, _ := toString(m.value(int(repl[i]-'1'), from, to))
			b = append(b, str...)
		case repl[i] == '0':
			b = append(b, m.src[from:to]...)
		default:
			b = append(b, repl[i])
		}
	}
	return b
}
