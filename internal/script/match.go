package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file matches the patterns of Lua 5.1 (reference manual, 5.4.1) by backtracking over bytes.
// Every step is accounted for, so a pattern that tries for ever ends like any other loop. The
// recursion is bounded.

const (
	maxCaptures     = 32
	maxMatchDepth   = 20000
	captureOpen     = -1
	capturePosition = -2
)

type capture struct{ from, n int }

type matcher struct {
	s        *State
	L        *lua.LState
	src, pat string
	level    int
	depth    int
	steps    int
	capture  [maxCaptures]capture
}

func (m *matcher) fail(msg string) { m.s.raise(m.L, msg) }

func (m *matcher) step() {
	if m.steps++; m.steps >= 256 {
		m.steps = 0
		m.s.spend(m.L, 128)
	}
}

// classEnd returns where the single-character class at p ends.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	if c == '%' {
		if p >= len(m.pat) {
			m.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	}
	if c != '[' {
		return p
	}
	if p < len(m.pat) && m.pat[p] == '^' {
		p++
	}
	for first := true; first || p >= len(m.pat) || m.pat[p] != ']'; first = false {
		if p >= len(m.pat) {
			m.fail("malformed pattern (missing ']')")
		}
		c := m.pat[p]
		p++
		if c == '%' {
			if p >= len(m.pat) {
				m.fail("malformed pattern (missing ']')")
			}
			p++
		}
	}
	return p + 1
}

// inClass reports whether c belongs to the class that letter names.
func inClass(c, letter byte) bool {
	var in bool
	switch letter | 32 {
	case 'a':
		in = 'a' <= c|32 && c|32 <= 'z'
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = '0' <= c && c <= '9'
	case 'l':
		in = 'a' <= c && c <= 'z'
	case 'p':
		in = isPunct(c)
	case 's':
		in = c == ' ' || 9 <= c && c <= 13
	case 'u':
		in = 'A' <= c && c <= 'Z'
	case 'w':
		in = 'a' <= c|32 && c|32 <= 'z' || '0' <= c && c <= '9'
	case 'x':
		in = '0' <= c && c <= '9' || 'a' <= c|32 && c|32 <= 'f'
	case 'z':
		in = c == 0
	default:
		return letter == c
	}
	if 'A' <= letter && letter <= 'Z' {
		return !in
	}
	return in
}

func isPunct(c byte) bool {
	return 33 <= c && c <= 126 && !('a' <= c|32 && c|32 <= 'z') && !('0' <= c && c <= '9')
}

// inSet reports whether c is in the set m.pat[p:end], which begins with '[' and ends with ']'.
func (m *matcher) inSet(c byte, p, end int) bool {
	want := true
	p++
	if m.pat[p] == '^' {
		want = false
		p++
	}
	for ; p < end-1; p++ {
		switch {
		case m.pat[p] == '%':
			p++
			if inClass(c, m.pat[p]) {
				return want
			}
		case p+2 < end-1 && m.pat[p+1] == '-':
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return want
			}
			p += 2
		case m.pat[p] == c:
			return want
		}
	}
	return !want
}

// single reports whether the character at s matches the class m.pat[p:end].
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pat[p+1])
	case '[':
		return m.inSet(c, p, end)
	}
	return m.pat[p] == c
}

// match matches m.pat[p:] at s and returns where the match ends, or -1.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		m.fail("pattern too complex")
	}
	defer func() { m.depth-- }()
	for p < len(m.pat) {
		m.step()
		switch m.pat[p] {
		case '(':
			if p+1 < len(m.pat) && m.pat[p+1] == ')' {
				return m.open(s, p+2, capturePosition)
			}
			return m.open(s, p+1, captureOpen)
		case ')':
			return m.close(s, p+1)
		case '$':
			if p+1 == len(m.pat) {
				if s == len(m.src) {
					return s
				}
				return -1
			}
		case '%':
			next, ends, done := m.special(s, p)
			if done {
				if next < 0 {
					return -1
				}
				s, p = next, ends
				continue
			}
		}
		end := m.classEnd(p)
		var suffix byte
		if end < len(m.pat) {
			suffix = m.pat[end]
		}
		switch suffix {
		case '?':
			if m.single(s, p, end) {
				if r := m.match(s+1, end+1); r >= 0 {
					return r
				}
			}
			p = end + 1
			continue
		case '*':
			return m.most(s, p, end, 0)
		case '+':
			return m.most(s, p, end, 1)
		case '-':
			return m.least(s, p, end)
		}
		if !m.single(s, p, end) {
			return -1
		}
		s, p = s+1, end
	}
	return s
}

