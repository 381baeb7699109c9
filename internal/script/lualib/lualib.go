// Package lualib is what scripts find beside Lua's own libraries: cjson, cmsgpack, struct and bit, written for gopher-lua so that a
// script cannot tell them from those of redis-server 7.0.
//
// The functions, their rules, limits and error texts are those of lua-cjson 2.1, lua-cmsgpack 0.4, Roberto Ierusalimschy's struct 0.2 and
// LuaBitOp 1.0.2 as redis-server 7.0.15 answers; a differential test holds every one against it.
//
// What comes in is never believed. A stack overflow ends a Go process, so recursion is bounded: nesting costs slots of an imagined Lua
// stack (cStack), and what would not fit there is the error that Lua raises. What a call may make is bounded too (meter): a
// short input can stand for a large output, by one table held many times or by a table's far index.
package lualib

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	// cStack is how many values a C function of Lua 5.1 may have on its stack (LUAI_MAXCSTACK). The C libraries nest until it is full.
	cStack = 8000
	// maxMade is what one call may make, in bytes: the largest string that a value can be.
	maxMade = 512 << 20
	// pollEvery is how many bytes are made between two looks at the script's context.
	pollEvery = 256 << 10
	// maxFiller is how many slots a decoder may fill with nil because an integer key lies beyond what is in the table: gopher-lua
	// keeps such keys in an array.
	maxFiller = 4 << 20
)

// Open makes the four libraries globals of the state. Settings of cjson are the state's.
func Open(L *lua.LState) {
	openCJSON(L)
	openMsgpack(L)
	openStruct(L)
	openBit(L)
}

// Host is what a state's context may be besides: the host of a script, which knows more than the state does.
type Host interface {
	// Spend accounts for bytes that a call is making; it raises an error in L to end the script.
	Spend(L *lua.LState, bytes int)
	// Callee is the name under which the running function was called, "?" for none.
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
func register(L *lua.LState, name string, funcs map[string]lua.LGFunction, consts map[string]string) *lua.LTable {
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

// meter bounds what one call makes. Every step that makes something tells it how much.
type meter struct {
	L    *lua.LState
	made int // bytes, also of Lua objects
	next int // when to look at the context
}

func newMeter(L *lua.LState) meter { return meter{L: L, next: pollEvery} }

func (m *meter) add(n int) {
	m.made += n
	if m.made >= m.next {
		m.poll()
	}
}

// poll raises an error if the script has been ended or has made too much.
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

// raise raises an error as luaL_error does: with the position of the Lua function that called, without one if Go called.
func raise(L *lua.LState, msg string) {
	if where := L.Where(1); where != "" && !strings.HasPrefix(where, "[G]") {
		msg = where + " " + msg
	}
	raiseBare(L, msg)
}

// raiseBare raises an error without a position, as Lua's core does inside of C functions.
func raiseBare(L *lua.LState, msg string) {
	L.Error(lua.LString(msg), 0)
}

// argError raises what luaL_argerror does. The function's name is the one by which the caller knew it.
func argError(L *lua.LState, n int, msg string) {
	name := "?"
	if h := hostOf(L); h != nil {
		name = h.Callee(L)
	} else if dbg, ok := L.GetStack(0); ok {
		if _, err := L.GetInfo("n", dbg, lua.LNil); err == nil && !strings.ContainsAny(dbg.Name, "( <") {
			name = dbg.Name
		}
	}
	raise(L, "bad argument #"+itoa(n)+" to '"+name+"' ("+msg+")")
}

// typeError raises what luaL_typerror does.
func typeError(L *lua.LState, n int, want string) {
	argError(L, n, want+" expected, got "+typeName(L, n))
}

// typeName is luaL_typename: "no value" for an argument that is not there.
func typeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

// checkString is luaL_checklstring: numbers are strings too.
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

// checkNumber is luaL_checknumber: strings that are numbers are numbers too.
func checkNumber(L *lua.LState, n int) float64 {
	if f, ok := toNumber(L.Get(n)); ok {
		return f
	}
	typeError(L, n, "number")
	return 0
}

// toNumber is lua_isnumber and lua_tonumber.
func toNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return parseNumber(string(v))
	}
	return 0, false
}

// checkInt is luaL_checkinteger.
func checkInt(L *lua.LState, n int) int64 { return truncate(checkNumber(L, n)) }

// optInt is luaL_optinteger.
func optInt(L *lua.LState, n int, def int64) int64 {
	if L.Get(n) == lua.LNil {
		return def
	}
	return checkInt(L, n)
}

// truncate is C's conversion of a double to a 64-bit integer on amd64. Go leaves open what is out of range.
func truncate(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// truncateInt is C's conversion of a double to an int on amd64.
func truncateInt(f float64) int {
	if f > -(1<<31)-1 && f < 1<<31 {
		return int(f)
	}
	return math.MinInt32
}

// truncateUnsigned is C's conversion of a double to an unsigned 64-bit integer on amd64, as gcc compiles it.
func truncateUnsigned(f float64) uint64 {
	if f < 1<<63 || f != f {
		return uint64(truncate(f))
	}
	return uint64(truncate(f-(1<<63))) ^ 1<<63
}
