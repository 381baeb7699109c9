package lualib

import (
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// jsonToken is what the scanner found. The names are those of lua-cjson, which appear in its errors.
type jsonToken uint8

const (
	jsonObjectBegin jsonToken = iota
	jsonObjectEnd
	jsonArrayBegin
	jsonArrayEnd
	jsonString
	jsonNumber
	jsonBoolean
	jsonNull
	jsonColon
	jsonComma
	jsonEnd
	jsonError
)

func (t jsonToken) String() string {
	return [...]string{
		"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER", "T_BOOLEAN", "T_NULL", "T_COLON", "T_COMMA",
		"T_END", "T_ERROR",
	}[t]
}

// jsonDecoder reads one text. The current token is in its fields.
//
// As in the original the text ends at its first zero byte, and numbers are what strtod reads.
type jsonDecoder struct {
	*cjson
	meter
	s   string
	pos int

	token jsonToken
	start int     // where the token, or what is wrong with it, begins
	str   string  // of a string: its value; of an error: what is wrong
	num   float64 // of a number, and of a boolean: 1 or 0
}

// Estimates of what Lua values take, in bytes.
const (
	tableBytes = 128
	slotBytes  = 40
	pairBytes  = 160
)

func (j *cjson) decode(L *lua.LState) int {
	if L.GetTop() != 1 {
		argError(L, 1, "expected 1 argument")
	}
	d := jsonDecoder{cjson: j, meter: newMeter(L), s: checkString(L, 1)}
	if len(d.s) >= 2 && (d.s[0] == 0 || d.s[1] == 0) {
		raise(L, "JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	v := d.value(0, 1)
	d.next()
	if d.token != jsonEnd {
		d.fail("the end")
	}
	L.Push(v)
	return 1
}

func (d *jsonDecoder) fail(want string) {
	found := d.str
	if d.token != jsonError {
		found = d.token.String()
	}
	raise(d.L, "Expected "+want+" but found "+found+" at character "+itoa(d.start+1))
}

// value makes the value that begins with the current token.
func (d *jsonDecoder) value(depth, slots int) lua.LValue {
	switch d.token {
	case jsonString:
		return lua.LString(d.str)
	case jsonNumber:
		return lua.LNumber(d.num)
	case jsonBoolean:
		return lua.LBool(d.num != 0)
	case jsonNull:
		return d.null
	case jsonObjectBegin:
		return d.object(depth+1, slots)
	case jsonArrayBegin:
		return d.array(depth+1, slots)
	}
	d.fail("value")
	return nil
}

func (d *jsonDecoder) descend(depth, slots, need int) {
	if depth > d.decodeDepth || slots+need > cStack {
		raise(d.L, "Found too many nested data structures ("+itoa(depth)+") at character "+itoa(d.pos))
	}
	d.add(tableBytes)
}

func (d *jsonDecoder) object(depth, slots int) lua.LValue {
	d.descend(depth, slots, 3)
	d.next()
	if d.token == jsonObjectEnd {
		return d.L.CreateTable(0, 0)
	}
	t := d.L.CreateTable(0, 1)
	for {
		if d.token != jsonString {
			d.fail("object key string")
		}
		key := d.str
		if d.next(); d.token != jsonColon {
			d.fail("colon")
		}
		d.next()
		t.RawSetString(key, d.value(depth, slots+2))
		d.add(pairBytes)
		switch d.next(); d.token {
		case jsonObjectEnd:
			return t
		case jsonComma:
			d.next()
		default:
			d.fail("comma or object end")
		}
	}
}

func (d *jsonDecoder) array(depth, slots int) lua.LValue {
	d.descend(depth, slots, 2)
	d.next()
	if d.token == jsonArrayEnd {
		return d.L.CreateTable(0, 0)
	}
	t := d.L.CreateTable(4, 0)
	for i := 1; ; i++ {
		t.RawSetInt(i, d.value(depth, slots+1))
		d.add(slotBytes)
		switch d.next(); d.token {
		case jsonArrayEnd:
			return t
		case jsonComma:
			d.next()
		default:
			d.fail("comma or array end")
		}
	}
}

// at is a byte of the text, or the zero that ends it.
func (d *jsonDecoder) at(i int) byte {
	if i < len(d.s) {
		return d.s[i]
	}
	return 0
}

// next reads a token.
func (d *jsonDecoder) next() {
	c := d.at(d.pos)
	for c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		d.pos++
		c = d.at(d.pos)
	}
	d.start = d.pos
	switch c {
	case '{':
		d.single(jsonObjectBegin)
	case '}':
		d.single(jsonObjectEnd)
	case '[':
		d.single(jsonArrayBegin)
	case ']':
		d.single(jsonArrayEnd)
	case ':':
		d.single(jsonColon)
	case ',':
		d.single(jsonComma)
	case 0:
		d.token = jsonEnd
	case '"':
		d.string()
	default:
		d.word(c)
	}
}

func (d *jsonDecoder) single(t jsonToken) {
	d.token = t
	d.pos++
}

func (d *jsonDecoder) wrong(what string) {
	d.token, d.str, d.start = jsonError, what, d.pos
}

// word reads a number or a name.
func (d *jsonDecoder) word(c byte) {
	switch {
	case c == '-' || isDigit(c):
		if d.decodeInvalid == 0 && !d.validNumber() {
			d.wrong("invalid number")
			return
		}
		d.number()
	case c == 't' && d.skip("true"):
		d.token, d.num = jsonBoolean, 1
	case c == 'f' && d.skip("false"):
		d.token, d.num = jsonBoolean, 0
	case c == 'n' && d.skip("null"):
		d.token = jsonNull
	case d.decodeInvalid != 0 && (c == '+' || c|0x20 == 'i' || c|0x20 == 'n') && !d.validNumber():
		d.number()
	default:
		d.wrong("invalid token")
	}
}

func (d *jsonDecoder) skip(word string) bool {
	if len(d.s)-d.pos < len(word) || d.s[d.pos:d.pos+len(word)] != word {
		return false
	}
	d.pos += len(word)
	return true
}

// validNumber tells whether a number does not begin as one that only strtod knows: a plus, hexadecimal, a leading zero, an infinity.
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

// number reads what strtod would, whole numbers of few digits by itself.
func (d *jsonDecoder) number() {
	i, n := d.pos, 0.0
	for ; i < len(d.s) && isDigit(d.s[i]) && i-d.pos < 15; i++ {
		n = n*10 + float64(d.s[i]-'0')
	}
	if i > d.pos {
		if c := d.at(i); !isDigit(c) && c != '.' && c|0x20 != 'e' && c|0x20 != 'x' {
			d.token, d.num, d.pos = jsonNumber, n, i
			return
		}
	}
	f, used := numberAt(d.s[d.pos:])
	if used == 0 {
		d.wrong("invalid number")
		return
	}
	d.token, d.num = jsonNumber, f
	d.pos += used
}

// string reads a string. One without escapes shares the text's bytes.
func (d *jsonDecoder) string() {
	d.pos++
	for i := d.pos; i < len(d.s) && d.s[i] != 0 && d.s[i] != '\\'; i++ {
		if d.s[i] == '"' {
			d.token, d.str, d.pos = jsonString, d.s[d.pos:i], i+1
			return
		}
	}
	buf := d.buf[:0]
	for {
		c := d.at(d.pos)
		switch c {
		case '"':
			d.pos++
			d.token, d.str = jsonString, string(buf)
			if d.buf = buf; cap(buf) > keptBuffer {
				d.buf = nil
			}
			return
		case 0:
			d.wrong("unexpected end of string")
			return
		case '\\':
			var ok bool
			if buf, ok = d.escape(buf); !ok {
				return
			}
		default:
			buf = append(buf, c)
			d.pos++
		}
	}
}

// escape reads an escape, and false for one that is wrong.
func (d *jsonDecoder) escape(buf []byte) ([]byte, bool) {
	c := d.at(d.pos + 1)
	switch c {
	case 'u':
		r, n := d.unicodeEscape()
		if n == 0 {
			d.wrong("invalid unicode escape code")
			return buf, false
		}
		d.pos += n
		return utf8.AppendRune(buf, r), true
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 't':
		c = '\t'
	case 'n':
		c = '\n'
	case 'f':
		c = '\f'
	case 'r':
		c = '\r'
	default:
		d.wrong("invalid escape code")
		return buf, false
	}
	d.pos += 2
	return append(buf, c), true
}

// unicodeEscape is the character of one escape, or of two that are a pair of surrogates, and its length.
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

// hex4 is the number of four hexadecimal digits, or -1.
func (d *jsonDecoder) hex4(i int) rune {
	var r rune
	for end := i + 4; i < end; i++ {
		c := d.at(i)
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case isHex(c):
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}
