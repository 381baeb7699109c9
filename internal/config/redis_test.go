package config

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// The tests of this file ask a real redis-server what it does with the same input.

func redisServer(t *testing.T) string {
	t.Helper()
	path := testserver.Program(t, "redis-server")
	out, err := exec.Command(path, "--version").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("v=7.0.")) {
		t.Skipf("redis-server is not a 7.0: %s", out)
	}
	return path
}

// runRedis starts redis-server in a folder of its own. It returns a client if the server came up,
// else what it printed before it gave up.
func runRedis(t *testing.T, dir, stdin string, args ...string) (*client.Client, string) {
	t.Helper()
	return runServer(t, redisServer(t), dir, stdin, args...)
}

// runServer does what runRedis does, for the server at path.
func runServer(t *testing.T, path, dir, stdin string, args ...string) (*client.Client, string) {
	t.Helper()
	s, err := testserver.Launch(
		testserver.Options{Program: path, Dir: dir, Stdin: stdin, Args: args, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Socket = filepath.Join(dir, "s")
	t.Cleanup(func() {
		s.Kill()
		os.Remove(s.Socket)
	})
	if err := s.Ready(); err != nil {
		if !s.Ended() {
			t.Fatal(err)
		}
		return nil, s.Output()
	}
	return s.Client(t), ""
}

func get(t testing.TB, c *client.Client, patterns ...string) map[string]string {
	t.Helper()
	args := []any{"CONFIG", "GET"}
	for _, p := range patterns {
		args = append(args, p)
	}
	v, err := c.Do(args...)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	s := v.Strings()
	for i := 0; i+1 < len(s); i += 2 {
		m[s[i]] = s[i+1]
	}
	return m
}

func ours(c *Config, patterns ...string) map[string]string {
	m := map[string]string{}
	for _, p := range patterns {
		for _, kv := range c.Get([]byte(p)) {
			m[kv[0]] = kv[1]
		}
	}
	return m
}

// own reports whether Redis has no such directive: it is Godwit's, that of a module that
// redis-server does not load here, or newer than Redis 8.0.
func own(name string) bool {
	return name == "rdb-version" || name == "compat-version" ||
		name == "min-replicas-to-ack" || strings.HasPrefix(name, "min-replicas-ack") ||
		name == "repl-foreign-sketches" || name == "cluster-secret" ||
		name == "cluster-failover-on-shutdown" ||
		strings.HasPrefix(name, "cluster-sentinel-") ||
		strings.HasPrefix(name, "bf-") || strings.HasPrefix(name, "cf-") ||
		strings.HasPrefix(name, "stream-idmp-")
}

func TestDefaultsAreRedisDefaults(t *testing.T) {
	dir := t.TempDir()
	c, out := runRedis(t, dir, "", "--port", "0", "--unixsocket", "s")
	if c == nil {
		t.Fatal(out)
	}
	differ := map[string]string{
		"port":                                  "given to reach the real server",
		"unixsocket":                            "given to reach the real server",
		"dir":                                   "each process has its own",
		"loading-process-events-interval-bytes": "another default in Redis 8",
		"activedefrag":                          "costs nothing here while there is nothing to do",
		"repl-backlog-size":                     "that of Valkey: short cuts need no full sync",
		"cluster-node-timeout":                  "failures are noticed sooner",
		"active-defrag-ignore-bytes":            "small data sets are to be defragmented too",
	}
	newer := map[string]bool{}
	for _, d := range peerDirectives(t) {
		newer[d.name] = newer[d.name] || d.peer == testserver.Redis
	}
	theirs, mine := get(t, c, "*"), ours(Default(), "*")
	for name, want := range theirs {
		got, ok := mine[name]
		if differ[name] == "" && (!ok || got != want) {
			t.Errorf("%s: got %q (known: %t), Redis has %q", name, got, ok, want)
		}
	}
	for name := range mine {
		if _, ok := theirs[name]; !ok && !newer[name] && !own(name) {
			t.Errorf("%s: Redis has no such directive", name)
		}
	}
}

// bothServers starts Redis and loads a Config from the same command line.
func bothServers(t *testing.T) (*client.Client, *Config) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"--port", "0", "--unixsocket", "s", "--dir", dir,
		"--active-defrag-ignore-bytes", "100mb", // whose default is not Redis's
		"--repl-backlog-size", "1mb"} // likewise
	c, out := runRedis(t, dir, "", args...)
	if c == nil {
		t.Fatal(out)
	}
	mine, err := Load(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, mine
}

// TestEveryDirectiveRefusesAsRedis compares flags and bounds of every directive, as seen in the
// errors of CONFIG SET.
func TestEveryDirectiveRefusesAsRedis(t *testing.T) {
	c, mine := bothServers(t)
	differ := map[string]string{
		"activedefrag": "depends on the allocator Redis was built with",
		"loglevel":     "7.2 adds nothing to the levels",
		"bind":         "only the server can tell whether an address is ours",

		"tls-replication":                       "there is no certificate that Redis could use",
		"tls-cluster":                           "likewise",
		"maxmemory-samples":                     "new bounds in Redis 8",
		"set-max-listpack-value":                "no memory value since Redis 7.2",
		"loading-process-events-interval-bytes": "another default in Redis 8",
		"cluster-node-timeout":                  "other bounds and another default",
		"cluster-announce-ip":                   "Redis takes what is no address",
	}
	for _, d := range Directives() {
		if differ[d.Name] != "" || len(get(t, c, d.Name)) == 0 {
			continue
		}
		for _, v := range []string{"", "zzz", "-999999999999999", "-2", "-1", "0", "99999999999",
			"1 2", "1.5", "yes", "5%", "1kb", "1gb"} {
			compareSet(t, c, mine, d.Name, v)
		}
	}
}

// withoutLRM leaves out the policies of Redis 8.6.
var withoutLRM = strings.NewReplacer(", volatile-lrm", "", ", allkeys-lrm", "")

func compareSet(t testing.TB, c *client.Client, mine *Config, kv ...string) {
	t.Helper()
	args := []any{"CONFIG", "SET"}
	var pairs [][2]string
	for i := 0; i < len(kv); i += 2 {
		args = append(args, kv[i], kv[i+1])
		pairs = append(pairs, [2]string{kv[i], kv[i+1]})
	}
	v, err := c.Do(args...)
	if err != nil {
		t.Fatal(err)
	}
	got := "OK"
	if err := mine.Set(pairs, nil); err != nil {
		got = withoutLRM.Replace(err.Error())
	}
	if got != v.Text() {
		t.Errorf("CONFIG SET %q: got %q, Redis says %q", kv, got, v.Text())
		return
	}
	for i := 0; i < len(kv); i += 2 {
		a, b := ours(mine, kv[i]), get(t, c, kv[i])
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("after CONFIG SET %q: got %v, Redis has %v", kv, a, b)
		}
	}
}

