package redislib

import (
	"encoding/binary"
	"math"
	"math/bits"

	"godwit/internal/lua"
)

// msgpackDepth is how deeply tables are packed. Deeper ones become nil.
const msgpackDepth = 16

func openMsgpack() *lua.Table {
	tab := library(0,
		function{"pack", msgpackPack},
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

// msgpackPack packs its arguments one after the other.
func msgpackPack(t *lua.Thread) int {
	n := t.Top()
	if n == 0 {
		t.ArgError(0, "MessagePack pack needs input.")
	}
	if 2*n > cStack {
		t.ArgError(0, "Too many arguments for MessagePack pack.")
	}
	p := packer{t.Buffer()}
	for i := 1; i <= n; i++ {
		p.value(t.Arg(i), 0)
	}
	t.Push(p.End())
	return 1
}

// packer makes a string of values.
type packer struct{ lua.Buffer }

func (p *packer) value(v lua.Value, depth int) {
	switch kind := v.Kind(); {
	case kind == lua.KindString:
		p.length(v.Len(), 0xa0, 31, 0xd9, 0xda)
		p.Add(v.Str())
	case kind == lua.KindNumber:
		p.number(v.Num())
	case kind == lua.KindTable && depth < msgpackDepth:
		p.table(v.Table(), depth+1)
	case v.Truthy() && kind == lua.KindBool:
		p.AddByte(0xc3)
	case kind == lua.KindBool:
		p.AddByte(0xc2)
	default:
		p.AddByte(0xc0)
	}
}

// table packs an array if the keys are 1 to n, else a map. The keys of an array must fit a C int,
// as in the original.
func (p *packer) table(t *lua.Table, depth int) {
	n, largest := countKeys(p.T, t, math.MaxInt32)
	if n == largest {
		p.length(n, 0x90, 15, 0, 0xdc)
		for i := 1; i <= n; i++ {
			p.T.Spend(1)
			p.value(t.GetInt(i), depth)
		}
		return
	}
	p.length(n, 0x80, 15, 0, 0xde)
	for at, k, v := t.NextIndex(0); at != 0; at, k, v = t.NextIndex(at) {
		p.T.Spend(1)
		p.value(k, depth)
		p.value(v, depth)
	}
}

// length writes the shortest tag for a length. fix holds lengths up to fixMax, tag8 one byte (0:
// there is no such tag), tag16 two bytes, and the tag after tag16 four.
func (p *packer) length(n int, fix byte, fixMax int, tag8, tag16 byte) {
	switch {
	case n <= fixMax:
		p.AddByte(fix | byte(n))
	case n <= math.MaxUint8 && tag8 != 0:
		p.tagged(tag8, uint64(n), 1)
	case n <= math.MaxUint16:
		p.tagged(tag16, uint64(n), 2)
	default:
		p.tagged(tag16+1, uint64(n), 4)
	}
}

// tagged writes a tag and the low bytes of a number, the highest first. It writes eight bytes that
// begin with these and keeps as many as there should be.
func (p *packer) tagged(tag byte, n uint64, size int) {
	p.Reserve(1 + 8)
	end := len(p.B)
	head := p.B[end : end+9]
	head[0] = tag
	binary.BigEndian.PutUint64(head[1:], n<<(64-8*size))
	p.B = p.B[:end+1+size]
}

// number writes a whole number in its shortest form. Any other number takes 4 bytes if they hold it
// exactly, else 8.
func (p *packer) number(f float64) {
	n := lua.Truncate(f)
	switch {
	case float64(n) != f && float64(float32(f)) == f:
		p.tagged(0xca, uint64(math.Float32bits(float32(f))), 4)
	case float64(n) != f:
		p.tagged(0xcb, math.Float64bits(f), 8)
	case n >= -32 && n <= math.MaxInt8:
		p.AddByte(byte(n))
	case n >= 0:
		size := sizeClass(bits.Len64(uint64(n)))
		p.tagged(0xcc+size, uint64(n), 1<<size)
	default:
		size := sizeClass(bits.Len64(uint64(^n)) + 1)
		p.tagged(0xd0+size, uint64(n), 1<<size)
	}
}

// sizeClass returns the logarithm of the fewest bytes, 1, 2, 4 or 8, that hold so many bits.
func sizeClass(n int) byte { return byte(bits.Len((uint(n) - 1) / 8)) }
