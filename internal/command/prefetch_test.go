package command

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/invariant"
	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// prefetchSpace is the number of keys, and of elements of each large collection, that the tests
// choose from. Tables double at 10240 entries, and from 8192 on their entries are prefetched.
const prefetchSpace = 12_000

// twins are two servers with the same data. One prefetches whole pipelines and is given commands of
// many keys or elements. The other runs commands one by one, and of one key each.
type twins struct {
	t     *testing.T
	r     *rand.Rand
	many  *local
	one   *local
	batch [][][]byte
	want  []client.Value
}

// unfold returns the commands of one key or element that do what the command does: width arguments
// from argument first on are one of them. prefix is what each begins with.
func unfold(prefix []string, argv []string, first, width int) (out [][]string) {
	for i := first; i < len(argv); i += width {
		out = append(out, append(prefix[:len(prefix):len(prefix)], argv[i:i+width]...))
	}
	return out
}

// queue adds a command to the batch and runs singles, which do the same, on the other server. join
// makes one reply of theirs.
func (w *twins) queue(argv []string, singles [][]string,
	join func(replies []client.Value) client.Value) {
	var replies []client.Value
	for _, s := range singles {
		replies = append(replies, w.one.do(w.t, argvOf(s...)))
	}
	w.batch = append(w.batch, argvOf(argv...))
	w.want = append(w.want, join(replies))
}

// sum joins replies that count.
func sum(replies []client.Value) client.Value {
	v := client.Value{Kind: client.Int}
	for _, r := range replies {
		v.Int += r.Int
	}
	return v
}

// list joins replies to one array.
func list(replies []client.Value) client.Value {
	return client.Value{Kind: client.Array, Elems: replies}
}

// concat joins arrays to one.
func concat(replies []client.Value) client.Value {
	v := client.Value{Kind: client.Array}
	for _, r := range replies {
		v.Elems = append(v.Elems, r.Elems...)
	}
	return v
}

// last joins replies that are all the same.
func last(replies []client.Value) client.Value { return replies[len(replies)-1] }

// run sends the batch as a pipeline and compares the replies.
func (w *twins) run() {
	l := w.many
	l.e.Enter()
	l.e.Prefetch(l.c, w.batch[:min(len(w.batch), engine.PrefetchMax)])
	l.e.Leave()
	for i, argv := range w.batch {
		got := l.do(w.t, argv)
		require.Equal(w.t, w.want[i].Text(), got.Text(), "%.100q", argv)
	}
	w.batch, w.want = w.batch[:0], w.want[:0]
}

// pick returns a name, often one of a few.
func (w *twins) pick(prefix string) string {
	n := prefetchSpace
	if w.r.IntN(4) == 0 {
		n = 100
	}
	return prefix + strconv.Itoa(w.r.IntN(n))
}

// args returns a command with up to 40 times what item returns.
func (w *twins) args(item func() []string, command ...string) []string {
	n := 1 + w.r.IntN(3)
	if w.r.IntN(3) == 0 {
		n = 1 + w.r.IntN(40)
	}
	for range n {
		command = append(command, item()...)
	}
	return command
}

// step queues a random command.
func (w *twins) step() {
	key := func() []string { return []string{w.pick("key:")} }
	member := func() []string { return []string{w.pick("m:")} }
	value := func() string { return strconv.Itoa(w.r.IntN(1000)) }
	pair := func() []string { return []string{w.pick("key:"), value()} }
	field := func() []string { return []string{w.pick("m:"), value()} }
	scored := func() []string { return []string{value(), w.pick("m:")} }
	many := func(join func([]client.Value) client.Value, item func() []string, single string,
		command ...string) {
		argv := w.args(item, command...)
		prefix := append([]string{single}, command[1:]...)
		w.queue(argv, unfold(prefix, argv, len(command), len(item())), join)
	}
	switch w.r.IntN(26) {
	case 0, 1:
		many(list, key, "GET", "MGET")
	case 2, 3:
		many(last, pair, "SET", "MSET")
	case 4:
		many(sum, key, "DEL", "DEL")
	case 5:
		many(sum, key, "DEL", "UNLINK")
	case 6:
		many(sum, key, "EXISTS", "EXISTS")
	case 7:
		many(sum, key, "TOUCH", "TOUCH")
	case 8:
		many(list, member, "HGET", "HMGET", "hash")
	case 9:
		many(sum, field, "HSET", "HSET", "hash")
	case 10:
		many(sum, member, "HDEL", "HDEL", "hash")
	case 11:
		many(list, member, "SISMEMBER", "SMISMEMBER", "set")
	case 12:
		many(sum, member, "SADD", "SADD", "set")
	case 13:
		many(sum, member, "SREM", "SREM", "set")
	case 14:
		many(list, member, "ZSCORE", "ZMSCORE", "zset")
	case 15:
		many(sum, scored, "ZADD", "ZADD", "zset")
	case 16:
		many(sum, member, "ZREM", "ZREM", "zset")
	case 17:
		fields := w.args(member)
		argv := append([]string{"HGETDEL", "hash", "FIELDS", strconv.Itoa(len(fields))}, fields...)
		w.queue(argv, unfold([]string{"HGETDEL", "hash", "FIELDS", "1"}, argv, 4, 1), concat)
	case 18:
		pairs := w.args(field)
		argv := append([]string{"HSETEX", "hash", "EX", "1000000", "FIELDS",
			strconv.Itoa(len(pairs) / 2)}, pairs...)
		w.queue(argv, unfold(append(argv[:5:5], "1"), argv, 6, 2), last)
	case 19, 20:
		many(sum, func() []string { return []string{w.pick("1-")} }, "XDEL", "XDEL", "stream")
	case 21:
		argv := append([]string{"XACKDEL", "stream", "g", "KEEPREF", "IDS", "1"}, w.pick("1-"))
		w.queue(argv, [][]string{argv}, last)
	default:
		w.single(w.r.IntN(11))
	}
}

