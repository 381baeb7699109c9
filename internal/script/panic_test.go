package script_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/redislib"
	"godwit/internal/resp"
	"godwit/internal/script"
)

// TestSyntaxErrorInNestedFunction checks that an error in a function within a for unwinds through
// both scopes.
func TestSyntaxErrorInNestedFunction(t *testing.T) {
	h := newHost(&fake{})
	for src, want := range map[string]string{
		"local a for i=1,2 do f(function() x= end) end":  "unexpected symbol near 'end'",
		"local a for i in f do f(function() x= end) end": "unexpected symbol near 'end'",
		"local a repeat f(function() x= end) until a":    "unexpected symbol near 'end'",
		"local a,b,c for i=1,2 do for j=1,2 do function f() local ": "'<name>' expected near " +
			"'<eof>'",
	} {
		_, err := h.Load([]byte(src), true)
		require.EqualError(t, err, "Error compiling script (new function): user_script:1: "+want,
			src)
		got := eval(t, h, "local f, e = loadstring([==["+src+"]==], '=user_script') return e")
		require.Equal(t, fmt.Sprintf("$%d\r\nuser_script:1: %s\r\n", len(want)+15, want), got, src)
	}
}

// faulty is a server whose commands panic.
type faulty struct {
	fake
	reported []*script.Panic
}

func (f *faulty) Call([][]byte, int) ([]byte, string) { panic("handler") }
func (f *faulty) ReportPanic(p *script.Panic)         { f.reported = append(f.reported, p) }

// TestPanicReachesCaller checks that a script cannot handle a panic below it.
func TestPanicReachesCaller(t *testing.T) {
	for _, src := range []string{
		"redis.call('x')",
		"redis.pcall('x')",
		"while true do pcall(redis.call, 'x') end",
		"xpcall(function() redis.call('x') end, function() end) return 1",
		"local f = coroutine.wrap(function() redis.call('x') end) pcall(f) return 1",
		"local c = coroutine.create(function() redis.call('x') end) coroutine.resume(c) return 1",
		"local t = setmetatable({}, {__index = function() redis.call('x') end}) local _ = t.x",
		"table.sort({2, 1}, function() redis.call('x') end)",
		"return ('a'):gsub('a', function() redis.call('x') end)",
	} {
		h := script.NewHost(&faulty{}, script.Options{}, redislib.Open)
		sc, err := h.Load([]byte(src), false)
		require.NoError(t, err)
		var w resp.Writer
		v := panicOf(func() { h.Run(sc, nil, nil, &w) })
		p, ok := v.(*script.Panic)
		require.True(t, ok, "%s: %v", src, v)
		require.Equal(t, "handler", p.Value, src)
		require.Contains(t, string(p.Stack), "faulty).Call", src)
	}
}

// overdue is a server that panics while it serves others.
type overdue struct{ fake }

func (*overdue) Interrupt() error { panic("served") }

// TestPanicOfOthers checks that neither can it handle one of a command that it lets others run.
func TestPanicOfOthers(t *testing.T) {
	h := script.NewHost(&overdue{}, script.Options{}, redislib.Open)
	sc, err := h.Load([]byte("while true do pcall(function() while true do end end) end"), false)
	require.NoError(t, err)
	p, ok := panicOf(func() { h.Run(sc, nil, nil, &resp.Writer{}) }).(*script.Panic)
	require.True(t, ok)
	require.Equal(t, "served", p.Value)
	require.True(t, p.Inside)
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestPanicOfLibrary checks that a panic outside of commands is an error of its script.
func TestPanicOfLibrary(t *testing.T) {
	for _, src := range []string{
		"fault()", "pcall(fault) return 1", "while true do pcall(fault) end",
		"pcall(coroutine.wrap(function() fault() end)) return 1",
		"beside()", "while true do pcall(beside) end",
	} {
		c := &faulty{}
		h := script.NewHost(c, script.Options{}, redislib.Open, func(s *lua.State) {
			s.Globals.SetString("fault", lua.NativeValue(&lua.Native{Name: "fault",
				Fn: func(*lua.Thread) int { panic("fault") }}))
			s.Globals.SetString("beside", lua.NativeValue(&lua.Native{Name: "beside",
				Fn: func(t *lua.Thread) int {
					t.Aside(lua.LongWork, func() { panic("fault") })
					return 0
				}}))
		})
		require.Contains(t, eval(t, h, src), "-ERR internal error\r\n", src)
		require.Len(t, c.reported, 1, src)
		require.Contains(t, c.reported[0].Value, "fault", src)
		require.Equal(t, ":1\r\n", eval(t, h, "return select(2, pcall(function() return 1 end))"),
			src)
	}
}

// TestOverflowIsNoPanic checks that full stacks are errors of the script.
func TestOverflowIsNoPanic(t *testing.T) {
	h := newHost(&fake{})
	h.BoundMemory(32 << 20)
	for _, src := range []string{
		"local function f() return 1 + f() end f()",
		"local function f(...) return 1 + f(1, ...) end f()",
		"local function f() return 1 + f() end pcall(f) f()",
		"local function f(...) return 1 + f(1, ...) end pcall(f) f()",
		"local function f() return pcall(f) end return f()",
		"local function f() return 1 + f() end coroutine.wrap(f)()",
		"local function f(...) return 1 + f(1, ...) end coroutine.wrap(f)()",
		"local function f() return coroutine.wrap(f)() end return f()",
		"local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end " +
			"return t.x",
		"local t = {} setmetatable(t, {__index = t}) return t.x",
		"local function f() table.sort({2, 1}, f) end f()",
		"local function f() return ('a'):gsub('a', f) end f()",
		"local t = {} for i = 1, 7000 do t[i] = i end local function f(...) return 1 + " +
			"f(unpack(t)) end f()",
		"local t = {} for i = 1, 7000 do t[i] = i end " +
			"local function f(...) return 1 + f(unpack(t)) end pcall(f) coroutine.wrap(f)()",
		"local function f(e) error(f) end xpcall(f, f) f()",
		"return loadstring(('('):rep(150)..'1'..(')'):rep(150))() .. " +
			"loadstring('x='..('{'):rep(300))()",
	} {
		require.NotPanics(t, func() { eval(t, h, src) }, src)
		require.Equal(t, ":1\r\n", eval(t, h, "return 1"))
	}
}
