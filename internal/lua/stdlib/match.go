package stdlib

import (
	"strings"

	"godwit/internal/lua"
	"godwit/internal/lua/number"
)

// This file matches the patterns of Lua 5.1 (reference manual, 5.4.1) by backtracking over bytes.
// Every step is accounted for, so a pattern that tries for ever ends like any other loop. The
// recursion is bounded.

const (
	maxCaptures = 32
	// maxDepth bounds the recursion. Lua 5.1 does not, and crashes some way beyond it.
	maxDepth = 20000
	// itemCost is what a step in the pattern costs, if a byte of a class that is repeated costs 1.
	itemCost = 4
	// costPerLook is how much is done before it is accounted for.
	costPerLook = 1024
)

// capture is a part of the subject.
type capture struct{ from, n int32 }

// What a capture has for a length besides a length.
const (
	open     = -1 // it has only begun
	position = -2 // of a capture without content
)

// matcher matches one pattern.
type matcher struct {
	t        *lua.Thread
	src, pat string
	cost     int
	level    int // captures that have begun
	captures [maxCaptures]capture
}

// step accounts for work.
func (m *matcher) step(cost int) {
	if m.cost += cost; m.cost >= costPerLook {
		m.spend()
	}
}

func (m *matcher) spend() {
	cost := m.cost
	m.cost = 0
	m.t.Spend(cost / (2 * itemCost))
}

// single reports whether the byte at s matches the class m.pat[p:end].
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.src) {
		return false
	}
	switch c := m.src[s]; m.pat[p] {
	case '.':
		return true
	case '[':
		return m.inSet(m.pat[p:end], c)
	case '%':
		return isA(c, m.pat[p+1])
	default:
		return c == m.pat[p]
	}
}

// classEnd returns where the class that begins at p ends.
func (m *matcher) classEnd(p int) int {
	switch pat := m.pat; pat[p] {
	case '[':
		return m.setEnd(p)
	case '%':
		if p+1 == len(pat) {
			m.t.Error("malformed pattern (ends with '%')")
		}
		return p + 2
	}
	return p + 1
}

// setEnd returns where the set that begins at p ends. A bracket that comes first is an element.
func (m *matcher) setEnd(p int) int {
	pat := m.pat
	if p++; p < len(pat) && pat[p] == '^' {
		p++
	}
	for first := true; p < len(pat) && (first || pat[p] != ']'); first = false {
		m.step(1)
		if pat[p] == '%' && p+1 < len(pat) {
			p++
		}
		p++
	}
	if p >= len(pat) {
		m.t.Error("malformed pattern (missing ']')")
	}
	return p + 1
}

// inSet is the function inSet. It accounts for the time.
func (m *matcher) inSet(set string, c byte) bool {
	if len(set) >= lua.LongWork {
		return lua.Scan(m.t, set, c, inSet)
	}
	m.step(len(set))
	return inSet(set, c)
}

// match matches m.pat[p:] at s and returns where the match ends, or -1.
func (m *matcher) match(s, p, depth int) int {
	if depth == 0 {
		m.t.Error("pattern too complex")
	}
	for p < len(m.pat) {
		m.step(itemCost)
		switch c := m.pat[p]; {
		case c == '(':
			return m.open(s, p+1, depth)
		case c == ')':
			return m.close(s, p+1, depth)
		case c == '$' && p+1 == len(m.pat):
			if s < len(m.src) {
				return -1
			}
			return s
		}
		end := m.classEnd(p)
		if c := m.pat[end-1]; m.pat[p] == '%' && (c == 'b' || c == 'f' || number.IsDigit(c)) {
			if s, p = m.special(s, p+1); s < 0 {
				return -1
			}
			continue
		}
		in := m.single(s, p, end)
		if end < len(m.pat) && isSuffix(m.pat[end]) {
			next, done := m.repeat(s, p, end, depth, in)
			if done {
				return next
			}
			p = end + 1
			continue
		}
		if !in {
			return -1
		}
		s, p = s+1, end
	}
	return s
}

// isSuffix reports whether c behind a class says how often it is repeated.
func isSuffix(c byte) bool { return c == '*' || c == '+' || c == '-' || c == '?' }

