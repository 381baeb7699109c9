package stdlib

// patternSet is a set in a pattern.
type patternSet struct {
	bytes   byteSet
	at, end int // where it begins and ends; end is 0 if there is none
}

// set returns the set that begins at p.
func (m *matcher) set(p int) *patternSet {
	for i := range m.sets {
		if s := &m.sets[i]; s.at == p && s.end != 0 {
			return s
		}
	}
	return m.readSet(p)
}

func (m *matcher) readSet(p int) *patternSet {
	end := m.setEnd(p)
	s := &m.sets[m.older&1]
	m.older++
	*s = patternSet{at: p, end: end}
	p++
	negative := m.pat[p] == '^'
	if negative {
		p++
	}
	for last := end - 1; p < last; p++ {
		switch c := m.pat[p]; {
		case c == '%':
			p++
			s.bytes.addEscape(m.pat[p])
		case p+2 < last && m.pat[p+1] == '-':
			s.bytes.addRange(c, m.pat[p+2])
			p += 2
		default:
			s.bytes.addRange(c, c)
		}
	}
	if negative {
		for i := range s.bytes {
			s.bytes[i] = ^s.bytes[i]
		}
	}
	return s
}

// setEnd returns where the set that begins at p ends. A bracket that comes first is an element.
func (m *matcher) setEnd(p int) int {
	pat := m.pat
	if p++; p < len(pat) && pat[p] == '^' {
		p++
	}
	for first := true; p < len(pat) && (first || pat[p] != ']'); first = false {
		if pat[p] == '%' && p+1 < len(pat) {
			p++
		}
		p++
	}
	if p >= len(pat) {
		m.fail("malformed pattern (missing ']')")
	}
	return p + 1
}