func TestSetAsRedis(t *testing.T) {
	c, mine := bothServers(t)
	for _, kv := range [][]string{
		{"nope", "1"}, {"hz", "1", "nope", "1"}, {"hz", "1", "hz", "2"},
		{"port", "abc", "nope", "1"},
		{"databases", "1", "hz", "2"}, {"hz", "20", "Maxmemory", "abc"}, {"HZ", "x"},
		{"HZ", "12", "timeout", "5"},
		{"lua-time-limit", "1", "busy-reply-threshold", "2"}, {"dir", "/"},
		{"daemonize", "yes", "daemonize", "yes"},
	} {
		compareSet(t, c, mine, kv...)
	}
	for name, values := range map[string][]string{
		"hz": {"0", "501", "10 ", "", "0x10", "010", "+5", " 5",
			"99999999999999999999", "-0"},
		"maxmemory": {"1k", "1kb", "1K", "1Mb", "1m", "1g", "1gb", "1t",
			"-1", "10%", "", "1 mb", "1.5gb", "5b", "5B", "k", "100 ", "9223372036854775807"},
		"maxmemory-clients": {"1k", "10%", "101%", "-1", "100%", "0%", "-5%", "1%5",
			"%", "5 %", "200g"},
		"maxmemory-policy": {"volatile-lru", "ALLKEYS-LRU", " noeviction",
			"noeviction noeviction"},
		"save": {"", "900 1", "900 1 300 10", "900", "0 1", "-1 5",
			"a b", "900 1 300 x", "1 -1", "1 0", "  900   1 ", "900 1 900 2", `""`, `"900 1"`},
		"client-output-buffer-limit": {"normal 0 0 0", "normal 1mb 1mb 5 pubsub 0 0 0",
			"replica 4 5 6", "bad 0 0 0", "normal 0 0", "normal a 0 0", "normal 0 0 -1",
			"master 1 2 3", "", "NORMAL 7 7 7", "normal 0 0 1x", "normal -1 0 0"},
		"notify-keyspace-events": {"KEA", "K", "AKE", "g$lshzxetd", "Kn", "KAn", "Em",
			"KEAmn", "KEg$", "q", "", "Kg$lshzxetdmn", "Ag"},
		"shutdown-on-sigterm": {"save", "save now", "nosave force", "save nosave",
			"x", "", "now now", "SAVE", "default save"},
		"latency-tracking-info-percentiles": {"", "0", "100", "101", "-1", "a", "99.99999", "50 50",
			"1e1", "nan", "99.950", "  1  2", "inf", "0x10", "0X.8", "0x1p2", "0x65", "0x", "1_0",
			"1e-400", "1e400", "-1e-7", "-0", "33.3333333", "99.9999995", "50 0x10"},
		"repl-backlog-size": {"1", "16383", "16384", "20000"},
		"proc-title-template": {"", "{title}", "{foo}", "abc {title} {config-file}",
			"{title", "\x00", "x\x00{foo}"},
		"masterauth": {"a\x00b"}, "masteruser": {"a\x00b"}, "syslog-ident": {"a\x00b"},
		"oom-score-adj-values": {"5 4 3", "1 2", "-2000 1 1", "a b c", "-3000 1 2"},
		"proto-max-bulk-len":   {"64kb", "1mb", "1048575"},
		"requirepass":          {""},
		"bind":                 {strings.Repeat("127.0.0.1 ", 16) + "127.0.0.1"},
	} {
		for _, v := range values {
			compareSet(t, c, mine, name, v)
		}
	}
}

