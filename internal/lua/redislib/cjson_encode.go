package redislib

import (
	"math"
	"strconv"

	"godwit/internal/lua"
)

// jsonEncoder writes one value.
type jsonEncoder struct {
	*cjson
	lua.Buffer
}

func (j *cjson) encode(t *lua.Thread) int {
	if t.Top() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
	e := jsonEncoder{j, t.Buffer()}
	e.value(t.Arg(1), 0, 1)
	t.Push(e.End())
	return 1
}

// value writes a value that is nested in depth tables. slots is how much of the simulated stack is
// in use.
func (e *jsonEncoder) value(v lua.Value, depth, slots int) {
	switch v.Kind() {
	case lua.KindString:
		e.string(v.Str())
	case lua.KindNumber:
		e.number(v.Num())
	case lua.KindTable:
		e.table(v.Table(), depth+1, slots)
	case lua.KindBool:
		e.Add(strconv.FormatBool(v.Truthy()))
	default:
		if !v.IsNil() && v.Userdata() != e.null {
			e.fail(v, "type not supported")
		}
		e.Add("null")
	}
}

func (e *jsonEncoder) fail(v lua.Value, reason string) {
	e.T.Error("Cannot serialise " + v.TypeName() + ": " + reason)
}

// numberSize is room for a number.
const numberSize = 32

func (e *jsonEncoder) number(f float64) {
	e.Reserve(numberSize)
	switch invalid := math.IsNaN(f) || math.IsInf(f, 0); {
	case invalid && e.encodeInvalid == invalidOff:
		e.fail(lua.Number(f), "must not be NaN or Inf")
	case invalid && e.encodeInvalid == invalidNull:
		e.Add("null")
	case f != f:
		e.Add("nan") // whatever its sign
	case e.precision == 14:
		e.B = lua.AppendNumber(e.B, f)
	default:
		e.B = lua.AppendG(e.B, f, e.precision)
	}
}

func (e *jsonEncoder) table(t *lua.Table, depth, slots int) {
	if depth > e.encodeDepth || slots+3 > cStack {
		e.T.Error("Cannot serialise, excessive nesting (" + strconv.Itoa(depth) + ")")
	}
	if n := e.arrayLen(t); n > 0 {
		e.array(t, n, depth, slots)
	} else {
		e.object(t, depth, slots)
	}
}

// arrayLen returns the largest index of a table that has positive whole indices only. It returns 0
// or less for other tables, for sparse ones that become objects, and if the index exceeds a C int.
func (e *jsonEncoder) arrayLen(t *lua.Table) int {
	items, largest := countKeys(e.T, t, math.Inf(1))
	// The product is a C int.
	if e.sparseRatio > 0 && largest > e.sparseSafe && largest > int(int32(items*e.sparseRatio)) {
		if e.sparseConvert == 0 {
			e.fail(lua.TableValue(t), "excessively sparse array")
		}
		return -1
	}
	return largest
}

func (e *jsonEncoder) array(t *lua.Table, n, depth, slots int) {
	e.AddByte('[')
	for i := 1; i <= n; i++ {
		if i > 1 {
			e.AddByte(',')
		}
		e.T.Spend(1)
		e.value(t.GetInt(i), depth, slots+1)
	}
	e.AddByte(']')
}

func (e *jsonEncoder) object(t *lua.Table, depth, slots int) {
	e.AddByte('{')
	first := true
	for at, k, v := t.NextIndex(0); at != 0; at, k, v = t.NextIndex(at) {
		if !first {
			e.AddByte(',')
		}
		first = false
		e.T.Spend(1)
		e.key(k)
		e.AddByte(':')
		e.value(v, depth, slots+2)
	}
	e.AddByte('}')
}

func (e *jsonEncoder) key(k lua.Value) {
	switch {
	case k.IsString():
		e.string(k.Str())
	case k.IsNumber():
		e.AddByte('"')
		e.number(k.Num())
		e.AddByte('"')
	default:
		e.fail(k, "table key must be a number or string")
	}
}

// string writes a string in quotes. Like lua-cjson it also escapes '/' and DEL.
func (e *jsonEncoder) string(s string) {
	e.AddByte('"')
	for ; len(s) > partBytes; s = s[partBytes:] {
		e.escape(s[:partBytes])
	}
	e.escape(s)
	e.AddByte('"')
}

// partBytes is how many bytes of a string are handled without asking whether to go on.
const partBytes = 64 << 10

// escape writes a part of a string.
func (e *jsonEncoder) escape(s string) {
	if len(s) >= lua.HandledPerStep {
		e.T.Spend(len(s) / lua.HandledPerStep)
	}
	start := 0
	for i := range len(s) {
		c := s[i]
		if escapes[c] == 0 {
			continue
		}
		e.Add(s[start:i])
		start = i + 1
		e.T.Spend(1)
		if escapes[c] == 'u' {
			e.Add(`\u00`)
			e.AddByte(hexDigits[c>>4])
			e.AddByte(hexDigits[c&15])
		} else {
			e.AddByte('\\')
			e.AddByte(escapes[c])
		}
	}
	e.Add(s[start:])
}

const hexDigits = "0123456789abcdef"

// escapes has for each byte the letter of its escape, or 0 if it needs none. The letter of the long
// form is u.
var escapes = func() (e [256]byte) {
	for c := range byte(' ') {
		e[c] = 'u'
	}
	e[0x7f] = 'u'
	for i, c := range []byte("\"\\/\b\t\n\f\r") {
		e[c] = `"\/btnfr`[i]
	}
	return e
}()
