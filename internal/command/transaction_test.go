package command

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
	"godwit/internal/invariant"
	"godwit/internal/propagation"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/resp/client"
)

// join returns another client of the same engine.
func (l *local) join() *local {
	l.e.Enter()
	defer l.e.Leave()
	return &local{l.e, l.e.NewClient(nil)}
}

// line runs a command written for redis-cli. It returns the reply as redis-cli shows it, with the
// lines joined by "|".
func (l *local) line(t *testing.T, command string) string {
	t.Helper()
	return lineOf(t, l, command)
}

func lineOf(t *testing.T, s server, command string) string {
	t.Helper()
	return strings.Join(cliLines(s.do(t, splitCommand(t, "test", &step{command: command})), 0), "|")
}

// lines runs commands separated by "; " and returns the last reply.
func (l *local) lines(t *testing.T, commands string) (last string) {
	t.Helper()
	return linesOf(t, l, commands)
}

func linesOf(t *testing.T, s server, commands string) (last string) {
	t.Helper()
	for _, c := range strings.Split(commands, "; ") {
		if c != "" {
			last = lineOf(t, s, c)
		}
	}
	return last
}

// passMs waits until the engine's clock has passed the given number of ms.
func passMs(l *local, ms int64) {
	l.e.Enter()
	until := l.e.Now() + ms
	l.e.Leave()
	for now := int64(0); now <= until; {
		l.e.Enter()
		now = l.e.Now()
		l.e.Leave()
	}
}

// watchedChange is what another client does while k is watched, and whether that changes k.
type watchedChange struct {
	setup, change string
	dirty         bool
}

var watchedChanges = []watchedChange{
	{"", "SET k 1", true},
	{"", "SET other 1", false},
	{"SET k 1", "GET k", false},
	{"SET k 1", "SET k 1", true},
	{"SET k 1", "SET k 1 NX", false},
	{"SET k 1", "DEL k", true},
	{"", "DEL k", false},
	{"SET k 1", "UNLINK k", true},
	{"SET k 1", "GETDEL k", true},
	{"SET k 1", "GETSET k 1", true},
	{"SET k 1", "GETEX k", false},
	{"SET k 1", "GETEX k EX 100", true},
	{"SET k 1", "GETEX k PERSIST", false},
	{"SET k 1 EX 100", "GETEX k PERSIST", true},
	{"SET k 1", "APPEND k ''", true},
	{"SET k 1", "SETRANGE k 0 ''", false},
	{"SET k 1", "SETBIT k 6 1", true},
	{"SET k 1", "SETBIT k 7 1", false},
	{"SET k 1", "BITFIELD k GET u8 0", false},
	{"SET k 1", "BITFIELD k SET u8 0 1", true},
	{"SET k 1", "EXPIRE k 100", true},
	{"SET k 1", "EXPIRE k 100 XX", false},
	{"SET k 1", "EXPIRE k -1", true},
	{"SET k 1", "PERSIST k", false},
	{"SET k 1 EX 100", "PERSIST k", true},
	{"SET k 1", "TOUCH k", false},
	{"SET k 1", "OBJECT ENCODING k", false},
	{"SET k 1", "RENAME k other", true},
	{"SET k 1", "RENAME k k", false},
	{"SET other 1", "RENAME other k", true},
	{"SET other 1; SET k 1", "RENAMENX other k", false},
	{"SET k 1", "MOVE k 1", true},
	{"SELECT 1; SET k 1; SELECT 0", "SELECT 1; MOVE k 0", true},
	{"SET k 1", "SELECT 1; SET k 1", false},
	{"SET other 1", "COPY other k", true},
	{"SET k 1", "COPY k other", false},
	{"SET other 1; SET k 2", "COPY other k", false},
	{"SET other 1; SET k 2", "COPY other k REPLACE", true},
	// A bad checksum.
	{"SET k 1", "RESTORE k 0 " +
		"\"\\x00\\xc0\\x01\\x0b\\x00\\xc2\\xb0\\xec(\\xe0\\x17\\xd5\\xd7\" REPLACE", false},
	{"", "MSET a 1 k 2", true},
	{"SET a 1", "MSETNX a 1 k 2", false},
	{"SET k 1", "FLUSHDB", true},
	{"", "FLUSHDB", false},
	{"SET k 1", "SELECT 1; FLUSHDB", false},
	{"SET k 1", "SELECT 1; FLUSHALL", true},
	{"SET k 1", "FLUSHALL ASYNC", true},
	{"SET k 1", "SWAPDB 0 1", true},
	{"", "SWAPDB 0 1", false},
	{"SELECT 1; SET k 1; SELECT 0", "SWAPDB 0 1", true},
	{"SELECT 1; SET k 1; SELECT 0", "SWAPDB 1 2", false},
	{"SET k 1", "SWAPDB 0 0", false},
	{"RPUSH l a; SET k 1", "RPOPLPUSH l other", false},
	{"RPUSH l a", "RPOPLPUSH l k", true},
	{"RPUSH k a", "LMOVE k k LEFT RIGHT", true},
	{"RPUSH k a", "LRANGE k 0 -1", false},
	{"RPUSH k a", "LREM k 0 none", false},
	{"RPUSH k a", "LTRIM k 0 -1", true},
	{"RPUSH k a", "LSET k 0 a", true},
	{"", "MULTI; BLPOP k 0; EXEC", false},
	{"RPUSH k a b", "BLPOP k 0", true},
	{"SADD k a", "SADD k a", false},
	{"SADD k a", "SREM k b", false},
	{"SADD k a", "SPOP k", true},
	{"SADD k a", "SMOVE k other b", false},
	{"SADD k a; SADD o a", "SINTERSTORE k o", true},
	{"SADD k a", "SINTERSTORE k none", true},
	{"", "SINTERSTORE k none", false},
	{"HSET k f v", "HSET k f v", true},
	{"HSET k f v", "HSETNX k f w", false},
	{"HSET k f v", "HDEL k g", false},
	{"HSET k f v", "HGETALL k", false},
	{"ZADD k 1 m", "ZADD k 1 m", false},
	{"ZADD k 1 m", "ZADD k 2 m", true},
	{"ZADD k 1 m", "ZREMRANGEBYSCORE k 5 6", false},
	{"RPUSH l 2 1", "SORT l STORE k", true},
	{"RPUSH l 2 1", "SORT k STORE l", false},
	{"SET k 1", "INCR k; DECR k", true},
	{"RPUSH k a", "INCR k", false},
}

