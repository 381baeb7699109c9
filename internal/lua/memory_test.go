package lua_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
)

// bounded returns a State with a bound of 2 MiB, and a few globals.
func bounded() *lua.State {
	s := lua.NewState()
	s.Bound = 2 << 20
	s.Globals.SetString("pcall", lua.NativeValue(lua.Pcall()))
	s.Globals.SetString("next", lua.NativeValue(lua.Next()))
	for name, fn := range map[string]func(t *lua.Thread) int{
		"setmetatable": func(t *lua.Thread) int {
			t.Table(1).Metatable = t.Table(2)
			t.SetTop(1)
			return 1
		},
		"create": func(t *lua.Thread) int {
			t.Push(lua.ThreadValue(t.NewThread(t.Function(1))))
			return 1
		},
		"resume": func(t *lua.Thread) int {
			t.Resume(t.Arg(1).Thread(), 2)
			return t.Top() - 1
		},
		"yield": func(t *lua.Thread) int { return t.Yield() },
	} {
		s.Globals.SetString(name, lua.NativeValue(&lua.Native{Name: name, Fn: fn}))
	}
	s.Begin()
	return s
}

// run runs a program.
func run(t *testing.T, s *lua.State, src string) error {
	p, err := compiler.Compile(src, "@program", &compiler.Options{})
	require.NoError(t, err, src)
	c, err := lua.Load(p, s.Globals, nil)
	require.NoError(t, err, src)
	s.Main.Push(lua.ClosureValue(c))
	if e, ok := s.Main.Try(0, 0); !ok {
		return errors.New(e.Str())
	}
	return nil
}

// TestHoarders checks that programs that keep all they make end, soon, and whatever they catch.
func TestHoarders(t *testing.T) {
	for _, src := range []string{
		`local t = {} while true do t[#t+1] = {} end`,
		`local t = {} while true do t[{}] = 1 end`,
		`local l while true do l = {l} end`,
		`local l while true do l = {next = l} end`,
		`local s = 'x' while true do s = s .. s end`,
		`local t, s = {}, 'x' while true do s = s .. 'x' t[s] = #t end`,
		`local t, n = {}, 0 while true do n = n + 1 t[n] = 'x' .. n end`,
		`local f = 1 while true do local g = f f = function() return g end end`,
		`local t = {} while true do t[#t+1] = function() end end`,
		`local l while true do l = setmetatable({}, {__index = l}) end`,
		`local t = {} while true do t[#t+1] = create(function() end) end`,
		`local l while true do local m = l l = create(function() return m end) end`,
		`local t = {}
		while true do
			local c = create(function(x) yield(function() return x end) end)
			t[#t+1] = resume(c, {})
		end`,
		`local function f(...) return f(1, 2, 3, ...) end f()`,
		`local t = {} local function f(n) t[n] = 1 return f(n + 1) end f(1)`,
		`while true do pcall(function() local t = {} while true do t[#t+1] = 1 end end) end`,
		`while true do pcall(function() x = {x, x} y = {y} end) end`,
		`local t = {} for i = 1, 1e9 do local k = {} t[k] = k t[k] = {t = t} end`,
		`local t = setmetatable({}, {__mode = 'k'}) while true do t[1] = {t[1]} end`,
	} {
		s := bounded()
		looks := 0
		s.Interrupt = func() error {
			if looks++; looks > 20000 {
				return errors.New("it goes on")
			}
			return nil
		}
		require.EqualError(t, run(t, s, src), "not enough memory", src)
		require.Equal(t, lua.ErrMemory, s.Ended())
		require.Less(t, s.Live(), s.Bound*9/8+64<<10, src)
	}
}

// TestGarbage checks that programs may make any amount of garbage.
func TestGarbage(t *testing.T) {
	for _, src := range []string{
		`for i = 1, 5e4 do local t = {{}, {}, x = {}} end`,
		`local s for i = 1, 5e4 do s = 'x' .. i .. ('some text that is not short'):len() end`,
		`local t for i = 1, 300 do t = {} for i = 1, 1e3 do t[i] = {} end end`,
		`for i = 1, 5e4 do local f = function() return i end end`,
		`for i = 1, 2e3 do local c = create(function() yield(c) end) resume(c) end`,
		`local t = {} for i = 1, 5e4 do local k = {} t[k] = k t[k] = nil end`,
		`local t = {} for i = 1, 400 do
			for j = 1, 100 do t[j .. 'a key that takes some memory' .. i] = j end
			for k in next, t do t[k] = nil end
		end`,
		`local t = setmetatable({}, {__mode = 'v'}) for i = 1, 5e4 do t[i % 1000] = {{}} end`,
		`local t = setmetatable({}, {__mode = 'k'}) for i = 1, 5e4 do t[{}] = i end`,
		`local function deep(n) local t = {} if n > 0 then deep(n - 1) end return #t end
		for i = 1, 500 do deep(100) end`,
		`for i = 1, 5e4 do pcall(function() error() end) end`,
	} {
		s := bounded()
		s.Strings = lua.NewTable(0, 1)
		s.Strings.SetString("__index", lua.TableValue(s.Globals))
		s.Globals.SetString("len", lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
			t.Push(lua.Int(len(t.String(1))))
			return 1
		}}))
		require.NoError(t, run(t, s, src), src)
		require.Less(t, s.Live(), 64<<10, src)
	}
}

