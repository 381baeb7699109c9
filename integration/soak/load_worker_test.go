package soak

import (
	"fmt"
	"math/rand/v2"
)

const (
	families   = 2000 // keys of each type
	databases  = 4
	batchBytes = 1 << 20 // after which a batch is sent
)

// worker is a client of the chaos. It sends batches of commands of all kinds. They are
// deterministic, except for what the server answers to a few questions.
type worker struct {
	c     *conn
	rnd   *rand.Rand
	dump  []byte // payload of a value, for RESTORE
	bytes int    // in the batch
}

// newWorker returns a worker with a connection of its own.
func newWorker(r *run) *worker {
	w := &worker{c: r.dial(), rnd: r.source()}
	w.c.do("RPUSH", "dumped", blob(w.rnd, 100), blob(w.rnd, 2000), blob(w.rnd, 20))
	w.dump = []byte(w.c.do("DUMP", "dumped").Text())
	return w
}

// step sends one batch of some of the commands in one database.
func (w *worker) step(ops []func(*worker)) {
	w.c.add("SELECT", w.rnd.IntN(databases))
	w.bytes = 0
	for range 1 + w.rnd.IntN(2*batch) {
		ops[w.rnd.IntN(len(ops))](w)
		if w.bytes > batchBytes {
			break
		}
	}
	w.c.flush()
}

// do adds a command to the batch.
func (w *worker) do(args ...any) {
	for _, a := range args {
		if b, ok := a.([]byte); ok {
			w.bytes += len(b)
		}
	}
	w.c.add(args...)
}

// any returns a key of a family. The first keys are drawn more often.
func (w *worker) any(family string) string {
	return key(family, w.rnd.IntN(1+w.rnd.IntN(families)))
}

// value returns a value of a mixed size, rarely up to 8 MB.
func (w *worker) value() []byte {
	largest := 1 << 16
	if w.rnd.IntN(200) == 0 {
		largest = largestSize
	}
	if w.rnd.IntN(1000) == 0 {
		return blob(w.rnd, largestSize-w.rnd.IntN(100))
	}
	return blob(w.rnd, mixedSize(w.rnd, largest))
}

// many calls add n times and returns the arguments of all calls after head.
func many(n int, head []any, add func() []any) []any {
	for range n {
		head = append(head, add()...)
	}
	return head
}

// ops are the commands of the chaos. Those that come often stand there more than once.
var ops = append([]func(*worker){
	setSome, setSome, setSome, setSome, readSome, readSome, grow, grow, setBits,
	pushSome, popSome, sortSome, hashSome, hashSome, fieldDeadlines, addMembers, mixMembers,
	scoreSome, uniteScores, copySome, restoreSome, deadlines, deadlines, drop, drop,
	scripts, transaction, sketches, flushRarely,
}, streamOps...)

func setSome(w *worker) {
	args := []any{"SET", w.any("str"), w.value()}
	switch w.rnd.IntN(4) {
	case 0:
		args = append(args, "PX", 1+w.rnd.IntN(5000))
	case 1:
		args = append(args, "EX", 60+w.rnd.IntN(86400))
	}
	w.do(args...)
}

func readSome(w *worker) {
	switch w.rnd.IntN(6) {
	case 0:
		w.do(many(3, []any{"MGET"}, func() []any { return []any{w.any("bits")} })...)
		w.bytes += batchBytes / 4 // the replies wait until all of the batch is sent
	case 1:
		w.do("GETRANGE", w.any("str"), w.rnd.IntN(1000), 100000)
	case 2:
		w.do("HGETALL", w.any("hash"))
	case 3:
		w.do("LRANGE", w.any("list"), 0, 100)
	case 4:
		w.do("ZRANGE", w.any("zset"), 0, 100, "WITHSCORES")
	default:
		w.do("SRANDMEMBER", w.any("set"), 20)
	}
}

func grow(w *worker) {
	if w.rnd.IntN(3) == 0 {
		w.do("SETRANGE", w.any("grow"), w.rnd.IntN(1+w.rnd.IntN(1<<20)), blob(w.rnd, 100))
		return
	}
	w.do("APPEND", w.any("grow"), blob(w.rnd, mixedSize(w.rnd, 1<<17)))
}

func setBits(w *worker) {
	switch w.rnd.IntN(4) {
	case 0:
		op := []string{"AND", "OR", "XOR"}[w.rnd.IntN(3)]
		w.do("BITOP", op, w.any("bits"), w.any("bits"), w.any("grow"))
	case 1:
		w.do("BITOP", "NOT", w.any("bits"), w.any("grow"))
	default:
		w.do("SETBIT", w.any("bits"), w.rnd.IntN(1+w.rnd.IntN(1<<20)), 1)
	}
}

func pushSome(w *worker) {
	w.do(many(1+w.rnd.IntN(30), []any{"RPUSH", w.any("list")},
		func() []any { return []any{blob(w.rnd, mixedSize(w.rnd, 1<<13))} })...)
}

func popSome(w *worker) {
	switch w.rnd.IntN(3) {
	case 0:
		w.do("LTRIM", w.any("list"), 0, 20)
	case 1:
		w.do("LMOVE", w.any("list"), w.any("list"), "LEFT", "RIGHT")
	default:
		w.do("LPOP", w.any("list"), 1+w.rnd.IntN(50))
	}
}

