package diff

import (
	"fmt"
	"slices"
	"strings"
)

// scripted lists the commands that random scripts call: those whose replies have one order and do
// not depend on time.
var scripted = []string{
	"get", "set", "setnx", "getset", "append", "strlen", "incr", "incrby", "decr", "incrbyfloat",
	"getrange", "setrange", "mset", "mget", "getdel", "setbit", "getbit", "bitcount", "lpush",
	"rpush", "lpop", "rpop", "llen", "lrange", "lindex", "lset", "linsert", "lrem", "ltrim",
	"rpoplpush", "hset", "hget", "hdel", "hlen", "hincrby", "hexists", "hmget", "sadd", "srem",
	"scard", "sismember", "smove", "sinterstore", "zadd", "zrem", "zscore", "zrange", "zcard",
	"zincrby", "zcount", "exists", "del", "type", "rename", "copy", "persist",
	"xadd", "xdel", "xlen", "xtrim", "xrange", "xrevrange", "xread", "xreadgroup", "xack", "xgroup",
}

// script composes a script of random calls. So errors, conversions and effects of commands within
// scripts are compared too.
func (g *Generator) script() string {
	var b strings.Builder
	b.WriteString("local r = {} ")
	for i := range 1 + g.rnd.IntN(4) {
		call := g.call()
		switch {
		case g.chance(0.1):
			fmt.Fprintf(&b, "for i = 1, %d do r[#r+1] = redis.pcall(%s) end ", 2+g.rnd.IntN(4),
				call)
		case g.chance(0.1):
			fmt.Fprintf(&b,
				"local ok%d, e = pcall(redis.call, %s) r[#r+1] = tostring(ok%d) r[#r+1] = e ", i,
				call, i)
		case g.chance(0.1):
			fmt.Fprintf(&b, "r[#r+1] = redis.call(%s) ", call)
		case g.chance(0.1):
			fmt.Fprintf(&b,
				"local v = redis.pcall(%s) if type(v) == 'table' and not v.err and not v.ok then "+
					"r[#r+1] = #v else r[#r+1] = tostring(type(v)) end ", call)
		default:
			fmt.Fprintf(&b, "r[#r+1] = redis.pcall(%s) ", call)
		}
	}
	b.WriteString(
		g.pick("return r", "return r", "return {#r, r}", "return r[1]",
			"return redis.status_reply('DONE')", "return cjson.encode(#r)",
			"redis.setresp(3) return r", "error('end')"))
	return b.String()
}

// call returns the arguments of redis.call for a random command, as Lua literals.
func (g *Generator) call() string {
	args := [][]byte{[]byte("get"), []byte(g.key())}
	after := g.after
	for range 40 {
		c := g.command()
		g.after = after
		odd := len(c) > 1 && strings.EqualFold(string(c[1]), "help") ||
			g.cfg.Reference == Redis7 && Cmd{Args: c}.has("BLOCK") // It refuses that in scripts.
		if len(c) > 0 && len(c) < 12 && !odd &&
			slices.Contains(scripted, strings.ToLower(string(c[0]))) {
			args = c
			break
		}
	}
	g.touchExpired(args)
	lits := make([]string, len(args))
	for i, a := range args {
		var b strings.Builder
		b.WriteByte('\'')
		for _, ch := range a {
			if ch < 32 || ch > 126 || ch == '\'' || ch == '\\' {
				fmt.Fprintf(&b, "\\%03d", ch)
			} else {
				b.WriteByte(ch)
			}
		}
		b.WriteByte('\'')
		lits[i] = b.String()
	}
	return strings.Join(lits, ",")
}

// scriptHints returns hints that compose most scripts. The others are simple ones, whose digests
// EVALSHA may know.
func scriptHints() map[string]hint {
	simple := oneOf("return 1", "return redis.call('get',KEYS[1])", "return {1,'a',{2}}",
		"return redis.call('set',KEYS[1],ARGV[1])",
		"return redis.error_reply('x')", "return nosuch", "syntax error", "return {KEYS, ARGV}")
	composed := func(g *Generator) []string { return []string{g.script()} }
	return map[string]hint{
		"*.script": mostly(0.7, simple, composed),
		"*.sha1":   oneOf(strings.Repeat("0", 40), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "x"),
	}
}
