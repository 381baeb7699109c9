package stdlib

import (
	"strconv"
	"strings"

	"godwit/internal/lua"
)

// This file holds the functions of the string library that search: find, match, gmatch and gsub.

// special are the bytes that are no plain text in a pattern.
const special = "^$*+?.([%-"

func stringFind(t *lua.Thread) int  { return firstMatch(t, true) }
func stringMatch(t *lua.Thread) int { return firstMatch(t, false) }

// firstMatch pushes the first match: its captures, after its positions if these are wanted.
func firstMatch(t *lua.Thread, positions bool) int {
	src, pat := t.String(1), t.String(2)
	at := min(max(relative(t.OptInt(3, 1), len(src))-1, 0), len(src))
	if positions && (t.Arg(4).Truthy() ||
		!lua.Scan(t, t.CString(2), special, strings.ContainsAny)) {
		i := lua.Scan(t, src[at:], pat, strings.Index)
		if i < 0 {
			return t.Return(lua.Nil)
		}
		t.Push(lua.Int(at + i + 1))
		t.Push(lua.Int(at + i + len(pat)))
		return 2
	}
	pat, anchored := strings.CutPrefix(t.CString(2), "^")
	m := matcher{t: t, src: src, pat: pat}
	from, to := m.search(at, anchored)
	switch {
	case from < 0:
		return t.Return(lua.Nil)
	case !positions:
		return m.push(from, to, true)
	}
	t.Push(lua.Int(from + 1))
	t.Push(lua.Int(to))
	return m.push(from, to, false) + 2
}

// search returns the first match that begins at a position or, unless anchored, behind it. from is
// -1 if there is none.
func (m *matcher) search(at int, anchored bool) (from, to int) {
	pat := m.pat
	// Most often all matches begin with the same byte.
	skip := !anchored && pat != "" && strings.IndexByte(special+")", pat[0]) < 0 &&
		(len(pat) == 1 || !isSuffix(pat[1]))
	for ; at <= len(m.src); at++ {
		if skip {
			i := strings.IndexByte(m.src[at:], pat[0])
			if i < 0 {
				m.step((len(m.src) - at) / 8)
				break
			}
			m.step(i / 8)
			at += i
		}
		m.level = 0
		m.step(itemCost)
		if to = m.match(at, 0, maxDepth); to >= 0 {
			return at, to
		}
		if anchored {
			break
		}
	}
	return -1, -1
}

// iterationBytes is what a loop over gmatch takes.
const iterationBytes = 144

func stringGmatch(t *lua.Thread) int {
	src, pat, at := t.String(1), t.CString(2), 0
	t.Grow(iterationBytes)
	return t.Return(lua.NativeValue(&lua.Native{
		Name: "gmatch", Holds: []lua.Value{t.Arg(1), t.Arg(2)},
		Fn: func(t *lua.Thread) int {
			m := matcher{t: t, src: src, pat: pat}
			from, to := m.search(at, false)
			if from < 0 {
				return 0
			}
			if at = to; to == from {
				at++
			}
			return m.push(from, to, true)
		},
	}))
}

func stringGsub(t *lua.Thread) int {
	src, pat := t.String(1), t.CString(2)
	most := optCInt(t, 4, len(src)+1)
	pat, anchored := strings.CutPrefix(pat, "^")
	m := matcher{t: t, src: src, pat: pat}
	r := replacement(t)
	var x lua.Buffer
	at, done, n := 0, 0, 0
	for n < most {
		from, to := m.search(at, anchored)
		if from < 0 {
			break
		}
		if n++; n == 1 {
			x = t.Buffer()
		}
		x.Add(src[done:from])
		m.replace(&x, r, from, to)
		if done, at = to, to; to == from {
			at++
		}
		if at > len(src) || anchored {
			break
		}
	}
	if n == 0 {
		t.Push(lua.String(src))
	} else {
		x.Add(src[done:])
		t.Push(x.End())
	}
	t.Push(lua.Int(n))
	return 2
}

// replacement returns argument 3 of gsub: a string, a table or a function.
func replacement(t *lua.Thread) lua.Value {
	v := t.Arg(3)
	switch {
	case v.IsNumber():
		return lua.String(t.String(3))
	case !v.IsString() && !v.IsTable() && !v.IsFunction():
		t.ArgError(3, "string/function/table expected")
	}
	return v
}

// replace adds the replacement of a match.
func (m *matcher) replace(x *lua.Buffer, r lua.Value, from, to int) {
	if r.IsString() {
		m.expand(x, r.Str(), from, to)
		return
	}
	switch v := m.ask(x, r, from, to); {
	case !v.Truthy():
		x.Add(m.src[from:to])
	case v.IsString():
		x.Add(v.Str())
	case v.IsNumber():
		x.Reserve(numberSize)
		x.B = lua.AppendNumber(x.B, v.Num())
	default:
		m.t.Error("invalid replacement value (a " + v.TypeName() + ")")
	}
}

// ask returns what a table or a function has for a match.
func (m *matcher) ask(x *lua.Buffer, r lua.Value, from, to int) lua.Value {
	t, held := m.t, cap(x.B)
	s := t.State()
	s.Held += held
	defer func() { s.Held -= held }()
	if r.IsTable() {
		return t.Index(r, m.value(0, from, to))
	}
	t.Push(r)
	t.Call(m.push(from, to, true), 1)
	return t.Pop()
}

// expand adds a replacement in which % and a digit stand for a capture.
func (m *matcher) expand(x *lua.Buffer, repl string, from, to int) {
	for {
		i := strings.IndexByte(repl, '%')
		if i < 0 {
			x.Add(repl)
			return
		}
		m.step(itemCost + i/8)
		x.Add(repl[:i])
		var c byte // at the end, the zero that ends it in C
		if i++; i < len(repl) {
			c = repl[i]
			i++
		}
		repl = repl[i:]
		switch {
		case c == '0':
			x.Add(m.src[from:to])
		case '1' <= c && c <= '9':
			first, last := m.bounds(int(c-'1'), from, to)
			if last != position {
				x.Add(m.src[first:last])
				break
			}
			x.Reserve(numberSize)
			x.B = strconv.AppendInt(x.B, int64(first)+1, 10)
		default:
			x.Reserve(1)
			x.B = append(x.B, c)
		}
	}
}