func sortSome(w *worker) {
	w.do("SORT", w.any("list"), "ALPHA", "LIMIT", 0, 100, "STORE", w.any("list"))
}

func hashSome(w *worker) {
	w.do(many(1+w.rnd.IntN(100), []any{"HSET", w.any("hash")}, func() []any {
		return []any{w.rnd.IntN(1000), blob(w.rnd, mixedSize(w.rnd, 1<<10))}
	})...)
}

func fieldDeadlines(w *worker) {
	w.do(many(5, []any{"HPEXPIRE", w.any("hash"), 1 + w.rnd.IntN(20000), "FIELDS", 5},
		func() []any { return []any{w.rnd.IntN(1000)} })...)
}

func addMembers(w *worker) {
	w.do(many(1+w.rnd.IntN(100), []any{"SADD", w.any("set")},
		func() []any { return []any{w.rnd.Int64() >> w.rnd.IntN(60)} })...)
}

func mixMembers(w *worker) {
	switch w.rnd.IntN(3) {
	case 0:
		w.do("SUNIONSTORE", w.any("set"), w.any("set"), w.any("set"))
	case 1:
		w.do("SDIFFSTORE", w.any("set"), w.any("set"), w.any("set"))
	default:
		w.do("SPOP", w.any("set"), 10)
	}
}

func scoreSome(w *worker) {
	w.do(many(1+w.rnd.IntN(100), []any{"ZADD", w.any("zset")},
		func() []any { return []any{w.rnd.Float64(), w.rnd.IntN(3000)} })...)
}

func uniteScores(w *worker) {
	switch w.rnd.IntN(3) {
	case 0:
		w.do("ZRANGESTORE", w.any("zset"), w.any("zset"), 0, 50)
	case 1:
		w.do("ZREMRANGEBYRANK", w.any("zset"), 0, 20)
	default:
		w.do("ZUNIONSTORE", w.any("zset"), 3, w.any("zset"), w.any("zset"), w.any("set"))
	}
}

// anyKey returns a key of any type.
func (w *worker) anyKey() (family, name string) {
	family = []string{"str", "grow", "bits", "list", "hash", "set", "zset",
		"stream"}[w.rnd.IntN(8)]
	return family, w.any(family)
}

func copySome(w *worker) {
	family, from := w.anyKey()
	switch w.rnd.IntN(4) {
	case 0:
		w.do("RENAME", from, w.any(family))
	case 1:
		w.do("MOVE", from, w.rnd.IntN(databases))
	default:
		w.do("COPY", from, w.any(family), "DB", w.rnd.IntN(databases), "REPLACE")
	}
}

func restoreSome(w *worker) {
	if len(w.dump) > 0 { // the value may have been evicted before it was dumped
		w.do("RESTORE", w.any("list"), w.rnd.IntN(2)*(1+w.rnd.IntN(60000)), w.dump, "REPLACE")
	}
}

func deadlines(w *worker) {
	_, name := w.anyKey()
	switch w.rnd.IntN(4) {
	case 0:
		w.do("PERSIST", name)
	case 1:
		w.do("PEXPIRE", name, 1+w.rnd.IntN(100))
	default:
		w.do("EXPIRE", name, 1+w.rnd.IntN(86400))
	}
}

func drop(w *worker) {
	_, a := w.anyKey()
	_, b := w.anyKey()
	w.do([]string{"DEL", "UNLINK"}[w.rnd.IntN(2)], a, b)
}

// busyScript makes strings, tables and coroutines, and writes through.
const busyScript = `
local t = {}
for i = 1, 200 do t[i] = KEYS[1] .. i .. ARGV[1] end
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(table.concat(t, ',')) end end)
local n = 0
for i = 1, 3 do
	local s = co()
	n = n + #s
	redis.call('SET', KEYS[1] .. i, s, 'EX', 1000)
	redis.call('APPEND', KEYS[2], s)
end
return n`

func scripts(w *worker) {
	if w.rnd.IntN(5) == 0 {
		w.do("EVAL", busyScript, 2, w.any("str"), w.any("grow"), blob(w.rnd, 50))
	}
}

func transaction(w *worker) {
	if w.rnd.IntN(5) != 0 {
		return
	}
	w.do("MULTI")
	for range 1 + w.rnd.IntN(20) {
		setSome(w)
	}
	hashSome(w)
	w.do([]string{"EXEC", "EXEC", "DISCARD"}[w.rnd.IntN(3)])
}

func sketches(w *worker) {
	if w.rnd.IntN(4) == 0 {
		w.do("PFMERGE", w.any("hll"), w.any("hll"), w.any("hll"))
		return
	}
	w.do(many(20, []any{"PFADD", w.any("hll")}, func() []any { return []any{w.rnd.Uint32()} })...)
}

func flushRarely(w *worker) {
	switch w.rnd.IntN(300) {
	case 0:
		w.do("FLUSHDB", "ASYNC")
	case 1:
		w.do("SWAPDB", w.rnd.IntN(databases), w.rnd.IntN(databases))
	default:
		w.do("SETEX", fmt.Sprint("tmp:", w.rnd.IntN(100000)), 1+w.rnd.IntN(3), "x")
	}
}
