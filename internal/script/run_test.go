package script_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/redislib"
	"godwit/internal/resp"
	"godwit/internal/script"
)

// TestReplyBounds checks that small tables that stand for large replies are refused, and that
// others are not.
func TestReplyBounds(t *testing.T) {
	h := newHost(&fake{})
	h.BoundMemory(16 << 20)
	for _, src := range []string{
		"local t = {} for i = 1, 1e5 do t[i] = t end return t",
		"local t, s = {}, ('x'):rep(1e6) for i = 1, 100 do t[i] = s end return t",
		"local t, s = {}, ('x'):rep(1e6) for i = 1, 100 do t[i] = s end return {map = {a = t}}",
		"local t = {} for i = 1, 24 do t = {t, t} end return t",
		"local t = {} for i = 1, 1e5 do t[i] = -2^62 end return {t, t, t, t, t, t, t, t}",
		"local t = {} for i = 1, 1e4 do t[i] = {double = -1.1e-200 / 3} end local T = {} " +
			"for i = 1, 60 do T[i] = t end return T",
		"local t = {} for i = 1, 24 do t = {map = {a = t, b = t}} end return t",
		"local t = {} for i = 1, 24 do t = {set = {[t] = 1, [{t}] = 1}} end return t",
	} {
		require.Equal(t, "-ERR not enough memory\r\n", eval(t, h, src), src)
		require.Equal(t, ":1\r\n", eval(t, h, "return 1"))
	}
	deep := "local t = {} for i = 1, 9000 do t = {t} end return t"
	require.Contains(t, eval(t, h, deep), "-ERR reached lua stack limit\r\n")
	require.Equal(t, "$1000000\r\n", eval(t, h, "return ('x'):rep(1e6)")[:10])
}

// TestCommandReplyBounds checks that the reply of a command counts while it is read.
func TestCommandReplyBounds(t *testing.T) {
	h := newHost(&fake{})
	h.BoundMemory(16 << 20)
	for _, first := range []string{"*100", "~100", "%50"} {
		for _, proto := range []string{"2", "3"} {
			src := "redis.setresp(" + proto + ") pcall(redis.call, 'many', '" + first +
				"') return 1"
			require.Contains(t, eval(t, h, src), "-ERR not enough memory", src)
		}
	}
	require.Contains(t, eval(t, h, "return pcall(redis.pcall, 'vast')"), "-ERR not enough memory")
	require.Equal(t, ":7\r\n", eval(t, h, "redis.call('many', '*7') "+
		"return #redis.call('many', '*7')"))
}

// TestArgumentBounds checks that a script cannot hand a command more than it may hold itself.
func TestArgumentBounds(t *testing.T) {
	f := &fake{}
	h := newHost(f)
	h.BoundMemory(16 << 20)
	require.Equal(t, "-ERR not enough memory script: "+script.Digest([]byte(manyArguments))+
		", on @user_script:1.\r\n", eval(t, h, manyArguments))
	require.Zero(t, f.calls)
}

const manyArguments = "local s, t = ('x'):rep(1e6), {} for i = 1, 100 do t[i] = s end " +
	"pcall(function() redis.call('drop', unpack(t)) end) return 1"

// TestReplyTakesTime checks that a script can be ended while its reply is measured.
func TestReplyTakesTime(t *testing.T) {
	f := &fake{}
	h := newHost(f)
	sc, err := h.Load([]byte("local t = {} for i = 1, 1e5 do t[i] = i end local m = {map = t} "+
		"for i = 1, 1e5 do t[i] = m end redis.call('stop') return m"), false)
	require.NoError(t, err)
	f.stop = errors.New("ERR enough")
	f.lenient = true
	var w resp.Writer
	h.Run(sc, nil, nil, &w)
	require.Equal(t, []string{"ERR enough"}, f.fails)
	require.Equal(t, "-ERR enough\r\n", string(w.Buf))
}

// TestLineOfTheEnd checks that the error of a script that is ended names a line of what it does.
func TestLineOfTheEnd(t *testing.T) {
	for src, line := range map[string]string{
		"while true do end":                                  "1",
		"local n = 0\nwhile true do\n n = n + 1\nend":        "3",
		"local n = 0\nfor i = 1, 1e10 do\n n = i\nend":       "2",
		"local function f()\n return f()\nend\nf()":          "2",
		"local n = 0\nrepeat\n n = n + 1\nuntil n < 0":       "3",
		"for k in function() return 1 end do\n local n\nend": "1",
	} {
		f := &fake{stop: errors.New("ERR enough"), lenient: true}
		require.Regexp(t, ", on @user_script:"+line+`\.\r\n$`,
			eval(t, newHost(f), "redis.call('stop') "+src), src)
	}
}