// special handles %b, %f and back references. It returns done as false for an escaped class.
func (m *matcher) special(s, p int) (next, ends int, done bool) {
	if p+1 >= len(m.pat) {
		return 0, 0, false
	}
	switch c := m.pat[p+1]; {
	case c == 'b':
		return m.balance(s, p+2), p + 4, true
	case c == 'f':
		p += 2
		if p >= len(m.pat) || m.pat[p] != '[' {
			m.fail("missing '[' after '%f' in pattern")
		}
		end := m.classEnd(p)
		var before, after byte
		if s > 0 {
			before = m.src[s-1]
		}
		if s < len(m.src) {
			after = m.src[s]
		}
		if m.inSet(before, p, end) || !m.inSet(after, p, end) {
			return -1, 0, true
		}
		return s, end, true
	case '0' <= c && c <= '9':
		return m.again(s, c), p + 2, true
	}
	return 0, 0, false
}

// balance matches %bxy.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.fail("unbalanced pattern")
	}
	if s >= len(m.src) || m.src[s] != m.pat[p] {
		return -1
	}
	open, closing, depth := m.pat[p], m.pat[p+1], 1
	for i := s + 1; i < len(m.src); i++ {
		m.step()
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	return -1
}

// again matches what a capture has matched.
func (m *matcher) again(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.capture[i].n == captureOpen {
		m.fail("invalid capture index")
	}
	c := m.capture[i]
	if c.n < 0 {
		return -1
	}
	if strings.HasPrefix(m.src[s:], m.src[c.from:c.from+c.n]) {
		return s + c.n
	}
	return -1
}

func (m *matcher) most(s, p, end, least int) int {
	n := 0
	for m.single(s+n, p, end) {
		m.step()
		n++
	}
	for ; n >= least; n-- {
		m.step()
		if r := m.match(s+n, end+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (m *matcher) least(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r >= 0 {
			return r
		}
		if !m.single(s, p, end) {
			return -1
		}
		s++
	}
}

func (m *matcher) open(s, p, kind int) int {
	if m.level >= maxCaptures {
		m.fail("too many captures")
	}
	m.capture[m.level] = capture{s, kind}
	m.level++
	r := m.match(s, p)
	if r < 0 {
		m.level--
	}
	return r
}

func (m *matcher) close(s, p int) int {
	for i := m.level - 1; i >= 0; i-- {
		if m.capture[i].n != captureOpen {
			continue
		}
		m.capture[i].n = s - m.capture[i].from
		r := m.match(s, p)
		if r < 0 {
			m.capture[i].n = captureOpen
		}
		return r
	}
	m.fail("invalid pattern capture")
	return -1
}

// value returns capture i, or the whole match from..to if there are no captures.
func (m *matcher) value(i, from, to int) lua.LValue {
	if i >= m.level {
		if i != 0 {
			m.fail("invalid capture index")
		}
		return m.slice(from, to)
	}
	c := m.capture[i]
	switch c.n {
	case capturePosition:
		return lua.LNumber(c.from + 1)
	case captureOpen:
		m.fail("unfinished capture")
	}
	return m.slice(c.from, c.from+c.n)
}

func (m *matcher) slice(from, to int) lua.LValue {
	m.s.grow(m.L, 16) // the slice shares its bytes
	return lua.LString(m.src[from:to])
}

// push pushes the captures. If there are none and whole is set, it pushes the whole match.
func (m *matcher) push(from, to int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.L.Push(m.value(i, from, to))
	}
	return n
}

// begin prepares for another match.
func (m *matcher) begin() { m.level, m.depth = 0, 0 }

// cString cuts a string at its first zero byte, where a pattern or a number ends in Lua 5.1.
func cString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}
