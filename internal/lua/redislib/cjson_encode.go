package redislib

import (
	"math"
	"math/bits"
	"strconv"

	"godwit/internal/lua"
)

// jsonEncoder writes one value.
type jsonEncoder struct {
	*cjson
	writer
}

func (j *cjson) encode(t *lua.Thread) int {
	if t.Top() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
	e := jsonEncoder{j, writer{t}}
	j.buf = e.push(e.value(j.buf[:0], t.Arg(1), 0, 1))
	return 1
}

// value appends a value that is nested in depth tables. slots is how much of the simulated stack is
// in use.
func (e *jsonEncoder) value(dst []byte, v lua.Value, depth, slots int) []byte {
	switch v.Kind() {
	case lua.KindString:
		return e.string(dst, v.Str())
	case lua.KindNumber:
		return e.number(e.reserve(dst, numberSize), v.Num())
	case lua.KindTable:
		return e.table(dst, v.Table(), depth+1, slots)
	case lua.KindBool:
		if v.Truthy() {
			return append(e.reserve(dst, 5), "true"...)
		}
		return append(e.reserve(dst, 5), "false"...)
	case lua.KindNil:
	default:
		if v.Userdata() != e.null {
			e.fail(v, "type not supported")
		}
	}
	return append(e.reserve(dst, 5), "null"...)
}

func (e *jsonEncoder) fail(v lua.Value, reason string) {
	e.t.Error("Cannot serialise " + v.TypeName() + ": " + reason)
}

// numberSize is room for a number and what stands around it.
const numberSize = 32

func (e *jsonEncoder) number(dst []byte, f float64) []byte {
	if f-f != 0 { // an infinity or NaN
		switch e.encodeInvalid {
		case invalidOff:
			e.fail(lua.Number(f), "must not be NaN or Inf")
		case invalidNull:
			return append(dst, "null"...)
		}
		if f != f {
			return append(dst, "nan"...) // whatever its sign
		}
	}
	if e.precision != 14 {
		return lua.AppendG(dst, f, e.precision)
	}
	return lua.AppendNumber(dst, f)
}

func (e *jsonEncoder) table(dst []byte, t *lua.Table, depth, slots int) []byte {
	if depth > e.encodeDepth || slots+3 > cStack {
		e.t.Error("Cannot serialise, excessive nesting (" + strconv.Itoa(depth) + ")")
	}
	if n := e.arrayLen(t); n > 0 {
		return e.array(dst, t, n, depth, slots)
	}
	return e.object(dst, t, depth, slots)
}

// arrayLen returns the largest index of a table that has positive whole indices only. It returns 0
// or less for other tables, for sparse ones that become objects, and if the index exceeds a C int,
// in which the original stores it.
func (e *jsonEncoder) arrayLen(t *lua.Table) int {
	largest, items := 0, 0
	array, nodes := t.Array(), t.Nodes()
	for i := range array {
		if !array[i].IsNil() {
			largest = i + 1
			items++
		}
	}
	for i := range nodes {
		k, v := t.Node(i)
		if v.IsNil() {
			continue
		}
		if !k.IsNumber() || k.Num() < 1 || k.Num() != math.Floor(k.Num()) {
			return -1
		}
		if k.Num() > float64(largest) {
			largest = truncateInt(k.Num())
		}
		items++
	}
	// the product is a C int
	if e.sparseRatio > 0 && largest > e.sparseSafe && largest > int(int32(items*e.sparseRatio)) {
		if e.sparseConvert == 0 {
			e.fail(lua.TableValue(t), "excessively sparse array")
		}
		return -1
	}
	return largest
}

