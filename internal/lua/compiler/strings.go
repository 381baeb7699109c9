package compiler

import (
	"strings"

	"godwit/internal/lua/number"
)

// This file reads strings. A string without escapes is a part of the source.

// long reads a long string or comment of the given level. pos is at its opening bracket.
func (l *lexer) long(level int, what string) string {
	l.pos += level + 2
	if c := l.at(0); c == '\n' || c == '\r' {
		l.newline()
	}
	closing := "]" + strings.Repeat("=", level) + "]"
	text, _, closed := strings.Cut(l.src[l.pos:], closing)
	var b []byte // what precedes from, if there are line breaks
	from, end := l.pos, l.pos+len(text)
	for {
		n := strings.IndexAny(l.src[l.pos:end], "\r\n")
		if n < 0 {
			break
		}
		l.pos += n
		b = append(append(b, l.src[from:l.pos]...), '\n')
		l.newline()
		from = l.pos
	}
	if l.pos = end; !closed {
		l.fail("unfinished long "+what, tkEOF.String())
	}
	l.pos += len(closing)
	if b == nil {
		return text
	}
	l.owed += len(text)
	return string(append(b, l.src[from:end]...))
}

// quoted reads a string in quotes.
func (l *lexer) quoted(q byte) token {
	open := l.src[l.pos : l.pos+1]
	l.pos++
	var b []byte // what precedes from, if that differs from the source
	from := l.pos
	for ; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; c {
		case q:
			s := l.src[from:l.pos]
			if b != nil {
				s = string(append(b, s...))
				l.owed += len(s)
			}
			l.pos++
			return token{kind: tkString, open: open, str: s}
		case '\n', '\r':
			l.fail("unfinished string", open+string(b)+l.src[from:l.pos])
		case '\\':
			b = append(b, l.src[from:l.pos]...)
			l.pos++
			b = l.escape(b, open)
			from = l.pos
			l.pos--
		}
	}
	l.fail("unfinished string", tkEOF.String())
	return token{}
}

// escape reads what follows a backslash. open and b are what a message shows.
func (l *lexer) escape(b []byte, open string) []byte {
	if l.pos >= len(l.src) {
		return b // the caller notices the end
	}
	c := l.src[l.pos]
	switch {
	case c == '\n' || c == '\r':
		l.newline()
		return append(b, '\n')
	case number.IsDigit(c):
		n := 0
		for i := 0; i < 3 && number.IsDigit(l.at(0)); i++ {
			n = n*10 + int(l.at(0)-'0')
			l.pos++
		}
		if n > 255 {
			l.fail("escape sequence too large", open+string(b))
		}
		return append(b, byte(n))
	}
	l.look()
	l.pos++
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		c = "\a\b\f\n\r\t\v"[i]
	}
	return append(b, c)
}
