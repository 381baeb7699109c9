package stdlib

import (
	"strings"

	"godwit/internal/lua"
)

// This file matches the patterns of Lua 5.1 (reference manual, 5.4.1) by backtracking over bytes.
// Every step is accounted for, so a pattern that tries for ever ends like any other loop. The
// recursion is bounded.

const (
	maxCaptures = 32
	// maxDepth bounds the recursion. Lua 5.1 does not, and crashes some way beyond it.
	maxDepth = 20000
	// stepsPerLook is how many steps are made before they are accounted for.
	stepsPerLook = 256
)

// capture is a part of the subject.
type capture struct{ from, n int32 }

// What a capture has for a length besides a length.
const (
	open     = -1 // it has only begun
	position = -2 // of a capture without content
)

// matcher matches one pattern. It lives on the stack of the function that searches, so what is
// large is elsewhere.
type matcher struct {
	t        *lua.Thread
	src, pat string
	steps    int
	*scratch
}

// matcher returns a matcher for a subject and a pattern, which is what follows an anchor.
func (a *scratch) matcher(t *lua.Thread, src, pat string) matcher {
	a.use(pat)
	return matcher{t: t, src: src, pat: pat, scratch: a}
}

// found is what a matcher has found out. Matchers share it: one of them is in use at a time.
type found struct {
	level    int // captures that have begun
	captures [maxCaptures]capture
	pattern
}

func (m *matcher) fail(msg string) { m.t.Error(msg) }

// step accounts for steps.
func (m *matcher) step(n int) {
	if m.steps += n; m.steps >= stepsPerLook {
		m.spend()
	}
}

func (m *matcher) spend() {
	n := m.steps
	m.steps = 0
	m.t.Spend(n / 2)
}

// single reports whether the byte at s matches the class that begins at p.
func (m *matcher) single(s, p int) bool {
	if s >= len(m.src) {
		return false
	}
	c, want := m.src[s], m.pat[p]
	switch want {
	case '.':
		return true
	case '[':
		return m.set(p).bytes.has(c)
	case '%':
		return isA(c, m.pat[p+1])
	}
	return c == want
}

// isA reports whether c belongs to the class that a letter stands for after a %. Other bytes than
// those letters stand for themselves.
func isA(c, letter byte) bool {
	if class := letters[letter]; class != 0 {
		return (classes[c]&class != 0) == (class < negated)
	}
	return c == letter
}

// match matches m.pat[p:] at s and returns where the match ends, or -1.
func (m *matcher) match(s, p, depth int) int {
	if depth == 0 {
		m.fail("pattern too complex")
	}
	for p < len(m.pat) {
		m.step(1)
		end, in := p+1, false
		switch c := m.pat[p]; c {
		case '(':
			return m.open(s, end, depth)
		case ')':
			return m.close(s, end, depth)
		case '[':
			set := m.set(p)
			end = set.end
			in = s < len(m.src) && set.bytes.has(m.src[s])
		case '.':
			in = s < len(m.src)
		case '%':
			if end == len(m.pat) {
				m.fail("malformed pattern (ends with '%')")
			}
			letter := m.pat[end]
			if letter == 'b' || letter == 'f' || letter-'0' <= 9 {
				if s, p = m.special(s, end); s < 0 {
					return -1
				}
				continue
			}
			end++
			in = s < len(m.src) && isA(m.src[s], letter)
		default:
			if c == '$' && end == len(m.pat) {
				if s < len(m.src) {
					return -1
				}
				return s
			}
			in = s < len(m.src) && m.src[s] == c
		}
		if end < len(m.pat) && classes[m.pat[end]]&suffix != 0 {
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
			m.fail("missing '[' after '%f' in pattern")
		}
		var before, after byte
		if s > 0 {
			before = m.src[s-1]
		}
		if s < len(m.src) {
			after = m.src[s]
		}
		set := m.set(p)
		if set.bytes.has(before) || !set.bytes.has(after) {
			return -1, 0
		}
		return s, set.end
	default:
		return m.again(s, c), p + 1
	}
}

// balance matches %bxy. p is behind the b.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.fail("unbalanced pattern")
	}
	opening, closing, depth := m.pat[p], m.pat[p+1], 1
	if s >= len(m.src) || m.src[s] != opening {
		return -1
	}
	for i := s + 1; i < len(m.src); i++ {
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				m.step((i - s) % chunk / 4)
				return i + 1
			}
		case opening:
			depth++
		}
		if (i-s)%chunk == 0 {
			m.step(chunk / 4)
		}
	}
	m.step((len(m.src) - s) % chunk / 4)
	return -1
}

// again matches what a capture has matched.
func (m *matcher) again(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.captures[i].n == open {
		m.fail("invalid capture index")
	}
	c := m.captures[i]
	if c.n < 0 {
		return -1
	}
	m.step(int(c.n) / bytesPerStep)
	if strings.HasPrefix(m.src[s:], m.src[c.from:c.from+c.n]) {
		return s + int(c.n)
	}
	return -1
}

// most matches as many bytes of a class as it can, and then what follows at end.
func (m *matcher) most(s, p, end, depth int) int {
	n := m.run(s, p)
	end++
	if end == len(m.pat) {
		return s + n
	}
	for ; n >= 0; n-- {
		m.step(1)
		if r := m.match(s+n, end, depth-1); r >= 0 {
			return r
		}
	}
	return -1
}

// chunk is how many bytes are looked at before they are accounted for.
const chunk = 64 << 10

// run returns how many bytes from s on match the class that begins at p.
func (m *matcher) run(s, p int) int {
	src, n := m.src[s:], 0
	for n < len(src) {
		size := min(len(src)-n, chunk)
		k := m.span(src[n:n+size], p)
		m.step(k / 4)
		if n += k; k < size {
			break
		}
	}
	return n
}

// span returns how many bytes at the beginning of src match the class that begins at p.
func (m *matcher) span(src string, p int) int {
	n := 0
	switch c := m.pat[p]; c {
	case '.':
		return len(src)
	case '[':
		set := &m.set(p).bytes
		for n < len(src) && set.has(src[n]) {
			n++
		}
		return n
	case '%':
		c = m.pat[p+1]
		if class := letters[c]; class != 0 {
			for n < len(src) && (classes[src[n]]&class != 0) == (class < negated) {
				n++
			}
			return n
		}
		fallthrough
	default:
		for n < len(src) && src[n] == c {
			n++
		}
		return n
	}
}

// least matches as few bytes of a class as it can before what follows at end.
func (m *matcher) least(s, p, end, depth int) int {
	for {
		if r := m.match(s, end+1, depth-1); r >= 0 {
			return r
		}
		if !m.single(s, p) {
			return -1
		}
		s++
	}
}

// open begins a capture. p is behind the bracket.
func (m *matcher) open(s, p, depth int) int {
	if m.level >= maxCaptures {
		m.fail("too many captures")
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
	m.fail("invalid pattern capture")
	return -1
}

// bounds returns where capture i is. The whole match from … to is the only capture if there are
// none. last is position if the capture is one.
func (m *matcher) bounds(i, from, to int) (first, last int) {
	if i >= m.level {
		if i != 0 {
			m.fail("invalid capture index")
		}
		return from, to
	}
	c := m.captures[i]
	switch c.n {
	case open:
		m.fail("unfinished capture")
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
