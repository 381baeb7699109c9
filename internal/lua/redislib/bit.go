package redislib

import (
	"math"
	"math/bits"

	"godwit/internal/lua"
)

// openBit returns LuaBitOp: operations on 32 bits with signed results.
func openBit() *lua.Table {
	return library(12,
		function{"tobit", bitOne(func(b uint32) uint32 { return b })},
		function{"bnot", bitOne(func(b uint32) uint32 { return ^b })},
		function{"band", bitFold(func(a, b uint32) uint32 { return a & b })},
		function{"bor", bitFold(func(a, b uint32) uint32 { return a | b })},
		function{"bxor", bitFold(func(a, b uint32) uint32 { return a ^ b })},
		function{"lshift", bitShift(func(b uint32, n int) uint32 { return b << n })},
		function{"rshift", bitShift(func(b uint32, n int) uint32 { return b >> n })},
		function{"arshift", bitShift(bitSigned)},
		function{"rol", bitShift(bits.RotateLeft32)},
		function{"ror", bitShift(func(b uint32, n int) uint32 { return bits.RotateLeft32(b, -n) })},
		function{"bswap", bitOne(bits.ReverseBytes32)},
		function{"tohex", bitToHex},
	)
}

// bitArg returns the low 32 bits of an argument. Adding 2^52 + 2^51 rounds a number to an integer
// whose low bits are those of the mantissa. Halves round to even. Beyond ±2^51 the result is
// whatever this arithmetic gives, as in the original.
func bitArg(t *lua.Thread, n int) uint32 {
	return uint32(math.Float64bits(t.Number(n) + (1<<52 + 1<<51)))
}

func pushBits(t *lua.Thread, b uint32) int {
	t.Push(lua.Int(int(int32(b))))
	return 1
}

func bitOne(op func(uint32) uint32) func(*lua.Thread) int {
	return func(t *lua.Thread) int { return pushBits(t, op(bitArg(t, 1))) }
}

// bitFold takes any number of arguments and checks the last one first, so that an error names the
// one that LuaBitOp meets first.
func bitFold(op func(a, b uint32) uint32) func(*lua.Thread) int {
	return func(t *lua.Thread) int {
		b := bitArg(t, 1)
		for i := t.Top(); i > 1; i-- {
			b = op(b, bitArg(t, i))
		}
		return pushBits(t, b)
	}
}

func bitShift(op func(b uint32, n int) uint32) func(*lua.Thread) int {
	return func(t *lua.Thread) int {
		b := bitArg(t, 1)
		return pushBits(t, op(b, int(bitArg(t, 2)&31)))
	}
}

func bitSigned(b uint32, n int) uint32 { return uint32(int32(b) >> n) }

// bitToHex prints the low digits, in capitals if their count is negative. The smallest number has
// no opposite, which the original overlooks; here it means 8.
func bitToHex(t *lua.Thread) int {
	b, n := bitArg(t, 1), int64(8)
	if t.Top() >= 2 {
		n = int64(int32(bitArg(t, 2)))
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
	t.Push(t.Copy(string(buf[:n])))
	return 1
}
