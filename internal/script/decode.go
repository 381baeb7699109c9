package script

import (
	"bytes"
	"math"

	"godwit/internal/lua"
)

// decoder reads a reply. Our own commands have written it, so it is well formed. Tables that are
// being filled are on the thread's stack, where they count as memory of the script.
type decoder struct {
	s *State
	t *lua.Thread // that accounts for what is made
	b []byte
}

// line returns the rest of the first line, after the type byte.
func (d *decoder) line() []byte {
	i := bytes.IndexByte(d.b, '\r')
	l := d.b[1:i]
	d.b = d.b[i+2:]
	return l
}

// integer reads a line that holds an integer.
func (d *decoder) integer() int64 {
	n, neg := int64(0), false
	i := 1
	if d.b[i] == '-' {
		neg = true
		i++
	}
	for ; d.b[i] != '\r'; i++ {
		n = n*10 + int64(d.b[i]-'0')
	}
	d.b = d.b[i+2:]
	if neg {
		return -n
	}
	return n
}

// text returns a copy of bytes as a value.
func (d *decoder) text(b []byte) lua.Value {
	d.t.Grow(len(b))
	return d.t.State().NewString(b)
}

// bulk returns the n bytes that come next, which a line end follows.
func (d *decoder) bulk(n int64) []byte {
	b := d.b[:n]
	d.b = d.b[n+2:]
	return b
}

// field returns a table with one field. Scripts see types that Lua lacks this way.
func (d *decoder) field(name string, v lua.Value) lua.Value {
	t := d.t.NewTable(0, 1)
	t.SetString(name, v)
	return lua.TableValue(t)
}

// value converts one reply to the value that scripts see.
func (d *decoder) value() lua.Value {
	switch d.b[0] {
	case ':':
		return lua.Number(float64(d.integer()))
	case '$':
		n := d.integer()
		if n < 0 {
			return lua.False
		}
		return d.text(d.bulk(n))
	case '+':
		if l := d.line(); string(l) != "OK" {
			return d.field("ok", d.text(l))
		}
		return d.field("ok", d.s.keys.okText)
	case '-':
		return lua.TableValue(countedError(d.t, string(d.line())))
	case '*', '>':
		return d.array()
	}
	return d.value3()
}

// array reads a list. It has the size that it would have if the elements were added one by one.
func (d *decoder) array() lua.Value {
	n := int(d.integer())
	if n < 0 {
		return lua.False
	}
	if d.s.proto == 3 { // there may be nil among them
		return d.sparse(n)
	}
	t := d.t.NewArray(n)
	d.t.Push(lua.TableValue(t))
	array := t.Array()
	for i := range n {
		array[i] = d.value()
	}
	return d.t.Pop()
}

func (d *decoder) sparse(n int) lua.Value {
	t := d.filling()
	for i := 1; i <= n; i++ {
		d.t.RawSetInt(t, i, d.value())
	}
	return d.t.Pop()
}

// filling returns a new table, which it pushes.
func (d *decoder) filling() *lua.Table {
	t := d.t.NewTable(0, 0)
	d.t.Push(lua.TableValue(t))
	return t
}

// value3 converts the types of RESP3.
func (d *decoder) value3() lua.Value {
	switch d.b[0] {
	case '_':
		d.line()
		return lua.Nil
	case '#':
		return lua.Bool(d.line()[0] == 't')
	case ',':
		n, _ := lua.ToNumber(lua.String(string(d.line())))
		return d.field("double", lua.Number(n))
	case '(':
		return d.field("big_number", d.text(d.line()))
	case '=':
		b := d.bulk(d.integer())
		t := d.t.NewTable(0, 2)
		t.SetString("format", d.text(b[:3]))
		t.SetString("string", d.text(b[4:]))
		return d.field("verbatim_string", lua.TableValue(t))
	case '~':
		t := d.filling()
		for range d.integer() {
			d.put(t, d.value(), lua.True)
		}
		return d.field("set", d.t.Pop())
	case '%':
		t := d.filling()
		for range d.integer() {
			d.t.Push(d.value())
			v := d.value()
			d.put(t, d.t.Pop(), v)
		}
		return d.field("map", d.t.Pop())
	case '|':
		for range 2 * d.integer() {
			d.value()
		}
		return d.value()
	}
	return lua.Nil
}

// put sets a field. The key may be anything.
func (d *decoder) put(t *lua.Table, k, v lua.Value) {
	if !k.IsNil() && !(k.IsNumber() && math.IsNaN(k.Num())) {
		d.t.RawSet(t, k, v)
	}
}
