package syntax

import (
	"fmt"
	"math"
	"strings"

	"godwit/internal/strtod"
)

// kind is the kind of a token; single characters stand for themselves.
type kind int

const (
	tkAnd kind = iota + 257
	tkBreak
	tkDo
	tkElse
	tkElseif
	tkEnd
	tkFalse
	tkFor
	tkFunction
	tkIf
	tkIn
	tkLocal
	tkNil
	tkNot
	tkOr
	tkRepeat
	tkReturn
	tkThen
	tkTrue
	tkUntil
	tkWhile
	tkConcat
	tkDots
	tkEq
	tkGe
	tkLe
	tkNe
	tkNumber
	tkName
	tkString
	tkEOF
)

var kindNames = [...]string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or", "repeat",
	"return", "then", "true", "until", "while", "..", "...", "==", ">=", "<=", "~=", "<number>", "<name>", "<string>", "<eof>",
}

// keyword finds a reserved word. The compiler makes a switch over strings faster than a map.
func keyword(s string) (kind, bool) {
	if len(s) < 2 || len(s) > 8 {
		return 0, false
	}
	for k := tkAnd; k <= tkWhile; k++ {
		if kindNames[k-tkAnd] == s {
			return k, true
		}
	}
	return 0, false
}

func (k kind) String() string {
	switch {
	case k >= tkAnd:
		return kindNames[k-tkAnd]
	case k < 32 || k == 127:
		return fmt.Sprintf("char(%d)", int(k))
	}
	return string([]byte{byte(k)})
}

// near is the kind for a message: none for the NUL character, as C's texts have it.
func (k kind) near() string {
	if k == 0 {
		return ""
	}
	return k.String()
}

// token is one token; raw is its text for messages where the kind does not tell.
type token struct {
	kind kind
	str  string
	num  float64
	raw  string
}

// Error is a syntax error with its message as Lua prints it, position included.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

type lexer struct {
	src      string
	chunk    string
	pos      int
	line     int
	lastLine int // of the token before the current one
	tok      token
	ahead    token
	has      bool // ahead is set
}

// fail raises an Error; Parse recovers it.
func (l *lexer) fail(msg, near string) {
	panic(&Error{l.message(msg, near)})
}

// message is an error's text with its position.
func (l *lexer) message(msg, near string) string {
	msg = fmt.Sprintf("%s:%d: %s", l.chunk, l.line, msg)
	if near != "" {
		near, _, _ = strings.Cut(near, "\x00") // C strings end there
		msg += " near '" + near + "'"
	}
	return msg
}

func (t *token) text() string {
	switch t.kind {
	case tkName, tkString, tkNumber:
		return t.raw
	}
	return t.kind.near()
}

// syntaxError raises an error at the current token.
func (l *lexer) syntaxError(msg string) { l.fail(msg, l.tok.text()) }

func (l *lexer) next() {
	l.lastLine = l.line
	if l.has {
		l.tok, l.has = l.ahead, false
		return
	}
	l.tok = l.lex()
}

// peek is the kind of the token behind the current one.
func (l *lexer) peek() kind {
	if !l.has {
		l.ahead, l.has = l.lex(), true
	}
	return l.ahead.kind
}

func (l *lexer) at(i int) byte {
	if l.pos+i < len(l.src) {
		return l.src[l.pos+i]
	}
	return 0
}

// newline skips a line break of one or two different characters.
func (l *lexer) newline() {
	c := l.src[l.pos]
	l.pos++
	if d := l.at(0); l.pos < len(l.src) && (d == '\n' || d == '\r') && d != c {
		l.pos++
	}
	l.line++
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
	for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
		l.pos++
	}
}

// longOpen is the level of a long bracket that opens here; without one, ok is false.
func (l *lexer) longOpen() (level int, ok bool) {
	for l.at(1+level) == '=' {
		level++
	}
	return level, l.at(1+level) == '['
}

// long reads a long string or comment of the level; pos is at its opening bracket.
func (l *lexer) long(level int, what string) string {
	l.pos += level + 2
	if c := l.at(0); l.pos < len(l.src) && (c == '\n' || c == '\r') {
		l.newline()
	}
	end := "]" + strings.Repeat("=", level) + "]"
	var b strings.Builder
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ']' && strings.HasPrefix(l.src[l.pos:], end):
			l.pos += len(end)
			return b.String()
		case c == '\n' || c == '\r':
			l.newline()
			b.WriteByte('\n')
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	l.fail("unfinished long "+what, tkEOF.String())
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c|32 && c|32 <= 'z' || c == '_' }

func (l *lexer) lexToken(c byte) token {
	switch {
	case isDigit(c) || c == '.' && isDigit(l.at(1)):
		return l.number()
	case isAlpha(c):
		return l.name()
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '[':
		if n, ok := l.longOpen(); ok {
			s, level := l.long(n, "string"), strings.Repeat("=", n)
			return token{kind: tkString, str: s, raw: "[" + level + "[" + s + "]" + level + "]"}
		} else if n > 0 {
			l.fail("invalid long string delimiter", l.src[l.pos:l.pos+1+n])
		}
	}
	return l.operator(c)
}

