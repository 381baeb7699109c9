package script

import (
	"bytes"
	"math"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/resp"
)

// decoder reads a reply. Our own commands have written it, so it is well formed.
type decoder struct {
	s *State
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

func (d *decoder) bytes(n int64) string {
	str := string(d.b[:n])
	d.b = d.b[n+2:]
	return str
}

// field returns a table with one field. Scripts see types that Lua lacks this way.
func (d *decoder) field(name string, v lua.LValue) lua.LValue {
	t := d.s.L.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

// value converts one reply to the value that scripts see.
func (d *decoder) value() lua.LValue {
	switch d.b[0] {
	case ':':
		return d.s.number(d.integer())
	case '$':
		n := d.integer()
		if n < 0 {
			return lua.LFalse
		}
		return lua.LString(d.bytes(n))
	case '+':
		return d.field("ok", lua.LString(d.line()))
	case '-':
		t := d.s.errorTable(string(d.line()))
		t.RawSetString("ignore_error_stats_update", lua.LTrue)
		return t
	case '*', '>':
		return d.array()
	}
	return d.value3()
}

func (d *decoder) array() lua.LValue {
	n := int(d.integer())
	if n < 0 {
		return lua.LFalse
	}
	t := d.s.L.CreateTable(n, 0)
	for i := 1; i <= n; i++ {
		t.RawSetInt(i, d.value())
	}
	return t
}

// value3 converts the types of RESP3.
func (d *decoder) value3() lua.LValue {
	switch d.b[0] {
	case '_':
		d.line()
		return lua.LNil
	case '#':
		return lua.LBool(d.line()[0] == 't')
	case ',':
		n, _ := toNumber(lua.LString(d.line()))
		return d.field("double", lua.LNumber(n))
	case '(':
		return d.field("big_number", lua.LString(d.line()))
	case '=':
		str := d.bytes(d.integer())
		t := d.s.L.CreateTable(0, 2)
		t.RawSetString("format", lua.LString(str[:3]))
		t.RawSetString("string", lua.LString(str[4:]))
		return d.field("verbatim_string", t)
	case '~':
		n := int(d.integer())
		t := d.s.L.CreateTable(0, n)
		for range n {
			d.put(t, d.value(), lua.LTrue)
		}
		return d.field("set", t)
	case '%':
		n := int(d.integer())
		t := d.s.L.CreateTable(0, n)
		for range n {
			k := d.value()
			d.put(t, k, d.value())
		}
		return d.field("map", t)
	case '|':
		for range 2 * d.integer() {
			d.value()
		}
		return d.value()
	}
	return lua.LNil
}

// put sets a field. The key may be anything but nil.
func (d *decoder) put(t *lua.LTable, k, v lua.LValue) {
	if n, ok := k.(lua.LNumber); k != lua.LNil && !(ok && math.IsNaN(float64(n))) {
		t.RawSet(k, v)
	}
}

// maxReplyDepth is how deeply tables in a reply may nest: as deep as Lua's own stack allows.
const maxReplyDepth = 7990

// encoder writes a script's result as the client's reply.
type encoder struct {
	s *State
	w *resp.Writer
	// failed is the first error reply: its text, and whether it is counted already.
	failed Result
}

func (e *encoder) value(v lua.LValue, depth int) {
	switch t := v.(type) {
	case lua.LString:
		e.w.BulkString(string(t))
	case lua.LNumber:
		e.w.Int(int64(t))
	case lua.LBool:
		e.boolean(bool(t))
	case *lua.LTable:
		e.table(e.s.raw(t), depth)
	default:
		e.w.Null()
	}
}

func (e *encoder) boolean(v bool) {
	switch {
	case e.s.proto == 3:
		e.w.Bool(v)
	case v:
		e.w.Int(1)
	default:
		e.w.Null()
	}
}

func (e *encoder) table(t *lua.LTable, depth int) {
	if depth > maxReplyDepth {
		e.error("ERR reached lua stack limit", false)
		return
	}
	if str, ok := t.RawGetString("err").(lua.LString); ok {
		_, counted := t.RawGetString("ignore_error_stats_update").(lua.LBool)
		e.error(string(str), counted)
		return
	}
	if str, ok := t.RawGetString("ok").(lua.LString); ok {
		e.w.Simple(string(str))
		return
	}
	if n, ok := t.RawGetString("double").(lua.LNumber); ok {
		e.w.Double(float64(n))
		return
	}
	if e.aggregate(t, depth) {
		return
	}
	if str, ok := t.RawGetString("big_number").(lua.LString); ok {
		e.w.BigNumber(oneLine(string(str)))
		return
	}
	if v, ok := t.RawGetString("verbatim_string").(*lua.LTable); ok && e.verbatim(v) {
		return
	}
	e.array(t, depth)
}

func (e *encoder) error(msg string, counted bool) {
	e.w.Error(msg)
	if e.failed.Error == "" {
		e.failed = Result{msg, counted}
	}
}

// oneLine replaces the characters that would end a line.
func oneLine(str string) string {
	return string(bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, []byte(str)))
}

func (e *encoder) aggregate(t *lua.LTable, depth int) bool {
	if m, ok := t.RawGetString("map").(*lua.LTable); ok {
		e.w.Map(count(m))
		for k, v := m.Next(lua.LNil); k != lua.LNil; k, v = m.Next(k) {
			e.value(k, depth+1)
			e.value(v, depth+1)
		}
		return true
	}
	if m, ok := t.RawGetString("set").(*lua.LTable); ok {
		e.w.Set(count(m))
		for k, _ := m.Next(lua.LNil); k != lua.LNil; k, _ = m.Next(k) {
			e.value(k, depth+1)
		}
		return true
	}
	return false
}

func count(t *lua.LTable) (n int) {
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n++
	}
	return n
}

func (e *encoder) verbatim(t *lua.LTable) bool {
	format, ok := t.RawGetString("format").(lua.LString)
	str, ok2 := t.RawGetString("string").(lua.LString)
	if !ok || !ok2 {
		return false
	}
	e.w.Verbatim((string(format) + "   ")[:3], string(str))
	return true
}

// array writes the elements before the first nil. It counts them first, so the header needs no
// patch.
func (e *encoder) array(t *lua.LTable, depth int) {
	n := 0
	for rawIndex(t, n+1) != lua.LNil {
		n++
	}
	e.w.Array(n)
	for i := 1; i <= n; i++ {
		e.value(rawIndex(t, i), depth+1)
	}
}
