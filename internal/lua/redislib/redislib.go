// Package redislib holds the libraries that scripts have besides Lua's own: cjson, cmsgpack, struct
// and bit. A script cannot tell them from those of Redis 8.
//
// The functions, rules, limits and error texts are those of lua-cjson 2.1, lua-cmsgpack 0.4,
// Roberto Ierusalimschy's struct 0.2 and LuaBitOp 1.0.2, as Redis 8.0.6 answers. A differential
// test holds every one against it.
//
// Input is never trusted. A stack overflow ends a Go process, so recursion is bounded: nesting
// costs slots of a simulated Lua stack (cStack), and what would not fit there raises Lua's error.
// Memory is accounted for before it is allocated, and loops while they run.
//
// Values that are being read are on the thread's stack, where they count as memory of the script.
package redislib

import (
	"math"

	"godwit/internal/lua"
)

const (
	// cStack is how many values a C function of Lua 5.1 may have on its stack (LUAI_MAXCSTACK). The
	// C libraries nest until it is full.
	cStack = 8000
	// keptBuffer is the size in bytes of the largest buffer that is used again.
	keptBuffer = 1 << 20
	// block is how many values are read or written between two accounts.
	block = 1024
)

// Open makes the four libraries globals of the state, in the order in which Redis does. cjson's
// settings belong to the state.
func Open(s *lua.State) {
	s.Globals.SetString("cjson", lua.TableValue(openCJSON()))
	s.Globals.SetString("struct", lua.TableValue(openStruct()))
	s.Globals.SetString("cmsgpack", lua.TableValue(openMsgpack()))
	s.Globals.SetString("bit", lua.TableValue(openBit()))
}

// function is a function of a library.
type function struct {
	name string
	fn   func(t *lua.Thread) int
}

// library makes a table of functions, whose hash part begins with a size. The size and the order of
// the functions decide in which order a script sees them.
func library(size int, functions ...function) *lua.Table {
	t := lua.NewTable(0, size)
	for _, f := range functions {
		t.SetString(f.name, lua.NativeValue(&lua.Native{Name: f.name, Fn: f.fn}))
	}
	return t
}

// raiseBare raises an error without a position, as Lua's core does inside C functions.
func raiseBare(t *lua.Thread, msg string) { t.Raise(lua.String(msg)) }

// integer returns argument n as a 64-bit integer.
func integer(t *lua.Thread, n int) int64 { return truncate(t.Number(n)) }

// optInteger returns argument n as a 64-bit integer, or def if it is nil or missing.
func optInteger(t *lua.Thread, n int, def int64) int64 {
	if t.Arg(n).IsNil() {
		return def
	}
	return integer(t, n)
}

// writer appends to a buffer whose growth is accounted for.
type writer struct{ t *lua.Thread }

// reserve returns dst with room for n more bytes.
func (w writer) reserve(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return w.grow(dst, n)
}

func (w writer) grow(dst []byte, n int) []byte {
	need := len(dst) + n
	size := max(need, min(2*cap(dst), lua.MaxString), 256)
	w.t.Grow(size)
	b := make([]byte, len(dst), size)
	copy(b, dst)
	return b
}

// push pushes what is in a buffer as a string. It returns the buffer if it is to be used again.
func (w writer) push(b []byte) []byte {
	switch {
	case cap(b) <= keptBuffer:
		w.t.PushString(b)
		return b
	case len(b) < cap(b)/2:
		w.t.PushString(b)
	default:
		w.t.Push(lua.Bytes(b))
	}
	return nil
}

// loop accounts for the next values of a loop, at its turn i of n.
func (w writer) loop(i, n int) {
	if i%block == 0 {
		w.t.Spend(min(block, n-i))
	}
}

// truncate converts a double to a 64-bit integer as C does on amd64. Go leaves the result open when
// it is out of range.
func truncate(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// truncateInt converts a double to an int as C does on amd64.
func truncateInt(f float64) int {
	if f > -(1<<31)-1 && f < 1<<31 {
		return int(f)
	}
	return math.MinInt32
}

// truncateUnsigned converts a double to an unsigned 64-bit integer as gcc compiles it for amd64.
func truncateUnsigned(f float64) uint64 {
	if f < 1<<63 || f != f {
		return uint64(truncate(f))
	}
	return uint64(truncate(f-(1<<63))) ^ 1<<63
}
