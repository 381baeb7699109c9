package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

func mustLoad(t *testing.T, args ...string) *Config {
	t.Helper()
	c, err := Load(args, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTable(t *testing.T) {
	c := Default()
	name := regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	for _, d := range Directives() {
		if !name.MatchString(d.Name) || d.Alias != "" && !name.MatchString(d.Alias) {
			t.Errorf("%q, %q: not a name", d.Name, d.Alias)
		}
		if d.Doc == "" || d.Syntax() == "" {
			t.Errorf("%s: not documented", d.Name)
		}
		if canon, err := d.value.canon(d.defaultArgs()); err != nil ||
			canon != d.Value(c) && d.Name != "dir" {
			t.Errorf("%s: default %q reads as %q, %v; a fresh Config has %q", d.Name, d.Default,
				canon, err, d.Value(c))
		}
		if len(strings.Fields(d.Default)) > 1 && d.Flags&Multi == 0 &&
			d.Name != "proc-title-template" {
			t.Errorf("%s takes words, but has no Multi flag", d.Name)
		}
	}
}

func TestGet(t *testing.T) {
	c := Default()
	for _, tc := range []struct{ patterns, want string }{
		{"hz", "[[hz 10]]"},
		{"HZ h? hz", "[[HZ 10]]"},
		{"nope", "[]"},
		{"*ziplist-entries hash-max-listpack-e*",
			"[[hash-max-listpack-entries 512] [hash-max-ziplist-entries 512] " +
				"[zset-max-ziplist-entries 128]]"},
		{"PORT tls-p*t", "[[PORT 6379] [tls-port 0]]"},
		{"save", "[[save 3600 1 300 100 60 10000]]"},
	} {
		var patterns [][]byte
		for _, p := range strings.Fields(tc.patterns) {
			patterns = append(patterns, []byte(p))
		}
		if got := fmt.Sprint(c.Get(patterns...)); got != tc.want {
			t.Errorf("Get(%s) = %s, want %s", tc.patterns, got, tc.want)
		}
	}
	all := c.Get([]byte("*"), []byte("*a*"))
	seen := map[string]bool{}
	for _, kv := range all {
		if seen[kv[0]] {
			t.Errorf("%s twice", kv[0])
		}
		seen[kv[0]] = true
	}
	hidden := 0
	for _, d := range Directives() {
		if d.Flags&Hidden != 0 {
			hidden++
		}
		if d.Valkey != "" {
			hidden++
		}
	}
	if hidden == 0 || len(all) != len(index)-hidden {
		t.Errorf("CONFIG GET * shows %d of %d names", len(all), len(index))
	}
}

func TestSetIsAllOrNone(t *testing.T) {
	c := Default()
	before := fmt.Sprint(c.Get([]byte("*")))
	var calls [][]string
	fail := func([]string) (func(), error) { return nil, errors.New("no descriptors") }
	undone := 0
	apply := func(names []string) (func(), error) {
		calls = append(calls, names)
		if c.Port != 1 || c.Maxmemory != 1<<20 || len(c.Bind) != 1 {
			t.Error("apply must see the new values")
		}
		undo := func() {
			undone++
			if fmt.Sprint(c.Get([]byte("*"))) != before {
				t.Error("undo must see the old values")
			}
		}
		return undo, &ApplyError{"port", "Unable to listen on this port. Check server logs."}
	}
	err := c.Set([][2]string{{"port", "1"}, {"hz", "10"}, {"maxmemory", "1mb"}, {"bind", "::1"}},
		apply)
	const want = "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen " +
		"on this port. Check server logs."
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if fmt.Sprint(calls) != "[[port maxmemory bind]]" || undone != 1 {
		t.Errorf("apply was called with %v, and undone %d times", calls, undone)
	}
	// A bad value behind good ones.
	if err := c.Set([][2]string{{"port", "2"}, {"save", "5 5"}, {"hz", "x"}}, nil); err == nil {
		t.Error("a bad value must be refused")
	}
	if fmt.Sprint(c.Get([]byte("*"))) != before {
		t.Error("a failed Set left something behind")
	}
	err = c.Set([][2]string{{"hz", "11"}}, fail)
	if err == nil ||
		err.Error() != "ERR CONFIG SET failed (possibly related to argument 'hz') - no "+
			"descriptors" {
		t.Errorf("got %v", err)
	}
	err = c.Set([][2]string{{"hz", "11"}, {"timeout", "1"}}, fail)
	if err == nil || err.Error() != "ERR CONFIG SET failed - no descriptors" {
		t.Errorf("got %v", err)
	}
}

func TestSetCallsApplyForChanges(t *testing.T) {
	c := Default()
	var got []string
	apply := func(names []string) (func(), error) { got = names; return nil, nil }
	for _, tc := range []struct {
		pairs [][2]string
		want  string
	}{
		{[][2]string{{"hz", "10"}}, "[]"},
		{[][2]string{{"HZ", "12"}, {"timeout", "0"}}, "[hz]"},
		{[][2]string{{"notify-keyspace-events", "AKE"}}, "[notify-keyspace-events]"},
		{[][2]string{{"notify-keyspace-events", "AKEn"}}, "[notify-keyspace-events]"},
		{[][2]string{{"tls-key-file", ""}}, "[tls-key-file]"}, // the file may have changed
		{[][2]string{{"hash-max-ziplist-value", "7"}}, "[hash-max-listpack-value]"},
	} {
		got = nil
		if err := c.Set(tc.pairs, apply); err != nil {
			t.Error(err)
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("Set(%v) applied %v, want %s", tc.pairs, got, tc.want)
		}
	}
}

func TestProtectedConfigs(t *testing.T) {
	set := func(c *Config, local bool) error {
		return c.SetFrom(local, [][2]string{{"dbfilename", "x.rdb"}}, nil)
	}
	const refusal = "ERR CONFIG SET failed (possibly related to argument 'dbfilename') - can't " +
		"set protected config"
	for guard, want := range map[string][2]bool{"no": {}, "yes": {true, true},
		"local": {false, true}} {
		c := mustLoad(t, "--enable-protected-configs", guard)
		for i, local := range []bool{false, true} {
			err := set(c, local)
			if (err == nil) != want[i] || err != nil && err.Error() != refusal {
				t.Errorf("enable-protected-configs %s, local %t: %v", guard, local, err)
			}
		}
	}
}

func TestDirIsAbsolute(t *testing.T) {
	c := mustLoad(t, "--enable-protected-configs", "yes", "--dir", "/")
	for _, tc := range [][2]string{{"tmp", "/tmp"}, {"x/../y", "/tmp/y"}, {"/usr", "/usr"},
		{"..", "/"}} {
		if err := c.Set([][2]string{{"dir", tc[0]}}, nil); err != nil || c.Dir != tc[1] {
			t.Errorf("dir %s: %q, %v", tc[0], c.Dir, err)
		}
	}
}

// TestRefused checks that only what would change the server's role, or what it is for, is refused.
func TestRefused(t *testing.T) {
	for _, line := range []string{"loadmodule x.so",
		"loadmodule /redisbloom/search.so"} {
		_, err := Parse("f", line)
		if e := (*LineError)(nil); !errors.As(err, &e) ||
			!strings.Contains(e.Reason, " is not supported: ") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestReplicaOfInCluster checks that the topology alone says whose replica a node of a cluster is.
func TestReplicaOfInCluster(t *testing.T) {
	for text, refused := range map[string]bool{
		"cluster-enabled yes\nreplicaof host 1":                   true,
		"replicaof host 1\ncluster-enabled yes":                   true,
		"replicaof host 1\ncluster-enabled yes\nreplicaof no one": false,
		"replicaof host 1":                                        false,
	} {
		_, err := Parse("f", text)
		want := "replicaof directive not allowed in cluster mode"
		if got := err != nil && err.Error() == want; got != refused {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCompatVersion(t *testing.T) {
	for _, version := range []string{"8.0.6", "7.2.4", "7.0.15", "6.2.255", "0.0.1"} {
		c, err := Parse("f", "compat-version "+version)
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		if got := fmt.Sprint(c.Get([]byte("compat-version"))); got !=
			fmt.Sprintf("[[compat-version %s]]", version) {
			t.Errorf("%s: CONFIG GET says %s", version, got)
		}
	}
	for _, line := range []string{"8.0.7", "8.1.0", "9.0.0", "0.0.0", "7", "7.2", "7.2.4.1",
		"v7.2.4", "7.02.4", "7.2.-1", "7.2.256", "7.2.x", `""`, "7.2.4 x"} {
		if _, err := Parse("f", "compat-version "+line); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
	if n, ok := VersionNum("7.2.4"); !ok || n != 0x070204 {
		t.Errorf("7.2.4 is %#x, %v", n, ok)
	}
}

func TestLaterAndIgnored(t *testing.T) {
	for text, warned := range map[string][]string{
		"replicaof no one\nrepl-timeout 60\noom-score-adj no\nprimaryauth \"\"": nil,
		"oom-score-adj yes\nrdma-port 2\nlist-max-ziplist-entries 512": {
			"rdma-port", "oom-score-adj", "list-max-ziplist-entries"},
		"enable-module-command yes\ncluster-blacklist-ttl 5": {"cluster-blacklist-ttl"},
	} {
		c, err := Parse("f", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		w := c.Warnings()
		if len(w) != len(warned) {
			t.Errorf("%s: warnings %q, want %q", text, w, warned)
		}
		for _, name := range warned {
			if !strings.Contains(strings.Join(w, "\n"), "'"+name+"'") {
				t.Errorf("%s: no warning of %s in %q", text, name, w)
			}
		}
		if w := c.Warnings(); len(w) != 0 {
			t.Errorf("warnings come again: %q", w)
		}
	}
	c := mustLoad(t)
	for name, value := range map[string]string{"cluster-blacklist-ttl": "7",
		"jemalloc-bg-thread": "no", "tls-key-file-pass": "x", "rdma-port": "1"} {
		if err := c.Set([][2]string{{name, value}}, nil); err != nil || len(c.Warnings()) != 1 {
			t.Errorf("CONFIG SET %s: %v", name, err)
		}
		if got := fmt.Sprint(c.Get([]byte(name))); got != fmt.Sprintf("[[%s %s]]", name, value) {
			t.Errorf("CONFIG GET %s: %s", name, got)
		}
	}
	if err := c.Set([][2]string{{"masterauth", "x"}}, nil); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(c.Get([]byte("primaryauth"))); got != "[[primaryauth x]]" {
		t.Errorf("CONFIG GET by Valkey's name: %s", got)
	}
	if w := Default().Warnings(); len(w) != 0 {
		t.Errorf("a fresh Config warns: %q", w)
	}
	if w := mustLoad(t).Warnings(); len(w) != 0 {
		t.Errorf("no arguments warn: %q", w)
	}
}

// TestReadAsRedis8 checks values that Redis 8 changes or refuses.
func TestReadAsRedis8(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"repl-backlog-size", "1", "16384"},
		{"repl-backlog-size", "20000", "20000"},
		{"latency-tracking-info-percentiles", "0x10 0x1p2 .5", "16 4 0.5"},
		{"latency-tracking-info-percentiles", "33.3333333 99.9999995", "33.333333 100"},
		{"latency-tracking-info-percentiles", "1_0", ""},
		{"latency-tracking-info-percentiles", "1e-400", ""},
		{"cluster-announce-human-nodename", "rack-1/b \t\xff", "rack-1/b \t\xff"},
		{"cluster-announce-human-nodename", "5%", ""},
		{"cluster-announce-human-nodename", "a\x00", ""},
	} {
		c := Default()
		err := c.Set([][2]string{{tc.name, tc.value}}, nil)
		if got := c.Get([]byte(tc.name))[0][1]; (err != nil) != (tc.want == "") ||
			err == nil && got != tc.want {
			t.Errorf("%s %q: got %q, %v, want %q", tc.name, tc.value, got, err, tc.want)
		}
	}
}

func TestBuiltInModules(t *testing.T) {
	for _, file := range []string{"/usr/lib/redis/modules/redisbloom.so", "rebloom.so",
		"./redis-cell.so", "libredis_cell.so", "/x/RedisBloom.so"} {
		c, err := Parse("f", "loadmodule "+file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if w := c.Warnings(); len(w) != 1 || !strings.Contains(w[0], "is built in") {
			t.Errorf("%s: %q", file, w)
		}
	}
	c, err := Parse("f",
		"loadmodule redisbloom.so ERROR_RATE 0.05 INITIAL_SIZE 400 CF_MAX_EXPANSIONS 7 "+
			"bf-expansion-factor 3 NOPE 1")
	if err != nil {
		t.Fatal(err)
	}
	if c.BFErrorRate != 0.05 || c.BFInitialSize != 400 || c.CFMaxExpansions != 7 ||
		c.BFExpansionFactor != 3 {
		t.Errorf("the module's arguments: %v %v %v %v", c.BFErrorRate, c.BFInitialSize,
			c.CFMaxExpansions, c.BFExpansionFactor)
	}
	if w := c.Warnings(); len(w) != 2 || !strings.Contains(w[1], "'NOPE'") {
		t.Errorf("warnings: %q", w)
	}
	if _, err := Parse("f", "loadmodule redisbloom.so ERROR_RATE 5"); err == nil {
		t.Error("a bad argument of the module passes")
	}
}

// TestNoSecretInErrors checks that no message shows a secret, whichever way a line is wrong.
func TestNoSecretInErrors(t *testing.T) {
	for _, line := range []string{
		"requirepass s3cret x", `requirepass "s3cret`, "requirepas s3cret",
		"Masterauth s3cret s3cret", "masterauht 's3cret'",
		"primaryauth s3cret x", "tls-key-file-pass s3cret x", "usr alice on >s3cret", "user",
		"port 6379 requirepass s3cret",
		"hz 10 user alice on >s3cret", "hz >s3cret", `user "alice on >s3cret +@al" x "`,
		"users alice s3cret",
	} {
		for _, source := range []string{"file", "command line"} {
			_, err := Parse(source, line)
			if err == nil {
				t.Errorf("%s: accepted", line)
				continue
			}
			if text := Fatal(err, "Godwit") + err.Error(); strings.Contains(text, "s3cret") {
				t.Errorf("%s: %s", line, text)
			}
		}
	}
}

func TestInclude(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.conf": "dir " + dir + "\nhz 11\ninclude d/*.conf\ninclude none*\ntimeout 3\n",
		"d/b.conf":  "hz 13\n",
		"d/a.conf":  "hz 12\ntimeout 1\n",
		"bad.conf":  "\ninclude " + dir + "/d2.conf\n",
		"d2.conf":   "hz 1\n\nhz y\n",
		"loop.conf": "include " + dir + "/loop.conf\n",
		"gone.conf": "include " + dir + "/nope.conf\n",
	} {
		path := filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := mustLoad(t, filepath.Join(dir, "main.conf"), "--port", "1")
	if c.Hz != 13 || c.Timeout != 3 || c.Port != 1 || c.Dir != dir ||
		c.File != filepath.Join(dir, "main.conf") {
		t.Errorf("hz %d, timeout %d, port %d, dir %s, file %s", c.Hz, c.Timeout, c.Port, c.Dir,
			c.File)
	}
	_, err := Load([]string{filepath.Join(dir, "bad.conf")}, nil)
	var e *LineError
	if !errors.As(err, &e) || e.Line != 3 || e.Source != filepath.Join(dir, "d2.conf") ||
		e.Text != "hz y" {
		t.Errorf("an error in an included file: %v", err)
	}
	if got, want := Fatal(err, "Godwit 1"),
		"\n*** FATAL CONFIG FILE ERROR (Godwit 1) ***\nReading the configuration file, at line 3 ("+
			e.Source+")\n>>> 'hz y'\nargument couldn't be parsed into an integer\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := Load([]string{filepath.Join(dir, "loop.conf")}, nil); !errors.As(err, &e) ||
		!strings.Contains(e.Reason, "deeper than 16") {
		t.Errorf("a file that includes itself: %v", err)
	}
	_, err = Load([]string{filepath.Join(dir, "gone.conf")}, nil)
	if want := "Fatal error, can't open config file '" + dir +
		"/nope.conf': No such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := Load([]string{filepath.Join(dir, "missing")}, nil); err == nil {
		t.Error("a missing file must be an error")
	}
}

func TestRenames(t *testing.T) {
	c, err := Parse("f", "rename-command FLUSHALL \"\"\n\nrename-command get fetch")
	if err != nil || len(c.Renames) != 2 || c.Renames[0].To != "" ||
		c.Renames[1] != (Rename{"get", "fetch", "f", 3, "rename-command get fetch"}) {
		t.Errorf("%+v, %v", c.Renames, err)
	}
}

// unchanged is a configuration file as people write them.
const unchanged = `# my file
port 7000

# memory
maxmemory 1gb
maxmemory 2gb
maxmemory-policy ALLKEYS-LRU
hash-max-ziplist-entries 500
	timeout   5
save 900 1
# between
save 300 10
rename-command FLUSHALL ""
client-output-buffer-limit pubsub 1mb 2mb 3
# end`

// TestRewrite rewrites a file twice: lines are replaced in place, appended once, and the file keeps
// its link and its permissions.
func TestRewrite(t *testing.T) {
	if err := Default().Rewrite(); err == nil ||
		err.Error() != "ERR The server is running without a config file" {
		t.Errorf("without a file: %v", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "g.conf")
	if err := os.WriteFile(path, []byte(unchanged), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.conf")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, link, "--dir", dir)
	err := c.Set(
		[][2]string{{"hash-max-listpack-entries", "512"}, {"timeout", "6"}, {"save", "1 2 3 4 5 6"},
			{"requirepass", "a \"b\"\n"}, {"client-output-buffer-limit", "normal 1 1 1"},
			{"maxmemory-clients", "5%"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Rewrite(); err != nil {
		t.Fatal(err)
	}
	want := `# my file
port 7000

# memory
maxmemory 1gb
maxmemory 2gb
maxmemory-policy ALLKEYS-LRU
hash-max-listpack-entries 512
timeout 6
save 1 2
# between
save 3 4
save 5 6
rename-command FLUSHALL ""
client-output-buffer-limit normal 1 1 1
client-output-buffer-limit replica 256mb 64mb 60
client-output-buffer-limit pubsub 1mb 2mb 3
# end

# Generated by CONFIG REWRITE
requirepass "a \"b\"\n"
dir "` + dir + `"
maxmemory-clients 5%
`
	checkRewritten(t, path, want)
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	rewriteAgain(t, c, path)
}

// checkRewritten compares the rewritten file with want, and looks for what a rewrite may leave.
func checkRewritten(t *testing.T, path, want string) {
	t.Helper()
	got, _ := os.ReadFile(path)
	if string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o640 {
		t.Errorf("permissions became %v", st.Mode().Perm())
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 2 {
		t.Errorf("temporary files are left: %v", files)
	}
}

// rewriteAgain changes and rewrites a file that has the signature, then one that cannot be written.
func rewriteAgain(t *testing.T, c *Config, path string) {
	t.Helper()
	err := c.Set([][2]string{{"maxmemory", "3gb"}, {"hz", "20"}, {"save", ""}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Rewrite(); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if n := strings.Count(string(got), signature); n != 1 {
		t.Errorf("%d signatures", n)
	}
	if strings.Contains(string(got), "maxmemory 2gb") ||
		!strings.Contains(string(got), "\nmaxmemory 3gb\nmaxmemory-policy") ||
		!strings.Contains(string(got), "\nsave \"\"\n# between\nrename") {
		t.Errorf("second rewrite:\n%s", got)
	}
	c.File = filepath.Join(filepath.Dir(path), "no", "such", "folder")
	if err := c.Rewrite(); err == nil ||
		err.Error() != "ERR Rewriting config file: No such file or directory" {
		t.Errorf("an unwritable file: %v", err)
	}
}

// TestRewriteKeepsValues checks that, whatever is set, the rewritten file loads to the same values.
func TestRewriteKeepsValues(t *testing.T) {
	rnd := testseed.Rand(t)
	values := []string{"", "0", "1", "77", "5%", "1mb", "123456789", "yes", "no", "1 2", "10 20 30",
		"save now", "normal 1 2 3", "KEA", "::1 -127.0.0.1",
		"a \"b\" \\ '\x00\xff\n", "allkeys-lfu", "debug", "optional", "99.5 0.1", "-5"}
	for range 200 {
		path := writeFile(t, "g.conf", "# c\nsave 1 1\nsave 2 2\nhz 20\nbind ::1\nmaxmemory 5mb\n")
		c := mustLoad(t, path)
		for range 30 {
			d := table[rnd.IntN(len(table))]
			_ = c.SetFrom(true, [][2]string{{d.Name, values[rnd.IntN(len(values))]}}, nil)
		}
		if err := c.Rewrite(); err != nil {
			t.Fatal(err)
		}
		again, err := Load([]string{path}, nil)
		if err != nil {
			text, _ := os.ReadFile(path)
			t.Fatalf("%v\n%s", err, text)
		}
		if a, b := c.Get([]byte("*")), again.Get([]byte("*")); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("set:\n%v\nloaded:\n%v", a, b)
		}
	}
}

func TestClientsLimit(t *testing.T) {
	for _, tc := range []struct{ clients, maxmemory, want int64 }{
		{0, 1000, 0}, {500_000, 1000, 500_000}, {-10, 10_000_000, 1_000_000}, {-10, 0, 0},
		{-100, 1<<63 - 1, 1<<63 - 1},
		{-5, 19_999_999, 999_999}, {-5, 199, 128 << 10}, {1, 0, 128 << 10},
	} {
		c := &Config{MaxmemoryClients: tc.clients, Maxmemory: tc.maxmemory}
		if got := c.ClientsLimit(); got != tc.want {
			t.Errorf("%+v: got %d", tc, got)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	for _, s := range []string{"", "# c\n\nhz 10\n", "save 900 1\nsave 300 10\r\nsave \"\"",
		"hz \"1\\x32\"", "masterauth 'a\\'b'",
		"requirepass \"a\\n\\x00\\\"\"", "bind * -::* ::1\nbind \"\"",
		"client-output-buffer-limit normal 1mb 2k 3 replica 1 1 1",
		"include a\ninclude b*\n", "rename-command GET \"\"", "user a on",
		"maxmemory-clients 5%\nmaxmemory 17179869184gb",
		"latency-tracking-info-percentiles 1e1 99.9 0x1p2 0x10", "shutdown-on-sigterm \"save now\"",
		"dir /\ndir tmp", "hz 10\"", "*1\r\n$4\r\n", "oom-score-adj-values 1 -2 3",
		"\"hz\" 12\nunixsocketperm 0777\nloglevel NOTHING\nnotify-keyspace-events KEA",
		"# ???\n\x00\xff\v hz 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		load := func(text string) (*Config, error) {
			l := newLoader(Default())
			l.read = func(string) ([]byte, error) { return []byte("timeout 3\n"), nil }
			l.glob = func(string) ([]string, error) { return []string{"a", "b"}, nil }
			err := l.text("fuzz", text)
			l.finish()
			return l.c, err
		}
		c, err := load(text)
		if err != nil {
			if Fatal(err, "x") == "" {
				t.Fatal("an error without words")
			}
			return
		}
		out := c.rewrite(text, nil, false)
		again, err := load(out)
		if err != nil {
			t.Fatalf("%q was rewritten to %q: %v", text, out, err)
		}
		// An include after the directive wins again; without one nothing may differ.
		if a, b := fmt.Sprint(c.Get([]byte("*"))), fmt.Sprint(again.Get([]byte("*"))); a != b {
			t.Fatalf("%q: %s\nrewritten to %q: %s", text, a, out, b)
		}
		if twice := again.rewrite(out, nil, false); twice != out {
			t.Fatalf("%q, then %q", out, twice)
		}
	})
}
