package lualib

import (
	"math"
	"math/bits"

	lua "github.com/yuin/gopher-lua"
)

// openBit registers LuaBitOp: operations on 32 bits with signed results.
func openBit(L *lua.LState) {
	register(L, "bit", map[string]lua.LGFunction{
		"tobit": func(L *lua.LState) int { return pushBits(L, bitArg(L, 1)) },
		"bnot":  func(L *lua.LState) int { return pushBits(L, ^bitArg(L, 1)) },
		"bswap": func(L *lua.LState) int {
			return pushBits(L, bits.ReverseBytes32(bitArg(L, 1)))
		},
		"band":    bitFold(func(a, b uint32) uint32 { return a & b }),
		"bor":     bitFold(func(a, b uint32) uint32 { return a | b }),
		"bxor":    bitFold(func(a, b uint32) uint32 { return a ^ b }),
		"lshift":  bitShift(func(b uint32, n int) uint32 { return b << n }),
		"rshift":  bitShift(func(b uint32, n int) uint32 { return b >> n }),
		"arshift": bitShift(func(b uint32, n int) uint32 { return uint32(int32(b) >> n) }),
		"rol":     bitShift(bits.RotateLeft32),
		"ror":     bitShift(func(b uint32, n int) uint32 { return bits.RotateLeft32(b, -n) }),
		"tohex":   bitToHex,
	}, nil)
}

// bitArg returns the low 32 bits of an argument. Adding 2^52 + 2^51 rounds a number to an integer
// whose low bits are those of the mantissa. Halves round to even. Beyond ±2^51 the result is
// whatever this arithmetic gives, as in the original.
func bitArg(L *lua.LState, n int) uint32 {
	f, ok := toNumber(L.Get(n))
	if !ok {
		typeError(L, n, "number")
	}
	return uint32(math.Float64bits(f + (1<<52 + 1<<51)))
}

func pushBits(L *lua.LState, b uint32) int {
	L.Push(lua.LNumber(int32(b)))
	return 1
}

// bitFold takes any number of arguments and checks the last one first, so that an error names the
// one that LuaBitOp meets first.
func bitFold(op func(a, b uint32) uint32) lua.LGFunction {
	return func(L *lua.LState) int {
		b := bitArg(L, 1)
		for i := L.GetTop(); i > 1; i-- {
			b = op(b, bitArg(L, i))
		}
		return pushBits(L, b)
	}
}

func bitShift(op func(b uint32, n int) uint32) lua.LGFunction {
	return func(L *lua.LState) int {
		b := bitArg(L, 1)
		return pushBits(L, op(b, int(bitArg(L, 2)&31)))
	}
}

// bitToHex prints the low digits, in capitals if their count is negative. The smallest number has
// no opposite, which the original overlooks; here it means 8.
func bitToHex(L *lua.LState) int {
	b, n := bitArg(L, 1), int64(8)
	if L.GetTop() >= 2 {
		n = int64(int32(bitArg(L, 2)))
	}
	digits := "0123456789abcdef"
	if n < 0 {
		n, digits = -n, "0123456789ABCDEF"
	}
	n = min(n, 8)
	var buf [8]byte
	for i := n - 1; i >= 0; i-- {
		buf[i] = digits[b&15]
		b >>= 4
	}
	L.Push(lua.LString(buf[:n]))
	return 1
}
