package redislib

import (
	"math/bits"
	"strconv"
	"strings"

	"godwit/internal/lua"
)

// jsonDecoder reads one text. It looks at the next byte to see what comes. When that is not what
// must come, fail reads a token to say what was found.
//
// As in the original, the text ends at its first zero byte, and numbers are what strtod reads.
type jsonDecoder struct {
	*cjson
	t   *lua.Thread
	s   string
	pos int

	wrong string // what is wrong at pos, if something is
}

func (j *cjson) decode(t *lua.Thread) int {
	if t.Top() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
	d := jsonDecoder{cjson: j, t: t, s: t.String(1)}
	if len(d.s) >= 2 && (d.s[0] == 0 || d.s[1] == 0) {
		t.Error("JSON parser does not support UTF-16 or UTF-32")
	}
	v := d.value(d.peek(), 0, 1)
	if d.peek() != 0 {
		d.fail("the end")
	}
	t.Push(v)
	return 1
}

// peek skips white space and returns the byte that follows, or the zero that ends the text.
func (d *jsonDecoder) peek() byte {
	for i := d.pos; i < len(d.s); i++ {
		if c := d.s[i]; c > ' ' || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			d.pos = i
			return c
		}
	}
	d.pos = len(d.s)
	return 0
}

// value reads the value that begins with c, the byte at pos.
func (d *jsonDecoder) value(c byte, depth, slots int) lua.Value {
	switch {
	case c == '"':
		if v, ok := d.string(); ok {
			return v
		}
	case c == '{':
		return d.object(depth+1, slots)
	case c == '[':
		return d.array(depth+1, slots)
	case isDigit(c) || c == '-':
		if v, ok := d.number(); ok {
			return v
		}
	case c == 't' && d.skip("true"):
		return lua.True
	case c == 'f' && d.skip("false"):
		return lua.False
	case c == 'n' && d.skip("null"):
		return lua.UserdataValue(d.null)
	case d.isName(c):
		if v, ok := d.slowNumber(); ok {
			return v
		}
	}
	d.fail("value")
	return lua.Nil
}

func (d *jsonDecoder) descend(depth, slots, need int) {
	d.pos++
	if depth > d.decodeDepth || slots+need > cStack {
		d.t.Error("Found too many nested data structures (" + strconv.Itoa(depth) +
			") at character " + strconv.Itoa(d.pos))
	}
}

// array reads an array. Its elements are on the thread's stack until there are enough.
func (d *jsonDecoder) array(depth, slots int) lua.Value {
	d.descend(depth, slots, 2)
	t := d.t
	tab := t.NewTable(0, 0)
	c := d.peek()
	if c == ']' {
		d.pos++
		return lua.TableValue(tab)
	}
	t.Push(lua.TableValue(tab))
	first, n := 1, 0
	for {
		t.Push(d.value(c, depth, slots+1))
		if n++; n == block {
			t.PopArray(tab, first, n)
			first, n = first+n, 0
		}
		c = d.peek()
		if d.pos++; c == ',' {
			c = d.peek()
			continue
		}
		if c == ']' {
			t.PopArray(tab, first, n)
			return t.Pop()
		}
		d.pos--
		d.fail("comma or array end")
	}
}

// object reads an object. Its pairs are on the thread's stack; if there are many, they go to a
// table one by one.
func (d *jsonDecoder) object(depth, slots int) lua.Value {
	d.descend(depth, slots, 3)
	t, c := d.t, d.peek()
	if c == '}' {
		d.pos++
		return lua.TableValue(t.NewTable(0, 0))
	}
	var tab *lua.Table
	for n := 1; ; n++ {
		d.pair(c, depth, slots)
		if n == lua.MaxPairs {
			tab = t.PopPairs(n)
			t.Push(lua.TableValue(tab))
		} else if n > lua.MaxPairs {
			t.PopPair(tab)
		}
		c = d.peek()
		if d.pos++; c == ',' {
			c = d.peek()
			continue
		}
		if c == '}' {
			if tab == nil {
				return lua.TableValue(t.PopPairs(n))
			}
			return t.Pop()
		}
		d.pos--
		d.fail("comma or object end")
	}
}

// pair reads a key and a value and pushes them. c is the byte at pos.
func (d *jsonDecoder) pair(c byte, depth, slots int) {
	if c != '"' {
		d.fail("object key string")
	}
	key, ok := d.string()
	if !ok {
		d.fail("object key string")
	}
	if d.peek() != ':' {
		d.fail("colon")
	}
	d.pos++
	d.t.Push(key)
	d.t.Push(d.value(d.peek(), depth, slots+2))
}

func (d *jsonDecoder) skip(word string) bool {
	if !strings.HasPrefix(d.s[d.pos:], word) {
		return false
	}
	d.pos += len(word)
	return true
}

// at returns a byte of the text, or the zero that ends it.
func (d *jsonDecoder) at(i int) byte {
	if i < len(d.s) {
		return d.s[i]
	}
	return 0
}

// string reads the string that begins at pos. It reports false if something is wrong with it.
func (d *jsonDecoder) string() (lua.Value, bool) {
	start := d.pos + 1
	n := textLen(d.s[start:])
	if d.at(start+n) != '"' {
		return d.unescape(start)
	}
	d.pos = start + n + 1
	if n > block {
		d.t.Spend(n / bytesPerStep)
	}
	return d.t.Intern(d.s[start : start+n]), true
}

// textLen returns how many bytes there are before the first quote, backslash or zero.
func textLen(s string) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if m := ends(load8(s[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] != 0 {
		i++
	}
	return i
}

// ends marks the first of eight bytes that is a quote, a backslash or zero; see special.
func ends(x uint64) uint64 {
	quote, back := x^ones*'"', x^ones*'\\'
	return ((quote-ones)&^quote | (back-ones)&^back | (x-ones)&^x) & (ones << 7)
}

// number reads a number. It computes those of up to 15 digits without an exponent itself.
func (d *jsonDecoder) number() (lua.Value, bool) {
	s, i := d.s, d.pos
	neg := s[i] == '-'
	if neg {
		i++
	}
	start, whole := i, 0
	n := uint64(0)
	for ; i < len(s) && isDigit(s[i]); i++ {
		n = n*10 + uint64(s[i]-'0')
	}
	digits := i - start
	whole = digits
	if i < len(s) && s[i] == '.' {
		point := i
		for i++; i < len(s) && isDigit(s[i]); i++ {
			n = n*10 + uint64(s[i]-'0')
		}
		digits += i - point - 1
	}
	if whole == 0 || digits > 15 || s[start] == '0' && digits > 1 && whole > 1 ||
		i < len(s) && (s[i]|0x20 == 'e' || s[i]|0x20 == 'x') {
		return d.slowNumber()
	}
	d.pos = i
	f := float64(n)
	if digits > whole {
		f /= powersOfTen[digits-whole]
	}
	if neg {
		f = -f
	}
	return lua.Number(f), true
}

// powersOfTen are exact. So is a number of 15 digits, and the quotient is rounded once.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15}
