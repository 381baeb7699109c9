package redislib

import (
	"strconv"

	"godwit/internal/lua"
)

// jsonDecoder reads one text. What it has read so far is on the thread's stack.
//
// As in the original, the text ends at its first zero byte, and numbers are what strtod reads.
type jsonDecoder struct {
	*cjson
	t   *lua.Thread
	s   string
	pos int // of what follows the token

	// The token, where it begins, its value if it has one, and what is wrong if it is tokenWrong.
	token byte
	start int
	val   lua.Value
	wrong string
}

func (j *cjson) decode(t *lua.Thread) int {
	if t.Top() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
	d := jsonDecoder{cjson: j, t: t, s: t.String(1)}
	if len(d.s) >= 2 && (d.s[0] == 0 || d.s[1] == 0) {
		t.Error("JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	d.value(0, 1)
	if d.next(); d.token != tokenEnd {
		d.fail("the end")
	}
	return 1
}

// fail raises the error that something else was expected than the token.
func (d *jsonDecoder) fail(want string) {
	found := d.wrong
	if d.token != tokenWrong {
		found = tokenNames[d.token]
	}
	d.t.Error("Expected " + want + " but found " + found + " at character " +
		strconv.Itoa(d.start+1))
}

// value pushes the value that begins with the token. depth is the number of tables around it, and
// slots how much of the simulated stack is in use.
func (d *jsonDecoder) value(depth, slots int) {
	switch d.token {
	case '{':
		d.object(depth+1, slots)
	case '[':
		d.array(depth+1, slots)
	case tokenString, tokenNumber, tokenBoolean, tokenNull:
		d.t.Push(d.val)
	default:
		d.fail("value")
	}
}

// table pushes a new table. need is how much of the simulated stack it takes.
func (d *jsonDecoder) table(depth, slots, need int) *lua.Table {
	if depth > d.decodeDepth || slots+need > cStack {
		d.t.Error("Found too many nested data structures (" + strconv.Itoa(depth) +
			") at character " + strconv.Itoa(d.pos))
	}
	tab := d.t.NewTable(0, 0)
	d.t.Push(lua.TableValue(tab))
	return tab
}

func (d *jsonDecoder) array(depth, slots int) {
	tab := d.table(depth, slots, 2)
	if d.next(); d.token == ']' {
		return
	}
	for i := 1; ; i++ {
		d.value(depth, slots+1)
		d.t.PopElement(tab, i)
		switch d.next(); d.token {
		case ']':
			return
		case ',':
			d.next()
		default:
			d.fail("comma or array end")
		}
	}
}

func (d *jsonDecoder) object(depth, slots int) {
	tab := d.table(depth, slots, 3)
	if d.next(); d.token == '}' {
		return
	}
	for {
		if d.token != tokenString {
			d.fail("object key string")
		}
		d.t.Push(d.val)
		if d.next(); d.token != ':' {
			d.fail("colon")
		}
		d.next()
		d.value(depth, slots+2)
		d.t.PopPair(tab)
		switch d.next(); d.token {
		case '}':
			return
		case ',':
			d.next()
		default:
			d.fail("comma or object end")
		}
	}
}
