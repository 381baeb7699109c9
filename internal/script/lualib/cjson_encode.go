package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// jsonEncoder writes one value.
type jsonEncoder struct {
	*cjson
	meter
}

func (j *cjson) encode(L *lua.LState) int {
	if L.GetTop() != 1 {
		argError(L, 1, "expected 1 argument")
	}
	e := jsonEncoder{j, newMeter(L)}
	buf := e.value(j.buf[:0], L.Get(1), 0, 1)
	if j.buf = buf; cap(buf) > keptBuffer {
		j.buf = nil
	}
	L.Push(lua.LString(buf))
	return 1
}

// value appends a value that is nested in depth tables. slots is how much of the simulated stack is
// in use.
func (e *jsonEncoder) value(dst []byte, v lua.LValue, depth, slots int) []byte {
	before := len(dst)
	switch v := v.(type) {
	case lua.LString:
		dst = appendJSONString(dst, string(v))
	case lua.LNumber:
		dst = e.number(dst, float64(v))
	case lua.LBool:
		dst = append(dst, v.String()...)
	case *lua.LTable:
		return e.table(dst, v, depth+1, slots)
	case *lua.LNilType:
		dst = append(dst, "null"...)
	default:
		if v != lua.LValue(e.null) {
			e.fail(v, "type not supported")
		}
		dst = append(dst, "null"...)
	}
	e.add(len(dst) - before)
	return dst
}

func (e *jsonEncoder) fail(v lua.LValue, reason string) {
	raise(e.L, "Cannot serialise "+v.Type().String()+": "+reason)
}

func (e *jsonEncoder) number(dst []byte, f float64) []byte {
	if f-f != 0 { // an infinity or NaN
		switch e.encodeInvalid {
		case invalidOff:
			e.fail(lua.LNumber(f), "must not be NaN or Inf")
		case invalidNull:
			return append(dst, "null"...)
		}
		if f != f {
			return append(dst, "nan"...) // whatever its sign
		}
	}
	return appendNumber(dst, f, e.precision)
}

func (e *jsonEncoder) table(dst []byte, t *lua.LTable, depth, slots int) []byte {
	if depth > e.encodeDepth || slots+3 > cStack {
		raise(e.L, "Cannot serialise, excessive nesting ("+itoa(depth)+")")
	}
	e.add(2)
	if n := e.arrayLen(t); n > 0 {
		return e.array(dst, t, n, depth, slots)
	}
	return e.object(dst, t, depth, slots)
}

// arrayLen returns the largest index of a table that has positive whole indices only. It returns 0
// or less for other tables, for sparse ones that become objects, and if the index exceeds a C int,
// in which the original stores it.
func (e *jsonEncoder) arrayLen(t *lua.LTable) int {
	last, items := 0, 0
	for n := t.Len(); last < n; last++ {
		if t.RawGetInt(last+1) != lua.LNil {
			items++
		}
	}
	largest := last
	for key, _ := rest(t, last); key != lua.LNil; key, _ = t.Next(key) {
		f, ok := key.(lua.LNumber)
		if !ok || f < 1 || float64(f) != math.Floor(float64(f)) {
			return -1
		}
		if float64(f) > float64(largest) {
			largest = truncateInt(float64(f))
		}
		items++
	}
	if e.sparseRatio > 0 && largest > items*e.sparseRatio && largest > e.sparseSafe {
		if e.sparseConvert == 0 {
			e.fail(t, "excessively sparse array")
		}
		return -1
	}
	return largest
}

// rest returns the first pair of a table after the n elements of its array.
func rest(t *lua.LTable, n int) (lua.LValue, lua.LValue) {
	if n == 0 {
		return t.Next(lua.LNil)
	}
	return t.Next(lua.LNumber(n))
}

func (e *jsonEncoder) array(dst []byte, t *lua.LTable, n, depth, slots int) []byte {
	dst = append(dst, '[')
	inArray := t.Len()
	for i := 1; i <= n; i++ {
		if i > 1 {
			dst = append(dst, ',')
			e.add(1)
		}
		v := t.RawGetInt(i)
		if i > inArray {
			v = t.RawGet(lua.LNumber(i))
		}
		dst = e.value(dst, v, depth, slots+1)
	}
	return append(dst, ']')
}

func (e *jsonEncoder) object(dst []byte, t *lua.LTable, depth, slots int) []byte {
	dst = append(dst, '{')
	comma := false
	for key, v := t.Next(lua.LNil); key != lua.LNil; key, v = t.Next(key) {
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		before := len(dst)
		switch key := key.(type) {
		case lua.LNumber:
			dst = append(e.number(append(dst, '"'), float64(key)), '"')
		case lua.LString:
			dst = appendJSONString(dst, string(key))
		default:
			e.fail(key, "table key must be a number or string")
		}
		dst = append(dst, ':')
		e.add(len(dst) - before + 1)
		dst = e.value(dst, v, depth, slots+2)
	}
	return append(dst, '}')
}

// appendJSONString appends a string in quotes. Like lua-cjson it also escapes '/' and DEL.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	plain := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != '/' && c != 0x7f {
			continue
		}
		dst = append(dst, s[plain:i]...)
		plain = i + 1
		if short := jsonEscape(c); short != 0 {
			dst = append(dst, '\\', short)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[plain:]...), '"')
}

// jsonEscape returns the letter of a byte's short escape, or 0.
func jsonEscape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	}
	return 0
}
