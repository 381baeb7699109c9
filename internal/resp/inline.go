package resp

import "bytes"

// inline parses a line of words, the form people type into telnet. Its end is LF; a CR before it
// is dropped. The rule for lines over the limit does not depend on how the bytes arrive: the LF
// must be among the first limit+1 bytes.
func (p *Parser) inline(buf []byte, lim *Limits) ([][]byte, int, error) {
	limit := lim.maxInline()
	stop := min(len(buf), limit+1)
	from := min(p.scan, stop)
	lf := -1
	if from == stop || buf[from] != 0 { // at a NUL the rest was already given up
		lf = p.lineFeed(buf[from:stop])
	}
	if lf < 0 {
		if len(buf) > limit {
			return nil, 0, errBigInline
		}
		return nil, 0, nil
	}
	end := from + lf
	line := buf[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	if cap(p.scratch) > keepScratch && len(line) <= keepScratch {
		p.scratch = nil
	}
	p.spans = p.spans[:0]
	p.scratch = p.scratch[:0]
	if !p.split(line) {
		return nil, 0, errQuotes
	}
	p.steps += len(line)
	return p.finish(p.scratch), end + 1, nil
}

// lineFeed returns the offset of the LF in b, or -1, and moves scan to it or past what it has
// searched. A NUL hides the rest of the line, see line: scan then stays on it.
func (p *Parser) lineFeed(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	p.steps += len(b) + 1
	end := len(b)
	if nul := bytes.IndexByte(b, 0); nul >= 0 {
		end, lf = nul, -1
	}
	p.scan += end
	return lf
}

// split cuts line into words, decoded into scratch, and sets spans to them. It reports whether
// every quote is closed and followed by a space or the end.
//
//	plain words      end at a space, tab, CR or LF; a quote inside one starts a quoted part
//	"double quotes"  know \xHH, \n, \r, \t, \b, \a; a backslash before another byte is dropped
//	'single quotes'  know only \'
//
// Words are decoded into memory of our own, never in place: the caller's bytes stay unchanged.
func (p *Parser) split(line []byte) bool {
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return true
		}
		start := len(p.scratch)
		n, ok := p.word(line[i:])
		if !ok {
			return false
		}
		i += n
		p.spans = append(p.spans, span{start, len(p.scratch)})
	}
}

// word decodes the word at the start of s and returns how many bytes it took.
func (p *Parser) word(s []byte) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case ' ', '\n', '\r', '\t':
			return i, true
		case '"', '\'':
			i++
			var closed int
			if c == '"' {
				closed = p.doubleQuoted(s[i:])
			} else {
				closed = p.singleQuoted(s[i:])
			}
			if closed < 0 {
				return 0, false
			}
			i += closed + 1 // after the closing quote
			if i < len(s) && !isSpace(s[i]) {
				return 0, false
			}
			return i, true
		default:
			p.scratch = append(p.scratch, c)
		}
	}
	return len(s), true
}

// doubleQuoted decodes up to the closing quote and returns its offset in s, or -1.
func (p *Parser) doubleQuoted(s []byte) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			return i
		case c == '\\' && i+3 < len(s) && s[i+1] == 'x' && isHex(s[i+2]) && isHex(s[i+3]):
			p.scratch = append(p.scratch, unhex(s[i+2])<<4|unhex(s[i+3]))
			i += 3
		case c == '\\' && i+1 < len(s):
			i++
			p.scratch = append(p.scratch, unescape(s[i]))
		default:
			p.scratch = append(p.scratch, c)
		}
	}
	return -1
}

// singleQuoted does what doubleQuoted does, for single quotes.
func (p *Parser) singleQuoted(s []byte) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\'' {
			return i
		}
		if c == '\\' && i+1 < len(s) && s[i+1] == '\'' {
			i++
			c = '\''
		}
		p.scratch = append(p.scratch, c)
	}
	return -1
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

// isSpace reports what isspace of C reports in the "C" locale.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
