package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cliServer starts a server with keys of known sizes: 500 small ones, one of 5000 bytes, and one of
// 9 that is used a lot.
func cliServer(t *testing.T) *server {
	t.Helper()
	s := startServer(t, "--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0")
	c := s.dial(t)
	for i := range 500 {
		do(t, c, "SET", fmt.Sprintf("small:%d", i), "0123456789abcdef")
	}
	do(t, c, "SET", "big", strings.Repeat("x", 5000))
	do(t, c, "SET", "hot", "fire fire")
	for range 40 {
		do(t, c, "GET", "hot")
	}
	return s
}

// TestCLIModes runs the modes of redis-cli that end by themselves.
func TestCLIModes(t *testing.T) {
	t.Parallel()
	redisCLI(t)
	s := cliServer(t)
	for _, c := range []struct {
		args []string
		want []string // regular expressions
	}{
		{[]string{"--bigkeys"},
			[]string{`Sampled 502 keys in the keyspace!`,
				`Biggest string found '"big"' has 5000 bytes`, `502 strings with 13009 bytes`}},
		{[]string{"--memkeys"},
			[]string{`Sampled 502 keys in the keyspace!`,
				`Biggest string found '"big"' has 5\d\d\d bytes`}},
		{[]string{"--memkeys", "--memkeys-samples", "3"},
			[]string{`Biggest string found '"big"' has 5\d\d\d bytes`}},
		{[]string{"--hotkeys"}, []string{`hot key found with counter: \d\d\tkeyname: "hot"`}},
		{[]string{"--latency", "--csv"}, []string{`^\d+,\d+,\d+\.\d+,\d+`}},
		{[]string{"info", "server"}, []string{`redis_version:8\.0\.6`}},
		{[]string{"memory", "doctor"}, []string{`\w`}},
		{[]string{"-3", "memory", "stats"}, []string{`peak\.allocated`}},
		{[]string{"--json", "memory", "stats"}, []string{`"keys\.count":502`}},
		{[]string{"-r", "3", "incr", "counter"},
			[]string{`(?s)\(integer\) 1\n\(integer\) 2\n\(integer\) 3`}},
	} {
		out := s.cli(t, "", c.args...)
		for _, want := range c.want {
			require.Regexp(t, want, out, "redis-cli %v", c.args)
		}
	}
}

// TestCLIHints asks for the help of a command that redis-cli does not know. The help must be what
// COMMAND DOCS says, and so must the hints at the prompt.
func TestCLIHints(t *testing.T) {
	t.Parallel()
	redisCLI(t)
	godwitOnly(t)
	s := startServer(t)
	out := s.cli(t, "", "help", "delex")
	require.Regexp(t,
		`DELEX\S* \S*key \[IFEQ ifeq-value\|IFNE ifne-value\|IFDEQ ifdeq-digest\|IFDNE `+
			`ifdne-digest\]`, out)
	require.Contains(t, out, "since:")
}

// TestCLISizes looks for the biggest keys of all types, among packed and large ones, and for keys
// of each type.
func TestCLISizes(t *testing.T) {
	t.Parallel()
	redisCLI(t)
	s := startServer(t)
	c := s.dial(t)
	add := map[string]func(key string, i int){
		"list": func(key string, i int) { do(t, c, "RPUSH", key, fmt.Sprint("element ", i)) },
		"hash": func(key string, i int) { do(t, c, "HSET", key, fmt.Sprint("field ", i), "value") },
		"set":  func(key string, i int) { do(t, c, "SADD", key, fmt.Sprint("member ", i)) },
		"zset": func(key string, i int) {
			do(t, c, "ZADD", key, strconv.Itoa(i), fmt.Sprint("member ", i))
		},
	}
	for name, one := range add {
		for i := range 1000 {
			one(name+":large", i)
		}
		for i := range 5 {
			one(name+":small", i)
		}
	}
	do(t, c, "SET", "string", "x")
	out := s.cli(t, "", "--bigkeys")
	require.Contains(t, out, "Sampled 9 keys in the keyspace!")
	for name, unit := range map[string]string{"list": "items", "hash": "fields", "set": "members",
		"zset": "members"} {
		require.Regexp(t,
			fmt.Sprintf(`Biggest +%s found '"%s:large"' has 1000 %s`, name, name, unit), out)
		require.Regexp(t, fmt.Sprintf(`2 %s(es|s) with 1005 %s`, name, unit), out)
		keys := strings.Fields(s.cli(t, "", "--raw", "scan", "0", "type", name, "count", "1000"))
		slices.Sort(keys)
		require.Equal(t, []string{"0", name + ":large", name + ":small"}, keys)
		require.Equal(t, name, strings.TrimSpace(s.cli(t, "", "--raw", "type", name+":large")))
	}
	out = s.cli(t, "", "--memkeys")
	for name := range add {
		// There are 1000 elements of about ten bytes.
		require.Regexp(t,
			fmt.Sprintf(`Biggest +%s found '"%s:large"' has [1-9]\d{4} bytes`, name, name), out)
	}
	require.Equal(t, "9", strings.TrimSpace(s.cli(t, "", "--raw", "dbsize")))
}