func (l *lexer) operator(c byte) token {
	two := func(k kind) token { l.pos += 2; return token{kind: k} }
	switch n := l.at(1); {
	case c == '=' && n == '=':
		return two(tkEq)
	case c == '<' && n == '=':
		return two(tkLe)
	case c == '>' && n == '=':
		return two(tkGe)
	case c == '~' && n == '=':
		return two(tkNe)
	case c == '.' && n == '.':
		if l.at(2) == '.' {
			l.pos++
			return two(tkDots)
		}
		return two(tkConcat)
	}
	l.pos++
	return token{kind: kind(c)}
}

func (l *lexer) name() token {
	from := l.pos
	for l.pos < len(l.src) && (isAlpha(l.src[l.pos]) || isDigit(l.src[l.pos])) {
		l.pos++
	}
	s := l.src[from:l.pos]
	if k, ok := keyword(s); ok {
		return token{kind: k}
	}
	return token{kind: tkName, str: s, raw: s}
}

func (l *lexer) number() token {
	from := l.pos
	for l.pos < len(l.src) && (isDigit(l.src[l.pos]) || l.src[l.pos] == '.') {
		l.pos++
	}
	if l.pos < len(l.src) && (l.at(0)|32 == 'e' || l.at(0) == 0) { // a zero byte is in every set of C's
		l.pos++
		if c := l.at(0); l.pos < len(l.src) && (c == '+' || c == '-' || c == 0) {
			l.pos++
		}
	}
	for l.pos < len(l.src) && (isAlpha(l.src[l.pos]) || isDigit(l.src[l.pos])) {
		l.pos++
	}
	s, _, _ := strings.Cut(l.src[from:l.pos], "\x00")
	n, ok := ParseNumber(s)
	if !ok {
		l.fail("malformed number", s)
	}
	return token{kind: tkNumber, num: n, raw: s}
}

// quoted reads a string in quotes.
func (l *lexer) quoted(q byte) token {
	l.pos++
	b := []byte{q}
	for {
		if l.pos >= len(l.src) {
			l.fail("unfinished string", tkEOF.String())
		}
		switch c := l.src[l.pos]; c {
		case '\n', '\r':
			l.fail("unfinished string", string(b))
		case '\\':
			l.pos++
			b = l.escape(b)
		case q:
			l.pos++
			return token{kind: tkString, str: string(b[1:]), raw: string(b) + string(q)}
		default:
			b = append(b, c)
			l.pos++
		}
	}
}

// escape reads what follows a backslash.
func (l *lexer) escape(b []byte) []byte {
	if l.pos >= len(l.src) {
		return b // the caller finds the end
	}
	c := l.src[l.pos]
	switch {
	case c == '\n' || c == '\r':
		l.newline()
		return append(b, '\n')
	case isDigit(c):
		n := 0
		for i := 0; i < 3 && isDigit(l.at(0)); i++ {
			n = n*10 + int(l.at(0)-'0')
			l.pos++
		}
		if n > 255 {
			l.fail("escape sequence too large", string(b))
		}
		return append(b, byte(n))
	}
	l.pos++
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		c = "\a\b\f\n\r\t\v"[i]
	}
	return append(b, c)
}

// ParseNumber reads a number as Lua does: decimal or hexadecimal with white space around it. Unlike Go's it knows no other bases and no
// underscores.
func ParseNumber(s string) (float64, bool) {
	s = strings.Trim(s, " \t\n\r\v\f")
	if s == "" {
		return 0, false
	}
	digits, neg := s, false
	if s[0] == '-' || s[0] == '+' {
		digits, neg = s[1:], s[0] == '-'
	}
	if len(digits) > 2 && digits[0] == '0' && digits[1]|32 == 'x' {
		n, ok := hexNumber(digits[2:])
		if !ok {
			n, ok = hexFloat(digits)
		}
		if neg {
			n = -n
		}
		return n, ok
	}
	if len(digits) <= 15 {
		if n, ok := smallInt(digits); ok {
			if neg {
				n = -n
			}
			return n, true
		}
	}
	for i := range len(digits) {
		if c := digits[i]; !isDigit(c) && c != '.' && c|32 != 'e' && c != '+' && c != '-' {
			return word(digits, neg)
		}
	}
	n, err := strtod.ParseFloat(s)
	if err != nil && !math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// word reads the numbers that C's strtod knows by name.
func word(s string, neg bool) (n float64, ok bool) {
	switch strings.ToLower(s) {
	case "inf", "infinity":
		n = math.Inf(1)
	case "nan":
		n = math.NaN()
	default:
		return 0, false
	}
	if neg {
		n = -n
	}
	return n, true
}

func smallInt(s string) (float64, bool) {
	n := int64(0)
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return float64(n), s != ""
}

// hexFloat reads a hexadecimal number with a point or an exponent, as C does.
func hexFloat(s string) (float64, bool) {
	if strings.Contains(s, "_") {
		return 0, false
	}
	if !strings.ContainsAny(s, "pP") {
		s += "p0"
	}
	n, err := strtod.ParseFloat(s)
	return n, err == nil
}

func hexNumber(s string) (n float64, ok bool) {
	for i := range len(s) {
		d := strings.IndexByte("0123456789abcdef", s[i]|32)
		if isDigit(s[i]) {
			d = int(s[i] - '0')
		}
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		n = n*16 + float64(d)
	}
	return n, s != ""
}