// TestArguments checks that each script finds its own arguments and nothing that others left.
func TestArguments(t *testing.T) {
	h := newHost(&fake{})
	show := "local s = #KEYS .. ':' .. #ARGV for k, v in pairs(KEYS) do s = s .. ' ' .. k .. '=' " +
		".. v end return s .. tostring(getmetatable(KEYS)) .. tostring(getmetatable(ARGV))"
	spoil := []string{"KEYS[1], KEYS[2] = nil, nil", "KEYS[100] = 1 KEYS.x = 1",
		"for i = 1, 5000 do KEYS[i] = 'y' end", "setmetatable(KEYS, {__index = string})",
		"setmetatable({}, KEYS) local t = setmetatable({}, KEYS) local _ = t.x",
		"setmetatable(ARGV, {__len = 1}) table.remove(KEYS)", "KEYS[1] = KEYS"}
	for n := range 5 {
		keys := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e")}[:n]
		want := fmt.Sprintf("%d:1", n)
		for i, k := range keys {
			want += fmt.Sprintf(" %d=%s", i+1, k)
		}
		want += "nilnil"
		for _, src := range spoil {
			for _, src := range []string{src, show} {
				sc, err := h.Load([]byte(src), false)
				require.NoError(t, err)
				var w resp.Writer
				h.Run(sc, keys, [][]byte{[]byte("x")}, &w)
				if src == show {
					require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(want), want), string(w.Buf))
				}
			}
		}
	}
}

// TestStartAllocatesNothing checks the start of a cached script.
func TestStartAllocatesNothing(t *testing.T) {
	h := newHost(&fake{})
	sc, err := h.Load([]byte("return redis.call('get', KEYS[1]) == ARGV[1]"), false)
	require.NoError(t, err)
	args := [][]byte{[]byte("key"), []byte("another")}
	var w resp.Writer
	n := testing.AllocsPerRun(100, func() {
		w.Buf = w.Buf[:0]
		h.Run(sc, args, args, &w)
	})
	require.Zero(t, n)
}

// TestLongLogs checks that a script cannot have much written to the log at once.
func TestLongLogs(t *testing.T) {
	f := &fake{}
	h := newHost(f)
	eval(t, h, "local s = ('x'):rep(1e6) redis.log(redis.LOG_NOTICE, 'a', s, s, s)")
	require.Len(t, f.logs, 1)
	require.Equal(t, 64<<10+2, len(f.logs[0]))
	eval(t, h, "redis.log(-0.5, {}, 'a', nil, 1.5)")
	require.Equal(t, " a 1.5", f.logs[1])
	for _, level := range []string{"-1", "4", "0/0"} {
		require.Contains(t, eval(t, h, "redis.log("+level+", 'a')"), "Invalid log level.")
	}
}

// TestErrorFields checks that the fields of an uncaught error are looked up with metamethods. The
// results are those of Redis 8.0.6, where it does not crash.
func TestErrorFields(t *testing.T) {
	h := newHost(&fake{})
	for index, want := range map[string]string{
		"{err = 'q'}":                                                "q",
		"function(t, k) return k .. '!' end":                         "err!",
		"function(t, k) return k == 'err' and 7 or nil end":          "7",
		"function(t, k) error('no') end":                             "ERR unknown error",
		"function(t, k) return {} end":                               "ERR unknown error",
		"setmetatable({}, {__index = function() return 'deep' end})": "deep",
	} {
		src := "error(setmetatable({}, {__index = " + index + "}))"
		require.Equal(t, "-"+want+" script: "+script.Digest([]byte(src))+", on @user_script:1.\r\n",
			eval(t, h, src), src)
	}
	require.Contains(t, eval(t, newHost(&fake{stop: errors.New("ERR time")}),
		"error(setmetatable({}, {__index = function() while true do end end}))"), "-ERR time ")
}

