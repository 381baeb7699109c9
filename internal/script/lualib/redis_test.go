package lualib

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// prelude turns whatever the body returns or raises into a text that is the same in both servers:
// numbers have 17 digits, and tables are in the order of their keys' texts. It must stay on one
// line, because errors show theirs.
const prelude = `local function S(v) local t = type(v) ` +
	`if t == 'string' then return #v .. ':' .. v ` +
	`elseif t == 'number' then if v ~= v then return 'nan' elseif v == 1/0 then return 'inf' ` +
	`elseif v == -1/0 then return '-inf' end return string.format('%.17g', v) ` +
	`elseif t == 'table' then ` +
	`local o = {} for k, x in pairs(v) do o[#o+1] = S(k) .. '=' .. S(x) end ` +
	`table.sort(o) return '{' .. table.concat(o, ' ') .. '}' ` +
	`else return t == 'userdata' and 'null' or tostring(v) end end ` +
	`local function R(ok, ...) if not ok then return 'error: ' .. tostring((...)) end ` +
	`local o = {} for i = 1, select('#', ...) do o[i] = S((select(i, ...))) end ` +
	`return table.concat(o, ', ') end ` +
	`return R(pcall(function(...) `

func script(body string) string { return prelude + body + " end, unpack(ARGV)))" }

// bare is a Lua state with nothing but the libraries.
type bare struct {
	L     *lua.LState
	cache map[string]*lua.LFunction
}

func newBare() *bare {
	L := lua.NewState(lua.Options{RegistrySize: 1 << 17, CallStackSize: 200})
	Open(L)
	return &bare{L, map[string]*lua.LFunction{}}
}

func (b *bare) eval(body string, args ...string) (string, error) {
	f := b.cache[body]
	if f == nil {
		var err error
		if f, err = b.L.Load(strings.NewReader(script(body)), "user_script"); err != nil {
			return "", err
		}
		b.cache[body] = f
	}
	argv := b.L.NewTable()
	for _, a := range args {
		argv.Append(lua.LString(a))
	}
	b.L.SetGlobal("ARGV", argv)
	b.L.Push(f)
	if err := b.L.PCall(0, 1, nil); err != nil {
		return "", err
	}
	s := lua.LVAsString(b.L.Get(-1))
	b.L.Pop(1)
	return s, nil
}

// startRedis starts a Redis 8 that ends with the test. Without one it skips the test,
// except in CI.
func startRedis(t *testing.T) *client.Client {
	t.Helper()
	return testserver.Redis.Start(t, "", "--lua-time-limit", "0").Client(t)
}

// both runs a body in both and compares the answers.
type both struct {
	t     *testing.T
	redis *client.Client
	bare  *bare
	fails int
}

func newBoth(t *testing.T) *both { return &both{t: t, redis: startRedis(t), bare: newBare()} }

func (b *both) same(body string, args ...string) string {
	b.t.Helper()
	argv := []any{"EVAL", script(body), "0"}
	for _, a := range args {
		argv = append(argv, a)
	}
	v, err := b.redis.Do(argv...)
	require.NoError(b.t, err)
	want := v.Str
	if v.IsError() {
		want = "failed: " + want
	}
	got, err := b.bare.eval(body, args...)
	if err != nil {
		got = "failed: " + err.Error()
	}
	if strings.HasSuffix(got, ": not enough memory") &&
		strings.HasPrefix(body, "return cmsgpack.") {
		return want // a map with one far index would take an array of that length here
	}
	if got != want {
		b.t.Errorf("%s\nargs  %q\nredis %q\nours  %q", body, args, cut(want), cut(got))
		if b.fails++; b.fails > 20 {
			b.t.FailNow()
		}
	}
	return want
}

func cut(s string) string {
	if len(s) > 400 {
		return s[:400] + "…"
	}
	return s
}