func (c *watchedChange) test(t *testing.T, watcher, other server) {
	t.Helper()
	linesOf(t, watcher, c.setup+"; WATCH k; MULTI; PING")
	linesOf(t, other, c.change)
	want := "1) PONG"
	if c.dirty {
		want = "(nil array)"
	}
	if got := lineOf(t, watcher, "EXEC"); got != want {
		t.Errorf("%q, then %q: EXEC gives %s, want %s", c.setup, c.change, got, want)
	}
}

func TestWatchSeesChanges(t *testing.T) {
	for _, c := range watchedChanges {
		l := newLocal(t)
		c.test(t, l, l.join())
	}
}

// TestWatchSeesChangesRedis proves the expectations on redis-server.
func TestWatchSeesChangesRedis(t *testing.T) {
	redis := startRedis(t)
	other := dialServer(t, redis.s)
	for _, c := range watchedChanges {
		linesOf(t, redis, "FLUSHALL; SELECT 0")
		linesOf(t, other, "SELECT 0")
		c.test(t, redis, other)
	}
}

// TestWatchSeesExpiry checks that a key that has expired by EXEC has changed, whether or not
// anybody looked. A key that had expired before WATCH has not, nor has a hash until its field is
// deleted.
func TestWatchSeesExpiry(t *testing.T) {
	l := newLocal(t)
	l.e.SetActiveExpire(false)
	l.lines(t, "SET k v PX 3; WATCH k; MULTI; PING")
	passMs(l, 4)
	if got := l.line(t, "EXEC"); got != "(nil array)" {
		t.Errorf("expired between: %s", got)
	}
	l.lines(t, "SET k v PX 3")
	passMs(l, 4)
	l.lines(t, "WATCH k; MULTI; PING")
	if got := l.line(t, "EXEC"); got != "1) PONG" {
		t.Errorf("expired before: %s", got)
	}
	l.lines(t, "SET k v PX 3")
	passMs(l, 4)
	l.lines(t, "WATCH k")
	l.join().lines(t, "GET k; FLUSHALL; SWAPDB 0 1")
	l.lines(t, "MULTI; PING")
	if got := l.line(t, "EXEC"); got != "1) PONG" {
		t.Errorf("expired before, then looked up: %s", got)
	}
	l.lines(t, "HSET h f v g w; HPEXPIRE h 3 FIELDS 1 f; WATCH h; MULTI; PING")
	passMs(l, 4)
	if got := l.line(t, "EXEC"); got != "1) PONG" {
		t.Errorf("a field is due, but still there: %s", got)
	}
	// The timing wheel.
	l.e.SetActiveExpire(true)
	l.lines(t, "SET k v PX 3; WATCH k")
	for !l.c.WatchDirty() {
		l.e.Enter()
		l.e.Slice()
		l.e.Leave()
	}
}

