package compiler

import (
	"fmt"
	"strings"

	"godwit/internal/lua/number"
)

// Error is a syntax error. Msg is as Lua prints it, with the position.
type Error struct{ Msg string }

// Error implements error.
func (e *Error) Error() string { return e.Msg }

// lexer splits a source into tokens. It looks one token ahead at most.
type lexer struct {
	src      string
	source   string // the chunk's name in messages at run time
	longName string // and in those of the compiler
	pos      int
	line     int // of the last token that was read, be it the current one or the next
	lastLine int // of the token before the current one
	tok      token
	ahead    token
	has      bool // ahead is valid

	grow  func(bytes int) error
	owed  int // bytes that grow has not been told of
	asked int // pos when grow was called
}

// askEvery is how many bytes of source or of memory lie between two calls of Options.Grow.
const askEvery = 4096

// lookEvery is the same in the middle of a token.
const lookEvery = 64 << 10

// fail panics with an Error, which Compile returns.
func (l *lexer) fail(msg, near string) {
	msg = fmt.Sprintf("%s:%d: %s", l.longName, l.line, msg)
	if near != "" {
		near, _, _ = strings.Cut(near, "\x00") // C strings end there
		msg += " near '" + near + "'"
	}
	panic(&Error{msg})
}

// syntaxError fails at the current token.
func (l *lexer) syntaxError(msg string) { l.fail(msg, l.tok.text()) }

// next goes to the next token.
func (l *lexer) next() {
	l.lastLine = l.line
	if l.has {
		l.tok, l.has = l.ahead, false
		return
	}
	l.tok = l.lex()
	if l.owed+l.pos-l.asked >= askEvery {
		l.ask()
	}
}

// ask tells the host what memory is used, and lets it end the compilation.
func (l *lexer) ask() {
	if l.grow != nil {
		if err := l.grow(l.owed); err != nil {
			panic(&stop{err})
		}
	}
	l.owed, l.asked = 0, l.pos
}

// peek returns the kind of the token after the current one.
func (l *lexer) peek() kind {
	if !l.has {
		l.ahead, l.has = l.lex(), true
	}
	return l.ahead.kind
}

// at returns the byte i places ahead, or 0 beyond the end.
func (l *lexer) at(i int) byte {
	if l.pos+i < len(l.src) {
		return l.src[l.pos+i]
	}
	return 0
}

// newline skips a line break, which is one character or two different ones.
func (l *lexer) newline() {
	c := l.src[l.pos]
	l.pos++
	if d := l.at(0); (d == '\n' || d == '\r') && d != c {
		l.pos++
	}
	l.line++
	l.look()
}

// look calls ask in the middle of a token if it is long.
func (l *lexer) look() {
	if l.pos-l.asked >= lookEvery {
		l.ask()
	}
}

func (l *lexer) lex() token {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n' || c == '\r':
			l.newline()
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			l.pos++
		case c == '-' && l.at(1) == '-':
			l.comment()
		default:
			return l.lexToken(c)
		}
	}
	return token{kind: tkEOF}
}

func (l *lexer) comment() {
	l.pos += 2
	if l.at(0) == '[' {
		if n, ok := l.longOpen(); ok {
			l.long(n, "comment")
			return
		}
	}
	if n := strings.IndexAny(l.src[l.pos:], "\r\n"); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.src)
	}
}

// longOpen returns the level of the long bracket that opens here. Without one, ok is false, and
// level is the number of equal signs.
func (l *lexer) longOpen() (level int, ok bool) {
	for l.at(1+level) == '=' {
		level++
	}
	return level, l.at(1+level) == '['
}

func (l *lexer) lexToken(c byte) token {
	switch {
	case isLetter(c):
		return l.name()
	case number.IsDigit(c) || c == '.' && number.IsDigit(l.at(1)):
		return l.number()
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '[':
		from := l.pos
		n, ok := l.longOpen()
		if ok {
			s := l.long(n, "string")
			return token{kind: tkString, open: l.src[from : from+n+2], str: s}
		}
		if n > 0 {
			l.fail("invalid long string delimiter", l.src[from:from+1+n])
		}
	}
	return l.operator(c)
}

func (l *lexer) operator(c byte) token {
	k := kind(c)
	switch n := l.at(1); {
	case c == '=' && n == '=':
		k = tkEq
	case c == '<' && n == '=':
		k = tkLe
	case c == '>' && n == '=':
		k = tkGe
	case c == '~' && n == '=':
		k = tkNe
	case c == '.' && l.dot(1):
		k = tkConcat
		if l.dot(2) {
			k = tkDots
			l.pos++
		}
	default:
		l.pos++
		return token{kind: k}
	}
	l.pos += 2
	return token{kind: k}
}

// dot reports whether a dot is i places ahead. A zero byte counts as one: Lua looks for the byte
// with C's strchr, which finds the end of its string.
func (l *lexer) dot(i int) bool {
	c := l.at(i)
	return c == '.' || c == 0 && l.pos+i < len(l.src)
}

// word skips letters and digits and returns them.
func (l *lexer) word() string {
	from := l.pos
	for l.pos < len(l.src) && (isLetter(l.src[l.pos]) || number.IsDigit(l.src[l.pos])) {
		l.pos++
	}
	return l.src[from:l.pos]
}

func (l *lexer) name() token {
	s := l.word()
	if k := keywords[s]; k != 0 {
		return token{kind: k, str: s}
	}
	return token{kind: tkName, str: s}
}

func (l *lexer) number() token {
	from := l.pos
	for c := l.at(0); number.IsDigit(c) || c == '.'; c = l.at(0) {
		l.pos++
	}
	// C's strchr finds a zero byte too.
	if l.pos < len(l.src) && (l.at(0)|32 == 'e' || l.at(0) == 0) {
		l.pos++
		if c := l.at(0); l.pos < len(l.src) && (c == '+' || c == '-' || c == 0) {
			l.pos++
		}
	}
	l.word()
	s, _, _ := strings.Cut(l.src[from:l.pos], "\x00")
	n, ok := number.Parse(s)
	if !ok {
		l.fail("malformed number", s)
	}
	return token{kind: tkNumber, num: n, str: s}
}

// isLetter reports whether a name may begin with c.
func isLetter(c byte) bool { return 'a' <= c|32 && c|32 <= 'z' || c == '_' }
