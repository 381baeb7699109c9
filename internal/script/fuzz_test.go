package script_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/luagen"
	"godwit/internal/lua/redislib"
	"godwit/internal/script"
	"godwit/internal/testseed"
)

// strict is a server under which nothing may panic.
type strict struct {
	fake
	t testing.TB
}

func (f *strict) ReportPanic(p *script.Panic) { f.t.Error(p.Error()) }

func strictHost(t testing.TB) *script.Host {
	h := script.NewHost(&strict{t: t}, script.Options{Version: "7.2.4"}, redislib.Open)
	h.BoundMemory(64 << 20)
	return h
}

// hostileScripts returns the seeds of the fuzz targets.
func hostileScripts() []string {
	return []string{
		"local a for i=1,2 do f(function() x= end) end",
		"return {KEYS[1], ARGV[1], redis.call('get', 'x')}",
		"for i, v in ipairs(_G) do v.x = 1 end",
		"local t = setmetatable({}, {__index = function(t, k) return k end}) return t.x .. #t",
		"return string.format('%99999d', 1)",
		"return string.format('%5.3s|%-8q|%c', 'abc', 'd', 65)",
		"return ('x'):rep(1e9)", "return ('a'):gsub('(((((.)))))', '%1%2%3%4%5%6')",
		"return ('a'):find(('a?'):rep(30))",
		"return select('#', unpack({}, 1, 7999))",
		"table.sort({3, 1, 2}, function() return coroutine.yield() end)",
		"table.sort({3, 1, 2}, function(a, b) return coroutine.wrap(function() return a < b " +
			"end)() end)",
		"return pcall(pcall, pcall, error, {err = 'x'})", "return xpcall(error, error)",
		"error({err = {}})",
		"return redis.call()", "return redis.call('get')", "return redis.call({})",
		"return redis.call('set', 0/0, 1/0)",
		"return redis.acl_check_cmd()", "KEYS = nil", "ARGV[1] = {} return ARGV",
		"return cjson.encode({[1e9] = 1})", "return cjson.decode(('['):rep(2000))",
		"return cjson.decode('1e999')",
		"return cmsgpack.unpack('\\220\\0\\1\\255')", "return cmsgpack.pack({{{{}}}}, 1e300, -0)",
		"return struct.pack('>i32', 1)", "return struct.unpack('c0', 'a')",
		"return struct.pack('i99999999999', 1)",
		"return bit.lshift(1, 99), bit.tobit(1e20)", "return os.clock() + #tostring(_G)",
		"return loadstring('\\27Lua')",
		"return tostring(setmetatable({}, {__tostring = function() return {} end}))",
		"return 1e9999, 0x, 1..2", "--[==[",
		"local a <const> = 1", "goto x", "return 'a\\999'", "return \x00",
		"#!lua flags=no-writes\nreturn 1", "return ...", "return arg",
		"local function f(...) return arg.n end return f(1, nil)", "repeat local x = 1 until x",
		"while true do end",
		"return (function(...) return select('#', ...) end)(nil, nil)",
		"return {1, 2, nil, 4, n = 5; 6}", "a.b.c = d",
	}
}

// FuzzCompile checks that no source makes the parser or the compiler panic or take long.
func FuzzCompile(f *testing.F) {
	for _, s := range hostileScripts() {
		f.Add(s)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		f.Add(luagen.Script(r))
	}
	h := strictHost(f)
	f.Fuzz(func(t *testing.T, src string) {
		_, err := h.Load([]byte(src), false)
		if err != nil {
			require.NotContains(t, err.Error(), "internal error", src)
		}
	})
}

// FuzzRun checks that no script makes the machine or a library panic.
func FuzzRun(f *testing.F) {
	for _, s := range hostileScripts() {
		f.Add(s)
	}
	r := rand.New(rand.NewPCG(2, 1))
	for range 50 {
		f.Add(luagen.Valid(r))
	}
	f.Fuzz(func(t *testing.T, src string) { run(t, src) })
}

// late is a server that ends scripts after some time.
type late struct {
	strict
	until time.Time
}

func (l *late) Interrupt() error {
	if time.Now().After(l.until) {
		return errors.New("ERR enough")
	}
	return nil
}

// run runs a script on a host of its own, for a few milliseconds at most.
func run(t testing.TB, src string) string {
	c := &late{strict{t: t}, time.Now().Add(20 * time.Millisecond)}
	h := script.NewHost(c, script.Options{Version: "7.2.4"}, redislib.Open)
	h.BoundMemory(64 << 20)
	out := eval(t, h, src)
	require.NotContains(t, out, "internal error", src)
	c.until = time.Now().Add(time.Hour)
	require.Equal(t, "$1\r\nA\r\n", eval(t, h, "return string.upper('a')"), src)
	return out
}

// TestHostileScripts runs the seeds of the fuzz targets, and many more that the grammar makes.
func TestHostileScripts(t *testing.T) {
	for _, s := range hostileScripts() {
		run(t, s)
	}
	r := testseed.Rand(t)
	for range 300 {
		run(t, luagen.Script(r))
	}
	require.Contains(t, run(t, strings.Repeat("while true do ", 3)), "expected")
}