func TestWatchSeesEviction(t *testing.T) {
	l := newLocal(t)
	l.lines(t, "CONFIG SET maxmemory-policy allkeys-random; SET k "+strings.Repeat("v", 5000)+
		"; WATCH k; MULTI; PING")
	l.e.KS.P.MaxMemory = 1
	l.join().line(t, "PING")
	l.e.KS.P.MaxMemory = 0
	if got := l.line(t, "EXEC"); got != "(nil array)" {
		t.Error(got)
	}
}

// TestWatchSeesServedClients checks that a blocked client takes the element that another one
// pushed.
func TestWatchSeesServedClients(t *testing.T) {
	l := newLocal(t)
	blocked, other := l.join(), l.join()
	blocked.exec(argvOf("BLMOVE", "source", "k", "LEFT", "LEFT", "0"))
	l.lines(t, "WATCH k; MULTI; PING")
	other.line(t, "RPUSH source x")
	if got := l.line(t, "EXEC"); got != "(nil array)" {
		t.Error(got)
	}
}

func TestWatchState(t *testing.T) {
	l := newLocal(t)
	other := l.join()
	field := func(name string) string {
		t.Helper()
		list := run(t, other, "CLIENT", "LIST", "ID", fmt.Sprint(l.c.ID)).Str
		for _, f := range strings.Fields(list) {
			if v, ok := strings.CutPrefix(f, name+"="); ok {
				return v
			}
		}
		t.Fatal("no field", name)
		return ""
	}
	state := func(want string) {
		t.Helper()
		i := info(t, other, "clients")
		got := fmt.Sprintf("flags=%s multi=%s watch=%s clients=%s keys=%s", field("flags"),
			field("multi"), field("watch"), i["watching_clients"], i["total_watched_keys"])
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	state("flags=N multi=-1 watch=0 clients=0 keys=0")
	l.line(t, "WATCH a b a")
	state("flags=N multi=-1 watch=2 clients=1 keys=2")
	other.line(t, "WATCH b c")
	state("flags=N multi=-1 watch=2 clients=2 keys=3")
	l.lines(t, "MULTI; GET a; GET b")
	state("flags=x multi=2 watch=2 clients=2 keys=3")
	if n, _ := strconv.Atoi(field("multi-mem")); n < 100 {
		t.Errorf("multi-mem %d", n)
	}
	other.line(t, "SET a 1")
	state("flags=xd multi=2 watch=0 clients=1 keys=2")
	l.line(t, "GET c")
	state("flags=xd multi=2 watch=0 clients=1 keys=2")
	l.line(t, "DISCARD")
	state("flags=N multi=-1 watch=0 clients=1 keys=2")
	if field("multi-mem") != "0" {
		t.Error("multi-mem", field("multi-mem"))
	}
	l.e.Enter()
	l.e.Forget(other.c)
	l.e.Leave()
	if l.e.WatchingClients() != 0 || l.e.TotalWatchedKeys() != 0 {
		t.Error("a client that has gone watches")
	}
}

// TestTransactionPropagation checks that a transaction propagates as one unit, or not at all if
// nothing changed. Its effects replace commands that depend on the clock or on chance.
func TestTransactionPropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	l.lines(t, "SET gone v PX 2; SET k 1; SADD s a")
	passMs(l, 3)
	s.Reset()
	for _, c := range []struct{ commands, want string }{
		{"MULTI; SET a 1; GET a; INCRBYFLOAT a 0.5; SELECT 2; SET b 1; EXEC",
			"0 SET a 1 | 0 SET a 1.5 KEEPTTL | 2 SET b 1"},
		{"SELECT 0", ""},
		{"MULTI; GET a; EXEC", ""},
		{"MULTI; INCR a; SPOP s; LPOP a; EXEC", "0 SREM s a"},
		{"MULTI; GET gone; SET k 2; EXEC", "0 DEL gone | 0 SET k 2"},
		{"MULTI; BLPOP none 0; RPUSH l x; BLPOP l 0; EXEC", "0 RPUSH l x | 0 LPOP l"},
		{"WATCH k; SET k 3; MULTI; SET k 4; EXEC", "0 SET k 3"},
		{"EVAL \"redis.call('SET', 'a', 2) redis.call('SELECT', 1) return redis.call('SET', 'b', " +
			"2)\" 0", "0 SET a 2 | 1 SET b 2"},
		{"MULTI; SET a 3; EVAL \"return redis.call('INCRBYFLOAT', 'a', 0.5)\" 0; INCR c; EXEC",
			"0 SET a 3 | 0 SET a 3.5 KEEPTTL | 0 INCR c"},
		{"MULTI; EVAL \"redis.call('INCR', 'c') return redis.call('nosuch')\" 0; EXEC", "0 INCR c"},
	} {
		l.lines(t, c.commands)
		if got := strings.Join(s.Units(), " || "); got != c.want {
			t.Errorf("%s: %s, want %s", c.commands, got, c.want)
		}
		s.Reset()
	}
}

