package script

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (s *State) openString() {
	t := s.L.NewTable()
	s.library(t, map[string]lua.LGFunction{
		"byte": s.strByte, "char": s.strChar, "dump": s.strDump, "find": s.strFind,
		"format": s.strFormat, "gmatch": s.strGmatch,
		"gfind": s.strGmatch, "gsub": s.strGsub, "len": s.strLen, "lower": s.strLower,
		"match": s.strMatch, "rep": s.strRep,
		"reverse": s.strReverse, "sub": s.strSub, "upper": s.strUpper,
	})
	s.env.RawSetString("string", t)
	mt := s.L.NewTable()
	mt.RawSetString("__index", t)
	s.operators.into(mt)
	s.L.SetMetatable(lua.LString(""), mt)
	s.protect(mt)
}

func (s *State) strDump(L *lua.LState) int {
	s.argFunction(L, 1)
	s.raise(L, "unable to dump given function")
	return 0
}

// bounds converts Lua's positions to the bounds of a slice.
func bounds(n, from, to int) (int, int) {
	if from < 0 {
		from = max(from+n+1, 0)
	}
	if to < 0 {
		to += n + 1
	}
	from, to = max(from, 1), min(to, n)
	return from - 1, to
}

func (s *State) strSub(L *lua.LState) int {
	str := s.argString(L, 1)
	from, to := bounds(len(str), s.argInt(L, 2), s.optInt(L, 3, -1))
	if from >= to {
		L.Push(lua.LString(""))
	} else {
		s.grow(L, 16)
		L.Push(lua.LString(str[from:to]))
	}
	return 1
}

func (s *State) strByte(L *lua.LState) int {
	str := s.argString(L, 1)
	i := s.optInt(L, 2, 1)
	if i < 0 {
		i += len(str) + 1
	}
	i = max(i, 0)
	from, to := bounds(len(str), i, s.optInt(L, 3, i))
	if from >= to {
		return 0
	}
	if to-from+L.GetTop() > maxResults {
		s.raise(L, "stack overflow (string slice too long)")
	}
	for _, c := range []byte(str[from:to]) {
		L.Push(s.numbers[c])
	}
	return to - from
}