// repeat matches the class that begins at p as the suffix at end says, and what follows. in reports
// whether the class matches at s. done is false if the caller has to match what follows, at s.
func (m *matcher) repeat(s, p, end, depth int, in bool) (next int, done bool) {
	switch m.pat[end] {
	case '*':
		return m.most(s, p, end, depth), true
	case '+':
		if !in {
			return -1, true
		}
		return m.most(s+1, p, end, depth), true
	case '-':
		return m.least(s, p, end, depth), true
	}
	if in {
		if r := m.match(s+1, end+1, depth-1); r >= 0 {
			return r, true
		}
	}
	return 0, false
}

// special matches %b, %f and back references. p is behind the %. It returns where the match and the
// item end. The former is -1 if there is no match.
func (m *matcher) special(s, p int) (int, int) {
	switch c := m.pat[p]; c {
	case 'b':
		return m.balance(s, p+1), p + 3
	case 'f':
		p++
		if p >= len(m.pat) || m.pat[p] != '[' {
			m.t.Error("missing '[' after '%f' in pattern")
		}
		var before, after byte
		if s > 0 {
			before = m.src[s-1]
		}
		if s < len(m.src) {
			after = m.src[s]
		}
		end := m.setEnd(p)
		if set := m.pat[p:end]; m.inSet(set, before) || !m.inSet(set, after) {
			return -1, 0
		}
		return s, end
	default:
		return m.again(s, c), p + 1
	}
}

// balance matches %bxy. p is behind the b.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.t.Error("unbalanced pattern")
	}
	opening, closing, depth := m.pat[p], m.pat[p+1], 1
	if s >= len(m.src) || m.src[s] != opening {
		return -1
	}
	for i := s + 1; i < len(m.src); i++ {
		m.step(1)
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case opening:
			depth++
		}
	}
	return -1
}

// again matches what a capture has matched.
func (m *matcher) again(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.captures[i].n == open {
		m.t.Error("invalid capture index")
	}
	c := m.captures[i]
	if c.n < 0 {
		return -1
	}
	m.step(int(c.n) / 8)
	if strings.HasPrefix(m.src[s:], m.src[c.from:c.from+c.n]) {
		return s + int(c.n)
	}
	return -1
}

// most matches as many bytes of a class as it can, and then what follows at end.
func (m *matcher) most(s, p, end, depth int) int {
	n := 0
	for m.single(s+n, p, end) {
		m.step(1)
		n++
	}
	end++
	if end == len(m.pat) {
		return s + n
	}
	for ; n >= 0; n-- {
		if r := m.match(s+n, end, depth-1); r >= 0 {
			return r
		}
	}
	return -1
}

// least matches as few bytes of a class as it can before what follows at end.
func (m *matcher) least(s, p, end, depth int) int {
	for {
		if r := m.match(s, end+1, depth-1); r >= 0 {
			return r
		}
		if !m.single(s, p, end) {
			return -1
		}
		s++
	}
}

// open begins a capture. p is behind the bracket.
func (m *matcher) open(s, p, depth int) int {
	if m.level >= maxCaptures {
		m.t.Error("too many captures")
	}
	c := capture{int32(s), open}
	if p < len(m.pat) && m.pat[p] == ')' {
		c.n = position
		p++
	}
	m.captures[m.level] = c
	m.level++
	r := m.match(s, p, depth-1)
	if r < 0 {
		m.level--
	}
	return r
}

// close ends the capture that has begun last. p is behind the bracket.
func (m *matcher) close(s, p, depth int) int {
	for i := m.level - 1; i >= 0; i-- {
		c := &m.captures[i]
		if c.n != open {
			continue
		}
		c.n = int32(s) - c.from
		r := m.match(s, p, depth-1)
		if r < 0 {
			c.n = open
		}
		return r
	}
	m.t.Error("invalid pattern capture")
	return -1
}

// bounds returns where capture i is. The whole match from … to is the only capture if there are
// none. last is position if the capture is one.
func (m *matcher) bounds(i, from, to int) (first, last int) {
	if i >= m.level {
		if i != 0 {
			m.t.Error("invalid capture index")
		}
		return from, to
	}
	c := m.captures[i]
	switch c.n {
	case open:
		m.t.Error("unfinished capture")
	case position:
		return int(c.from), position
	}
	return int(c.from), int(c.from + c.n)
}

// value returns capture i.
func (m *matcher) value(i, from, to int) lua.Value {
	first, last := m.bounds(i, from, to)
	if last == position {
		return lua.Int(first + 1)
	}
	return part(m.t, m.src, first, last)
}

// push pushes the captures and returns their number. If there are none and whole is set, it pushes
// the match.
func (m *matcher) push(from, to int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.t.Push(m.value(i, from, to))
	}
	return n
}
