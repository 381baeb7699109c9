// Package stdlib is the standard library of Lua 5.1, as far as Redis offers it to scripts. Its
// functions check their arguments in the order in which Lua's do, and raise the same errors.
//
// All that loops accounts for its steps, and all that makes values for their memory, before it does
// so (Thread.Spend and Thread.Grow).
package stdlib

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/lua"
)

// Options are what the libraries need of the host.
type Options struct {
	// Compile makes a function of a chunk, for load and loadstring. The name is as given to them:
	// ChunkName and LongChunkName return what messages show of it. t is the thread that calls.
	Compile func(t *lua.Thread, src, name string) (*lua.Closure, error)
	// Heap returns how many bytes are in use, for collectgarbage.
	Heap func() uint64
	// Clock returns a time in seconds, for os.clock.
	Clock func() float64
}

// function is a function of a library.
type function struct {
	name string
	fn   func(t *lua.Thread) int
}

// register adds functions to a table. The order is that of Lua, because pairs shows it.
func register(tab *lua.Table, list []function) {
	for _, f := range list {
		tab.SetString(f.name, lua.NativeValue(&lua.Native{Name: f.name, Fn: f.fn}))
	}
}

// library makes a global table with functions.
func library(s *lua.State, name string, list []function) *lua.Table {
	tab := lua.NewTable(0, len(list))
	register(tab, list)
	s.Globals.SetString(name, lua.TableValue(tab))
	return tab
}

// OpenBase adds the base library to the globals.
func OpenBase(s *lua.State, o Options) {
	g := s.Globals
	g.SetString("_G", lua.TableValue(g))
	c := collector{heap: o.Heap, pause: 200, stepmul: 200}
	l := loader{o.Compile}
	register(g, []function{{"assert", baseAssert}, {"collectgarbage", c.collect},
		{"error", baseError}, {"gcinfo", c.info}, {"getmetatable", baseGetMetatable},
		{"load", l.load}, {"loadstring", l.loadString}})
	next := lua.NativeValue(lua.Next())
	g.SetString("next", next)
	g.SetString("pcall", lua.NativeValue(lua.Pcall()))
	register(g, []function{{"rawequal", baseRawEqual}, {"rawget", baseRawGet},
		{"rawset", baseRawSet}, {"select", baseSelect}, {"setmetatable", baseSetMetatable},
		{"tonumber", baseToNumber}, {"tostring", baseToString}, {"type", baseType()},
		{"unpack", baseUnpack}})
	g.SetString("xpcall", lua.NativeValue(lua.Xpcall()))
	g.SetString("_VERSION", lua.String("Lua 5.1"))
	register(g, []function{{"ipairs", iterator(lua.NativeValue(lua.IpairsNext()), lua.Int(0))},
		{"pairs", iterator(lua.NativeValue(lua.Next()), lua.Nil)}})
}

// cInt returns argument n as a C int: the lower 32 bits of the integer count.
func cInt(t *lua.Thread, n int) int { return int(int32(t.Int(n))) }

// optCInt returns argument n as a C int, or def if it is nil or missing.
func optCInt(t *lua.Thread, n, def int) int {
	if t.Arg(n).IsNil() {
		return def
	}
	return cInt(t, n)
}

func baseAssert(t *lua.Thread) int {
	if t.Any(1).Truthy() {
		return t.Top()
	}
	if t.Arg(2).IsNil() {
		t.Error("assertion failed!")
	}
	t.Error(t.CString(2))
	return 0
}

func baseError(t *lua.Thread) int {
	level := optCInt(t, 2, 1)
	return t.Throw(located(t, t.Arg(1), level))
}

// located returns an error with the position at a level of the stack, if it is text.
func located(t *lua.Thread, v lua.Value, level int) lua.Value {
	text, ok := lua.ToText(v)
	if !ok || level <= 0 {
		return v
	}
	where := t.Where(level)
	if where == "" && v.IsString() {
		return v
	}
	return t.Join(where, text)
}

// collector answers for a garbage collector that scripts cannot control.
type collector struct {
	heap           func() uint64
	pause, stepmul int
}

func (c *collector) bytes() uint64 {
	if c.heap == nil {
		return 0
	}
	return c.heap()
}

var collectOptions = []string{"stop", "restart", "collect", "count", "step", "setpause",
	"setstepmul"}

func (c *collector) collect(t *lua.Thread) int {
	opt := "collect"
	if !t.Arg(1).IsNil() {
		opt = t.CString(1)
	}
	if !slices.Contains(collectOptions, opt) {
		t.ArgError(1, "invalid option '", opt, "'")
	}
	n := optCInt(t, 2, 0)
	r := lua.Int(0)
	switch opt {
	case "collect":
		t.Spend(t.State().Live() / lua.HandledPerStep) // this is what empties weak tables
	case "count":
		r = lua.Number(float64(c.bytes()) / 1024)
	case "step": // reports whether a cycle has ended with it
		r = lua.Bool(uint64(max(n, 0)) > c.bytes()/1024)
	case "setpause":
		r, c.pause = lua.Int(c.pause), n
	case "setstepmul":
		r, c.stepmul = lua.Int(c.stepmul), n
	}
	return t.Return(r)
}

