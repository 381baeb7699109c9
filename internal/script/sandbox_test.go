package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/redislib"
	"godwit/internal/resp"
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
func (nobody) Failed(string, bool)                 {}
func (nobody) Interrupt() error                    { return nil }

// world is a State as its scripts see it.
type world struct {
	*State
	t      *testing.T
	shared map[*lua.Table]string // all tables of the library, with the path to each
	before string
	seen   map[lua.Value]string // values that a script got hold of, with how
	tables []lua.Value          // those that are tables
	funcs  []lua.Value
	how    string
	by     *lua.Native         // the function being called
	made   map[*lua.Native]int // how many functions each has handed out
	spy    lua.Value
	args   *arguments
	tricky *lua.Table // a table whose metamethods all report their arguments
}

func newWorld(t *testing.T, s *State) *world {
	w := &world{State: s, t: t, shared: map[*lua.Table]string{}, seen: map[lua.Value]string{},
		made: map[*lua.Native]int{}}
	w.reach(s.L.Globals, "_G")
	w.reach(s.L.Strings, "string metatable")
	for name, v := range s.consts {
		w.reach(v.Table(), name)
	}
	w.before = w.fingerprint()
	w.spy = lua.NativeValue(&lua.Native{Name: "spy", Fn: func(t *lua.Thread) int {
		for i := 1; i <= t.Top(); i++ {
			w.get(t.Arg(i), w.how+": an argument of a callback")
		}
		return t.Top()
	}})
	w.tricky = lua.NewTable(0, 0)
	w.tricky.Metatable = lua.NewTable(0, 0)
	for _, e := range strings.Fields(
		"index newindex call concat unm add sub mul div mod pow eq lt le len tostring") {
		w.tricky.Metatable.SetString("__"+e, w.spy)
	}
	return w
}

// reach notes the tables that a table leads to, except for those that belong to a run.
func (w *world) reach(t *lua.Table, path string) {
	if _, ok := w.shared[t]; ok || t == nil || path == "_G.KEYS" || path == "_G.ARGV" {
		return
	}
	require.True(w.t, t.ReadOnly, path)
	w.shared[t] = path
	w.reach(t.Metatable, path+"'s metatable")
	each(t, func(k, v lua.Value) { w.reach(v.Table(), path+"."+display(k)) })
}

// fingerprint describes what the shared tables hold, by identity.
func (w *world) fingerprint() string {
	var lines []string
	for t, path := range w.shared {
		lines = append(lines, fmt.Sprintf("%p %s metatable %p %v", t, path, t.Metatable,
			t.ReadOnly))
		each(t, func(k, v lua.Value) {
			lines = append(lines, fmt.Sprintf("%p %s[%s] = %v", t, path, display(k), v))
		})
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// get records that a script got hold of a value. A shared table must be read-only.
func (w *world) get(v lua.Value, how string) {
	switch v.Kind() {
	case lua.KindTable, lua.KindClosure, lua.KindNative, lua.KindThread:
	default:
		return
	}
	if _, ok := w.seen[v]; ok {
		return
	}
	w.seen[v] = how
	switch {
	case v.IsTable():
		if path, ok := w.shared[v.Table()]; ok {
			require.True(w.t, v.Table().ReadOnly, "%s hands out %s", how, path)
			w.tables = append(w.tables, v)
		}
		each(v.Table(), func(k, e lua.Value) { w.get(e, how+"."+display(k)) })
		if mt := v.Table().Metatable; mt != nil {
			w.get(lua.TableValue(mt), how+"'s metatable")
		}
	case v.Native() != nil:
		if w.by == nil || w.made[w.by] < 4 { // cjson.new makes functions without end
			w.made[w.by]++
			w.funcs = append(w.funcs, v)
		}
	}
}

// call calls a function as a script does and records what it returns.
func (w *world) call(f lua.Value, args ...lua.Value) {
	w.begin()
	t := w.L.Main
	t.Push(f)
	for _, a := range args {
		t.Push(a)
	}
	if err, ok := t.Try(len(args), -1); !ok {
		w.get(err, w.how+": its error")
	}
	for i := 1; i <= t.Top(); i++ {
		w.get(t.Arg(i), fmt.Sprint(w.how, ": result ", i))
	}
	w.surface()
	w.ended()
}

// attack calls every known function with every known shared table in every place.
func (w *world) attack() {
	w.get(lua.TableValue(w.L.Globals), "_G")
	w.get(lua.TableValue(w.L.Strings), "metatable of strings")
	thread := w.thread()
	for i := 0; i < len(w.funcs); i++ { // grows meanwhile
		require.Less(w.t, i, 500)
		f := w.funcs[i]
		w.by = f.Native()
		for n, victim := range slices.Clone(w.tables) {
			at := func(n int) lua.Value {
				fresh := lua.NewTable(0, 0)
				fresh.SetInt(1, lua.Int(1))
				return [...]lua.Value{
					lua.Nil, lua.Int(1), lua.String("__index"), w.spy, lua.TableValue(fresh),
					lua.TableValue(w.tricky), victim, thread,
				}[n]
			}
			third := 0 // tables are all alike: each function has a few of them at three arguments
			if (n+i)%8 == 0 {
				third = 8
			}
			for a := range 8 {
				for b := range third {
					w.how = fmt.Sprintf("%s (of %s) with %s and %d, %d", w.by.Name,
						w.seen[f], w.seen[victim], a, b)
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

// thread returns a coroutine that returns what it is given, for ever.
func (w *world) thread() lua.Value {
	f, err := w.compile("local a = ... while true do a = coroutine.yield(a, ...) end", "c",
		w.L.Globals, compiler.Options{})
	require.NoError(w.t, err)
	t := w.L.Main
	t.Push(w.consts["coroutine.create"])
	t.Push(lua.ClosureValue(f))
	_, ok := t.Try(1, 1)
	require.True(w.t, ok)
	return t.Pop()
}

// TestSandboxFunctions checks that no function of the library returns a shared table or changes
// one.
func TestSandboxFunctions(t *testing.T) {
	t.Run("eval", func(t *testing.T) {
		h := NewHost(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
		newWorld(t, h.State).attack()
	})
	t.Run("functions", func(t *testing.T) {
		f := NewFunctions(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
		w := newWorld(t, f.State)
		w.get(lua.TableValue(f.loadEnv), "while loading")
		w.attack()
	})
}

// TestSandboxScripts runs what a script may try in Lua itself. Each attempt fails or changes
// nothing.
func TestSandboxScripts(t *testing.T) {
	h := NewHost(nobody{}, Options{Version: "7.2.4"}, redislib.Open)
	w := newWorld(t, h.State)
	w.args = &h.args
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
	f, err := w.compile(src, "user_script", w.L.Globals, compiler.Options{})
	if err != nil {
		return err.Error()
	}
	var out resp.Writer
	w.begin()
	w.args.set(nil, nil)
	w.invoke(lua.ClosureValue(f), "x", &out)
	return string(out.Buf)
}