// single queues a command that is the same for both servers.
func (w *twins) single(kind int) {
	same := func(argv ...string) { w.queue(argv, [][]string{argv}, last) }
	switch kind {
	case 0:
		same("ZADD", "zset", strconv.Itoa(w.r.IntN(1000)), w.pick("m:"))
	case 1:
		same("GET", w.pick("key:"))
	case 2:
		same("INCRBYFLOAT", w.pick("n:"), "1.5")
	case 3:
		same("EVAL", "return {redis.call('get', KEYS[1]), KEYS[2]}", "2", w.pick("key:"),
			w.pick("key:"))
	case 4:
		same("SELECT", strconv.Itoa(w.r.IntN(2)))
	case 5:
		same("EXPIRE", w.pick("key:"), strconv.Itoa(1000*w.r.IntN(5)))
	case 6:
		if w.r.IntN(40) > 0 {
			return
		}
		same("SET", []string{"set", "hash", "zset", "stream"}[w.r.IntN(4)], "another type")
		same("DEL", "set", "hash", "zset", "stream")
	case 7:
		same("ZRANGE", "zset", "0", "50", "WITHSCORES")
	case 8:
		same("XRANGE", "stream", w.pick("1-"), "+", "COUNT", "2")
	case 9:
		same("XREVRANGE", "stream", w.pick("1-"), "-", "COUNT", "2")
	case 10:
		same("XCLAIM", "stream", "g", w.pick("c:"), "0", w.pick("1-"))
	}
}

// fill stores the keys and collections of the first database, on both servers.
func (w *twins) fill() {
	for _, l := range []*local{w.many, w.one} {
		l.e.Cfg.EnableDebugCommand = config.GuardYes
		require.Equal(w.t, "OK", l.do(w.t, argvOf("SELECT", "0")).Str)
		for i := range prefetchSpace * 5 / 6 {
			n := strconv.Itoa(i)
			l.do(w.t, argvOf("SET", "key:"+n, n))
			l.do(w.t, argvOf("SADD", "set", "m:"+n))
			l.do(w.t, argvOf("HSET", "hash", "m:"+n, n))
			l.do(w.t, argvOf("ZADD", "zset", strconv.Itoa(i%1000), "m:"+n))
			l.do(w.t, argvOf("XADD", "stream", "1-"+n, "field", strings.Repeat(n, 20)))
		}
		l.do(w.t, argvOf("XGROUP", "CREATE", "stream", "g", "0"))
		l.do(w.t, argvOf("XREADGROUP", "GROUP", "g", "c", "COUNT", "5000", "STREAMS", "stream",
			">"))
	}
}

// TestPrefetchChangesNoAnswer compares a server that prefetches with one that does not: in the
// replies, the data, and what has expired. Tables are resized, keys fall due, other databases are
// selected and collections replaced in the middle of a pipeline.
func TestPrefetchChangesNoAnswer(t *testing.T) {
	w := &twins{t: t, r: testseed.Rand(t), many: newLocal(t), one: newLocal(t)}
	rounds := 600
	if testing.Short() || invariant.Enabled {
		rounds = 100
	}
	w.fill()
	for i := range rounds {
		for range 1 + w.r.IntN(20) {
			w.step()
		}
		w.run()
		switch i % 100 {
		case 50: // keys that the next batches name often are due
			for _, l := range []*local{w.many, w.one} {
				for k := range 100 {
					l.do(t, argvOf("EXPIRE", "key:"+strconv.Itoa(k), "1000"))
				}
				l.e.Enter()
				l.e.SetClockOffset(int64(i/100*5300+1500) * 1000) // no deadline is near that
				l.e.Leave()
			}
		case 99:
			w.fill()
		}
	}
	digest := func(l *local) string { return l.do(t, argvOf("DEBUG", "DIGEST")).Text() }
	require.Equal(t, digest(w.one), digest(w.many))
	require.Regexp(t, "[0-9a-f]{40}", digest(w.many))
	require.Equal(t, w.one.e.KS.Stats.Expired, w.many.e.KS.Stats.Expired)
	require.NotZero(t, w.many.e.KS.Stats.Expired)
}

// TestPrefetchAllocations checks that no prefetch allocates: neither that of a pipeline nor those
// of commands with many keys or elements.
func TestPrefetchAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	w := &twins{t: t, r: testseed.Rand(t), many: newLocal(t), one: newLocal(t)}
	w.fill()
	l := w.many
	var batch [][][]byte
	for i := range 8 {
		m, n := fmt.Sprint("m:", i), fmt.Sprint("m:", i+1)
		batch = append(batch, argvOf("ZADD", "zset", "7", m), argvOf("HMGET", "hash", m, n),
			argvOf("SMISMEMBER", "set", m, n), argvOf("MGET", "key:1", "key:2", "key:3"),
			argvOf("HSET", "hash", m, "a", n, "b"), argvOf("ZMSCORE", "zset", m, n),
			argvOf("XRANGE", "stream", "1-4000", "1-4001"), argvOf("XDEL", "stream", "1-5000"))
	}
	if n := testing.AllocsPerRun(100, func() {
		for i := 0; i < len(batch); i += engine.PrefetchMax {
			pipeline := batch[i:][:engine.PrefetchMax]
			l.e.Enter()
			l.e.Prefetch(l.c, pipeline)
			l.e.Leave()
			for _, argv := range pipeline {
				l.exec(argv)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
