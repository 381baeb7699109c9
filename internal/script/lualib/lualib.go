// Package lualib holds the libraries that scripts have besides Lua's own: cjson, cmsgpack, struct
// and bit, written for gopher-lua. A script cannot tell them from those of Redis 8.
//
// The functions, rules, limits and error texts are those of lua-cjson 2.1, lua-cmsgpack 0.4,
// Roberto Ierusalimschy's struct 0.2 and LuaBitOp 1.0.2, as Redis 8.0.6 answers. A differential
// test holds every one against it.
//
// Input is never trusted. A stack overflow ends a Go process, so recursion is bounded: nesting
// costs slots of a simulated Lua stack (cStack), and what would not fit there raises Lua's error.
// The output of a call is bounded too (meter), because a short input can stand for a large output:
// one table may be held many times, and an index may be far beyond the rest.
package lualib

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	// cStack is how many values a C function of Lua 5.1 may have on its stack (LUAI_MAXCSTACK). The
	// C libraries nest until it is full.
	cStack = 8000
	// maxMade is how many bytes one call may make: as long as the longest string value.
	maxMade = 512 << 20
	// pollEvery is how many bytes are made between two looks at the script's context.
	pollEvery = 256 << 10
	// maxFiller is how many slots a decoder may fill with nil because an integer key lies beyond
	// the table's contents: gopher-lua keeps such keys in an array.
	maxFiller = 4 << 20
)

// Open makes the four libraries globals of the state. cjson's settings belong to the state.
func Open(L *lua.LState) {
	openCJSON(L)
	openMsgpack(L)
	openStruct(L)
	openBit(L)
}

// Host is an optional part of a state's context: the host of a script, which knows more than the
// state does.
type Host interface {
	// Spend accounts for bytes that a call is making. To end the script it raises an error in L.
	Spend(L *lua.LState, bytes int)
	// Callee returns the name by which the running function was called, or "?".
	Callee(L *lua.LState) string
}

func hostOf(L *lua.LState) Host {
	if ctx := L.Context(); ctx != nil {
		if h, ok := ctx.(Host); ok {
			return h
		}
	}
	return nil
}

// register makes a global table of functions and constants.
func register(L *lua.LState, name string, funcs map[string]lua.LGFunction,
	consts map[string]string) *lua.LTable {
	t := L.CreateTable(0, len(funcs)+len(consts))
	for k, f := range funcs {
		t.RawSetString(k, L.NewFunction(f))
	}
	for k, s := range consts {
		t.RawSetString(k, lua.LString(s))
	}
	L.SetGlobal(name, t)
	return t
}

// meter bounds what one call makes. Every step that makes something reports how much.
type meter struct {
	L    *lua.LState
	made int // bytes, including Lua objects
	next int // value of made at which to look at the context
}

func newMeter(L *lua.LState) meter { return meter{L: L, next: pollEvery} }

func (m *meter) add(n int) {
	m.made += n
	if m.made >= m.next {
		m.poll()
	}
}

// poll raises an error if the script must end or has made too much.
func (m *meter) poll() {
	if m.made > maxMade {
		raise(m.L, "not enough memory")
	}
	m.next = m.made + pollEvery
	if h := hostOf(m.L); h != nil {
		h.Spend(m.L, pollEvery)
		return
	}
	if ctx := m.L.Context(); ctx != nil && ctx.Err() != nil {
		raise(m.L, ctx.Err().Error())
	}
}

// raise raises an error like luaL_error: with the position of the calling Lua function, or none if
// Go called.
func raise(L *lua.LState, msg string) {
	if where := L.Where(1); where != "" && !strings.HasPrefix(where, "[G]") {
		msg = where + " " + msg
	}
	raiseBare(L, msg)
}

// raiseBare raises an error without a position, as Lua's core does inside C functions.
func raiseBare(L *lua.LState, msg string) {
	L.Error(lua.LString(msg), 0)
}

// argError raises the error of luaL_argerror. It names the function as the caller did.
func argError(L *lua.LState, n int, msg string) {
	name := "?"
	if h := hostOf(L); h != nil {
		name = h.Callee(L)
	} else if dbg, ok := L.GetStack(0); ok {
		if _, err := L.GetInfo("n", dbg, lua.LNil); err == nil &&
			!strings.ContainsAny(dbg.Name, "( <") {
			name = dbg.Name
		}
	}
	raise(L, "bad argument #"+itoa(n)+" to '"+name+"' ("+msg+")")
}

// typeError raises the error of luaL_typerror.
func typeError(L *lua.LState, n int, want string) {
	argError(L, n, want+" expected, got "+typeName(L, n))
}

// typeName returns what luaL_typename does: "no value" for a missing argument.
func typeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

// checkString does what luaL_checklstring does: it accepts numbers too.
func checkString(L *lua.LState, n int) string {
	switch v := L.Get(n).(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return string(appendNumber(nil, float64(v), 14))
	}
	typeError(L, n, "string")
	return ""
}

// checkNumber does what luaL_checknumber does: it accepts strings that are numbers too.
func checkNumber(L *lua.LState, n int) float64 {
	if f, ok := toNumber(L.Get(n)); ok {
		return f
	}
	typeError(L, n, "number")
	return 0
}

// toNumber does what lua_isnumber and lua_tonumber do.
func toNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return parseNumber(string(v))
	}
	return 0, false
}

// checkInt does what luaL_checkinteger does.
func checkInt(L *lua.LState, n int) int64 { return truncate(checkNumber(L, n)) }

// optInt does what luaL_optinteger does.
func optInt(L *lua.LState, n int, def int64) int64 {
	if L.Get(n) == lua.LNil {
		return def
	}
	return checkInt(L, n)
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
