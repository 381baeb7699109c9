package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"godwit/internal/resp"
	"godwit/internal/script/lualib"
)

// The sandbox tests try what one script can do to the tables and functions that all scripts share.
// Scripts of different users run in one environment, so a table that can be written to is a way to
// act as another user.

// nobody is a server that refuses everything.
type nobody struct{}

func (nobody) Call([][]byte, int) ([]byte, string) { return []byte("*1\r\n$1\r\na\r\n"), "" }
func (nobody) Allowed([][]byte) (bool, bool)       { return true, true }
func (nobody) SetRepl(int)                         {}
func (nobody) Log(int, string)                     {}
func (nobody) Interrupt() error                    { return nil }

// world is a State as its scripts see it.
type world struct {
	*State
	t      *testing.T
	shared map[*lua.LTable]string // all tables of the library, with the path to each
	before string
	seen   map[lua.LValue]string // values that a script got hold of, with how
	tables []lua.LValue          // those that are tables
	funcs  []*lua.LFunction
	names  map[*lua.LFunction]string
	how    string
	by     *lua.LFunction         // the function being called
	made   map[*lua.LFunction]int // how many functions each has handed out
	spy    *lua.LFunction
	tricky *lua.LTable // a table whose metamethods all report their arguments
}

func newWorld(t *testing.T, s *State) *world {
	w := &world{State: s, t: t, shared: map[*lua.LTable]string{}, seen: map[lua.LValue]string{},
		names: map[*lua.LFunction]string{}, made: map[*lua.LFunction]int{}}
	w.reach(s.env, "_G")
	w.reach(s.L.G.Global, "G")
	w.reach(s.L.GetMetatable(lua.LString("")), "string metatable")
	w.reach(s.shown, "shown")
	for name, v := range s.consts {
		w.reach(v, "constant"+name[len(s.nonce):])
	}
	for p, r := range s.real {
		w.reach(p, "proxy")
		w.reach(r, "behind a proxy")
	}
	w.before = w.fingerprint()
	w.spy = s.L.NewFunction(func(L *lua.LState) int {
		for i := 1; i <= L.GetTop(); i++ {
			w.get(L.Get(i), w.how+": an argument of a callback")
		}
		return L.GetTop()
	})
	mt := s.L.NewTable()
	for _, e := range strings.Fields(
		"index newindex call concat unm add sub mul div mod pow eq lt le len tostring") {
		mt.RawSetString("__"+e, w.spy)
	}
	w.tricky = s.L.NewTable()
	w.tricky.Metatable = mt
	return w
}

// reach notes the tables that a value leads to.
func (w *world) reach(v lua.LValue, path string) {
	switch v := v.(type) {
	case *lua.LTable:
		if _, ok := w.shared[v]; ok {
			return
		}
		w.shared[v] = path
		w.reach(v.Metatable, path+"'s metatable")
		v.ForEach(func(k, e lua.LValue) { w.reach(e, path+"."+k.String()) })
	case *lua.LUserData:
		w.reach(v.Metatable, path+"'s metatable")
	case *lua.LFunction:
		for i, u := range v.Upvalues {
			w.reach(u.Value(), fmt.Sprint(path, " upvalue ", i))
		}
	}
}

