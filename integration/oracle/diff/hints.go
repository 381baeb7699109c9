package diff

import (
	"strconv"
	"strings"
)

// The hints, the weights and the guards (guards.go) are all that the generator knows of particular
// commands. It generates a command without an entry from its docs alone. An entry makes the values
// more useful, cheaper, or independent of time.

// hint returns the strings of one argument. Keys of the hint table, in order of precedence:
// "command.argument", "*.argument", ":type".
type hint func(*Generator) []string

func oneOf(pool ...string) hint {
	return func(g *Generator) []string { return []string{g.pick(pool...)} }
}

// mostly draws from good, and with probability p from bad.
func mostly(p float64, good, bad hint) hint {
	return func(g *Generator) []string {
		if g.chance(p) {
			return bad(g)
		}
		return good(g)
	}
}

// weights returns weights by command or "@group". 100 is usual. Commands with low ones empty the
// keyspace or undo a connection's state, which would hide everything else.
func weights() map[string]int {
	return map[string]int{
		"flushall": 3, "flushdb": 8, "reset": 4, "quit": 2, "hello": 25, "swapdb": 25, "select": 60,
		"multi": 25, "exec": 5, "discard": 5, "@connection": 25, "@server": 15, "config|set": 40,
		"@scripting": 30, "eval": 150, "eval_ro": 60, "evalsha": 40, "script|flush": 5,
		"script|debug": 0, "function|load": 60, "function|restore": 10, "function|list": 10,
		"function|dump": 10, "function|flush": 4, "fcall": 60, "acl|setuser": 0,
		"acl|deluser": 0, "@pubsub": 20, "@cluster": 5, "auth": 5, "get": 200, "set": 400,
		"mset": 150, "setrange": 150, "append": 150, "copy": 150, "move": 60, "del": 50,
		"unlink": 50, "getdel": 50, "scan": 50, "keys": 50, "xadd": 300, "zadd": 300,
		"hset": 300, "sadd": 300, "rpush": 200, "lpush": 200, "hmset": 100, "spop": 40, "ltrim": 40,
		"zremrangebyrank": 40, "zremrangebyscore": 40, "zremrangebylex": 40, "lpop": 70,
		"rpop": 70, "zpopmin": 60, "zpopmax": 60, "lmpop": 60, "zmpop": 60, "sort": 250,
		"sort_ro": 120, "lpos": 150, "linsert": 150, "expire": 150, "pexpire": 150,
		"object|help": 5, "xdel": 60, "xtrim": 30,
		"xgroup|create": 200, "xgroup|destroy": 15, "xgroup|setid": 40,
		"xgroup|delconsumer": 25, "xgroup|help": 5, "xinfo|help": 5,
		"xreadgroup": 300, "xack": 120, "xclaim": 120,
		"xpending": 150, "xsetid": 25, "bitfield": 300, "bitop": 250, "wait": 10, "info": 3,
		"command":      1,
		"command|docs": 3, "blpop": 10, "brpop": 10, "blmove": 10, "blmpop": 10, "brpoplpush": 10,
		"bzpopmin": 10, "bzpopmax": 10, "bzmpop": 10, "geoadd": 300, "pfadd": 300, "restore": 60,
		"command|getkeys": 60, "debug": 15, "object|encoding": 200,
	}
}

// forcedArgs returns optional arguments that must not be left out.
func forcedArgs() map[string]bool {
	return map[string]bool{
		// a page must be a full iteration
		"scan.count": true, "sscan.count": true, "hscan.count": true, "zscan.count": true,
		"xread.milliseconds": false,
	}
}

// junk returns a value of no particular type: what a client sends by mistake.
func (g *Generator) junk() string {
	return g.pick("", "abc", "1.5", "-1", "0", " 1", "1 ", "+1", "-0", "00", "0x10", "1e3",
		"9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "18446744073709551616", "4294967296", "nan",
		"inf", "-inf", "\x00", "\xff\xfe\r\n", "1\x00",
		"NX", "GET", "EX", "COUNT", "é", strings.Repeat("9", 60))
}

func hintTable() map[string]hint {
	t := map[string]hint{}
	for _, part := range []map[string]hint{typeHints(), nameHints(), timeHints(), bitHints(),
		connHints(), serverHints(), laterHints(),
		collectionHints(), boundHints(), sortHints(), geoHints(), hllHints(), scriptHints(),
		functionHints(), entryHints()} {
		for k, v := range part {
			t[k] = v
		}
	}
	return t
}

