package redislib

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"godwit/internal/lua"
)

// fail raises the error that something else was expected than what is at pos. The names of tokens
// are those of lua-cjson, because they appear in its errors.
func (d *jsonDecoder) fail(want string) {
	found, at := "", 0
	if d.wrong == "" {
		c := d.peek()
		at = d.pos
		found = d.token(c)
	}
	if d.wrong != "" {
		found, at = d.wrong, d.pos
	}
	d.t.Error("Expected " + want + " but found " + found + " at character " + strconv.Itoa(at+1))
}

// token returns the name of the token that begins with c, or sets wrong.
func (d *jsonDecoder) token(c byte) string {
	switch c {
	case '{':
		return "T_OBJ_BEGIN"
	case '}':
		return "T_OBJ_END"
	case '[':
		return "T_ARR_BEGIN"
	case ']':
		return "T_ARR_END"
	case ':':
		return "T_COLON"
	case ',':
		return "T_COMMA"
	case 0:
		return "T_END"
	case '"':
		d.string()
		return "T_STRING"
	}
	switch {
	case c == '-' || isDigit(c):
		d.number()
		return "T_NUMBER"
	case d.skip("true"), d.skip("false"):
		return "T_BOOLEAN"
	case d.skip("null"):
		return "T_NULL"
	case d.isName(c):
		d.slowNumber()
		return "T_NUMBER"
	}
	d.wrong = "invalid token"
	return ""
}

// isName reports whether c begins what only strtod takes for a number: with a plus, or by name.
func (d *jsonDecoder) isName(c byte) bool {
	return d.decodeInvalid != 0 && (c == '+' || c|0x20 == 'i' || c|0x20 == 'n') && !d.validNumber()
}

// validNumber reports whether the number at pos begins as JSON allows. strtod also knows a plus,
// hexadecimal digits, leading zeros and infinities.
func (d *jsonDecoder) validNumber() bool {
	i := d.pos
	if d.at(i) == '+' {
		return false
	}
	if d.at(i) == '-' {
		i++
	}
	switch c := d.at(i); {
	case c == '0':
		next := d.at(i + 1)
		return next|0x20 != 'x' && !isDigit(next)
	case c <= '9':
		return true
	}
	_, n := strtodName(d.s, i, false)
	return n == 0
}

// slowNumber reads what strtod would. It reports false if that is nothing, or not allowed.
func (d *jsonDecoder) slowNumber() (lua.Value, bool) {
	if d.decodeInvalid != 0 || d.validNumber() {
		if f, used := numberAt(d.s[d.pos:]); used > 0 {
			d.pos += used
			return lua.Number(f), true
		}
	}
	d.wrong = "invalid number"
	return lua.Nil, false
}

// unescape reads the rest of a string with escapes, from its start behind the quote. It reports
// false if something is wrong.
func (d *jsonDecoder) unescape(start int) (lua.Value, bool) {
	d.pos = start
	w := writer{d.t}
	buf := d.buf[:0]
	for {
		d.t.Spend(1)
		buf = w.reserve(buf, 8+utf8.UTFMax)
		if len(d.s)-d.pos >= 8 {
			eight := load8(d.s[d.pos : d.pos+8])
			binary.LittleEndian.PutUint64(buf[len(buf):len(buf)+8], eight)
			n := bits.TrailingZeros64(ends(eight)) / 8
			buf = buf[:len(buf)+n]
			if d.pos += n; n == 8 {
				continue
			}
		}
		switch c := d.at(d.pos); c {
		case '"':
			d.pos++
			d.t.Grow(len(buf))
			v := lua.String(string(buf)) // never NewString: shapes tell keys by their place
			if d.buf = buf; cap(buf) > keptBuffer {
				d.buf = nil
			}
			return v, true
		case 0:
			d.wrong = "unexpected end of string"
			return lua.Nil, false
		case '\\':
			var ok bool
			if buf, ok = d.escape(buf); !ok {
				return lua.Nil, false
			}
		default:
			buf = append(buf, c)
			d.pos++
		}
	}
}

// escape reads an escape. It reports false if the escape is wrong.
func (d *jsonDecoder) escape(buf []byte) ([]byte, bool) {
	c := d.at(d.pos + 1)
	if c == 'u' {
		r, n := d.unicodeEscape()
		if n == 0 {
			d.wrong = "invalid unicode escape code"
			return buf, false
		}
		d.pos += n
		return utf8.AppendRune(buf, r), true
	}
	if c = unescapes[c]; c == 0 {
		d.wrong = "invalid escape code"
		return buf, false
	}
	d.pos += 2
	return append(buf, c), true
}

// unescapes has for the letter of a short escape what it stands for.
var unescapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n',
	'r': '\r', 't': '\t'}

// unicodeEscape returns the character of one escape, or of a surrogate pair of two, and the length.
func (d *jsonDecoder) unicodeEscape() (rune, int) {
	r := d.hex4(d.pos + 2)
	if r < 0 {
		return 0, 0
	}
	if r&0xf800 != 0xd800 {
		return r, 6
	}
	if r&0x400 != 0 || d.at(d.pos+6) != '\\' || d.at(d.pos+7) != 'u' {
		return 0, 0
	}
	low := d.hex4(d.pos + 8)
	if low < 0 || low&0xfc00 != 0xdc00 {
		return 0, 0
	}
	return (r&0x3ff<<10 | low&0x3ff) + 0x10000, 12
}

// hex4 returns the value of four hexadecimal digits, or a negative number.
func (d *jsonDecoder) hex4(i int) rune {
	if i+4 > len(d.s) {
		return -1
	}
	s := d.s[i : i+4]
	return rune(hexValues[s[0]])<<12 | rune(hexValues[s[1]])<<8 | rune(hexValues[s[2]])<<4 |
		rune(hexValues[s[3]])
}

// hexValues has the values of hexadecimal digits, and -1 for other bytes.
var hexValues = func() (v [256]int8) {
	for c := range v {
		switch {
		case isDigit(byte(c)):
			v[c] = int8(c - '0')
		case isHex(byte(c)):
			v[c] = int8(c | 0x20 - 'a' + 10)
		default:
			v[c] = -1
		}
	}
	return v
}()
