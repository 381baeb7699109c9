package redislib

import (
	"math"
	"strconv"

	"godwit/internal/lua"
)

// unpacker reads values one after the other. It raises errors: a text that is wrong returns
// nothing.
type unpacker struct {
	t   *lua.Thread
	s   string
	pos int
}

func msgpackUnpack(t *lua.Thread) int { return unpackValues(t, 0, 0, t.Top()) }

func msgpackUnpackOne(t *lua.Thread) int {
	return unpackValues(t, 1, t.OptInt(2, 0), 1)
}

func msgpackUnpackLimit(t *lua.Thread) int {
	limit := t.Int(2)
	return unpackValues(t, limit, t.OptInt(3, 0), 1)
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
	u := unpacker{t, s, offset}
	n := 0
	for ; u.pos < len(s) && n < limit; n++ {
		u.value(slots + n)
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
func (u *unpacker) number(bytes int) (n uint64) {
	for _, c := range []byte(u.take(bytes)) {
		n = n<<8 | uint64(c)
	}
	return n
}

// value pushes the next value. slots is how much of the simulated stack is in use.
func (u *unpacker) value(slots int) {
	tag := u.take(1)[0]
	if slots >= cStack {
		u.t.Error("stack overflow (too many return values at once; use unpack_one or " +
			"unpack_limit instead.)")
	}
	switch {
	case tag < 0x80 || tag >= 0xe0:
		u.t.Push(lua.Int(int(int8(tag))))
	case tag < 0x90:
		u.hash(int(tag&15), slots)
	case tag < 0xa0:
		u.array(int(tag&15), slots)
	case tag < 0xc0:
		u.string(int(tag & 31))
	case tag >= 0xd9 && tag <= 0xdb:
		u.string(int(u.number(1 << (tag - 0xd9))))
	case tag == 0xdc, tag == 0xdd:
		u.array(int(u.number(2<<(tag-0xdc))), slots)
	case tag == 0xde, tag == 0xdf:
		u.hash(int(u.number(2<<(tag-0xde))), slots)
	default:
		u.t.Push(u.scalar(tag))
	}
}

// scalar returns the nil, boolean or number that has the tag.
func (u *unpacker) scalar(tag byte) lua.Value {
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
		return lua.Int(int(u.number(8))) // the original also reads unsigned ones as signed
	}
	u.t.Error("Bad data format in input.")
	return lua.Nil
}

// string pushes the next n bytes.
func (u *unpacker) string(n int) {
	u.t.Push(u.t.Copy(u.take(n)))
}

// array pushes an array of n elements. It grows with them, because nothing tells whether there are
// as many.
func (u *unpacker) array(n, slots int) {
	if slots+2 > cStack {
		u.t.Error("stack overflow (in function mp_decode_to_lua_array)")
	}
	tab := u.t.NewTable(0, 0)
	u.t.Push(lua.TableValue(tab))
	for i := range n {
		u.value(slots + 2)
		u.t.PopElement(tab, i+1)
	}
}

// hash pushes a table of n pairs.
func (u *unpacker) hash(n, slots int) {
	tab := u.t.NewTable(0, 0)
	u.t.Push(lua.TableValue(tab))
	for range n {
		u.value(slots + 1)
		u.value(slots + 2)
		u.t.PopPair(tab)
	}
}
