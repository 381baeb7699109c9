package replication

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// words makes random writes of all kinds. Each type has keys of its own, so most of them succeed.
type words struct {
	rnd    *rand.Rand
	fields bool // all servers have deadlines of fields
}

type unit [][]any // the commands of a transaction, or one command

const (
	keysOfType = 12
	library    = "#!lua name=repl\nredis.register_function('put', function(keys, args)\n" +
		"redis.call('rpush', keys[1], args[1]) return redis.call('llen', keys[1]) end)"
	// scriptOfWrites changes several keys, one of them by chance of the server.
	scriptOfWrites = "redis.call('incrby', KEYS[1], ARGV[1]) " +
		"redis.call('sadd', KEYS[2], ARGV[1], 'm' .. ARGV[1]) " +
		"local m = redis.call('spop', KEYS[2]) redis.call('rpush', KEYS[3], m) " +
		"redis.call('hset', KEYS[4], 'at', redis.call('time')[2]) return m"
)

func (w *words) key(typ string) string { return typ + strconv.Itoa(w.rnd.IntN(keysOfType)) }

func (w *words) n(n int) int { return w.rnd.IntN(n) }

// value returns a string, seldom a long one.
func (w *words) value() string {
	switch w.n(200) {
	case 0:
		return strings.Repeat(string(rune('a'+w.n(26))), 50_000+w.n(100_000))
	case 1, 2, 3, 4:
		return strings.Repeat("v", w.n(3000))
	}
	return "v" + strconv.Itoa(w.n(1000))
}

// next returns what to send next.
func (w *words) next() unit {
	switch k := w.n(1000); {
	case k < 2:
		return unit{{"FLUSHDB"}}
	case k < 4:
		return unit{{"SWAPDB", 1, 2}}
	case k < 40:
		return unit{{"SELECT", w.n(3)}}
	case k < 90:
		u := unit{{"MULTI"}}
		for range 1 + w.n(6) {
			u = append(u, w.single())
		}
		end := "EXEC"
		if w.n(8) == 0 {
			end = "DISCARD"
		}
		return append(u, []any{end})
	case k < 140:
		return unit{{"EVAL", scriptOfWrites, 4, w.key("n"), w.key("set"), w.key("list"),
			w.key("hash"), w.n(100)}}
	case k < 170:
		return unit{{"FCALL", "put", 1, w.key("list"), w.value()}}
	case k < 175:
		return unit{{"FUNCTION", "LOAD", "REPLACE", library}}
	case k < 190:
		return unit{{"BLPOP", w.key("list"), w.key("list"), "0.002"}}
	case k < 200:
		return unit{{"BZPOPMIN", w.key("zset"), "0.002"}}
	}
	return unit{w.single()}
}

// single returns one command that may stand in a transaction.
func (w *words) single() []any {
	makers := []func() []any{w.str, w.list, w.set, w.hash, w.zset, w.stream, w.general, w.bits}
	return makers[w.n(len(makers))]()
}

func (w *words) str() []any {
	k := w.key("str")
	switch w.n(10) {
	case 0:
		return []any{"APPEND", k, w.value()}
	case 1:
		return []any{"SETRANGE", k, w.n(300), w.value()}
	case 2:
		return []any{"INCRBYFLOAT", w.key("n"), "1.25"}
	case 3:
		return []any{"MSET", k, w.value(), w.key("str"), w.value()}
	case 4:
		return []any{"SET", k, w.value(), "PX", 1 + w.n(400)}
	case 5:
		return []any{"GETEX", k, "PX", 1 + w.n(400)}
	case 6:
		return []any{"GETDEL", k}
	case 7:
		return []any{"SET", k, w.value(), "EX", 10000, "NX"}
	case 8:
		return []any{"INCRBY", w.key("n"), w.n(1000)}
	}
	return []any{"SET", k, w.value()}
}

func (w *words) list() []any {
	k, other := w.key("list"), w.key("list")
	switch w.n(8) {
	case 0:
		return []any{"LPUSH", k, w.value(), w.value()}
	case 1:
		return []any{"LMOVE", k, other, "LEFT", "RIGHT"}
	case 2:
		return []any{"LTRIM", k, 0, 20 + w.n(100)}
	case 3:
		return []any{"LSET", k, w.n(3), w.value()}
	case 4:
		return []any{"LMPOP", 2, k, other, "RIGHT", "COUNT", 3}
	case 5:
		return []any{"LINSERT", k, "BEFORE", "v1", w.value()}
	}
	return []any{"RPUSH", k, w.value(), w.value(), w.value()}
}

