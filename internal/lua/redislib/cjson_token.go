package redislib

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"godwit/internal/lua"
	"godwit/internal/lua/number"
)

// Tokens are named by a byte that they begin with. The others stand for themselves.
const (
	tokenEnd     = 0
	tokenString  = '"'
	tokenNumber  = '0'
	tokenBoolean = 't'
	tokenNull    = 'n'
	tokenWrong   = '?'
)

// tokenNames are those of lua-cjson, because they appear in its errors.
var tokenNames = map[byte]string{'{': "T_OBJ_BEGIN", '}': "T_OBJ_END", '[': "T_ARR_BEGIN",
	']': "T_ARR_END", ':': "T_COLON", ',': "T_COMMA", tokenEnd: "T_END", tokenString: "T_STRING",
	tokenNumber: "T_NUMBER", tokenBoolean: "T_BOOLEAN", tokenNull: "T_NULL"}

// at returns a byte of the text, or the zero that ends it.
func (d *jsonDecoder) at(i int) byte {
	if i < len(d.s) {
		return d.s[i]
	}
	return 0
}

// next reads the next token.
func (d *jsonDecoder) next() {
	c := d.at(d.pos)
	for ; c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = d.at(d.pos) {
		if d.pos++; d.pos%partBytes == 0 {
			d.t.Spend(partBytes / lua.HandledPerStep)
		}
	}
	d.start = d.pos
	switch c {
	case '{', '}', '[', ']', ':', ',':
		d.set(c, lua.Nil, 1)
	case 0:
		d.set(tokenEnd, lua.Nil, 0)
	case '"':
		d.string()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if d.decodeInvalid == 0 && d.invalidNumber() {
			d.setWrong("invalid number")
			return
		}
		d.number()
	default:
		d.word(d.s[d.pos:])
	}
}

// set makes a token of the next bytes.
func (d *jsonDecoder) set(token byte, v lua.Value, size int) {
	d.token, d.val = token, v
	d.pos += size
}

// setWrong says what is wrong at pos.
func (d *jsonDecoder) setWrong(what string) {
	d.token, d.start, d.wrong = tokenWrong, d.pos, what
}

// word reads a token that begins with a letter, or what does not begin a token.
func (d *jsonDecoder) word(rest string) {
	switch {
	case strings.HasPrefix(rest, "true"):
		d.set(tokenBoolean, lua.True, 4)
	case strings.HasPrefix(rest, "false"):
		d.set(tokenBoolean, lua.False, 5)
	case strings.HasPrefix(rest, "null"):
		d.set(tokenNull, lua.UserdataValue(d.null), 4)
	case d.decodeInvalid != 0 && d.invalidNumber():
		d.number()
	default:
		d.setWrong("invalid token")
	}
}

// invalidNumber reports whether the text at pos is a number for strtod but not for JSON: it begins
// with a plus, leading zeros or a hexadecimal prefix, or it is the name of an infinity or a NaN.
func (d *jsonDecoder) invalidNumber() bool {
	s := d.s[d.pos:]
	if s[0] == '+' {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if len(s) >= 2 && s[0] == '0' {
		return number.IsDigit(s[1]) || s[1]|0x20 == 'x'
	}
	name := s[:min(len(s), 3)]
	return strings.EqualFold(name, "inf") || strings.EqualFold(name, "nan")
}

func (d *jsonDecoder) number() {
	piece := d.s[d.pos:min(len(d.s), d.pos+longNumber)]
	f, size := number.Prefix(piece)
	// What was cut off may belong to it: digits, or the end of a NaN's payload.
	if size > longNumber/2 || f != f && strings.HasPrefix(piece[size:], "(") {
		f, size = d.longNumber(d.s[d.pos:])
	}
	if size == 0 {
		d.setWrong("invalid number")
		return
	}
	d.set(tokenNumber, lua.Number(f), size)
}

func (d *jsonDecoder) longNumber(text string) (f float64, size int) {
	d.t.Aside(len(text), func() { f, size = number.Prefix(text) })
	return f, size
}

// longNumber is how much of the text is looked at for a number at first.
const longNumber = 1 << 10

// string reads a string.
func (d *jsonDecoder) string() {
	d.pos++
	part := d.plain()
	if d.at(d.pos+len(part)) == '"' {
		d.set(tokenString, d.t.Copy(part), len(part)+1)
		return
	}
	w := d.t.Buffer()
	for {
		w.Add(part)
		d.pos += len(part)
		d.shortEscapes(&w)
		switch d.at(d.pos) {
		case '"':
			d.set(tokenString, w.End(), 1)
			return
		case 0:
			d.setWrong("unexpected end of string")
			return
		case '\\':
			if wrong := d.longEscape(&w); wrong != "" {
				d.setWrong(wrong)
				return
			}
		}
		part = d.plain()
	}
}

// plain returns the text from pos to the next quote, backslash or zero.
func (d *jsonDecoder) plain() string {
	s := d.s[d.pos:]
	for from := 0; from < len(s); from += partBytes {
		for i, c := range []byte(s[from:min(from+partBytes, len(s))]) {
			if c == '"' || c == '\\' || c == 0 {
				return s[:from+i]
			}
		}
		d.t.Spend(partBytes / lua.HandledPerStep)
	}
	return s
}

// unescapes has for the letter of a short escape what it stands for.
var unescapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n',
	'r': '\r', 't': '\t'}

// escapesAtOnce is how many escapes are read without asking whether to go on.
const escapesAtOnce = 1 << 10

// shortEscapes reads escapes of one letter and adds what they stand for.
func (d *jsonDecoder) shortEscapes(w *lua.Buffer) {
	w.Reserve(escapesAtOnce)
	s, b := d.s[d.pos:], w.B
	for full := len(b) + escapesAtOnce; len(b) < full && len(s) >= 2 && s[0] == '\\'; s = s[2:] {
		c := unescapes[s[1]]
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	d.t.Spend(1 + (len(b)-len(w.B))/8)
	d.pos, w.B = len(d.s)-len(s), b
}

// longEscape reads the escape of a character that is named by its number.
func (d *jsonDecoder) longEscape(w *lua.Buffer) (wrong string) {
	if c := d.at(d.pos + 1); unescapes[c] != 0 {
		return "" // there were too many at once
	} else if c != 'u' {
		return "invalid escape code"
	}
	r, size := d.unicodeEscape()
	if size == 0 {
		return "invalid unicode escape code"
	}
	w.Reserve(utf8.UTFMax)
	w.B = utf8.AppendRune(w.B, r)
	d.pos += size
	return ""
}

// unicodeEscape returns the character of one escape, or of a surrogate pair of two, and the size of
// the text, which is 0 if something is wrong.
func (d *jsonDecoder) unicodeEscape() (r rune, size int) {
	r, ok := d.codeUnit(d.pos)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := d.codeUnit(d.pos + 6)
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// codeUnit reads the escape of a UTF-16 code unit at i.
func (d *jsonDecoder) codeUnit(i int) (r rune, ok bool) {
	if i+6 > len(d.s) || d.s[i:i+2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(d.s[i+2:i+6], 16, 16)
	return rune(n), err == nil
}
