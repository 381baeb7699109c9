package redislib

import (
	"math"
	"math/bits"
	"strconv"

	"godwit/internal/lua"
)

// unpacker reads values one after the other. It raises errors: a text that is wrong returns
// nothing.
type unpacker struct {
	t   *lua.Thread
	s   string
	pos int

	unread int // elements of arrays that there may be yet
}

func msgpackUnpack(t *lua.Thread) int { return unpackValues(t, 0, 0, t.Top()) }

func msgpackUnpackOne(t *lua.Thread) int {
	return unpackValues(t, 1, int(optInteger(t, 2, 0)), 1)
}

func msgpackUnpackLimit(t *lua.Thread) int {
	limit := int(integer(t, 2))
	return unpackValues(t, limit, int(optInteger(t, 3, 0)), 1)
}

// unpackValues pushes up to limit values that begin at an offset of the string. Before them it
// pushes the offset of what follows, or -1 at the end. With neither limit nor offset it pushes all
// values and no offset. slots is how many arguments are on the stack.
func unpackValues(t *lua.Thread, limit, offset, slots int) int {
	s := t.String(1)
	if offset < 0 || limit < 0 {
		t.Error("Invalid request to unpack with offset of " + strconv.Itoa(int(int32(offset))) +
			" and limit of " + strconv.Itoa(len(s)) + ".")
	}
	if offset > len(s) {
		t.Error("Start offset " + strconv.Itoa(int(int32(offset))) +
			" greater than input length " + strconv.Itoa(len(s)) + ".")
	}
	all := limit == 0 && offset == 0
	if all {
		limit = math.MaxInt32
	} else {
		t.Push(lua.Nil) // where the offset will be
	}
	at := t.Top()
	u := unpacker{t: t, s: s, pos: offset, unread: len(s)}
	n := 0
	for ; u.pos < len(s) && n < limit; n++ {
		t.Push(u.value(slots + n))
	}
	if all {
		return n
	}
	if slots+n+1 > cStack {
		t.Error("stack overflow (in function mp_unpack_full)")
	}
	next := u.pos
	if next == len(s) {
		next = -1
	}
	t.SetArg(at, lua.Int(next))
	return n + 1
}

// take returns the next n bytes.
func (u *unpacker) take(n int) string {
	if len(u.s)-u.pos < n {
		u.t.Error("Missing bytes in input.")
	}
	u.pos += n
	return u.s[u.pos-n : u.pos]
}

// number returns the next bytes as a big-endian integer.
func (u *unpacker) number(bytes int) uint64 {
	if rest := u.s[u.pos:]; len(rest) >= 8 {
		u.pos += bytes
		return bits.ReverseBytes64(load8(rest[:8])) >> (64 - 8*bytes)
	}
	n := uint64(0)
	for _, c := range []byte(u.take(bytes)) {
		n = n<<8 | uint64(c)
	}
	return n
}

// string returns the next n bytes as a string. Short ones are often keys.
func (u *unpacker) string(n int) lua.Value {
	if n > block {
		u.t.Spend(n / bytesPerStep)
	}
	return u.t.Intern(u.take(n))
}

// value reads one value. slots is how much of the simulated stack is in use.
func (u *unpacker) value(slots int) lua.Value {
	if u.pos >= len(u.s) {
		u.take(1)
	}
	tag := u.s[u.pos]
	u.pos++
	if slots >= cStack {
		u.t.Error("stack overflow (too many return values at once; use unpack_one or " +
			"unpack_limit instead.)")
	}
	switch {
	case tag < 0x80 || tag >= 0xe0:
		return lua.Int(int(int8(tag)))
	case tag < 0x90:
		return u.hash(int(tag&15), slots)
	case tag < 0xa0:
		return u.array(int(tag&15), slots)
	case tag < 0xc0:
		return u.string(int(tag & 31))
	}
	switch tag {
	case 0xc0:
		return lua.Nil
	case 0xc2, 0xc3:
		return lua.Bool(tag == 0xc3)
	case 0xca:
		return lua.Number(float64(math.Float32frombits(uint32(u.number(4)))))
	case 0xcb:
		return lua.Number(math.Float64frombits(u.number(8)))
	case 0xcc, 0xcd, 0xce:
		return lua.Int(int(u.number(1 << (tag - 0xcc))))
	case 0xd0:
		return lua.Int(int(int8(u.number(1))))
	case 0xd1:
		return lua.Int(int(int16(u.number(2))))
	case 0xd2:
		return lua.Int(int(int32(u.number(4))))
	case 0xcf, 0xd3:
		return lua.Int(int(int64(u.number(8)))) // the original also reads unsigned ones as signed
	case 0xd9, 0xda, 0xdb:
		return u.string(int(u.number(1 << (tag - 0xd9))))
	case 0xdc, 0xdd:
		return u.array(int(u.number(2<<(tag-0xdc))), slots)
	case 0xde, 0xdf:
		return u.hash(int(u.number(2<<(tag-0xde))), slots)
	}
	u.t.Error("Bad data format in input.")
	return lua.Nil
}