// TestScriptsChooseTargets: redis.set_repl decides where a script's writes go. The end of a key or
// a field that the script finds expired goes everywhere.
func TestScriptsChooseTargets(t *testing.T) {
	l := newLocal(t)
	log, replicas := propagationtest.Attach(&l.e.Feed), &propagationtest.Recorder{}
	l.e.Feed.Attach(propagation.Replicas, replicas)
	l.lines(t, "SET gone v PX 2; HSET h f v g w; HPEXPIRE h 2 FIELDS 1 f")
	passMs(l, 3)
	log.Reset()
	replicas.Reset()
	l.lines(t, `EVAL "redis.call('SET', 'a', 1) redis.set_repl(redis.REPL_NONE) `+
		`redis.call('SET', 'b', 1) redis.call('GET', 'gone') redis.call('HGET', 'h', 'f') `+
		`redis.set_repl(redis.REPL_AOF) redis.call('SET', 'c', 1) `+
		`redis.set_repl(redis.REPL_REPLICA) redis.call('SET', 'd', 1) `+
		`redis.set_repl(redis.REPL_SLAVE) redis.call('SET', 'e', 1) `+
		`redis.set_repl(redis.REPL_ALL) redis.call('SET', 'f', 1)" 0; SET g 1`)
	require.Equal(t, []string{"0 SET a 1 | 0 DEL gone | 0 HDEL h f | 0 SET c 1 | 0 SET f 1",
		"0 SET g 1"}, log.Units())
	require.Equal(t, []string{"0 SET a 1 | 0 DEL gone | 0 HDEL h f | 0 SET d 1 | 0 SET e 1 | " +
		"0 SET f 1", "0 SET g 1"}, replicas.Units())
}

// TestTransactionTime checks that time stands still in a transaction. A key that exists for its
// first command exists for its last.
func TestTransactionTime(t *testing.T) {
	l := debugLocal(t)
	l.lines(t, "SET k v PX 200; MULTI; EXISTS k; DEBUG SLEEP 0.3; EXISTS k")
	if got := l.line(t, "EXEC"); got != "1) (integer) 1|2) OK|3) (integer) 1" {
		t.Error(got)
	}
	if got := l.line(t, "EXISTS k"); got != "(integer) 0" {
		t.Error("afterwards:", got)
	}
}

