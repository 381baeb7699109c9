package redislib

import (
	"encoding/binary"
	"math"

	"godwit/internal/lua"
)

// msgpackDepth is how deeply tables are packed. Deeper ones become nil.
const msgpackDepth = 16

// msgpack is one instance of the library, with the buffer that its calls reuse.
type msgpack struct{ buf []byte }

func openMsgpack() *lua.Table {
	tab := library(0,
		function{"pack", new(msgpack).pack},
		function{"unpack", msgpackUnpack},
		function{"unpack_one", msgpackUnpackOne},
		function{"unpack_limit", msgpackUnpackLimit},
	)
	tab.SetString("_NAME", lua.String("cmsgpack"))
	tab.SetString("_VERSION", lua.String("lua-cmsgpack 0.4.0"))
	tab.SetString("_COPYRIGHT", lua.String("Copyright (C) 2012, Salvatore Sanfilippo"))
	tab.SetString("_DESCRIPTION", lua.String("MessagePack C implementation for Lua"))
	return tab
}

// pack packs its arguments one after the other.
func (m *msgpack) pack(t *lua.Thread) int {
	n := t.Top()
	if n == 0 {
		t.ArgError(0, "MessagePack pack needs input.")
	}
	if 2*n > cStack {
		t.ArgError(0, "Too many arguments for MessagePack pack.")
	}
	p := packer{writer{t}}
	buf := m.buf[:0]
	for i := 1; i <= n; i++ {
		buf = p.value(buf, t.Arg(i), 0)
	}
	m.buf = p.push(buf)
	return 1
}

type packer struct{ writer }

// msgpackHead is room for a number, or for what precedes a longer value.
const msgpackHead = 9

func (p packer) value(dst []byte, v lua.Value, depth int) []byte {
	if v.IsString() {
		s := v.Str()
		dst = p.reserve(dst, msgpackHead+len(s))
		if len(s) > block {
			p.t.Spend(len(s) / bytesPerStep)
		}
		return append(appendMsgpackLen(dst, len(s), 0xa0, 31, 0xd9, 0xda), s...)
	}
	dst = p.reserve(dst, msgpackHead)
	switch v.Kind() {
	case lua.KindNumber:
		return appendMsgpackNumber(dst, v.Num())
	case lua.KindTable:
		if depth < msgpackDepth {
			return p.table(dst, v.Table(), depth+1)
		}
	case lua.KindBool:
		if v.Truthy() {
			return append(dst, 0xc3)
		}
		return append(dst, 0xc2)
	}
	return append(dst, 0xc0)
}

// table packs an array if the keys are 1 to n, else a map.
func (p packer) table(dst []byte, t *lua.Table, depth int) []byte {
	pairs, isArray := countPairs(t)
	array, nodes := t.Array(), t.Nodes()
	if isArray {
		dst = appendMsgpackLen(dst, pairs, 0x90, 15, 0, 0xdc)
		for i := range pairs {
			p.loop(i, pairs)
			if i < len(array) {
				dst = p.value(dst, array[i], depth)
			} else {
				dst = p.value(dst, t.GetInt(i+1), depth)
			}
		}
		return dst
	}
	dst = appendMsgpackLen(dst, pairs, 0x80, 15, 0, 0xde)
	for i, v := range array {
		if p.loop(i, len(array)); !v.IsNil() {
			dst = p.value(p.value(dst, lua.Int(i+1), depth), v, depth)
		}
	}
	for i := range nodes {
		p.loop(i, nodes)
		if k, v := t.Node(i); !v.IsNil() {
			dst = p.value(p.value(dst, k, depth), v, depth)
		}
	}
	return dst
}

// countPairs counts a table's pairs and reports whether the keys are 1 to their number. The
// keys of an array must fit a C int, as in the original.
func countPairs(t *lua.Table) (pairs int, isArray bool) {
	isArray = true
	largest := 0
	for i, v := range t.Array() {
		if !v.IsNil() {
			largest = i + 1
			pairs++
		}
	}
	for i := range t.Nodes() {
		k, v := t.Node(i)
		if v.IsNil() {
			continue
		}
		pairs++
		if !isArray {
			continue
		}
		f := -1.0
		if k.IsNumber() {
			f = k.Num()
		}
		isArray = f > 0 && f <= math.MaxInt32 && f == math.Floor(f)
		if isArray {
			largest = max(largest, int(f))
		}
	}
	return pairs, isArray && largest == pairs
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