func (s *State) strChar(L *lua.LState) int {
	n := L.GetTop()
	b := make([]byte, n)
	for i := range n {
		c := s.argInt(L, i+1)
		if c < 0 || c > 255 {
			s.badArg(L, i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	L.Push(lua.LString(b))
	return 1
}

func (s *State) strLen(L *lua.LState) int {
	L.Push(s.number(int64(len(s.argString(L, 1)))))
	return 1
}

// mapped pushes the argument with the case of each byte from lo to hi changed. Lua knows ASCII
// only.
func (s *State) mapped(L *lua.LState, lo, hi byte) int {
	str := s.argString(L, 1)
	s.grow(L, len(str))
	b := []byte(str)
	for i, c := range b {
		if lo <= c && c <= hi {
			b[i] = c ^ 32
		}
	}
	L.Push(lua.LString(b))
	return 1
}

func (s *State) strLower(L *lua.LState) int { return s.mapped(L, 'A', 'Z') }
func (s *State) strUpper(L *lua.LState) int { return s.mapped(L, 'a', 'z') }

func (s *State) strReverse(L *lua.LState) int {
	str := s.argString(L, 1)
	s.grow(L, len(str))
	b := make([]byte, len(str))
	for i := range b {
		b[i] = str[len(str)-1-i]
	}
	L.Push(lua.LString(b))
	return 1
}

func (s *State) strRep(L *lua.LState) int {
	str, n := s.argString(L, 1), s.argInt(L, 2)
	if n <= 0 || str == "" {
		L.Push(lua.LString(""))
		return 1
	}
	if n > maxString/len(str) {
		s.raise(L, "resulting string too large")
	}
	s.grow(L, n*len(str))
	L.Push(lua.LString(strings.Repeat(str, n)))
	return 1
}

// directive is one conversion of string.format: flags, width and precision as in C, and the letter.
type directive struct {
	flags        string
	width        string
	precision    string
	hasPrecision bool
	letter       byte
}

func (s *State) directive(L *lua.LState, f string) (d directive, used int) {
	i := 0
	for i < len(f) && strings.IndexByte("-+ #0", f[i]) >= 0 {
		i++
	}
	if i > 5 {
		s.raise(L, "invalid format (repeated flags)")
	}
	d.flags = f[:i]
	digits := func() string {
		from := i
		for i < len(f) && i-from < 2 && f[i] >= '0' && f[i] <= '9' {
			i++
		}
		return f[from:i]
	}
	d.width = digits()
	if i < len(f) && f[i] == '.' {
		i++
		d.precision, d.hasPrecision = digits(), true
	}
	if i < len(f) && f[i] >= '0' && f[i] <= '9' {
		s.raise(L, "invalid format (width or precision too long)")
	}
	if i < len(f) {
		d.letter = f[i]
	}
	return d, i + 1
}

// verb returns the directive for package fmt, whose verbs follow C's.
func (d *directive) verb(letter byte) string {
	v := "%" + d.flags + d.width
	if d.hasPrecision {
		v += "." + d.precision
	}
	return v + string(letter)
}

func (s *State) strFormat(L *lua.LState) int {
	f := s.argString(L, 1)
	b := s.text[:0]
	arg := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			b = append(b, f[i])
			continue
		}
		if i++; i < len(f) && f[i] == '%' {
			b = append(b, '%')
			continue
		}
		if arg++; arg > L.GetTop() {
			s.badArg(L, arg, "no value")
		}
		d, used := s.directive(L, f[i:])
		b = s.formatOne(L, b, &d, arg)
		i += used - 1
	}
	s.grow(L, len(b))
	L.Push(lua.LString(b))
	if s.text = b[:0]; cap(b) > 64<<10 {
		s.text = nil
	}
	return 1
}

func (s *State) formatOne(L *lua.LState, b []byte, d *directive, arg int) []byte {
	switch d.letter {
	case 'c':
		c := string([]byte{byte(s.argInt(L, arg))})
		d.precision, d.hasPrecision = "", false
		return append(b, cString(fmt.Sprintf(d.verb('s'), raw(c)))...)
	case 'd', 'i':
		return s.formatInt(b, d, int64(s.argNumber(L, arg)))
	case 'o', 'u', 'x', 'X':
		n := s.argNumber(L, arg)
		u := uint64(int64(n))
		if n >= 1<<63 {
			u = uint64(n)
		}
		letter := d.letter
		if letter == 'u' {
			letter = 'd'
		}
		d.flags = strings.Map(func(r rune) rune {
			if r == '+' || r == ' ' {
				return -1
			}
			return r
		}, d.flags)
		return fmt.Appendf(b, d.verb(letter), u)
	case 'e', 'E', 'f', 'g', 'G':
		return formatFloat(b, d, s.argNumber(L, arg))
	case 'q':
		return quote(b, s.argString(L, arg))
	case 's':
		str := s.argString(L, arg)
		s.grow(L, len(str))
		return fmt.Appendf(b, d.verb('s'), raw(str))
	}
	opt := ""
	if d.letter != 0 {
		opt = string([]byte{d.letter})
	}
	s.raise(L, "invalid option '%"+opt+"' to 'format'")
	return b
}

// raw is a string whose width and precision count bytes, as in C. Package fmt counts characters.
type raw string

// Format implements fmt.Formatter.
func (r raw) Format(f fmt.State, _ rune) {
	str := string(r)
	if p, ok := f.Precision(); ok && p < len(str) {
		str = str[:p]
	}
	w, _ := f.Width()
	pad := strings.Repeat(" ", max(w-len(str), 0))
	if f.Flag('-') {
		str += pad
	} else {
		str = pad + str
	}
	_, _ = f.Write([]byte(str)) // cannot fail: f is in memory
}

func (s *State) formatInt(b []byte, d *directive, n int64) []byte {
	if d.hasPrecision {
		d.flags = strings.ReplaceAll(d.flags, "0", "") // C ignores it then
	}
	return fmt.Appendf(b, d.verb('d'), n)
}

func formatFloat(b []byte, d *directive, n float64) []byte {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		str := string(appendG(nil, n, 6))
		if n > 0 && strings.Contains(d.flags, "+") {
			str = "+" + str
		}
		if d.letter < 'a' {
			str = strings.ToUpper(str)
		}
		d.flags = strings.ReplaceAll(d.flags, "0", "")
		d.precision, d.hasPrecision = "", false
		return fmt.Appendf(b, d.verb('s'), raw(str))
	}
	if !d.hasPrecision {
		d.precision, d.hasPrecision = "6", true
	}
	if d.letter|32 == 'g' && (d.precision == "" || strings.Trim(d.precision, "0") == "") {
		d.precision = "1"
	}
	return fmt.Appendf(b, d.verb(d.letter), n)
}

// quote writes a string in a form that Lua reads back.
func quote(b []byte, str string) []byte {
	b = append(b, '"')
	for i := range len(str) {
		switch c := str[i]; c {
		case '"', '\\', '\n':
			b = append(b, '\\', c)
		case '\r':
			b = append(b, `\r`...)
		case 0:
			b = append(b, `\000`...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// seventeen formats a number like C's %.17g: numbers become arguments of commands this way.
func seventeen(b []byte, n float64) []byte {
	if n == math.Trunc(n) && math.Abs(n) < 1e15 && !(n == 0 && math.Signbit(n)) {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return appendG(b, n, 17)
}