func TestCLIScan(t *testing.T) {
	t.Parallel()
	redisCLI(t)
	s := cliServer(t)
	all := strings.Fields(s.cli(t, "", "--raw", "--scan"))
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 502)
	some := strings.Fields(s.cli(t, "", "--raw", "--scan", "--pattern", "small:4?"))
	require.Len(t, some, 10)
}

// TestCLIPipe loads a stream of commands, as bulk loads do. Some have errors, and some are inline
// commands.
func TestCLIPipe(t *testing.T) {
	t.Parallel()
	redisCLI(t)
	s := startServer(t)
	const n = 20_000
	var in bytes.Buffer
	for i := range n {
		k, v := fmt.Sprintf("key:%d", i), strings.Repeat("v", i%100)
		fmt.Fprintf(&in, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(k), k, len(v), v)
	}
	out := s.cli(t, in.String(), "--pipe")
	require.Contains(t, out, fmt.Sprintf("errors: 0, replies: %d", n))
	require.Equal(t, int64(n), do(t, s.dial(t), "DBSIZE").Int)
	cmd := exec.Command(redisCLI(t), "-p", strconv.Itoa(s.Port), "--pipe")
	cmd.Stdin = strings.NewReader("SET a b\r\nINCR a\r\nNOSUCH\r\nGET a\r\n")
	mixed, err := cmd.CombinedOutput()
	require.Error(t, err, "redis-cli ends with 1 when there were errors")
	require.Contains(t, string(mixed), "errors: 2, replies: 4")
}

// TestCLIStreams runs the modes that go on until they are interrupted, until they have shown what
// they should.
func TestCLIStreams(t *testing.T) {
	t.Parallel()
	cli := redisCLI(t)
	stdbuf, err := exec.LookPath("stdbuf")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no stdbuf to make redis-cli write line by line")
	}
	s := cliServer(t)
	for _, c := range []struct {
		args  []string
		want  string
		after func() // what to do once the client has started to answer
	}{
		{[]string{"--stat", "-i", "0.05"}, `(?m)^502 +\d+\.\d\dM +\d+ +0 +\d+ \(\+\d+\) +\d+`, nil},
		{[]string{"--latency"}, `(?m)^\d+ \d+ \d+\.\d\d \d+`, nil},
		{[]string{"--latency-history", "-i", "0.1"}, `-- 0\.\d+ seconds range`, nil},
		{[]string{"--latency-dist", "-i", "0.1"}, `milliseconds`, nil},
		{[]string{"--lru-test", "100"}, `Gets/sec`, nil},
		{[]string{"monitor"}, `(?s)OK.*\[0 127\.0\.0\.1:\d+\] "SET" "seen\\x00" "by \\"monitor\\""`,
			func() {
				do(t, s.dial(t), "SET", "seen\x00", `by "monitor"`)
			}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, stdbuf,
				append([]string{"-o0", cli, "-p", strconv.Itoa(s.Port)}, c.args...)...)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer func() {
				_ = cmd.Process.Kill() // it does not end by itself
				_ = cmd.Wait()
			}()
			want := regexp.MustCompile(c.want)
			var seen []byte
			r := bufio.NewReader(out)
			for !want.Match(seen) {
				b, err := r.ReadByte()
				require.NoError(t, err, "redis-cli %v showed\n%s", c.args, seen)
				seen = append(seen, b)
				for range r.Buffered() {
					b, _ := r.ReadByte() // it is there
					seen = append(seen, b)
				}
				if c.after != nil {
					c.after()
					c.after = nil
				}
				require.Less(t, len(seen), 1<<20, "redis-cli %v", c.args)
			}
		})
	}
}
