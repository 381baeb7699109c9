package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/metrics"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// debugLocal returns a local whose client may use DEBUG.
func debugLocal(t testing.TB) *local {
	t.Helper()
	cfg := config.Default()
	cfg.EnableDebugCommand = config.GuardYes
	e := engine.New(cfg, Table(), engine.Options{Log: logging.Discard(), Seed: 1})
	e.Enter()
	defer e.Leave()
	return &local{e, e.NewClient(nil)}
}

// run runs a command given as words.
func run(t *testing.T, l *local, words ...string) client.Value {
	t.Helper()
	return l.do(t, argvOf(words...))
}

// info returns the fields of the given sections of INFO.
func info(t *testing.T, s server, sections ...string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	args := append([]string{"info"}, sections...)
	for line := range strings.SplitSeq(s.do(t, argvOf(args...)).Str, "\r\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			fields[k] = v
		}
	}
	return fields
}

// TestLatencyGraph compares the picture with one that redis-server 7.0 drew from the same samples.
func TestLatencyGraph(t *testing.T) {
	const now = 1795275356
	var ev metrics.Event
	for i, ms := range []int64{10, 25, 3, 60, 44, 31, 18, 52, 7, 60, 12, 38} {
		at := int64(1795275343 + i)
		if i >= 9 {
			at++
		}
		ev.Add(at, ms)
	}
	want := `command - high 60 ms, low 3 ms (all time high 60 ms)
--------------------------------------------------------------------------------
   #   o #  
   |#  | | o
 o ||#_| | |
o|_|||||_|o|
            
111198765321
3210ssssssss
ssss        
`
	if got := latencyGraph("command", &ev, now); got != want {
		t.Fatalf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestLatencyGraphWide draws more samples than a line has columns, with labels in every unit.
func TestLatencyGraphWide(t *testing.T) {
	var ev metrics.Event
	for i := range int64(100) {
		ev.Add(1000+i*3600, 5)
	}
	lines := strings.Split(latencyGraph("e", &ev, 1000+99*3600), "\n")
	for i, width := range map[int]int{2: 80, 6: 80, 7: 80, len(lines) - 2: 20} {
		if len(lines[i]) != width {
			t.Errorf("line %d is %d wide, want %d: %q", i, len(lines[i]), width, lines[i])
		}
	}
	for sec, want := range map[int64]string{0: "0s", 59: "59s", 60: "1m", 3600: "1h",
		86400 * 3: "3d"} {
		if got := age(sec); got != want {
			t.Errorf("age(%d) = %s, want %s", sec, got, want)
		}
	}
}

// infoNames lists the titles and fields of INFO in order, without those that depend on what ran.
func infoNames(t *testing.T, s server, section string) (names []string) {
	for line := range strings.SplitSeq(s.do(t, argvOf("info", section)).Str, "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		if name != "" && !strings.HasPrefix(name, "cmdstat_") &&
			!strings.HasPrefix(name, "latency_percentiles_") &&
			!strings.HasPrefix(name, "errorstat_") && !strings.HasPrefix(name, "listener") {
			names = append(names, name)
		}
	}
	return names
}

// TestInfoFields checks that INFO has every section and field of Redis 8, in its order.
func TestInfoFields(t *testing.T) {
	redis, l := startPeer(t, testserver.Redis), newLocal(t)
	run(t, l, "set", "k", "v")
	redis.do(t, argvOf("set", "k", "v"))
	for _, section := range []string{"everything", "debug"} {
		want := slices.DeleteFunc(infoNames(t, redis, section), func(name string) bool {
			return name == "# Keysizes" || strings.HasPrefix(name, "db0_distrib")
		})
		got := slices.DeleteFunc(infoNames(t, l, section), func(name string) bool {
			return !slices.Contains(want, name)
		})
		if !slices.Equal(slices.Compact(got), slices.Compact(want)) {
			t.Errorf("INFO %s has\n%s, Redis 8\n%s", section, got, want)
		}
	}
}

func TestInfoSections(t *testing.T) {
	titles := func(s server, sections ...string) string {
		var list []string
		args := append([]string{"info"}, sections...)
		for line := range strings.SplitSeq(s.do(t, argvOf(args...)).Str, "\r\n") {
			if strings.HasPrefix(line, "#") {
				list = append(list, line)
			}
		}
		return strings.Join(list, " ")
	}
	redis, l := startPeer(t, testserver.Redis), newLocal(t)
	for _, sections := range [][]string{
		{}, {"all"}, {"default"}, {"everything"}, {"SERVER", "cpu", "server"},
		{"default", "commandstats"}, {"keyspace", "clients"}, {"nosuch"},
		{"debug", "errorstats"},
	} {
		got, want := titles(l, sections...), titles(redis, sections...)
		if want = strings.TrimSuffix(want, " # Keysizes"); got != want {
			t.Errorf("INFO %v: sections %s, want %s", sections, got, want)
		}
	}
}

func TestInfoCounts(t *testing.T) {
	l := newLocal(t)
	run(t, l, "config", "resetstat")
	run(t, l, "set", "k", "v", "px", "10000")
	run(t, l, "get", "k")
	run(t, l, "get", "missing")
	run(t, l, "get")
	run(t, l, "incr", "k")
	f := info(t, l, "everything")
	for field, want := range map[string]string{
		// INCR looks the key up for writing, which is neither a hit nor a miss.
		"keyspace_hits": "1", "keyspace_misses": "1",
		"total_error_replies": "2", "errorstat_ERR": "count=2",
		"rdb_changes_since_last_save": "1", "loading": "0", "aof_enabled": "0", "role": "master",
		"redis_mode": "standalone", "server_name": "godwit", "godwit_version": engine.Version,
		"maxmemory_policy": "noeviction", "mem_allocator": "arena",
		"connected_clients": "1",
	} {
		if f[field] != want {
			t.Errorf("%s:%s, want %s", field, f[field], want)
		}
	}
	for field, want := range map[string]string{"cmdstat_get": "calls=2,",
		"cmdstat_incr": "calls=1,"} {
		if !strings.HasPrefix(f[field], want) {
			t.Errorf("%s:%s", field, f[field])
		}
	}
	if !strings.HasSuffix(f["cmdstat_get"], "rejected_calls=1,failed_calls=0") ||
		!strings.HasSuffix(f["cmdstat_incr"], "rejected_calls=0,failed_calls=1") {
		t.Errorf("cmdstat_get:%s cmdstat_incr:%s", f["cmdstat_get"], f["cmdstat_incr"])
	}
	if !strings.HasPrefix(f["latency_percentiles_usec_get"], "p50=") ||
		!strings.Contains(f["latency_percentiles_usec_get"], ",p99.9=") {
		t.Errorf("latency_percentiles_usec_get:%s", f["latency_percentiles_usec_get"])
	}
	if !strings.HasPrefix(f["db0"], "keys=1,expires=1,avg_ttl=") {
		t.Errorf("db0:%s", f["db0"])
	}
}

func TestHumanBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1.00K", 1536: "1.50K", 1 << 20: "1.00M", 5 << 30: "5.00G",
		1 << 40: "1.00T", 1 << 50: "1.00P", 3 << 60: "3072.00P",
	} {
		if got := humanBytes(n); got != want {
			t.Errorf("humanBytes(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestSlowlogEntries(t *testing.T) {
	l := debugLocal(t)
	l.c.Addr, l.c.Name = "1.2.3.4:5", "me"
	run(t, l, "config", "set", "slowlog-log-slower-than", "0")
	run(t, l, "slowlog", "reset")
	run(t, l, "set", "k", strings.Repeat("x", 200))
	run(t, l, "auth", "user", "secret")
	run(t, l, "nosuch")
	run(t, l, "get")
	v := run(t, l, "slowlog", "get", "-1")
	if len(v.Elems) != 3 {
		t.Fatalf("%d entries, want AUTH, SET, SLOWLOG RESET: %v", len(v.Elems), v)
	}
	auth, set := v.Elems[0].Elems, v.Elems[1].Elems
	if got := auth[3].Elems[1].Str + auth[3].Elems[2].Str; got != "(redacted)(redacted)" {
		t.Errorf("AUTH shows %q", got)
	}
	if want := strings.Repeat("x", 128) + "... (72 more bytes)"; set[3].Elems[2].Str != want {
		t.Errorf("value shown as %q", set[3].Elems[2].Str)
	}
	if set[4].Str != "1.2.3.4:5" || set[5].Str != "me" || auth[0].Int != set[0].Int+1 {
		t.Errorf("entry %v", set)
	}
	if len(set) != 7 || set[6].Int != 3 {
		t.Errorf("entry %v without the number of arguments", set)
	}
	run(t, l, "config", "set", "slowlog-entry-max-argc", "2", "slowlog-entry-max-string-len", "3")
	run(t, l, "sadd", "s", "1", "2", "3")
	sadd := run(t, l, "slowlog", "get", "1").Elems[0].Elems
	if sadd[3].Elems[0].Str != "sad... (1 more bytes)" ||
		sadd[3].Elems[1].Str != "... (4 more arguments)" || sadd[6].Int != 5 {
		t.Errorf("entry %v", sadd)
	}
}

// TestLargeCommands checks what COMMANDLOG says of large requests and replies, and of those within
// a transaction.
func TestLargeCommands(t *testing.T) {
	l := debugLocal(t)
	run(t, l, "config", "set", "commandlog-request-larger-than", "60",
		"commandlog-reply-larger-than", "57")
	run(t, l, "commandlog", "reset", "large-request")
	value := strings.Repeat("x", 50)
	run(t, l, "set", "k", value)
	run(t, l, "get", "k")
	run(t, l, "multi")
	run(t, l, "set", "k2", value)
	run(t, l, "get", "k")
	run(t, l, "exec")
	for log, want := range map[string][]string{
		"large-reply":   {"get k 57", "get k 57"},
		"large-request": {"set k2  78", "set k  77"},
	} {
		var got []string
		for _, e := range run(t, l, "commandlog", "get", "-1", log).Elems {
			words := []string{}
			for _, a := range e.Elems[3].Elems {
				words = append(words, strings.TrimRight(a.Str, "x"))
			}
			if words[0] != "commandlog" {
				got = append(got, fmt.Sprint(strings.Join(words, " "), " ", e.Elems[2].Int))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", log, got, want)
		}
	}
}

// TestLatencyEvents checks that what takes longer than the threshold is recorded under its event.
func TestLatencyEvents(t *testing.T) {
	l := debugLocal(t)
	run(t, l, "config", "set", "latency-monitor-threshold", "5")
	run(t, l, "debug", "sleep", "0.02")
	v := run(t, l, "latency", "latest")
	if len(v.Elems) != 1 || v.Elems[0].Elems[0].Str != "command" || v.Elems[0].Elems[2].Int < 20 {
		t.Fatalf("LATENCY LATEST: %v", v)
	}
	if h := run(t, l, "latency", "history", "command"); len(h.Elems) != 1 ||
		h.Elems[0].Elems[1].Int < 20 {
		t.Errorf("LATENCY HISTORY: %v", h)
	}
	d := run(t, l, "latency", "doctor").Str
	if !strings.Contains(d, "1. command: 1 latency spikes (average ") {
		t.Errorf("LATENCY DOCTOR: %s", d)
	}
	if n := run(t, l, "latency", "reset", "command", "command", "nosuch"); n.Int != 1 {
		t.Errorf("LATENCY RESET: %v", n)
	}
	h := run(t, l, "latency", "histogram", "debug", "config", "nosuch")
	if len(h.Elems) != 4 || h.Elems[0].Str != "debug" || h.Elems[2].Str != "config|set" {
		t.Errorf("LATENCY HISTOGRAM: %v", h)
	}
}

func TestMonitor(t *testing.T) {
	l := newLocal(t)
	l.c.Addr = "1.2.3.4:5"
	l.e.Enter()
	m := l.e.NewClient(nil)
	l.e.Exec(m, argvOf("monitor"))
	l.e.Exec(m, argvOf("monitor"))
	l.e.Leave()
	run(t, l, "set", "k\x00\xff", "\"a\\\n")
	run(t, l, "select", "3")
	run(t, l, "config", "get", "port")
	run(t, l, "auth", "secret")
	run(t, l, "get")
	run(t, l, "nosuch")
	run(t, l, "ping")
	var got []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(m.W.Buf), "\r\n"), "\r\n") {
		_, rest, _ := strings.Cut(line, " ")
		got = append(got, rest)
	}
	want := []string{
		"", `[0 1.2.3.4:5] "set" "k\x00\xff" "\"a\\\n"`, `[3 1.2.3.4:5] "select" "3"`,
		`[3 1.2.3.4:5] "auth" "(redacted)"`, `[3 1.2.3.4:5] "ping"`,
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	l.e.Enter()
	l.e.Forget(m)
	l.e.Leave()
	n := len(m.W.Buf)
	if run(t, l, "ping"); len(m.W.Buf) != n {
		t.Error("a client that left still monitors")
	}
}

func TestDebug(t *testing.T) {
	l := debugLocal(t)
	for _, c := range []struct{ command, want string }{
		{"debug populate 5 p 10", "OK"}, {"dbsize", ":5"}, {"strlen p:3", ":10"},
		{"debug populate 3", "OK"}, {"get key:2", "value:2"}, {"set key:1 mine", "OK"},
		{"debug populate 3", "OK"}, {"get key:1", "mine"}, {"debug populate 3 s 2", "OK"},
		{"get s:1", "va"},
		{"debug populate -1", "ERR value is out of range, must be positive"},
		{"debug stringmatch-len a*c abc", ":1"}, {"debug stringmatch-len a*c abd", ":0"},
		{"debug object nokey", "ERR no such key"},
		{"debug error FOO-bar", "FOO-bar"},
		{"debug htstats 99", "ERR Out of range database"},
		{"debug nosuch",
			"ERR unknown subcommand or wrong number of arguments for 'nosuch'. Try DEBUG HELP."},
		{"debug sleep",
			"ERR unknown subcommand or wrong number of arguments for 'sleep'. Try DEBUG HELP."},
		{"debug sleep x", "OK"},
		{"debug sdslen key:0",
			"key_sds_len:5, key_sds_avail:0, key_zmalloc: 8, val_sds_len:7, val_sds_avail:0, " +
				"val_zmalloc: 8"},
	} {
		v := run(t, l, strings.Fields(c.command)...)
		got := v.Str
		if v.Kind == client.Int {
			got = ":" + strconv.FormatInt(v.Int, 10)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
	object := run(t, l, "debug", "object", "key:0").Str
	if !strings.Contains(object, " refcount:1 encoding:embstr serializedlength:8 lru:") {
		t.Errorf("DEBUG OBJECT: %s", object)
	}
	if got := run(t, l, "debug", "help"); len(got.Elems) < 20 {
		t.Errorf("DEBUG HELP: %v", got)
	}
}

// TestSetActiveExpire checks that without active expiry, an expired key stays in the table until a
// command looks it up.
func TestSetActiveExpire(t *testing.T) {
	l := debugLocal(t)
	slices := func(done func() bool) {
		for end := time.Now().Add(testserver.Patience); !done() && time.Now().Before(end); {
			l.e.Enter()
			l.e.Slice()
			l.e.Leave()
			time.Sleep(time.Millisecond)
		}
	}
	db := l.e.KS.DB(0)
	run(t, l, "debug", "set-active-expire", "0")
	run(t, l, "set", "k", "v", "px", "1")
	due := l.e.Now() + 10
	slices(func() bool { return l.e.Now() > due })
	if db.Len() != 1 {
		t.Error("the key was expired although active expiry is off")
	}
	run(t, l, "debug", "set-active-expire", "1")
	slices(func() bool { return db.Len() == 0 })
	if db.Len() != 0 {
		t.Error("the key was not expired")
	}
}

func TestMemoryUsage(t *testing.T) {
	l := newLocal(t)
	run(t, l, "set", "small", "v")
	run(t, l, "set", "big", strings.Repeat("x", 100_000))
	small, big := run(t, l, "memory", "usage", "small").Int,
		run(t, l, "memory", "usage", "big", "samples", "0").Int
	if small < 20 || small > 80 || big < 100_000 || big > 140_000 {
		t.Errorf("small %d, big %d bytes", small, big)
	}
	if v := run(t, l, "memory", "stats"); len(v.Elems) != 2*34 {
		t.Errorf("MEMORY STATS has %d elements", len(v.Elems))
	}
	for _, sub := range []string{"doctor", "malloc-stats", "help"} {
		if v := run(t, l, "memory", sub); v.IsError() || v.Str == "" && len(v.Elems) == 0 {
			t.Errorf("MEMORY %s: %v", sub, v)
		}
	}
}

// TestShutdown checks that the options reach the server, and the reply is that the connection
// closes.
func TestShutdown(t *testing.T) {
	l := newLocal(t)
	if v := run(t, l, "shutdown"); v.Str != "ERR Errors trying to SHUTDOWN. Check logs." {
		t.Errorf("without a server: %v", v)
	}
	var got []engine.ShutdownOptions
	l.e.Shutdown = func(o engine.ShutdownOptions) error { got = append(got, o); return nil }
	for _, c := range []struct {
		args string
		want engine.ShutdownOptions
	}{
		{"", engine.ShutdownOptions{}}, {"NOSAVE", engine.ShutdownOptions{NoSave: true}},
		{"now nosave FORCE", engine.ShutdownOptions{NoSave: true, Now: true, Force: true}},
		{"save force", engine.ShutdownOptions{Save: true, Force: true}},
	} {
		got = nil
		l.c.CloseAfterReply = false
		raw := l.exec(argvOf(append([]string{"shutdown"}, strings.Fields(c.args)...)...))
		if len(raw) != 0 || len(got) != 1 || got[0] != c.want || !l.c.CloseAfterReply {
			t.Errorf("SHUTDOWN %s: reply %q, options %+v", c.args, raw, got)
		}
	}
}

func TestLolwut(t *testing.T) {
	l := newLocal(t)
	for _, c := range []struct {
		args        string
		lines, cols int
	}{{"", lolwutRows, lolwutCols}, {"version 5", lolwutRows, lolwutCols}, {"20 3", 3, 20},
		{"version 6 1 1", 1, 1}, {"9999 9999", lolwutMaxRows, lolwutMaxCols}} {
		v := run(t, l, append([]string{"lolwut"}, strings.Fields(c.args)...)...).Str
		lines := strings.Split(v, "\n")
		if len(lines) != c.lines+3 || len(lines[0]) != c.cols ||
			!strings.Contains(v, "Godwit ver. "+engine.Version) {
			t.Errorf("LOLWUT %s: %d lines of %d", c.args, len(lines), len(lines[0]))
		}
	}
}