func (w *words) set() []any {
	k := w.key("set")
	switch w.n(7) {
	case 0:
		return []any{"SPOP", k}
	case 1:
		return []any{"SPOP", k, w.n(20)}
	case 2:
		return []any{"SREM", k, w.n(100)}
	case 3:
		return []any{"SMOVE", k, w.key("set"), w.n(100)}
	case 4:
		return []any{"SUNIONSTORE", w.key("set"), k, w.key("set")}
	}
	return []any{"SADD", k, w.n(100), w.n(100), "m" + strconv.Itoa(w.n(1000)), w.value()}
}

func (w *words) hash() []any {
	k, f := w.key("hash"), "f"+strconv.Itoa(w.n(60))
	switch w.n(7) {
	case 0:
		return []any{"HDEL", k, f}
	case 1:
		return []any{"HINCRBY", k, "n", w.n(10)}
	case 2:
		return []any{"HINCRBYFLOAT", k, "x", "0.5"}
	case 3:
		if w.fields {
			return []any{"HPEXPIRE", k, 1 + w.n(400), "FIELDS", 1, f}
		}
	case 4:
		if w.fields {
			return []any{"HPEXPIRE", k, 10_000_000, "FIELDS", 1, f}
		}
	}
	return []any{"HSET", k, f, w.value(), "g" + strconv.Itoa(w.n(60)), w.n(1000)}
}

func (w *words) zset() []any {
	k := w.key("zset")
	switch w.n(7) {
	case 0:
		return []any{"ZINCRBY", k, "0.1", w.n(100)}
	case 1:
		return []any{"ZPOPMIN", k, w.n(3)}
	case 2:
		return []any{"ZREMRANGEBYRANK", k, 50, -1}
	case 3:
		return []any{"ZUNIONSTORE", w.key("zset"), 2, k, w.key("zset"), "WEIGHTS", 1, "0.5"}
	case 4:
		return []any{"GEOADD", w.key("geo"), "13.4", fmt.Sprintf("%d.5", w.n(50)), w.n(100)}
	}
	return []any{"ZADD", k, w.rnd.Float64(), w.n(100), w.n(10), w.value()}
}

func (w *words) stream() []any {
	k := w.key("stream")
	switch w.n(12) {
	case 0:
		return []any{"XGROUP", "CREATE", k, "g", "0", "MKSTREAM"}
	case 1, 2:
		return []any{"XREADGROUP", "GROUP", "g", "c" + strconv.Itoa(w.n(3)), "COUNT", 5, "STREAMS",
			k, ">"}
	case 3:
		return []any{"XAUTOCLAIM", k, "g", "c" + strconv.Itoa(w.n(3)), 0, "0", "COUNT", 3}
	case 4:
		return []any{"XTRIM", k, "MAXLEN", "~", 50}
	case 5:
		return []any{"XTRIM", k, "MAXLEN", 100}
	case 6:
		return []any{"XGROUP", "DELCONSUMER", k, "g", "c" + strconv.Itoa(w.n(3))}
	}
	return []any{"XADD", k, "MAXLEN", "~", 200, "*", "f", w.value(), "n", w.n(100)}
}

func (w *words) general() []any {
	types := []string{"str", "list", "set", "hash", "zset", "stream", "n"}
	typ := types[w.n(len(types))]
	k := w.key(typ)
	switch w.n(9) {
	case 0:
		return []any{"PEXPIRE", k, 1 + w.n(400)}
	case 1:
		return []any{"EXPIRE", k, 10_000}
	case 2:
		return []any{"PERSIST", k}
	case 3:
		return []any{"RENAME", k, w.key(typ)}
	case 4:
		return []any{"COPY", k, w.key(typ), "REPLACE"}
	case 5:
		return []any{"MOVE", k, w.n(3)}
	case 6:
		return []any{"UNLINK", k, w.key(typ)}
	case 7:
		return []any{"SORT", w.key("list"), "ALPHA", "STORE", w.key("list")}
	}
	return []any{"DEL", k}
}

func (w *words) bits() []any {
	switch w.n(4) {
	case 0:
		return []any{"PFADD", w.key("hll"), w.n(100_000), w.n(100_000)}
	case 1:
		return []any{"PFMERGE", w.key("hll"), w.key("hll")}
	case 2:
		return []any{"BITOP", "OR", w.key("bits"), w.key("bits"), w.key("bits")}
	}
	return []any{"SETBIT", w.key("bits"), w.n(5000), 1}
}
