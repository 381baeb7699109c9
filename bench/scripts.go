//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"godwit/internal/resp"
)

const unlockScript = "if redis.call('get',KEYS[1]) == ARGV[1] then return " +
	"redis.call('del',KEYS[1]) else return 0 end"

// scriptGroup returns scripts at pipeline 16: the smallest that does something, the one that
// releases a lock, and loops. The keys and the locks that they ask for exist; a lock is there once.
func scriptGroup(p *plan) sketchGroup {
	eval := func(script string, args ...string) []string {
		return append([]string{"EVAL", script}, args...)
	}
	set := func(name string, n int, key func(i int) string, value string) generated {
		return generated{name, n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "SET", key(i), value)
		}}
	}
	value := strings.Repeat("v", p.valueSize)
	return sketchGroup{
		name: "Lua", keys: p.elements,
		load: []generated{
			set("keys", p.elements, func(i int) string { return string(appendKey(nil, i)) }, value),
			set("locks", p.elements, func(i int) string { return fmt.Sprintf("lock:%012d", i) },
				"token"),
			set("ten keys", 11, func(i int) string { return "k" + strconv.Itoa(i) }, value),
		},
		cases: []sketchCase{
			{name: "EVAL of return 1", args: eval("return 1", "0"), scale: 1},
			{name: "EVAL of a reply of six",
				args: eval("return {1,2,3,'a','b','c'}", "0"), scale: 1},
			{name: "EVAL of GET",
				args: eval("return redis.call('GET', KEYS[1])", "1", "key:__rand_int__"), scale: 1},
			{name: "EVAL of the unlock script",
				args: eval(unlockScript, "1", "lock:__rand_int__", "token"), scale: 1},
			{name: "EVAL of a counter with a limit",
				args: eval("local n = redis.call('incr',KEYS[1]) if n == 1 then "+
					"redis.call('expire',KEYS[1],60) end return n", "1", "n:__rand_int__"),
				scale: 1},
			{name: "EVAL of 100 additions",
				args: eval("local n = 0 for i=1,100 do n = n + i end return n", "0"), scale: 0.5},
			{name: "EVAL of 10 calls",
				args: eval("for i=1,10 do redis.call('GET','k'..i) end return 1", "0"), scale: 0.2},
			{name: "EVAL of a loop of 10,000", args: eval(loopScript, "0"), scale: 0.02},
			{name: "EVAL of a table of 1,000", args: eval(tableScript, "0"), scale: 0.05},
			{name: "EVAL of strings", args: eval(stringScript, "0", "user:1000:name"), scale: 0.1},
			{name: "EVAL of cjson", args: eval(jsonScript, "0"), scale: 0.2},
			{name: "EVAL of cmsgpack", args: eval(packScript, "0", "user:1000:name"), scale: 0.2},
		},
	}
}

// Scripts that work by themselves.
const (
	loopScript  = "local n = 0 for i=1,10000 do n = n + i end return n"
	tableScript = "local t = {} for i=1,1000 do t[i] = i * 2 end " +
		"local n = 0 for i, v in ipairs(t) do n = n + v end return n"
	stringScript = "local t, a = {}, ARGV[1] for i=1,100 do " +
		"t[i] = string.format('%s:%d', a, i) .. string.sub(a, 6, 9) .. a:upper() end " +
		"return #table.concat(t, ',')"
	jsonScript = "local v = cjson.decode(cjson.encode(" + sampleObject + ")) v.n = v.n + 1 " +
		"return #cjson.encode(v)"
	packScript = "local v = {name = ARGV[1], n = 17, list = {1, 2, 3, 4, 5}, on = true} " +
		"return cmsgpack.unpack(cmsgpack.pack(v)).n"
	sampleObject = "{id='5f1c9a', name='user:1000', n=41, price=12.5, tags={'a', 'b', 'c'}, " +
		"on=true, at={lat=48.2, lon=16.37}, note='two words', seen=1700000000}"
)

// scripts measures EVAL.
func (b *bench) scripts(ctx context.Context) error {
	if !b.plan.has("scripts") {
		return nil
	}
	return b.sketchGroups(ctx, titleScripts, scriptGroup(&b.plan))
}
