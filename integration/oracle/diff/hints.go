package diff

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The tables in this file are all that the generator knows of particular
// commands. A command without an entry is generated from its docs alone; an entry
// makes its values more useful, cheaper, or independent of time.

// hint produces the strings of one argument. Keys of the hint table, in the order
// of precedence: "command.argument", "*.argument", ":type".
type hint func(*Generator) []string

// guard repairs a finished argument vector.
type guard func(*Generator, [][]byte) [][]byte

func oneOf(pool ...string) hint {
	return func(g *Generator) []string { return []string{g.pick(pool...)} }
}

// mostly picks from good, and with chance p from bad.
func mostly(p float64, good, bad hint) hint {
	return func(g *Generator) []string {
		if g.chance(p) {
			return bad(g)
		}
		return good(g)
	}
}

// weights by command or "@group"; 100 is usual. Low ones empty the keyspace or
// undo a connection's state, which would hide everything else.
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
		"object|help": 5, "bitfield": 300, "bitop": 250, "wait": 10, "info": 3, "command": 1,
		"command|docs": 3, "blpop": 10, "brpop": 10, "blmove": 10, "blmpop": 10, "brpoplpush": 10,
		"bzpopmin": 10, "bzpopmax": 10, "bzmpop": 10, "geoadd": 300, "pfadd": 300, "restore": 20,
		"command|getkeys": 60, "debug": 15, "object|encoding": 200,
	}
}

// forcedArgs are optional arguments that must not be left out.
func forcedArgs() map[string]bool {
	return map[string]bool{
		// a page must be a full iteration
		"scan.count": true, "sscan.count": true, "hscan.count": true, "zscan.count": true,
		"xread.milliseconds": false,
	}
}

