package lualib

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// unpacker reads values one after the other. It raises errors: a text that is wrong returns
// nothing.
type unpacker struct {
	meter
	s      string
	pos    int
	filler int // unused slots of arrays that the text made
}

func msgpackUnpack(L *lua.LState) int {
	return unpackValues(L, 0, 0, L.GetTop())
}

func msgpackUnpackOne(L *lua.LState) int {
	return unpackValues(L, 1, int(optInt(L, 2, 0)), 1)
}

func msgpackUnpackLimit(L *lua.LState) int {
	limit := int(checkInt(L, 2))
	return unpackValues(L, limit, int(optInt(L, 3, 0)), 1)
}

// unpackValues pushes up to limit values that begin at an offset of the string. Before them it
// pushes the offset of what follows, or -1 at the end. With neither limit nor offset it pushes all
// values and no offset. slots is how many arguments are on the stack.
func unpackValues(L *lua.LState, limit, offset, slots int) int {
	s := checkString(L, 1)
	if offset < 0 || limit < 0 {
		raise(L, "Invalid request to unpack with offset of "+itoa(int(int32(offset)))+
			" and limit of "+itoa(len(s))+".")
	}
	if offset > len(s) {
		raise(L, "Start offset "+itoa(int(int32(offset)))+" greater than input length "+
			itoa(len(s))+".")
	}
	all := limit == 0 && offset == 0
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{meter: newMeter(L), s: s, pos: offset}
	var values []lua.LValue
	for u.pos < len(s) && len(values) < limit {
		values = append(values, u.value(slots+len(values)))
	}
	n := len(values)
	if !all {
		if slots+n+1 > cStack {
			raise(L, "stack overflow (in function mp_unpack_full)")
		}
		next := u.pos
		if next == len(s) {
			next = -1
		}
		L.Push(lua.LNumber(next))
		n++
	}
	for _, v := range values {
		L.Push(v)
	}
	return n
}

// take returns the next n bytes.
func (u *unpacker) take(n int) string {
	if len(u.s)-u.pos < n {
		raise(u.L, "Missing bytes in input.")
	}
	u.pos += n
	return u.s[u.pos-n : u.pos]
}

// number returns the next bytes as a big-endian integer.
func (u *unpacker) number(bytes int) uint64 {
	var b [8]byte
	copy(b[8-bytes:], u.take(bytes))
	return binary.BigEndian.Uint64(b[:])
}

// value reads one value. slots is how much of the simulated stack is in use.
func (u *unpacker) value(slots int) lua.LValue {
	tag := u.take(1)[0]
	if slots+1 > cStack {
		raise(u.L, "stack overflow (too many return values at once; use unpack_one or "+
			"unpack_limit instead.)")
	}
	switch {
	case tag < 0x80 || tag >= 0xe0:
		return lua.LNumber(int8(tag))
	case tag >= 0xa0 && tag < 0xc0:
		return lua.LString(u.take(int(tag & 31)))
	case tag >= 0x90 && tag < 0xa0:
		return u.array(int(tag&15), slots)
	case tag < 0x90:
		return u.hash(int(tag&15), slots)
	}
	switch tag {
	case 0xc0:
		return lua.LNil
	case 0xc2, 0xc3:
		return lua.LBool(tag == 0xc3)
	case 0xca:
		return lua.LNumber(math.Float32frombits(uint32(u.number(4))))
	case 0xcb:
		return lua.LNumber(math.Float64frombits(u.number(8)))
	case 0xcc, 0xcd, 0xce:
		return lua.LNumber(u.number(1 << (tag - 0xcc)))
	case 0xd0:
		return lua.LNumber(int8(u.number(1)))
	case 0xd1:
		return lua.LNumber(int16(u.number(2)))
	case 0xd2:
		return lua.LNumber(int32(u.number(4)))
	case 0xcf, 0xd3:
		return lua.LNumber(int64(u.number(8))) // the original also reads unsigned ones as signed
	case 0xd9, 0xda, 0xdb:
		return lua.LString(u.take(int(u.number(1 << (tag - 0xd9)))))
	case 0xdc, 0xdd:
		return u.array(int(u.number(2<<(tag-0xdc))), slots)
	case 0xde, 0xdf:
		return u.hash(int(u.number(2<<(tag-0xde))), slots)
	}
	raise(u.L, "Bad data format in input.")
	return nil
}

func (u *unpacker) array(n, slots int) lua.LValue {
	u.add(tableBytes)
	if slots+2 > cStack {
		raise(u.L, "stack overflow (in function mp_decode_to_lua_array)")
	}
	t := u.L.CreateTable(min(n, 4), 0) // the length is not trusted
	for i := 1; i <= n; i++ {
		t.RawSetInt(i, u.value(slots+2))
		u.add(slotBytes)
	}
	return t
}

func (u *unpacker) hash(n, slots int) lua.LValue {
	u.add(tableBytes)
	t := u.L.CreateTable(0, min(n, 1))
	slotsOfArray := 0
	for range n {
		key := u.value(slots + 1)
		value := u.value(slots + 2)
		switch k := key.(type) {
		case *lua.LNilType:
			raiseBare(u.L, "table index is nil")
		case lua.LNumber:
			if k != k {
				raiseBare(u.L, "table index is NaN")
			}
			slotsOfArray = u.fill(slotsOfArray, k)
		}
		t.RawSet(key, value)
		u.add(pairBytes)
	}
	return t
}

// fill returns how many slots a table's array has after a key is set, and counts those that stay
// empty.
func (u *unpacker) fill(slots int, key lua.LNumber) int {
	if !(key >= 1 && key < lua.LNumber(lua.MaxArrayIndex) && key == lua.LNumber(int(key))) ||
		int(key) <= slots {
		return slots
	}
	u.filler += int(key) - slots - 1
	if u.filler > maxFiller {
		raise(u.L, "not enough memory")
	}
	u.add(16 * (int(key) - slots))
	return int(key)
}