func typeHints() map[string]hint {
	return map[string]hint{
		":string": oneOf("", "a", "b", "foo", "bar", "foobar", "0", "1", "10", "-5", "3.5", "1e3",
			"9223372036854775807", "-9223372036854775808", "  7", "0.1",
			"binary\x00\xff\r\n", "2147483648", "12345678901234567890", strings.Repeat("e", 44),
			strings.Repeat("r", 45), strings.Repeat("long ", 30), "\x01\x02\x03", "\xff\xff"),
		":integer": mostly(0.12,
			oneOf("0", "1", "2", "3", "5", "7", "10", "-1", "-2", "-3", "-7", "100"),
			oneOf("1000", "-100", "32767", "65536", "9223372036854775807", "-9223372036854775808",
				"9223372036854775806")),
		":double": mostly(0.2,
			oneOf("0", "1", "1.5", "-1.5", "0.1", "2", "3", "-3", "10", "3.14159", "100"),
			oneOf("1e10", "1e-10", "inf", "-inf", "+inf", "nan", "1e308", "-1e308", "5e-324",
				"0x10", "1e400", "9007199254740993", "17179869184.5", "-0")),
		":pattern": oneOf("*", "*", "k*", "?", "k?", "k[3-5]", "k[^3]", "[^k]*", "\\k*", "", "k3",
			"*\x00*", "k[", "k[a-", "k\\", "**3", "*[*", "st*", "[z-a]*", "k[\\]3]", "h*0"),
		":unix-time": oneOf("0", "1", "1000000000", "4000000000", "4000000001", "5000000000"),
	}
}

func nameHints() map[string]hint {
	db := mostly(0.1, func(g *Generator) []string {
		return []string{strconv.Itoa(g.rnd.IntN(g.cfg.DBs))}
	}, oneOf("-1", "16", "15", "99999999999", "x", ""))
	count := mostly(0.1, oneOf("0", "1", "2", "3", "5", "10", "-1", "-2"),
		oneOf("100", "-100", "1000", "9223372036854775807"))
	return map[string]hint{
		"select.index": db, "*.index1": db, "*.index2": db, "*.db": db, "*.destination-db": db,
		"*.count": count, "scan.count": oneOf("1000", "5000"), "sscan.count": oneOf("1000", "5000"),
		"hscan.count": oneOf("1000", "5000"), "zscan.count": oneOf("1000", "5000"),
		"*.cursor": mostly(0.05, oneOf("0"),
			oneOf("5", "-1", "abc", "", "18446744073709551615", "18446744073709551616", "0x1",
				" 0")),
		"scan.type": oneOf("string", "list", "set", "zset", "hash", "stream", "STRING", "nosuch",
			""),
		"*.timeout": oneOf("0.001", "0.002"), "wait.timeout": oneOf("1", "2"),
		"wait.numreplicas": oneOf("0", "0", "1", "-1"),
		"*.start": mostly(0.1, oneOf("0", "1", "2", "-1", "-2", "-5", "5", "100"),
			oneOf("-100", "9223372036854775807", "-9223372036854775808", "1000000000")),
		"*.stop": mostly(0.1, oneOf("0", "1", "2", "-1", "-2", "-5", "5", "100"),
			oneOf("-100", "9223372036854775807", "-9223372036854775808", "1000000000")),
		"*.end": mostly(0.1, oneOf("0", "1", "2", "-1", "-2", "-5", "5", "100"),
			oneOf("-100", "9223372036854775807", "-9223372036854775808", "1000000000")),
		"setrange.offset": mostly(0.1, oneOf("0", "1", "2", "5", "10", "44", "100", "500"),
			oneOf("-1", "2000", "536870912", "9223372036854775807", "-9223372036854775808")),
	}
}

// timeHints returns the hints of deadlines. Relative ones are far away and spread out: two drawn at
// random are never so close that GT and LT depend on the clock. Absolute ones come from a small
// pool, so that they are often equal.
func timeHints() map[string]hint {
	far := func(unit int64) hint {
		return func(g *Generator) []string {
			return []string{strconv.FormatInt((100_000+g.rnd.Int64N(100_000_000))*unit, 10)}
		}
	}
	bad := oneOf("0", "-1", "-100000", "9223372036854775807", "9223372036854775",
		"9223372036854776", "-9223372036854775808", "abc", "1.5", "")
	sec, ms := mostly(0.15, far(1), bad), mostly(0.15, far(1000), bad)
	atSec := mostly(0.15, oneOf("4000000000", "4000000001", "5000000000", "6000000000"),
		oneOf("1", "1000000000", "0", "-1", "9223372036854775807", "9223372036854775",
			"9223372036854776"))
	atMs := mostly(0.15, oneOf("4000000000000", "4000000000001", "4000000000999", "6000000000000"),
		oneOf("1", "1000000000000", "0", "-1", "9223372036854775807", "-9223372036854775808"))
	return map[string]hint{
		"*.seconds": sec, "*.milliseconds": ms, "restore.ttl": ms,
		"restore.serialized-value": func(g *Generator) []string { return []string{g.payload()} },
		"restore.seconds":          oneOf("0", "10"), "*.unix-time-seconds": atSec,
		"*.unix-time-milliseconds": atMs,
	}
}