// TestTransactionObserved checks that MULTI, the commands and EXEC are counted and shown as they
// run. The time of EXEC includes all commands.
func TestTransactionObserved(t *testing.T) {
	l := debugLocal(t)
	monitor, other := l.join(), l.join()
	monitor.exec(argvOf("MONITOR"))
	l.lines(t, "CONFIG RESETSTAT; CONFIG SET slowlog-log-slower-than 0; SLOWLOG RESET; MULTI; "+
		"SET k 1; LPOP k; AUTH secret; DEBUG SLEEP 0.01; EXEC")
	other.lines(t, "MULTI; SET k 1; NOSUCH; EXEC; MULTI; SET k 2; EXEC now")
	var shown []string
	for line := range strings.SplitSeq(string(monitor.c.W.Buf), "\r\n") {
		if _, rest, ok := strings.Cut(line, "] "); ok {
			shown = append(shown, rest)
		}
	}
	want := `"MULTI"; "SET" "k" "1"; "LPOP" "k"; "AUTH" "(redacted)"; "EXEC"; "MULTI"; "EXEC"; ` +
		`"MULTI"; "EXEC" "now"`
	if got := strings.Join(shown, "; "); got != want {
		t.Errorf("MONITOR: %s\nwant %s", got, want)
	}
	var slow []string
	v := run(t, l, "SLOWLOG", "GET", "-1")
	for _, e := range v.Elems {
		slow = append(slow, strings.Join(e.Elems[3].Strings(), " "))
	}
	// EXEC is left out.
	want = "MULTI, MULTI, DEBUG SLEEP 0.01, AUTH (redacted), LPOP k, SET k 1, MULTI, SLOWLOG RESET"
	if got := strings.Join(slow, ", "); got != want {
		t.Errorf("slow log: %s", got)
	}
	stats := info(t, l, "commandstats")
	for name, want := range map[string]string{"multi": "calls=3", "set": "calls=1",
		"lpop": "calls=1", "exec": "calls=3", "debug": "calls=1"} {
		if got, _, _ := strings.Cut(stats["cmdstat_"+name], ","); got != want {
			t.Errorf("%s: %s, want %s", name, stats["cmdstat_"+name], want)
		}
	}
	if !strings.Contains(stats["cmdstat_lpop"], "failed_calls=1") ||
		!strings.Contains(stats["cmdstat_exec"], "rejected_calls=0,failed_calls=2") {
		t.Error(stats["cmdstat_lpop"], stats["cmdstat_exec"])
	}
	_, usec, _ := strings.Cut(stats["cmdstat_exec"], "usec=")
	usec, _, _ = strings.Cut(usec, ",")
	if n, _ := strconv.Atoi(usec); n < 10_000 {
		t.Errorf("EXEC of 10 ms took %d µs", n)
	}
}

// TestTransactionAllocations checks that queueing and running commands that do not allocate does
// not allocate.
func TestTransactionAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	l := newLocal(t)
	l.c.W.Buf = make([]byte, 0, 4096)
	multi, exec := argvOf("MULTI"), argvOf("EXEC")
	set, get := argvOf("SET", "key:000000000001", strings.Repeat("v", 64)),
		argvOf("GET", "key:000000000001")
	transaction := func() {
		l.exec(multi)
		for range 5 {
			l.exec(set)
			l.exec(get)
		}
		l.exec(exec)
	}
	for range 100 {
		transaction()
	}
	if n := testing.AllocsPerRun(200, transaction); n != 0 {
		t.Errorf("%v allocations", n)
	}
	l.e.Feed.Attach(propagation.Log, &quietTarget{})
	for range 100 {
		transaction()
	}
	if n := testing.AllocsPerRun(200, transaction); n != 0 {
		t.Errorf("%v allocations with a sink", n)
	}
}

// quietTarget is a target that keeps nothing.
type quietTarget struct{ buf propagation.Buffer }

func (q *quietTarget) BeginUnit(int) *propagation.Buffer {
	q.buf.B = q.buf.B[:0]
	return &q.buf
}
func (q *quietTarget) EndBatch() {}

// TestChangesAreAnnounced runs all case files while each key is watched by a client of its own.
// Whenever a command changes a value, a deadline, or whether a key exists, that client must learn
// of it. WATCH and client-side caching depend on this.
func TestChangesAreAnnounced(t *testing.T) {
	for _, file := range caseFiles(t) {
		if filepath.Base(file) == "replica.txt" {
			continue // its keys cannot always be read
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			l := newLocal(t)
			if strings.HasPrefix(filepath.Base(file), "debug_") {
				l.e.Cfg.EnableDebugCommand = config.GuardYes
			}
			w := &watchers{l: l, t: t}
			for _, b := range parseCases(t, file) {
				for i := range b.steps {
					if b.clients {
						continue // its commands are of other connections
					}
					w.follow(t, file, &b.steps[i])
				}
			}
		})
	}
}

// follow runs the step and fails if it changes a key without telling the key's watcher.
func (w *watchers) follow(t *testing.T, file string, st *step) {
	t.Helper()
	argv := splitCommand(t, file, st)
	if w.l.c.InMulti() {
		w.l.exec(argv)
		return
	}
	before := w.watch(argv)
	w.l.exec(argv)
	if strings.EqualFold(string(argv[0]), "debug") {
		return
	}
	for i, p := range before {
		if now := w.state(p.db, p.key); now != p.state && !w.clients[i].c.WatchDirty() {
			t.Errorf("%s:%d: %s changes %q of database %d silently",
				file, st.line, st.command, p.key, p.db)
		}
	}
}