// TestDeadTablesAreGarbage checks that the tables that are kept for the next run do not keep what
// they refer to.
func TestDeadTablesAreGarbage(t *testing.T) {
	s := bounded()
	s.ReuseTables()
	before := heap()
	require.NoError(t, run(t, s, `
		local function long(s) for i = 1, 18 do s = s .. s end return s end
		for i = 1, 50 do local t = {} t[1] = long('x') end`))
	require.Less(t, heap()-before, 3*s.Bound)
	runtime.KeepAlive(s)
}

// heap returns how many bytes are in use after a collection.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestConcatKeepsWhatCounts checks that a list of short numbers becomes a string without much room
// behind it.
func TestConcatKeepsWhatCounts(t *testing.T) {
	m := newMachine()
	require.Empty(t, m.run("digits = {} for i = 1, 1e5 do digits[i] = 1 end", "=x"))
	before := heap()
	require.Empty(t, m.run("list = {} for i = 1, 20 do list[i] = table.concat(digits) end", "=x"))
	require.Less(t, heap()-before, 2*20*100_000)
	runtime.KeepAlive(m)
}

// TestRegistersKeepNothing checks that registers which have become numbers, booleans or nil do not
// keep what they held before beyond the next measure.
func TestRegistersKeepNothing(t *testing.T) {
	for _, change := range []string{"s = #s", "s = not s", "s = 1 s = s + 1",
		"for i = 1, 2 do s = i end", "s = nil"} {
		s := bounded()
		held := 0
		s.Globals.SetString("deepest", lua.NativeValue(&lua.Native{Fn: func(*lua.Thread) int {
			s.Live()
			held = heap()
			return 0
		}}))
		before := heap()
		require.NoError(t, run(t, s, `
			local function f(n)
				local s = 'x'
				for i = 1, 15 do s = s .. s end
				`+change+`
				if n > 0 then f(n - 1) else deepest() end
				return s
			end
			f(200)`), change)
		require.Less(t, held-before, 2*s.Bound, change)
		runtime.KeepAlive(s)
	}
}

// TestHiddenMemoryCounts checks that errors that quote long strings, and the table arg, count.
func TestHiddenMemoryCounts(t *testing.T) {
	for name, body := range map[string]string{
		"errors": "local ok, e = pcall(quote, s) t[i] = e",
		"arg":    "t[i] = old(s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)",
	} {
		s := bounded()
		s.Globals.SetString("quote", lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
			t.Error("this is wrong: " + t.String(1))
			return 0
		}}))
		err := run(t, s, `
			local function old(...) return arg end
			local s, t = 'x', {}
			for i = 1, 12 do s = s .. s end
			for i = 1, 20000 do `+body+` end`)
		require.EqualError(t, err, "not enough memory", name)
	}
}

// TestNothingOutlivesItsRun checks that Reset clears all that a run has left on the stack.
func TestNothingOutlivesItsRun(t *testing.T) {
	const n = 20
	for name, leave := range map[string]func(t *lua.Thread) int{
		"popped":  func(t *lua.Thread) int { t.Pop(); t.SetTop(0); return 0 },
		"dropped": func(t *lua.Thread) int { t.SetTop(0); return 0 },
		"stored":  func(t *lua.Thread) int { t.PopElement(lua.NewTable(0, 0), 1); return 0 },
		"thrown":  func(t *lua.Thread) int { return t.Throw(lua.Nil) },
		"raised":  func(t *lua.Thread) int { t.Error("no"); return 0 },
	} {
		s := bounded()
		freed := make(chan bool, n)
		s.Globals.SetString("leave", lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
			for range n {
				tab := lua.NewTable(0, 0)
				runtime.AddCleanup(tab, func(bool) { freed <- true }, true)
				t.Push(lua.TableValue(tab))
			}
			return leave(t)
		}}))
		require.NoError(t, run(t, s, "pcall(leave)"))
		s.Reset()
		runtime.GC()
		for range n {
			select {
			case <-freed:
			case <-time.After(time.Minute):
				require.Fail(t, "a value outlives its run", name)
			}
		}
		runtime.KeepAlive(s)
	}
}

