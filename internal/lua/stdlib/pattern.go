package stdlib

// pattern is what is known of a pattern. It is kept until there is another one: scripts search for
// the same again and again.
type pattern struct {
	text  [maxKept]byte
	n     int  // length of the text
	known bool // the text is that of the pattern

	lead    byte // with which all matches begin
	hasLead bool
	sets    [2]patternSet // those used last
	older   uint8         // which of them is replaced next
}

// maxKept is the length of the longest pattern that is kept.
const maxKept = 48

// patternSet is a set in a pattern.
type patternSet struct {
	bytes   byteSet
	at, end int // where it begins and ends; end is 0 if there is none
}

// use prepares for a pattern.
func (p *pattern) use(pat string) {
	if p.known && string(p.text[:p.n]) == pat {
		return
	}
	if p.known = len(pat) <= maxKept; p.known {
		p.n = copy(p.text[:], pat)
	}
	p.sets[0].end, p.sets[1].end = 0, 0
	p.lead, p.hasLead = firstByte(pat)
}

// firstByte returns the byte with which all matches of a pattern begin, if there is one.
func firstByte(pat string) (c byte, ok bool) {
	if pat == "" {
		return 0, false
	}
	if classes[pat[0]]&leading != 0 {
		if len(pat) == 1 || pat[0] != '%' || classes[pat[1]]&(alpha|decimal) != 0 {
			return 0, false
		}
		pat = pat[1:]
	}
	if len(pat) > 1 && classes[pat[1]]&suffix != 0 && pat[1] != '+' {
		return 0, false
	}
	return pat[0], true
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
