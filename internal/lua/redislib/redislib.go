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

// cStack is how many values a C function of Lua 5.1 may have on its stack (LUAI_MAXCSTACK). The C
// libraries nest until it is full.
const cStack = 8000

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

// truncateUnsigned converts a double to an unsigned 64-bit integer as gcc compiles it for amd64.
func truncateUnsigned(f float64) uint64 {
	if f < 1<<63 || f != f {
		return uint64(lua.Truncate(f))
	}
	return uint64(lua.Truncate(f-(1<<63))) ^ 1<<63
}

// countKeys counts the pairs of a table. largest is the largest key if all keys are whole and from
// 1 to limit, else -1. It accounts for looking at all places of the table, which may be empty.
func countKeys(t *lua.Thread, tab *lua.Table, limit float64) (pairs, largest int) {
	t.Spend(tab.Bytes() / lua.HandledPerStep)
	isArray := true
	for at, k, _ := tab.NextIndex(0); at != 0; at, k, _ = tab.NextIndex(at) {
		pairs++
		f := k.Num()
		if !k.IsNumber() || f < 1 || f > limit || f != math.Floor(f) {
			isArray = false
		} else if f > float64(largest) {
			largest = math.MinInt32 // what the original makes of a key beyond a C int
			if f <= math.MaxInt32 {
				largest = int(f)
			}
		}
	}
	if !isArray {
		largest = -1
	}
	return pairs, largest
}
