package lualib

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// msgpackDepth is how deeply tables are packed. Deeper ones become nil.
const msgpackDepth = 16

// msgpack is one instance of the library, with the buffer that its calls reuse.
type msgpack struct{ buf []byte }

func openMsgpack(L *lua.LState) {
	m := &msgpack{}
	register(L, "cmsgpack", map[string]lua.LGFunction{
		"pack":         m.pack,
		"unpack":       msgpackUnpack,
		"unpack_one":   msgpackUnpackOne,
		"unpack_limit": msgpackUnpackLimit,
	}, map[string]string{
		"_NAME":        "cmsgpack",
		"_VERSION":     "lua-cmsgpack 0.4.0",
		"_COPYRIGHT":   "Copyright (C) 2012, Salvatore Sanfilippo",
		"_DESCRIPTION": "MessagePack C implementation for Lua",
	})
}

// pack packs its arguments one after the other.
func (m *msgpack) pack(L *lua.LState) int {
	n := L.GetTop()
	if n == 0 {
		argError(L, 0, "MessagePack pack needs input.")
	}
	if 2*n > cStack {
		argError(L, 0, "Too many arguments for MessagePack pack.")
	}
	p := packer{newMeter(L)}
	buf := m.buf[:0]
	for i := 1; i <= n; i++ {
		buf = p.value(buf, L.Get(i), 0)
	}
	if m.buf = buf; cap(buf) > keptBuffer {
		m.buf = nil
	}
	L.Push(lua.LString(buf))
	return 1
}

type packer struct{ meter }

func (p *packer) value(dst []byte, v lua.LValue, depth int) []byte {
	before := len(dst)
	switch v := v.(type) {
	case lua.LString:
		dst = append(appendMsgpackLen(dst, len(v), 0xa0, 31, 0xd9, 0xda), v...)
	case lua.LNumber:
		dst = appendMsgpackNumber(dst, float64(v))
	case lua.LBool:
		if v {
			dst = append(dst, 0xc3)
		} else {
			dst = append(dst, 0xc2)
		}
	case *lua.LTable:
		if depth < msgpackDepth {
			return p.table(dst, v, depth+1)
		}
		dst = append(dst, 0xc0)
	default:
		dst = append(dst, 0xc0)
	}
	p.add(len(dst) - before)
	return dst
}

// table packs an array if the keys are 1 to n, else a map.
func (p *packer) table(dst []byte, t *lua.LTable, depth int) []byte {
	p.add(1)
	pairs, isArray := countPairs(t)
	if isArray {
		dst = appendMsgpackLen(dst, pairs, 0x90, 15, 0, 0xdc)
		inArray := t.Len()
		for i := 1; i <= pairs; i++ {
			if i <= inArray {
				dst = p.value(dst, t.RawGetInt(i), depth)
			} else {
				dst = p.value(dst, t.RawGet(lua.LNumber(i)), depth)
			}
		}
		return dst
	}
	dst = appendMsgpackLen(dst, pairs, 0x80, 15, 0, 0xde)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		dst = p.value(p.value(dst, k, depth), v, depth)
	}
	return dst
}

// countPairs counts a table's pairs and reports whether the keys are 1 to their number.
func countPairs(t *lua.LTable) (pairs int, isArray bool) {
	n := t.Len()
	for i := 1; i <= n; i++ {
		if t.RawGetInt(i) != lua.LNil {
			pairs++
		}
	}
	isArray, largest := true, lua.LNumber(n)
	for k, _ := rest(t, n); k != lua.LNil; k, _ = t.Next(k) {
		pairs++
		f, ok := k.(lua.LNumber)
		isArray = isArray && ok && f > 0 && float64(f) == math.Floor(float64(f))
		largest = max(largest, f)
	}
	return pairs, isArray && largest == lua.LNumber(pairs)
}

// appendMsgpackLen appends the shortest tag for a length. fix holds lengths up to fixMax, tag8 one
// byte (0: there is no such tag), tag16 two bytes, and the tag after tag16 four.
func appendMsgpackLen(dst []byte, n int, fix byte, fixMax int, tag8, tag16 byte) []byte {
	switch {
	case n <= fixMax:
		return append(dst, fix|byte(n))
	case n <= math.MaxUint8 && tag8 != 0:
		return append(dst, tag8, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, tag16), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, tag16+1), uint32(n))
}

// appendMsgpackNumber appends a whole number in its shortest form. Any other number takes 4 bytes
// if they hold it exactly, else 8.
func appendMsgpackNumber(dst []byte, f float64) []byte {
	n := truncate(f)
	if float64(n) != f {
		if float64(float32(f)) == f {
			return binary.BigEndian.AppendUint32(append(dst, 0xca), math.Float32bits(float32(f)))
		}
		return binary.BigEndian.AppendUint64(append(dst, 0xcb), math.Float64bits(f))
	}
	switch {
	case n >= -32 && n <= 127:
		return append(dst, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		return append(dst, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, 0xce), uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64(append(dst, 0xcf), uint64(n))
	case n >= math.MinInt8:
		return append(dst, 0xd0, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(dst, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(dst, 0xd2), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xd3), uint64(n))
}