// junk is a value of no particular type: what a client sends by mistake.
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
		functionHints()} {
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

// timeHints keep relative deadlines far away and spread out: two of them drawn at
// random are never so close that GT and LT depend on the clock. Absolute ones
// come from a small pool, to be equal often.
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
		"restore.seconds": oneOf("0", "10"), "*.unix-time-seconds": atSec,
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

func connHints() map[string]hint {
	name := oneOf("n1", "n2", "", "bad name", "bad\nname", "\x00", "é")
	protover := func(g *Generator) []string {
		if g.cfg.Resp != 0 {
			return []string{strconv.Itoa(g.cfg.Resp)}
		}
		return []string{g.pick("2", "3", "2", "3", "2", "3", "1", "4", "x", "-3", "")}
	}
	return map[string]hint{
		"*.protover": protover, "*.username": oneOf("default", "default", "nobody", ""),
		"*.clientname": name, "*.connection-name": name,
		"*.client-id":            oneOf("999999999", "0", "-1", "abc", "9223372036854775807"),
		"*.ip:port":              oneOf("127.0.0.1:1", "nonsense", "[::1]:1"),
		"client|kill.username":   oneOf("nobody"),
		"client|kill.yes/no":     oneOf("yes", "no", "maybe"),
		"client|kill.client-id":  oneOf("999999999", "0", "-1", "abc"),
		"client|setinfo.libname": name, "client|setinfo.libver": name,
		"*.password": oneOf("", "secret"),
	}
}

// confParam is a directive that CONFIG SET may change in a stream.
type confParam struct {
	name, def string
	values    []string // good and bad ones
}

// confParams are directives whose value changes only what both servers do in the
// same way: encodings, limits, and plain storage of the value.
func confParams() []confParam {
	return []confParam{
		{"hash-max-listpack-entries", "128", []string{"0", "2", "128", "-1", "x"}},
		{"hash-max-ziplist-value", "64", []string{"4", "64", "abc"}},
		{"list-max-listpack-size", "-2", []string{"-2", "2", "5", "-1", "1", "0"}},
		{"list-compress-depth", "0", []string{"0", "1", "2"}},
		{"set-max-intset-entries", "512", []string{"1", "2", "512"}},
		{"zset-max-listpack-entries", "128", []string{"0", "2", "128"}},
		{"zset-max-listpack-value", "64", []string{"4", "64"}},
		{"hll-sparse-max-bytes", "3000", []string{"0", "30", "300", "3000", "x"}},
		{"stream-node-max-entries", "100", []string{"2", "100"}},
		{"lazyfree-lazy-user-del", "no", []string{"yes", "no", "maybe", "YES"}},
		{"lazyfree-lazy-user-flush", "no", []string{"yes", "no", ""}},
		{"lazyfree-lazy-server-del", "no", []string{"yes", "no"}},
		{"slowlog-max-len", "128", []string{"0", "128", "-1"}},
		{"maxmemory-samples", "5", []string{"3", "5", "0", "x"}},
		{"maxmemory-policy", "noeviction",
			[]string{"allkeys-lru", "volatile-lru", "volatile-ttl", "volatile-random",
				"allkeys-random", "noeviction", "nosuch"}},
		{"maxmemory", "0", []string{"0", "10gb", "10g", "-1", "x", "20000000000b"}},
		{"lfu-log-factor", "10", []string{"10", "20"}},
		{"timeout", "0", []string{"0", "100000", "-1"}},
		{"tcp-keepalive", "300", []string{"300", "60"}},
		{"proto-max-bulk-len", "512mb", []string{"512mb", "1mb", "1048576", "100", "2097152b"}},
		{"notify-keyspace-events", "", []string{"", "KEA", "Ex", "Kg$", "bad?", "AKE"}},
		{"client-query-buffer-limit", "1gb", []string{"1gb", "10mb", "1"}},
		{"latency-monitor-threshold", "0", []string{"0", "1000000", "-1"}},
		{"hz", "10", []string{"10", "20"}},
		{"nosuch-directive", "", []string{"1"}},
	}
}

func serverHints() map[string]hint {
	command := oneOf("get", "SET", "mget", "config", "client|list", "object|encoding", "nosuch",
		"bitop", "expire", "")
	return map[string]hint{
		"config|get.parameter": func(g *Generator) []string {
			p := g.conf[g.rnd.IntN(len(g.conf))].name
			return []string{g.pick(p, p, p, strings.ToUpper(p), "lazyfree-lazy-user-*", "nosuch*",
				"[t]imeout", "maxmemory-polic?", "databases", "hash-max-*", "")}
		},
		"config|set.parameter_value": func(g *Generator) []string {
			p := g.conf[g.rnd.IntN(len(g.conf))]
			return []string{g.casing(p.name), g.pick(p.values...)}
		},
		"*.command-name": command, "*.category": oneOf("string", "bitmap", "read", "nosuch", ""),
		"*.module-name": oneOf("nosuch"), "latency|histogram.command": command,
		"*.event":        oneOf("nosuch", "command"),
		"info.section":   oneOf("server", "clients", "keyspace", "nosuch", "everything", "all"),
		"lolwut.version": oneOf("5", "6", "999"), "*.username": oneOf("default", "nobody"),
		"acl|cat.categoryname": oneOf("string", "read", "nosuch"),
	}
}

// laterHints serve families that a server may gain later; without them the
// generator would work too, only hit fewer successes.
func laterHints() map[string]hint {
	id := mostly(0.2, oneOf("1-1", "2-1", "3-5", "5", "0", "0-0", "7-1"),
		oneOf("$", ">", "-", "+", "*", "x", "18446744073709551615-18446744073709551615", "1-2-3",
			"(2-1"))
	nextID := func(g *Generator) []string {
		g.serial++
		return []string{strconv.Itoa(1000+g.serial) + "-1"}
	}
	return map[string]hint{
		"*.id": id, "xadd.id": nextID, "xadd.auto_id": nextID, "*.last-id": id,
		"*.group": oneOf("g1", "g2"), "*.groupname": oneOf("g1", "g2"),
		"*.consumer": oneOf("c1", "c2"), "*.consumername": oneOf("c1", "c2"),
		"*.threshold":     oneOf("0", "1", "3", "1000", "-1"),
		"*.min-idle-time": oneOf("0", "0", "100000000"), "xrange.start": id, "xrange.end": id,
		"xrevrange.start": id, "xrevrange.end": id, "xpending.start": id, "xpending.end": id,
		"xautoclaim.start": id, "xread.milliseconds": oneOf("1", "2"),
		"xreadgroup.milliseconds": oneOf("1", "2"), "xclaim.ms": oneOf("0", "1000"),
		"*.channel": oneOf("ch1", "ch2"), "*.shardchannel": oneOf("ch1"),
	}
}

// hllHints add one element or very many, so that HyperLogLogs get dense.
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

// wholeCommands generate everything after the command's name, for commands whose
// docs do not describe their arguments.
func wholeCommands() map[string]hint {
	keys := func(g *Generator) []string {
		for {
			gr := &g.grams[g.rnd.IntN(len(g.grams))]
			if strings.HasPrefix(gr.Name, "command|") {
				continue
			}
			var out []string
			for _, a := range g.generate(gr) {
				out = append(out, string(a))
			}
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

func guardTable() map[string]guard {
	t := map[string]guard{
		"client|kill": guardKill,
		"hello":       guardHello,
		// one filter: together they are an error in 7.0 and work in later ones
		"client|list": func(_ *Generator, args [][]byte) [][]byte {
			if len(args) > 3 && strings.EqualFold(string(args[2]), "TYPE") {
				return args[:4]
			}
			rest := slices.DeleteFunc(args[min(3, len(args)):], func(a []byte) bool {
				return strings.EqualFold(string(a), "TYPE") || strings.EqualFold(string(a), "ID")
			})
			return args[:min(3, len(args))+len(rest)]
		},
		// without names it lists everything
		"command|info": func(_ *Generator, args [][]byte) [][]byte {
			if len(args) == 2 {
				return append(args, []byte("get"))
			}
			return args
		},
		"spop": guardPop,
		"wait": func(_ *Generator, args [][]byte) [][]byte {
			if len(args) > 2 {
				if n, err := strconv.ParseInt(string(args[2]), 10, 64); err == nil && n >= 0 {
					args[2] = []byte("1")
				}
			}
			return args
		},
	}
	for _, c := range []string{"zrangebylex", "zrevrangebylex", "zremrangebylex", "zlexcount"} {
		t[c] = guardLex
	}
	t["zrange"], t["zrangestore"] = guardRange, guardRange
	for _, c := range []string{"zunion", "zinter", "zunionstore", "zinterstore"} {
		t[c] = guardWeights
	}
	for _, c := range []string{"rpush", "lpush"} {
		t[c] = guardNumbers(numberList, 2, 1)
	}
	t["sadd"] = guardMembers(guardNumbers(numberSet, 2, 1))
	t["zadd"] = func(g *Generator, args [][]byte) [][]byte {
		return guardLex(g, guardNumbers(numberZSet, 3, 2)(g, args))
	}
	t["set"], t["hset"] = guardWeightKeys(weightKey), guardFields(guardWeightKeys(weightHash))
	t["hmset"] = guardFields(func(_ *Generator, args [][]byte) [][]byte { return args })
	t["sort"], t["sort_ro"] = guardSort, guardSort
	for c, key := range geoSearches() {
		t[c] = guardPlaces(key)
	}
	t["debug"] = func(_ *Generator, args [][]byte) [][]byte {
		if len(args) > 2 && strings.EqualFold(string(args[1]), "sleep") {
			args[2] = []byte("0")
		}
		return args
	}
	for _, c := range []string{"setbit", "getbit", "setrange", "bitfield", "bitfield_ro"} {
		t[c] = guardOffsets
	}
	t["bitfield"] = guardField
	t["lpos"], t["lrem"] = guardSmallest, guardSmallest
	return t
}

// guardSmallest leaves out the smallest integer, which LPOS and LREM refuse only since Redis 7.2.
func guardSmallest(_ *Generator, args [][]byte) [][]byte {
	for i := 2; i < len(args); i++ {
		if string(args[i]) == "-9223372036854775808" {
			args[i] = []byte("-9223372036854775807")
		}
	}
	return args
}

// guardOffsets keeps strings small: between the largest useful offset and the
// smallest refused one lies half a gigabyte.
func guardOffsets(g *Generator, args [][]byte) [][]byte {
	for i := 2; i < len(args); i++ {
		s, hash := strings.CutPrefix(string(args[i]), "#")
		n, err := strconv.ParseInt(s, 10, 64)
		most := int64(20_000)
		if hash {
			most = 200
		}
		if err == nil && n > most && n < 1<<32 {
			s = strconv.FormatInt(n%most, 10)
			if hash {
				s = "#" + s
			}
			args[i] = []byte(s)
		}
	}
	return args
}

// guardField adds to guardOffsets that SET of a signed field narrower than 64 bits
// gets no value near the smallest integer: there redis computes a difference that
// overflows, which in C may give anything.
func guardField(g *Generator, args [][]byte) [][]byte {
	for i := 3; i < len(args); i++ {
		n, err := strconv.ParseInt(string(args[i]), 10, 64)
		if err == nil && n < -1<<62 && !strings.EqualFold(string(args[i-2]), "i64") {
			args[i] = []byte("-1099511627776")
		}
	}
	args = guardOffsets(g, args)
	for i := 2; i < len(args); i++ {
		if strings.EqualFold(string(args[i]), "FAIL") {
			// One field is written, behind all others: where none is, redis makes the key all the
			// same.
			return slices.Insert(args, 2, []byte("SET"), []byte("u1"), []byte("20000"), []byte("0"))
		}
	}
	return args
}

// guardHello leaves one mistake in a HELLO: 7.0 acts on each option as it reads it,
// 7.2 reads all of them first, so with a later mistake they answer differently.
func guardHello(_ *Generator, args [][]byte) [][]byte {
	if len(args) < 3 {
		return args
	}
	switch strings.ToUpper(string(args[2])) {
	case "SETNAME":
		return args[:min(len(args), 4)]
	case "AUTH":
		whole := len(args) == 7 && string(args[3]) == "default" &&
			strings.EqualFold(string(args[5]), "SETNAME")
		if !whole || bytes.ContainsAny(args[6], " \n\x00") {
			return args[:min(len(args), 5)]
		}
	}
	return args
}

// lexKey is touched by commands of sorted sets alone, and all its members have the score 0.
const lexKey = "lx0"

// guardLex sends lexical ranges to a key of their own, whose members all have the
// score 0: over mixed scores their result is undefined, and depends on the levels
// that the skip list drew.
func guardLex(g *Generator, args [][]byte) [][]byte {
	name := strings.ToLower(string(args[0]))
	byLex := slices.ContainsFunc(args, func(a []byte) bool {
		return strings.EqualFold(string(a), "BYLEX")
	})
	switch {
	case name == "zadd" && g.chance(0.1):
		args = append(args[:1:1], []byte(lexKey))
		for range 1 + g.rnd.IntN(3) {
			args = append(args, []byte("0"),
				[]byte(g.pick("a", "b", "c", "d", "e", "", "ab", "\x00", "\xff")))
		}
	case name == "zrangestore" && byLex && len(args) > 2:
		args[2] = []byte(lexKey)
	case strings.HasSuffix(name, "bylex") || name == "zlexcount" || name == "zrange" && byLex:
		if len(args) > 1 {
			args[1] = []byte(lexKey)
		}
	}
	return args
}

// guardKill leaves no filter that matches the tester's own connections.
func guardKill(_ *Generator, args [][]byte) [][]byte {
	if len(args) <= 3 {
		return args
	}
	for i := range args {
		if strings.EqualFold(string(args[i]), "normal") || string(args[i]) == "default" {
			args[i] = []byte("pubsub")
		}
	}
	return append(args, []byte("ID"), []byte("999999999"))
}

// guardDeadlines moves positive relative deadlines that are near into the future.
func guardDeadlines(g *Generator, gr *Grammar, args [][]byte) {
	for i := 2; i < len(args); i++ {
		n, err := strconv.ParseInt(string(args[i]), 10, 64)
		if err != nil || n <= 0 || n >= 90_000 {
			continue
		}
		if i == 2 && positionalTTL(gr) || strings.EqualFold(string(args[i-1]), "EX") ||
			strings.EqualFold(string(args[i-1]), "PX") {
			args[i] = []byte(strconv.FormatInt(100_000_000+g.rnd.Int64N(100_000_000), 10))
		}
	}
}

// positionalTTL reports whether the command's second argument is a relative time.
func positionalTTL(gr *Grammar) bool {
	for _, tree := range gr.Trees {
		if len(tree) < 2 || tree[1].HasToken {
			continue
		}
		switch tree[1].Name {
		case "seconds", "milliseconds", "ttl":
			return true
		}
	}
	return false
}

// guardBlocking turns timeouts into a millisecond: streams are sent one
// connection at a time, so nothing would ever end a longer wait.
func guardBlocking(args [][]byte) {
	for i := 1; i < len(args); i++ {
		f, err := strconv.ParseFloat(string(args[i]), 64)
		if s := strings.ToLower(string(args[i])); strings.HasPrefix(s, "0x") ||
			strings.HasPrefix(s, "+0x") {
			f, err = 1, nil // C reads it as a number, whether or not there is an exponent
		}
		if err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) || f > 1e15 {
			continue
		}
		if strings.EqualFold(string(args[i-1]), "BLOCK") {
			args[i] = []byte("1")
		} else if i == 1 || i == len(args)-1 {
			args[i] = []byte("0.001")
		}
	}
}

// sessionLines are inline commands of raw sessions: of the ones that answer with no
// reply or with several, those that both servers have.
func sessionLines(common map[string]bool) []string {
	lines := []string{"PING", "ECHO x", "SET k3 v", "GET k3", "HELLO 3", "RESET"}
	for name, more := range map[string][]string{
		"client|reply": {"CLIENT REPLY ON", "CLIENT REPLY OFF", "CLIENT REPLY SKIP",
			"CLIENT REPLY", "CLIENT REPLY MAYBE"},
		"client|tracking": {"CLIENT TRACKING ON", "CLIENT TRACKING ON BCAST PREFIX k",
			"CLIENT TRACKING ON OPTIN", "CLIENT CACHING YES", "CLIENT TRACKING OFF"},
		"subscribe":   {"SUBSCRIBE ch1 ch2 ch1", "PUBLISH ch1 m", "PING x", "SUBSCRIBE"},
		"unsubscribe": {"UNSUBSCRIBE ch1", "UNSUBSCRIBE ch3"},
		"psubscribe":  {"PSUBSCRIBE c*", "PUNSUBSCRIBE c*"},
		"ssubscribe":  {"SSUBSCRIBE ch1", "SUNSUBSCRIBE ch1", "SPUBLISH ch1 m"},
		"multi":       {"MULTI", "EXEC", "DISCARD"},
	} {
		if common[name] {
			lines = append(lines, more...)
		}
	}
	slices.Sort(lines) // the map's order is random, streams are not
	return lines
}

// protocolCases are requests at and beyond the edges of the protocol.
func protocolCases() []string {
	return []string{
		"PING\r\n", "PING\n", "\r\n\r\nPING\r\n", "ping \"a b\" \r\n", "ECHO \"\\x41\\n\\q\"\r\n",
		"ECHO 'it\\'s'\r\n", "ECHO \"open\r\n", "ECHO 'open\r\n", "ECHO \"a\"b\r\n",
		"*0\r\nPING\r\n", "*-1\r\nPING\r\n", "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPIN", "*abc\r\n",
		"*\r\n", "*1048577\r\n", "*2147483648\r\n", "*1\r\n*1\r\n", "*1\r\nPING\r\n",
		"*1\r\n$-1\r\n", "*1\r\n$\r\n", "*1\r\n$abc\r\n", "*1\r\n$536870913\r\n",
		"*1\r\n$99999999999999999999\r\n", "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
		"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "*1\n$4\nPING\n", "* 1\r\n$4\r\nPING\r\n",
		"*01\r\n$4\r\nPING\r\n", "*+1\r\n$4\r\nPING\r\n", "*1\r\n$04\r\nPING\r\n",
		"*1\r\n$ 4\r\nPING\r\n", "*1\r\n$+4\r\nPING\r\n", strings.Repeat("a", 65600),
		"*" + strings.Repeat("1", 65600), "*1\r\n$" + strings.Repeat("1", 65600),
		"POST / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "QUIT\r\nPING\r\n",
		"*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n", "\x00\r\n", "SET k3 \x00\r\n",
		"PING\x00PING\r\n", "hello 3\r\nping\r\n", "HELLO 2 SETNAME\r\n", "   \r\nPING\r\n",
		"\tPING\t\r\n",
	}
}
