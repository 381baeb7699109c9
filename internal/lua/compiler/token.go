package compiler

import (
	"fmt"
	"strings"
)

// kind is the kind of a token. Single characters stand for themselves.
type kind uint16

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
	tkDots
	tkConcat
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
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local",
	"nil", "not", "or", "repeat", "return", "then", "true", "until", "while", "...", "..", "==",
	">=", "<=", "~=", "<number>", "<name>", "<string>", "<eof>",
}

// keywords has the kinds of the reserved words.
var keywords = func() map[string]kind {
	m := map[string]kind{}
	for k := tkAnd; k <= tkWhile; k++ {
		m[k.String()] = k
	}
	return m
}()

// String returns the kind's name in messages.
func (k kind) String() string {
	switch {
	case k >= tkAnd:
		return kindNames[k-tkAnd]
	case k < 32 || k == 127:
		return fmt.Sprintf("char(%d)", int(k))
	}
	return string([]byte{byte(k)})
}

// ends reports whether a token of this kind ends a block.
func (k kind) ends() bool {
	return k == tkElse || k == tkElseif || k == tkEnd || k == tkUntil || k == tkEOF
}

// token is one token. str is the value of a string, and the text of a name or a number. open is
// what opened a string: a quote or a long bracket.
type token struct {
	kind kind
	open string
	str  string
	num  float64
}

// text returns the token for a message. It is empty for the zero byte, which messages of Lua do
// not show.
func (t *token) text() string {
	switch t.kind {
	case tkString:
		return t.open + t.str + strings.ReplaceAll(t.open, "[", "]")
	case tkName, tkNumber:
		return t.str
	case 0:
		return ""
	}
	return t.kind.String()
}
