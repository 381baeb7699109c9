package redislib

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/stdlib"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// prelude turns whatever the body returns or raises into a text that is the same in both servers:
// numbers have 17 digits, and tables are in the order of pairs, unless that follows from addresses
// or the body sets sort. It must stay on one line, because errors show theirs.
const prelude = `local sort = false local function S(v) local t = type(v) ` +
	`if t == 'string' then return #v .. ':' .. v ` +
	`elseif t == 'number' then if v ~= v then return 'nan' elseif v == 1/0 then return 'inf' ` +
	`elseif v == -1/0 then return '-inf' end return string.format('%.17g', v) ` +
	`elseif t == 'table' then ` +
	`local o, f = {}, false for k, x in pairs(v) do o[#o+1] = S(k) .. '=' .. S(x) ` +
	`f = f or type(k) == 'table' end if f or sort then table.sort(o) end ` +
	`return '{' .. table.concat(o, ' ') .. '}' ` +
	`else return t == 'userdata' and 'null' or tostring(v) end end ` +
	`local function R(ok, ...) if not ok then return 'error: ' .. tostring((...)) end ` +
	`local o = {} for i = 1, select('#', ...) do o[i] = S((select(i, ...))) end ` +
	`return table.concat(o, ', ') end ` +
	`return R(pcall(function(...) `

func script(body string) string { return prelude + body + " end, unpack(ARGV)))" }

// bare is a Lua state with nothing but libraries.
type bare struct {
	*lua.State
	cache map[string]*lua.Closure
}

func newBare() *bare {
	s := newState()
	stdlib.OpenBase(s, stdlib.Options{})
	stdlib.OpenTable(s)
	stdlib.OpenString(s)
	return &bare{s, map[string]*lua.Closure{}}
}

func (b *bare) eval(body string, args ...string) (string, error) {
	f := b.cache[body]
	if f == nil {
		p, err := compiler.Compile(script(body), "user_script", nil)
		if err != nil {
			return "", err
		}
		if f, err = lua.Load(p, b.Globals, nil); err != nil {
			return "", err
		}
		b.cache[body] = f
	}
	argv := lua.NewTable(len(args), 0)
	for i, a := range args {
		argv.SetInt(i+1, lua.String(a))
	}
	b.Globals.SetString("ARGV", lua.TableValue(argv))
	b.Begin()
	b.Reset()
	b.Main.Push(lua.ClosureValue(f))
	if err, ok := b.Main.Try(0, 1); !ok {
		s, _ := lua.ToText(err)
		return "", failure(s)
	}
	return b.Main.Pop().Str(), nil
}

type failure string

func (f failure) Error() string { return string(f) }

// both runs a body in both and compares the answers.
type both struct {
	t     *testing.T
	redis *client.Client
	bare  *bare
	fails int
}

// newBoth starts a Redis 8 that ends with the test. Without one it skips the test, except in CI.
func newBoth(t *testing.T) *both {
	return &both{t: t, redis: testserver.Redis.Start(t, "", "--lua-time-limit", "0").Client(t),
		bare: newBare()}
}

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