// TestTrim checks that what is kept between runs counts, and that Trim gives it back.
func TestTrim(t *testing.T) {
	s := bounded()
	fresh := s.StackBytes()
	require.NoError(t, run(t, s, `
		local list = {}
		for i = 1, 10 do list[i] = create(function() end) end
		for i = 1, 10 do resume(list[i]) end
		local function f(n) if n > 0 then return 1 + f(n - 1) end return 0 end f(100)`))
	s.Reset()
	const stack, frame = 272 * 16, 64
	require.Greater(t, s.StackBytes()-fresh, 10*stack+100*frame)
	s.Trim()
	require.Equal(t, fresh, s.StackBytes())
}

// TestNothingGoesOnAfterTheEnd checks that neither a coroutine's end nor a protected call hides
// that the run has ended.
func TestNothingGoesOnAfterTheEnd(t *testing.T) {
	for _, src := range []string{
		"resume(create(function() stop() end))",
		"resume(create(function() stop() yield() end))",
		"resume(create(function() stop() error() end))",
		"pcall(stop)",
		"stop()",
	} {
		s := bounded()
		s.Globals.SetString("stop", lua.NativeValue(&lua.Native{Fn: func(*lua.Thread) int {
			_ = s.End(errors.New("killed"))
			return 0
		}}))
		require.EqualError(t, run(t, s, src), "killed", src)
	}
}

// TestResumeWithoutMemory checks that a coroutine which gets no memory for its arguments or results
// waits or is dead afterwards, and that the thread that resumes it runs.
func TestResumeWithoutMemory(t *testing.T) {
	for _, src := range []string{
		"co = create(function() end) many(function(...) full() resume(co, ...) end)",
		"co = create(function() many(function(...) full() yield(...) end) end) resume(co)",
	} {
		s := bounded()
		s.Reset()
		s.Globals.SetString("many", lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
			f := t.Arg(1)
			t.SetTop(0)
			t.Push(f)
			for range 5000 {
				t.Push(lua.True)
			}
			t.Call(5000, 0)
			return 0
		}}))
		s.Globals.SetString("full", lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
			s.Bound = 1 // the next growth is too much
			s.Begin()
			return 0
		}}))
		require.EqualError(t, run(t, s, src), "not enough memory", src)
		co := s.Globals.GetString("co").Thread()
		require.Contains(t, []string{"suspended", "dead"}, co.Status())
		require.Equal(t, s.Main, s.Current())
		require.Equal(t, "running", s.Main.Status())
	}
}

// TestHandlerWithoutMemory checks that an error handler for which there is no room on the stack
// ends the run, and nothing else.
func TestHandlerWithoutMemory(t *testing.T) {
	failures := 0
	for depth := 1; depth < 200; depth++ {
		s := bounded()
		s.Globals.SetString("xpcall", lua.NativeValue(lua.Xpcall()))
		s.Globals.SetString("depth", lua.Int(depth))
		s.Globals.SetString("last", lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
			s.Bound = 1 // the next growth is too much
			s.Begin()
			return t.Throw(lua.Nil)
		}}))
		err := run(t, s, `
			local function deep(n) if n == 0 then last() end local r = deep(n - 1) return r end
			xpcall(function() deep(depth) end, function(e) return e end)`)
		if err != nil {
			require.EqualError(t, err, "not enough memory")
			failures++
		}
	}
	require.NotZero(t, failures)
}

// TestLongWorkTakesTime checks that what takes long in one instruction counts as it should: here,
// as a thousand steps or more in each of 1,000 turns.
func TestLongWorkTakesTime(t *testing.T) {
	for name, body := range map[string]string{
		"equal":     "if a ~= b then fail() end",
		"less":      "if a < b then fail() end",
		"number":    "local n = d + 1",
		"arguments": "deep(150)", // moves 1 + 2 … + 150 values
		"border":    "local n = #u",
	} {
		s := bounded()
		s.Bound = 64 << 20
		s.Begin()
		require.NoError(t, run(t, s, `
			local function long(s) for i = 1, 16 do s = s .. s end return s end
			a, b, d = long('x'), long('x'), long('1')
			function deep(n, ...) if n > 0 then return deep(n-1, 1, ...) end end
			u = {k1 = 1, k2 = 1, k3 = 1, k4 = 1, k5 = 1, k6 = 1, k7 = 1, k8 = 1, k9 = 1, k10 = 1,
				k11 = 1, k12 = 1, k13 = 1, k14 = 1, k15 = 1, k16 = 1, k17 = 1, k18 = 1, k19 = 1}
			for i = 1, 4096 do u[i] = i end
			for i = 1, 19 do u['k' .. i] = nil end
			local i = 4097 while i < 2^32 do u[i] = i i = i * 2 end`), name)
		looks := 0
		s.Interrupt = func() error { looks++; return nil }
		require.NoError(t, run(t, s, "for i = 1, 1000 do "+body+" end"), name)
		assert.Greater(t, looks, 900, name)
	}
}