// info implements gcinfo, the old form of collectgarbage("count"), in whole KiB.
func (c *collector) info(t *lua.Thread) int {
	return t.Return(lua.Number(math.Floor(float64(c.bytes()) / 1024)))
}

func baseGetMetatable(t *lua.Thread) int {
	mt := t.State().MetatableOf(t.Any(1))
	if mt == nil {
		return t.Return(lua.Nil)
	}
	if v := mt.GetString("__metatable"); !v.IsNil() {
		return t.Return(v)
	}
	return t.Return(lua.TableValue(mt))
}

func baseSetMetatable(t *lua.Thread) int {
	tab, mt := t.Table(1), t.Arg(2)
	if t.Top() < 2 || !mt.IsNil() && !mt.IsTable() {
		t.ArgError(2, "nil or table expected")
	}
	if !t.MetaField(t.Arg(1), "__metatable").IsNil() {
		t.Error("cannot change a protected metatable")
	}
	t.Writable(1)
	tab.Metatable = mt.Table()
	return t.Return(t.Arg(1))
}

func baseRawEqual(t *lua.Thread) int {
	a, b := t.Any(1), t.Any(2)
	return t.Return(lua.Bool(t.RawEqual(a, b)))
}

func baseRawGet(t *lua.Thread) int {
	return t.Return(t.RawGet(t.Table(1), t.Any(2)))
}

func baseRawSet(t *lua.Thread) int {
	tab := t.Table(1)
	k, v := t.Any(2), t.Any(3)
	t.RawSet(tab, k, v)
	return t.Return(t.Arg(1))
}

func baseSelect(t *lua.Thread) int {
	top := t.Top()
	if v := t.Arg(1); v.IsString() && strings.HasPrefix(v.Str(), "#") {
		return t.Return(lua.Int(top - 1))
	}
	n := cInt(t, 1)
	if n < 0 {
		n += top
	} else if n > top {
		n = top
	}
	if n < 1 {
		t.ArgError(1, "index out of range")
	}
	return top - n
}

func baseToString(t *lua.Thread) int {
	return t.Return(t.ToString(t.Any(1)))
}

// baseType returns the function type. The names of types are made once.
func baseType() func(t *lua.Thread) int {
	var names [lua.KindUserdata + 1]lua.Value
	for k := range names {
		names[k] = lua.String(lua.Kind(k).String())
	}
	return func(t *lua.Thread) int {
		return t.Return(names[t.Any(1).Kind()])
	}
}

// maxResults is how many values fit on Lua's stack of a C function.
const maxResults = 8000

func baseUnpack(t *lua.Thread) int {
	tab := t.Table(1)
	from, to := optCInt(t, 2, 1), optCInt(t, 3, t.Len(tab))
	if from > to {
		return 0
	}
	n := to - from + 1
	if n+t.Top() > maxResults {
		t.Error("too many results to unpack")
	}
	t.Spend(n / 8)
	t.PushElements(tab, from, n)
	return n
}

// iterator returns the function pairs or ipairs: it returns a function, the table and a key.
func iterator(next, first lua.Value) func(t *lua.Thread) int {
	return func(t *lua.Thread) int {
		t.Table(1)
		tab := t.Arg(1)
		t.Push(next)
		t.Push(tab)
		t.Push(first)
		return 3
	}
}

func baseToNumber(t *lua.Thread) int {
	base := optCInt(t, 2, 10)
	if base == 10 {
		if n, ok := t.ToNumber(t.Any(1)); ok {
			return t.Return(lua.Number(n))
		}
		return t.Return(lua.Nil)
	}
	str := t.CString(1)
	if base < 2 || base > 36 {
		t.ArgError(2, "base out of range")
	}
	return t.Return(lua.Scan(t, str, base, inBase))
}

// inBase reads an integer in a base as C's strtoul does: 64 bits, with a sign, saturating. It
// returns nil for other text.
func inBase(str string, base int) lua.Value {
	digits, neg := strings.CutPrefix(strings.Trim(str, " \t\n\r\v\f"), "-")
	if !neg {
		digits = strings.TrimPrefix(digits, "+")
	}
	if base == 16 && len(digits) > 2 && digits[0] == '0' && digits[1]|32 == 'x' {
		digits = digits[2:]
	}
	const all = "0123456789abcdefghijklmnopqrstuvwxyz"
	rest := strings.TrimLeft(digits, all[:base]+strings.ToUpper(all[:base]))
	if rest != "" || digits == "" {
		return lua.Nil
	}
	digits = strings.TrimLeft(digits, "0")
	n, err := strconv.ParseUint("0"+digits[:min(len(digits), 65)], base, 64) // 65 are too many
	if neg && err == nil {
		n = -n
	}
	return lua.Number(float64(n))
}