var fatalLine = regexp.MustCompile(`at line (\d+)( \([^)]*\))?`)

// fatal reduces what both servers print to what must be equal: the line, its text, the reason. Line
// numbers of the command line differ, because Redis goes on counting after the file.
func fatal(s string, withLine bool) string {
	i := strings.Index(s, "Reading the configuration file")
	if i < 0 {
		return s
	}
	s = s[i:]
	if !withLine {
		return fatalLine.ReplaceAllString(s, "")
	}
	return fatalLine.ReplaceAllString(s, "at line $1")
}

// showableFatal takes the secrets from the line that Redis shows.
func showableFatal(s string) string {
	return fatalText.ReplaceAllStringFunc(s, func(line string) string {
		return ">>> '" + showable(line[len(">>> '"):len(line)-1]) + "'"
	})
}

var fatalText = regexp.MustCompile(`>>> '.*'`)

func TestFileErrorsAsRedis(t *testing.T) {
	redisServer(t)
	for _, line := range []string{
		"databases 0", "databases x", "io-threads 200", "tcp-backlog -1", "unixsocketperm 999",
		"unixsocketperm 1000",
		"socket-mark-id -1", "syslog-facility foo", "supervised foo", "enable-debug-command foo",
		"dbfilename a/b",
		"dir /nonexist", `masterauth "x`, "slaveof a", "replicaof 1.1.1.1 99999",
		"rename-command a", "include", "save 1",
		`save "" x`, `save "900 1" "300 10"`, `hz "10`, `hz 10"`, "hz 10 # c", "hz", `"" 12`,
		"syslog-ident a b", "vm-enabled no",
		"sentinel monitor x", "requirepass a b", "requirepass", "notify-keyspace-events K E",
		"maxclients 0", "port 99999",
		"client-output-buffer-limit normal 1", "shutdown-on-sigterm save nosave", `masterauth "a"b`,
		"shutdown-on-sigterm",
		"oom-score-adj-values 1", "replicaof",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "r.conf")
		if err := os.WriteFile(path, []byte("# c\n\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, out := runRedis(t, dir, "", path, "--port", "0", "--unixsocket", "s")
		_, err := Load([]string{path, "--port", "0"}, nil)
		if c != nil || err == nil {
			t.Errorf("%s: Redis accepts: %t, we: %t", line, c != nil, err == nil)
			continue
		}
		if got, want := fatal(Fatal(err, "Godwit"),
			true), showableFatal(fatal(out, true)); got != want {
			t.Errorf("%s: got %q, Redis prints %q", line, got, want)
		}
	}
}

func TestCommandLineAsRedis(t *testing.T) {
	redisServer(t)
	for _, tc := range []struct {
		args  string // separated by |
		file  string
		stdin string
	}{
		{args: "--hz|abc"}, {args: "--nope|1"}, {args: "--hz"}, {args: "--hz|1|2"},
		{args: "--hz=20"}, {args: "--hz|--port"},
		{args: "--hz 20|30"}, {args: "--save|900 1|300 10"}, {args: "--hz|"},
		{args: "--save|900 1"}, {args: "--save|900|1|300|10"}, {args: "--save|900 1|--save|300 10"},
		{args: "--save|--hz|20"},
		{args: "--save||--hz|20"}, {args: "--save"}, {args: "--shutdown-on-sigterm|save|now"},
		{args: "--hz 20"}, {args: "--"},
		{args: "--client-output-buffer-limit|normal 1 2 3"},
		{args: "--client-output-buffer-limit|normal|1|2|3|pubsub|3|4|5"},
		{args: "--latency-tracking-info-percentiles|1 2"}, {args: "--SAVE|5|6"},
		{args: "--hz|30|-", stdin: "hz 33\ntimeout 3\n"},
		{args: "-|--hz|44", stdin: "hz 33\ntimeout 3"},
		{args: "--timeout|9|-", file: "hz 11\ntimeout 2\n", stdin: "timeout 3\n"},
		{args: "-|--timeout|9", file: "hz 11\n"},
		{args: "--timeout|1", file: "save 900 1\nsave 300 10\n"},
		{args: "--timeout|1", file: "save 900 1\nsave \"\"\n"},
		{args: "--save|7 8", file: "save 900 1\n"},
		{args: "--timeout|1", file: "  hz   \"1\\x32\"  \r\nsave\n"},
		{args: "--timeout|1", file: "shutdown-on-sigterm 'save now'\n"},
	} {
		dir := t.TempDir()
		base := []string{"--port", "0", "--unixsocket", "s"}
		args := append(append([]string{}, base...), strings.Split(tc.args, "|")...)
		if strings.HasPrefix(tc.args, "-|") {
			args = append(strings.Split(tc.args, "|"), base...)
		}
		if tc.file != "" {
			path := filepath.Join(dir, "r.conf")
			if err := os.WriteFile(path, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append([]string{path}, args...)
		}
		c, out := runRedis(t, dir, tc.stdin, args...)
		mine, err := Load(args, strings.NewReader(tc.stdin))
		if (c != nil) != (err == nil) {
			t.Errorf("%q: Redis accepts: %t, we: %v", args, c != nil, err)
			continue
		}
		if c == nil {
			if got, want := fatal(Fatal(err, "Godwit"),
				false), showableFatal(fatal(out, false)); got != want {
				t.Errorf("%q: got %q, Redis prints %q", args, got, want)
			}
			continue
		}
		names := []string{"hz", "timeout", "save", "shutdown-on-sigterm",
			"client-output-buffer-limit", "latency-tracking-info-percentiles"}
		got, want := fmt.Sprint(ours(mine, names...)), fmt.Sprint(get(t, c, names...))
		if got != want {
			t.Errorf("%q: got %s, Redis has %s", args, got, want)
		}
	}
}
