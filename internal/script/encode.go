package script

import (
	"strings"

	"godwit/internal/lua"
	"godwit/internal/resp"
)

// maxReplyDepth is how deeply tables in a reply may nest: as deep as Lua's own stack allows.
const maxReplyDepth = 7990

const errReplyDepth = "ERR reached lua stack limit"

// form is what a table stands for in a reply.
type form uint8

const (
	formArray form = iota
	formError
	formStatus
	formDouble
	formMap
	formSet
	formBigNumber
	formVerbatim
)

// formOf returns what a table stands for, and the field that holds it.
func (s *State) formOf(t *lua.Table) (form, lua.Value) {
	k := &s.keys
	if v := k.err.of(t); v.IsString() {
		return formError, v
	}
	if v := k.ok.of(t); v.IsString() {
		return formStatus, v
	}
	if v := k.double.of(t); v.IsNumber() {
		return formDouble, v
	}
	if v := k.aggregateMap.of(t); v.IsTable() {
		return formMap, v
	}
	if v := k.set.of(t); v.IsTable() {
		return formSet, v
	}
	if v := k.bigNumber.of(t); v.IsString() {
		return formBigNumber, v
	}
	if v := k.verbatim.of(t); v.IsTable() && k.format.of(v.Table()).IsString() &&
		k.str.of(v.Table()).IsString() {
		return formVerbatim, v
	}
	return formArray, lua.Nil
}

// reply writes a script's result as the client's reply. If that would be larger than what scripts
// may hold, or the script must end, it writes nothing, ends the script and reports false.
func (s *State) reply(v lua.Value, w *resp.Writer) (ok bool) {
	if t := v.Table(); t != nil {
		m := meter{s: s, left: s.L.Bound}
		if m.table(t, 0); m.left < 0 {
			return false
		}
	}
	e := encoder{s, w}
	e.value(v, 0)
	return true
}

// meter measures a reply before it is written. A small table can stand for a large reply, because
// it may hold another one many times.
type meter struct {
	s    *State
	left int // bytes
}

// spend accounts for bytes of the reply and reports whether there may be more.
func (m *meter) spend(bytes int) bool {
	if m.left < 0 {
		return false
	}
	if m.left -= bytes; m.left < 0 {
		_ = m.s.L.End(lua.ErrMemory)
	} else if m.s.L.Spend(1) != nil {
		m.left = -1
	}
	return m.left >= 0
}

// Bytes of a reply, at most: a line that holds an integer, and a double as a string.
const (
	lineBytes   = 23
	doubleBytes = 32
)

// value measures a value.
func (m *meter) value(v lua.Value, depth int) bool {
	switch n := v.Num(); {
	case v.IsString():
		return m.spend(v.Len() + lineBytes)
	case v.IsTable():
		return m.table(v.Table(), depth)
	case v.IsNumber() && n > -1e6 && n < 1e6:
		return m.spend(10)
	}
	return m.spend(lineBytes)
}

func (m *meter) table(t *lua.Table, depth int) bool {
	if depth > maxReplyDepth {
		return m.spend(len(errReplyDepth) + 3)
	}
	kind, v := m.s.formOf(t)
	switch kind {
	case formArray:
		return m.array(t, depth)
	case formMap, formSet:
		return m.entries(v.Table(), kind == formMap, depth)
	case formVerbatim:
		return m.spend(m.s.keys.str.of(v.Table()).Len() + lineBytes)
	case formDouble:
		return m.spend(doubleBytes)
	}
	return m.value(v, depth)
}

func (m *meter) array(t *lua.Table, depth int) bool {
	for i := 1; ; i++ {
		v := t.GetInt(i)
		if v.IsNil() {
			return m.spend(lineBytes)
		}
		if !m.value(v, depth+1) {
			return false
		}
	}
}

func (m *meter) entries(t *lua.Table, values bool, depth int) bool {
	for i, k, v := t.NextIndex(0); i != 0; i, k, v = t.NextIndex(i) {
		if !m.value(k, depth+1) || values && !m.value(v, depth+1) {
			return false
		}
	}
	return m.spend(lineBytes)
}

// encoder writes a script's result.
type encoder struct {
	s *State
	w *resp.Writer
}

func (e *encoder) value(v lua.Value, depth int) {
	switch v.Kind() {
	case lua.KindString:
		e.w.Bulk(v.Borrow())
	case lua.KindNumber:
		e.w.Int(int64(v.Num()))
	case lua.KindBool:
		e.boolean(v.Truthy())
	case lua.KindTable:
		e.table(v.Table(), depth)
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

func (e *encoder) table(t *lua.Table, depth int) {
	if depth > maxReplyDepth {
		e.s.fail(e.w, errReplyDepth, false)
		return
	}
	switch kind, v := e.s.formOf(t); kind {
	case formError:
		e.s.fail(e.w, lua.CString(v.Str()), e.s.keys.counted.of(t).Kind() == lua.KindBool)
	case formStatus:
		e.w.Simple(lua.CString(v.Str()))
	case formDouble:
		e.w.Double(v.Num())
	case formMap, formSet:
		e.entries(v.Table(), kind == formMap, depth)
	case formBigNumber:
		e.w.BigNumber(strings.NewReplacer("\r", " ", "\n", " ").Replace(v.Str()))
	case formVerbatim:
		format := e.s.keys.format.of(v.Table()).Str() + "   "
		e.w.Verbatim(format[:3], e.s.keys.str.of(v.Table()).Str())
	default:
		e.array(t, depth)
	}
}

// entries writes a map or a set.
func (e *encoder) entries(t *lua.Table, values bool, depth int) {
	n := 0
	each(t, func(_, _ lua.Value) { n++ })
	if values {
		e.w.Map(n)
	} else {
		e.w.Set(n)
	}
	each(t, func(k, v lua.Value) {
		e.value(k, depth+1)
		if values {
			e.value(v, depth+1)
		}
	})
}

// array writes the elements before the first nil. It counts them first, so the header needs no
// patch.
func (e *encoder) array(t *lua.Table, depth int) {
	n := 0
	for !t.GetInt(n + 1).IsNil() {
		n++
	}
	e.w.Array(n)
	for i := 1; i <= n; i++ {
		e.value(t.GetInt(i), depth+1)
	}
}