// watchers watch keys, a client for each.
type watchers struct {
	t       *testing.T
	l       *local
	clients []*local
	reader  *local
}

type watchedState struct {
	db         int
	key, state string
}

// watch watches all keys of the databases that are not empty. It also watches the arguments of the
// command, which may be the names of keys to come.
func (w *watchers) watch(argv [][]byte) (states []watchedState) {
	if w.reader == nil {
		w.reader = w.l.join()
	}
	seen := map[string]bool{}
	add := func(db int, key string) {
		if id := fmt.Sprint(db, key); !seen[id] {
			seen[id] = true
			states = append(states, watchedState{db, key, ""})
		}
	}
	for db := range w.l.e.KS.Databases() {
		if w.l.e.KS.DB(db).Len() == 0 {
			continue
		}
		run(w.t, w.reader, "SELECT", strconv.Itoa(db))
		for _, key := range run(w.t, w.reader, "KEYS", "*").Strings() {
			add(db, key)
		}
	}
	for _, a := range argv[1:] {
		add(w.l.c.DB().ID(), string(a))
	}
	for i := range states {
		if i == len(w.clients) {
			w.clients = append(w.clients, w.l.join())
		}
		c := w.clients[i]
		run(w.t, c, "UNWATCH")
		run(w.t, c, "SELECT", strconv.Itoa(states[i].db))
		states[i].state = w.state(states[i].db, states[i].key)
		run(w.t, c, "WATCH", states[i].key)
	}
	return states
}

// state returns a key's value and deadline. What groups of a stream have read is not a part of its
// value, as in Redis: nobody is told of that.
func (w *watchers) state(db int, key string) string {
	run(w.t, w.reader, "SELECT", strconv.Itoa(db))
	at := run(w.t, w.reader, "PEXPIRETIME", key)
	if run(w.t, w.reader, "TYPE", key).Str == "stream" {
		return fmt.Sprint(at.Int, " ", run(w.t, w.reader, "XRANGE", key, "-", "+"))
	}
	dump := run(w.t, w.reader, "DUMP", key)
	if dump.Kind == client.Null {
		return "none"
	}
	return fmt.Sprint(at.Int, " ", dump.Str)
}

// TestWatchManyKeys checks that a flush with many watched keys does not take long.
func TestWatchManyKeys(t *testing.T) {
	l := newLocal(t)
	const n = 100_000
	clients := make([]*local, 10)
	for i := range clients {
		clients[i] = l.join()
	}
	for i := range n {
		key := "key:" + strconv.Itoa(i)
		run(t, l, "SET", key, "v")
		run(t, clients[i%10], "WATCH", key)
	}
	if got := l.e.TotalWatchedKeys(); got != n {
		t.Fatal(got)
	}
	start := time.Now()
	run(t, l, "FLUSHALL", "ASYNC")
	t.Logf("FLUSHALL with %d watched keys: %v", n, time.Since(start))
	for _, c := range clients {
		if !c.c.WatchDirty() {
			t.Error("a client does not know")
		}
	}
	if l.e.TotalWatchedKeys() != 0 {
		t.Error("keys are still watched")
	}
}

// BenchmarkTransaction runs ten SETs in a transaction, and ten by themselves.
func BenchmarkTransaction(b *testing.B) {
	for _, inMulti := range []bool{false, true} {
		b.Run(fmt.Sprintf("multi=%t", inMulti), func(b *testing.B) {
			l := newLocal(b)
			multi, exec := argvOf("MULTI"), argvOf("EXEC")
			var sets [10][][]byte
			for i := range sets {
				sets[i] = argvOf("SET", fmt.Sprintf("key:%012d", i), strings.Repeat("v", 64))
			}
			l.e.Enter()
			defer l.e.Leave()
			b.ReportAllocs()
			for b.Loop() {
				l.c.W.Buf = l.c.W.Buf[:0]
				if inMulti {
					l.e.Exec(l.c, multi)
				}
				for _, s := range sets {
					l.e.Exec(l.c, s)
				}
				if inMulti {
					l.e.Exec(l.c, exec)
				}
			}
		})
	}
}