// array reads n elements. Each takes a byte at least, so all arrays of a text together have no more
// elements than it has bytes. Memory is allocated for no more than these.
func (u *unpacker) array(n, slots int) lua.Value {
	if slots+2 > cStack {
		u.t.Error("stack overflow (in function mp_decode_to_lua_array)")
	}
	t := u.t
	room := min(n, len(u.s)-u.pos, u.unread)
	u.unread -= room
	tab := t.NewArray(room)
	t.Push(lua.TableValue(tab))
	elements := tab.Array()[:room]
	for i := range elements {
		if i%block == 0 {
			t.Spend(min(block, room-i))
		}
		v := u.value(slots + 2)
		if v.IsNil() {
			u.withNil(tab, i, n, slots)
			return t.Pop()
		}
		elements[i] = v
	}
	for range n - room { // they end with an error
		u.value(slots + 2)
		t.Spend(1)
	}
	return t.Pop()
}

// withNil goes on with an array whose element i+1 is nil. With it the size of a table's array is
// another: it must grow as elements are set one by one.
func (u *unpacker) withNil(ready *lua.Table, i, n, slots int) {
	t := u.t
	tab := t.NewArray(i)
	t.SetArg(t.Top(), lua.TableValue(tab))
	copy(tab.Array(), ready.Array()[:i])
	t.RawSetInt(tab, i+1, lua.Nil)
	for i += 2; i <= n; i++ {
		t.Push(u.value(slots + 2))
		t.RawSetInt(tab, i, t.Arg(t.Top()))
		t.Pop()
		t.Spend(1)
	}
}

// hash reads n pairs. A few pairs of strings become a table at once.
func (u *unpacker) hash(n, slots int) lua.Value {
	t := u.t
	if n == 0 {
		return lua.TableValue(t.NewTable(0, 0))
	}
	if n > lua.MaxPairs {
		return u.largeHash(n, slots)
	}
	plain := true
	for range n {
		k, v := u.pair(slots)
		plain = plain && k.IsString() && !v.IsNil()
	}
	if plain {
		return lua.TableValue(t.PopPairs(n))
	}
	tab := t.NewTable(0, 0)
	first := t.Top() + 1 - 2*n
	t.Push(lua.TableValue(tab))
	for i := first; i < first+2*n; i += 2 {
		t.RawSet(tab, t.Arg(i), t.Arg(i+1))
	}
	t.SetTop(first - 1)
	return lua.TableValue(tab)
}

func (u *unpacker) largeHash(n, slots int) lua.Value {
	tab := u.t.NewTable(0, 0)
	u.t.Push(lua.TableValue(tab))
	for range n {
		u.pair(slots)
		u.t.PopPair(tab)
	}
	return u.t.Pop()
}

// pair reads a key and a value and pushes them.
func (u *unpacker) pair(slots int) (k, v lua.Value) {
	k = u.value(slots + 1)
	u.t.Push(k)
	v = u.value(slots + 2)
	u.t.Push(v)
	switch {
	case k.IsNil():
		raiseBare(u.t, "table index is nil")
	case k.IsNumber() && k.Num() != k.Num():
		raiseBare(u.t, "table index is NaN")
	}
	return k, v
}