func (e *jsonEncoder) array(dst []byte, t *lua.Table, n, depth, slots int) []byte {
	dst = append(e.reserve(dst, numberSize), '[')
	array := t.Array()
	for i := range n {
		e.loop(i, n)
		if i > 0 {
			dst = append(e.reserve(dst, numberSize), ',')
		}
		if i < len(array) {
			if v := array[i]; v.IsNumber() {
				dst = e.number(dst, v.Num())
			} else {
				dst = e.value(dst, v, depth, slots+1)
			}
		} else {
			dst = e.value(dst, t.GetInt(i+1), depth, slots+1)
		}
	}
	return append(e.reserve(dst, 1), ']')
}

func (e *jsonEncoder) object(dst []byte, t *lua.Table, depth, slots int) []byte {
	dst = append(e.reserve(dst, 2), '{')
	start := len(dst)
	array, nodes := t.Array(), t.Nodes()
	for i, v := range array {
		if e.loop(i, len(array)); !v.IsNil() {
			dst = e.pair(dst, lua.Int(i+1), v, depth, slots)
		}
	}
	for i := range nodes {
		e.loop(i, nodes)
		if k, v := t.Node(i); !v.IsNil() {
			dst = e.pair(dst, k, v, depth, slots)
		}
	}
	if len(dst) > start {
		dst[len(dst)-1] = '}' // in place of the last comma
		return dst
	}
	return append(dst, '}')
}

// pair appends a pair and a comma.
func (e *jsonEncoder) pair(dst []byte, k, v lua.Value, depth, slots int) []byte {
	switch {
	case k.IsString():
		dst = e.string(dst, k.Str())
	case k.IsNumber():
		dst = append(e.number(append(e.reserve(dst, numberSize), '"'), k.Num()), '"')
	default:
		e.fail(k, "table key must be a number or string")
	}
	dst = e.value(append(e.reserve(dst, 1), ':'), v, depth, slots+2)
	return append(e.reserve(dst, 1), ',')
}

// string appends a string in quotes.
func (e *jsonEncoder) string(dst []byte, s string) []byte {
	dst = e.reserve(dst, len(s)+3)
	if len(s) > block {
		e.t.Spend(len(s) / bytesPerStep)
	}
	dst = append(dst, '"')
	plain := plainLen(s)
	dst = append(dst, s[:plain]...)
	if plain < len(s) {
		dst = e.escape(dst, s[plain:])
	}
	return append(dst, '"')
}

// bytesPerStep is how many bytes are read or written in the time of a step.
const bytesPerStep = 64

// escape appends the rest of a string. Like lua-cjson it also escapes '/' and DEL. It leaves room
// for the quote.
func (e *jsonEncoder) escape(dst []byte, s string) []byte {
	for s != "" {
		part := s[:min(len(s), block)]
		s = s[len(part):]
		dst = e.reserve(dst, 6*len(part)+len(s)+3)
		e.t.Spend(4 * len(part) / bytesPerStep)
		for part != "" {
			n := plainLen(part)
			dst = append(dst, part[:n]...)
			for part = part[n:]; part != "" && escapes[part[0]] != 0; part = part[1:] {
				if c := part[0]; escapes[c] != 'u' {
					dst = append(dst, '\\', escapes[c])
				} else {
					dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
				}
			}
		}
	}
	return dst
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

// plainLen returns how many bytes at the start of s need no escape.
func plainLen(s string) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if m := special(load8(s[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(s) && escapes[s[i]] == 0 {
		i++
	}
	return i
}

// special marks the first of eight bytes that needs an escape by its highest bit. A byte of x is
// zero if that bit is set in (x-ones)&^x; it may also be set above such a byte. Likewise a byte is
// less than n if it is set in (x-ones*n)&^x.
func special(x uint64) uint64 {
	quote, back, slash, del := x^ones*'"', x^ones*'\\', x^ones*'/', x^ones*0x7f
	return ((quote-ones)&^quote | (back-ones)&^back | (slash-ones)&^slash | (del-ones)&^del |
		(x-ones*' ')&^x) & (ones << 7)
}

const ones = 0x0101010101010101

// load8 returns the bytes of s, which has eight, as a number.
func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