func bitHints() map[string]hint {
	offset := mostly(0.1,
		oneOf("0", "1", "2", "5", "7", "8", "9", "15", "16", "31", "64", "100", "360", "1000"),
		oneOf("-1", "16000", "4294967296", "9223372036854775807", "abc", "1.0"))
	fieldOffset := mostly(0.1,
		oneOf("0", "1", "3", "7", "8", "30", "63", "100", "#0", "#1", "#2", "#5", "#10"),
		oneOf("-1", "#-1", "#", "#x", "4294967296", "#9223372036854775807", "#68719476736"))
	return map[string]hint{
		"setbit.offset": offset, "getbit.offset": offset,
		"setbit.value":    mostly(0.05, oneOf("0", "1"), oneOf("2", "-1", "x")),
		"bitpos.bit":      mostly(0.05, oneOf("0", "1"), oneOf("2", "-1", "x")),
		"bitfield.offset": fieldOffset, "bitfield_ro.offset": fieldOffset,
		"*.encoding": mostly(0.1,
			oneOf("u1", "u2", "u4", "u7", "u8", "u16", "u31", "u32", "u63", "i1", "i2", "i5", "i8",
				"i16", "i32", "i63", "i64", "U8"),
			oneOf("u64", "i65", "u0", "i0", "u-1", "x8", "i", "", "u08", "u 8")),
		"bitfield.value": mostly(0.3,
			oneOf("0", "1", "-1", "2", "127", "128", "255", "256", "-128", "-129"),
			oneOf("65535", "-9223372036854775808", "9223372036854775807", "1099511627776")),
		"bitfield.increment": mostly(0.3, oneOf("0", "1", "-1", "2", "10", "100", "-100", "255"),
			oneOf("65535", "-9223372036854775808", "9223372036854775807", "1099511627776")),
		"bitop.operation": mostly(0.05, func(g *Generator) []string {
			return []string{g.casing(g.pick("AND", "OR", "XOR", "NOT"))}
		}, oneOf("NAND", "", "DI")),
	}
}

// laterHints returns hints for families that a server may gain later. Without them the generator
// works too, but fewer commands succeed.
func laterHints() map[string]hint {
	return map[string]hint{
		"*.channel": oneOf("ch1", "ch2"), "*.shardchannel": oneOf("ch1"),
	}
}

// hllHints returns hints that add one element or very many, so that HyperLogLogs get dense.
func hllHints() map[string]hint {
	return map[string]hint{
		"pfadd.element": func(g *Generator) []string {
			if !g.chance(0.1) {
				return []string{g.pick("a", "b", "c", "", "foo", strconv.Itoa(g.rnd.IntN(1000)))}
			}
			out := make([]string, 1+g.rnd.IntN(300))
			for i := range out {
				out[i] = strconv.Itoa(g.rnd.IntN(100_000))
			}
			return out
		},
		"pfdebug.subcommand": oneOf("ENCODING", "ENCODING", "encoding", "DECODE", "TODENSE",
			"GETREG", "nosuch"),
	}
}

// wholeCommands returns hints that generate everything after the command's name, for commands whose
// docs do not describe their arguments.
func wholeCommands() map[string]hint {
	keys := func(g *Generator) []string {
		for {
			gr := &g.grams[g.rnd.IntN(len(g.grams))]
			if strings.HasPrefix(gr.Name, "command|") {
				continue
			}
			var out []string
			after := g.after
			for _, a := range g.generate(gr) {
				out = append(out, string(a))
			}
			g.after = after // the command is asked about, it does not run
			return out
		}
	}
	return map[string]hint{
		"command|getkeys": keys, "command|getkeysandflags": keys,
		"debug": func(g *Generator) []string {
			if g.chance(0.5) {
				return []string{g.casing("SLEEP"), "0"}
			}
			return []string{"nosuch", g.junk()}
		},
	}
}