// TestCacheBytes checks that large scripts of EVAL do not stay.
func TestCacheBytes(t *testing.T) {
	h := newHost(&fake{})
	body := func(i int) string { return fmt.Sprint("return '", strings.Repeat("x", 4<<20), i, "'") }
	for i := range 20 {
		eval(t, h, body(i))
		require.Less(t, h.Memory(), int64(65<<20))
	}
	require.Less(t, h.Len(), 17)
	require.EqualValues(t, 20-h.Len(), h.Evicted)
	require.NotNil(t, h.Find([]byte(script.Digest([]byte(body(19))))))
	require.Nil(t, h.Find([]byte(script.Digest([]byte(body(0))))))
}

// TestLibraryGlobals checks that the code of a library sees the table redis alone while it is
// loaded, and its functions all globals later.
func TestLibraryGlobals(t *testing.T) {
	f := script.NewFunctions(&fake{}, script.Options{Version: "7.2.4"}, redislib.Open)
	missing := func(name string) string {
		return "Error registering functions: ERR user_function:2: Script attempted to access " +
			"nonexistent global variable '" + name + "'"
	}
	for code, want := range map[string]string{
		"local x = string":                                  missing("string"),
		"local x = redis.nosuch":                            missing("nosuch"),
		"local x = redis.call":                              missing("call"),
		"local function f() redis.call('get', 'x') end f()": missing("call"),
		"x = 1": "Error registering functions: ERR user_function:2: Attempt to modify a " +
			"readonly table",
		"local x": "No functions registered",
		"x =":     "Error compiling function: user_function:2: unexpected symbol near '<eof>'",
	} {
		_, err := f.Load([]byte("#!lua name=l\n"+code), script.LoadOptions{Replace: true})
		require.EqualError(t, err, want, code)
	}
	_, err := f.Load([]byte("#!lua name=l\nlocal n = 0 redis.register_function('f', "+
		"function(keys, args) n = n + 1 return {n, keys, args, redis.call('get', 'x'), "+
		"type(string), tostring(redis.register_function), "+
		"#loadstring('return {1,2}')()} end)"), script.LoadOptions{Replace: true})
	require.NoError(t, err)
	for i := 1; i <= 2; i++ {
		var w resp.Writer
		f.Call(f.Function([]byte("f")), [][]byte{[]byte("k")}, nil, &w)
		require.Equal(t, fmt.Sprintf("*7\r\n:%d\r\n*1\r\n$1\r\nk\r\n*0\r\n$1\r\nx\r\n$5\r\n"+
			"table\r\n$3\r\nnil\r\n:2\r\n", i), string(w.Buf))
	}
}

// The messages of the compiler show more of a chunk's name than others, and a chunk nests in the
// calls of C of those who load it.
func TestLoadedChunks(t *testing.T) {
	h := newHost(&fake{})
	for src, want := range map[string]string{
		"return #select(2, loadstring(('x'):rep(70)))":                "106",
		"return #select(2, pcall(loadstring(('x'):rep(70) .. '()')))": "188",
		"local n = 150 while loadstring('return ' .. ('('):rep(n) .. 1 .. (')'):rep(n)) do " +
			"n = n + 1 end return n": "198",
	} {
		require.Equal(t, ":"+want+"\r\n", eval(t, h, src), src)
	}
}

// TestLoadTime checks that the code of a library may not take long.
func TestLoadTime(t *testing.T) {
	f := script.NewFunctions(&fake{}, script.Options{Version: "7.2.4"}, redislib.Open)
	code := []byte("#!lua name=l\nlocal n = 0 while true do n = n + 1 end " +
		"redis.register_function('f', function() end)")
	_, err := f.Load(code, script.LoadOptions{})
	require.EqualError(t, err, "Error registering functions: ERR FUNCTION LOAD timeout")
}

// TestGlobals checks that a script finds the globals of Redis 8.0.6, in its order.
func TestGlobals(t *testing.T) {
	want := "string xpcall __redis__err__handler tostring _VERSION os unpack setmetatable " +
		"next assert tonumber rawequal collectgarbage struct getmetatable ARGV _G cjson " +
		"math pcall KEYS redis type bit cmsgpack select rawset rawget loadstring gcinfo " +
		"coroutine table pairs ipairs error load"
	require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(want), want), eval(t, newHost(&fake{}),
		"local t = {} for k in pairs(_G) do t[#t + 1] = k end return table.concat(t, ' ')"))
}