// fingerprint describes what the shared tables hold, by identity.
func (w *world) fingerprint() string {
	var lines []string
	for t, path := range w.shared {
		lines = append(lines, fmt.Sprintf("%p %s metatable %p", t, path, t.Metatable))
		t.ForEach(func(k, v lua.LValue) {
			lines = append(lines, fmt.Sprintf("%p %s[%s] = %s %p", t, path, k, v.Type(), v))
		})
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// get records that a script got hold of a value. It must not be a shared table, unless it is an
// empty proxy.
func (w *world) get(v lua.LValue, how string) {
	switch v.(type) {
	case *lua.LTable, *lua.LFunction, *lua.LUserData, *lua.LState:
	default:
		return
	}
	if _, ok := w.seen[v]; ok {
		return
	}
	w.seen[v] = how
	switch v := v.(type) {
	case *lua.LTable:
		if path, ok := w.shared[v]; ok {
			require.Contains(w.t, w.real, v, "%s hands out %s", how, path)
			k, _ := v.Next(lua.LNil)
			require.Equal(w.t, lua.LNil, k, "%s: a proxy that is not empty", how)
			w.tables = append(w.tables, v)
		}
		w.raw(v).ForEach(func(k, e lua.LValue) { w.get(e, how+"."+k.String()) })
	case *lua.LFunction:
		if v.IsG && (w.by == nil || w.made[w.by] < 4) { // cjson.new makes functions without end
			w.made[w.by]++
			w.funcs = append(w.funcs, v)
		}
	}
}

// call calls a function as a script does and records what it returns.
func (w *world) call(f *lua.LFunction, args ...lua.LValue) {
	w.begin()
	L := w.main
	L.SetTop(0)
	L.Push(w.entry)
	L.Push(f)
	for _, a := range args {
		L.Push(a)
	}
	err := L.PCall(1+len(args), lua.MultRet, nil)
	if err != nil {
		w.get(errorValue(err), w.how+": its error")
	}
	for i := 1; i <= L.GetTop(); i++ {
		w.get(L.Get(i), fmt.Sprint(w.how, ": result ", i))
	}
	L.SetTop(0)
	w.ended()
	w.surface()
}

// attack calls every known function with every known shared table in every place.
func (w *world) attack() {
	for name, mark := range w.marks {
		if f, ok := w.consts[mark].(*lua.LFunction); ok {
			w.names[f] = name
		}
		w.get(w.consts[mark], name)
	}
	fresh := func() *lua.LTable {
		t := w.L.NewTable()
		t.Append(lua.LNumber(1))
		return t
	}
	thread := func() lua.LValue { // a coroutine that returns what it is given, for ever
		f, err := w.compile("local a = ... while true do a = coroutine.yield(a, ...) end", "c")
		require.NoError(w.t, err)
		L := w.main
		L.Push(w.env.RawGetString("coroutine").(*lua.LTable).Metatable.(*lua.LTable).
			RawGetString("__index").(*lua.LTable).RawGetString("create"))
		L.Push(f)
		L.Call(1, 1)
		th := L.Get(-1)
		L.SetTop(0)
		return th
	}()
	for i := 0; i < len(w.funcs); i++ { // grows meanwhile
		require.Less(w.t, i, 500)
		f := w.funcs[i]
		w.by = f
		for n, victim := range slices.Clone(w.tables) {
			at := func(n int) lua.LValue {
				return [...]lua.LValue{
					lua.LNil, lua.LNumber(1), lua.LString("__index"), w.spy, fresh(), w.tricky,
					victim, thread,
				}[n]
			}
			third := 0 // proxies are all alike: each function has a few of them at three arguments
			if (n+i)%8 == 0 {
				third = 8
			}
			for a := range 8 {
				for b := range third {
					w.how = fmt.Sprintf("%s (of %s) with %s and %d, %d",
						w.names[f], w.seen[f], w.seen[victim], a, b)
					w.call(f, victim, at(a), at(b))
					w.call(f, at(a), victim, at(b))
					w.call(f, at(a), at(b), victim)
				}
				w.call(f, victim, at(a))
				w.call(f, at(a), victim)
			}
			w.call(f, victim)
		}
	}
	require.Greater(w.t, len(w.funcs), 80)
	require.Greater(w.t, len(w.tables), 10)
	require.Equal(w.t, w.before, w.fingerprint())
}

// TestSandboxFunctions checks that no function of the library returns a shared table or changes
// one.
func TestSandboxFunctions(t *testing.T) {
	t.Run("eval", func(t *testing.T) {
		h := NewHost(nobody{}, Options{Version: "7.2.4"}, lualib.Open)
		newWorld(t, h.State).attack()
	})
	t.Run("functions", func(t *testing.T) {
		f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, lualib.Open)
		w := newWorld(t, f.State)
		for _, mark := range f.globals {
			w.get(f.consts[mark], "while loading")
		}
		w.attack()
	})
}

// TestSandboxScripts runs what a script may try in Lua itself. Each attempt fails or changes
// nothing.
func TestSandboxScripts(t *testing.T) {
	h := NewHost(nobody{}, Options{Version: "7.2.4"}, lualib.Open)
	w := newWorld(t, h.State)
	write := " t.upper = function() return 'mine' end t.x = 1 rawset(t, 'call', 1) " +
		"setmetatable(t, nil) " +
		"table.insert(t, 1) table.sort(t) table.remove(t) "
	gets := []string{
		"local _, t = ipairs(string)", "local _, t = pairs(string)", "local _, t = ipairs(_G)",
		"local t = getmetatable('')", "local t = getmetatable('').__index",
		"local t = getmetatable(_G)",
		"local t = getmetatable(_G).__index", "local t = getmetatable(string)",
		"local t = getmetatable(cjson.null)",
		"local t = select(2, next(_G))", "local t = rawget(_G, 'string')",
		"local t = rawget(_G, '_G')", "local t = ({string})[1]",
		"local t = unpack({string})",
		"local t = coroutine.wrap(function(...) return coroutine.yield(...) end)(string)",
		"local t for k, v in pairs(_G) do if k == 'redis' then t = v end end",
		"local t = _G._G._G.redis",
		"local t table.foreach(_G, function(k, v) if k == 'string' then t = v end end)",
		"local _, t = pcall(function() error(redis) end)", "local t = string", "local t = cjson",
		"local t = _G",
		"local t = setmetatable({}, {__index = string, __newindex = string})",
		"local t = setmetatable({}, getmetatable(''))",
		"local t = setmetatable({}, getmetatable(_G))",
		"local t = getfenv()", "local t = getfenv(redis.call)", "local t = getfenv(0)",
		"setfenv(redis.call, {}) local t = {}",
		"local t = debug.getregistry()", "local t = debug.getmetatable(string)",
		"local t = newproxy(true)",
		"local t = package.loaded.string", "local t = require('string')",
		"local t = loadstring('return string')()",
		"local t = load(coroutine.wrap(function() coroutine.yield('return ') " +
			"coroutine.yield('_G') end))()",
		"string.upper = 1 local t = {}", "function string.upper() end local t = {}",
		"_G.string = {} local t = {}",
		"string = {} local t = {}", "local s = string s.upper = 1 local t = {}",
		"redis['call'] = 1 local t = {}",
		"local t = xpcall(function() local x = _G.nosuch end, function(e) return e end)",
		"local t = cmsgpack.unpack(cmsgpack.pack(_G))", "local t = cjson.decode('{}')",
		"local t = cjson.new()",
		"local t = redis.error_reply('x')", "local t = KEYS", "local t = ARGV",
		"KEYS[1] = 1 ARGV.x = 1 local t = {}",
	}
	stays := "return {('a'):upper(), string.upper('a'), type(redis.call), type(redis.pcall), " +
		"cjson.encode({1}), " +
		"type(_G.string.upper), tostring(getmetatable('').__index == string), #KEYS, #ARGV, " +
		"tostring(rawget(_G, 'x'))}"
	want := w.result(stays)
	for _, get := range gets {
		for _, try := range strings.Split(strings.TrimSpace(write), ") ") {
			w.result(get + " " + strings.TrimSuffix(try, ")") +
				map[bool]string{true: "", false: ")"}[try == ""])
		}
		w.result(get + write)
		w.result("pcall(function() " + get + " pcall(function() " + write + " end) end)")
		require.Equal(t, w.before, w.fingerprint(), get)
		require.Equal(t, want, w.result(stays), get)
	}
}

func (w *world) result(src string) string {
	f, err := w.compile(src, "user_script")
	if err != nil {
		return err.Error()
	}
	var out resp.Writer
	w.begin()
	w.env.RawSetString("KEYS", w.list(nil))
	w.env.RawSetString("ARGV", w.list(nil))
	w.invoke(f, "x", &out)
	w.env.RawSetString("KEYS", lua.LNil)
	w.env.RawSetString("ARGV", lua.LNil)
	return string(out.Buf)
}
