package command

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/resp"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// The cases of testdata/*.txt are sessions in redis-cli's notation:
//
//	# a comment
//	[godwit]
//	> SET k "a\x00b"
//	OK
//	> GET k
//	"a\x00b"
//
// A line "> …" is a command, split with the quoting rules of inline commands. The lines after it,
// up to the next command or an empty line, are the reply. Empty lines separate blocks. A block may
// begin with comments and marks:
//
//   - [godwit]: redis-server 7.0 cannot confirm it (a newer command, an intended difference)
//   - [redis8]: Redis 8 can confirm it, but 7.0 cannot
//   - [resp3]: it runs in RESP3
//
// A reply line "~ RE" stands for any line that the regular expression matches as a whole.
//
// Each file starts with empty databases. DEBUG is allowed in files called debug_*. TestDataDriven
// runs the file on an engine. With -rewrite it writes the engine's replies into the file.
// TestDataDrivenRedis runs the same file on redis-server, which proves that the expectations are
// right. Blocks marked [godwit] do not run there, so what they write must be gone or unused when
// they end.

var rewrite = flag.Bool("rewrite", false, "rewrite the replies in testdata/*.txt")

// step is one command of a case file, or a line of text between commands.
type step struct {
	line     int
	text     string // A line to keep as it is.
	command  string // Empty for text.
	want     []string
	newBlock bool
	godwit   bool
	redis8   bool
	resp3    bool
}

func parseCases(t *testing.T, file string) []step {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	fresh, godwit, redis8, resp3 := true, false, false, false
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		last := len(steps) - 1
		switch {
		case line == "":
			steps = append(steps, step{line: i + 1})
			fresh, godwit, redis8, resp3 = true, false, false, false
		case strings.HasPrefix(line, "> "):
			steps = append(steps, step{line: i + 1, command: line[2:], newBlock: fresh,
				godwit: godwit, redis8: redis8, resp3: resp3})
			fresh = false
		case fresh:
			if strings.HasPrefix(line, "[") {
				godwit = godwit || strings.Contains(line, "[godwit]")
				redis8 = redis8 || strings.Contains(line, "[redis8]")
				resp3 = resp3 || strings.Contains(line, "[resp3]")
			} else if !strings.HasPrefix(line, "#") {
				t.Fatalf("%s:%d: expected a command, a mark or a comment", file, i+1)
			}
			steps = append(steps, step{line: i + 1, text: line})
		default:
			steps[last].want = append(steps[last].want, line)
		}
	}
	return steps
}

// server runs the commands of a case file.
type server interface {
	do(t testing.TB, argv [][]byte) client.Value
	proto(t testing.TB, version int)
}

// runCases runs the file and returns it with the server's replies in place of the expected ones.
func runCases(t *testing.T, file string, s server, skip func(step) bool) string {
	t.Helper()
	var out strings.Builder
	proto := 2
	for _, st := range parseCases(t, file) {
		if st.command == "" {
			out.WriteString(st.text + "\n")
			continue
		}
		if skip(st) {
			continue
		}
		want := 2
		if st.resp3 {
			want = 3
		}
		if want != proto {
			s.proto(t, want)
			proto = want
		}
		got := cliLines(s.do(t, splitCommand(t, file, st)), 0)
		out.WriteString("> " + st.command + "\n")
		if ok := matchLines(t, st.want, got); ok {
			got = st.want
		} else if !*rewrite {
			t.Errorf("%s:%d: %s\ngot:\n%s\nwant:\n%s", file, st.line, st.command,
				strings.Join(got, "\n"), strings.Join(st.want, "\n"))
		}
		for _, l := range got {
			out.WriteString(l + "\n")
		}
	}
	return out.String()
}

func splitCommand(t *testing.T, file string, st step) [][]byte {
	t.Helper()
	var p resp.Parser
	argv, n, err := p.Next([]byte(st.command+"\r\n"), &resp.Limits{Authenticated: true})
	if err != nil || n == 0 {
		t.Fatalf("%s:%d: cannot split the command: %v", file, st.line, err)
	}
	return argv
}

func matchLines(t *testing.T, want, got []string) bool {
	t.Helper()
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if re, ok := strings.CutPrefix(w, "~ "); ok {
			if !regexp.MustCompile("^(?:" + re + ")$").MatchString(got[i]) {
				return false
			}
		} else if w != got[i] {
			return false
		}
	}
	return true
}

// cliLines returns the reply as redis-cli shows it.
func cliLines(v client.Value, depth int) []string {
	switch v.Kind {
	case client.Array, client.Set, client.Push:
		return aggregateLines(v, depth, 1)
	case client.Map:
		return aggregateLines(v, depth, 2)
	case client.Int:
		return []string{"(integer) " + strconv.FormatInt(v.Int, 10)}
	case client.Bulk:
		return []string{string(engine.AppendQuoted(nil, []byte(v.Str)))}
	case client.Error:
		return []string{"(error) " + v.Str}
	case client.Null, client.NullArray:
		return []string{"(nil)"}
	case client.Double:
		return []string{"(double) " + v.Str}
	case client.Bool:
		return []string{"(" + strconv.FormatBool(v.Bool) + ")"}
	case client.BigNumber:
		return []string{"(big number) " + v.Str}
	case client.Verbatim:
		return strings.Split(strings.TrimRight(v.Str, "\n"), "\n")
	}
	return []string{v.Str}
}

// aggregateLines numbers the elements and indents nested ones. per is 2 for pairs shown as key =>
// value, else 1.
func aggregateLines(v client.Value, depth, per int) []string {
	if len(v.Elems) == 0 {
		return []string{"(empty " + v.Kind.String() + ")"}
	}
	mark := map[client.Kind]string{client.Map: "#", client.Set: "~"}[v.Kind]
	if mark == "" {
		mark = ")"
	}
	var lines []string
	n := len(v.Elems) / per
	width := len(strconv.Itoa(n))
	for i := range n {
		head := fmt.Sprintf("%*d%s ", width, i+1, mark)
		elem := cliLines(v.Elems[i*per], depth+1)
		if per == 2 {
			value := cliLines(v.Elems[i*per+1], depth+1)
			if len(value) == 1 {
				elem[len(elem)-1] += " => " + value[0]
			} else {
				elem[len(elem)-1] += " =>"
				for _, l := range value {
					elem = append(elem, "  "+l)
				}
			}
		}
		for j, l := range elem {
			if j == 0 {
				lines = append(lines, head+l)
			} else {
				lines = append(lines, strings.Repeat(" ", len(head))+l)
			}
		}
	}
	return lines
}

// local is an engine with one client.
type local struct {
	e *engine.Engine
	c *engine.Client
}

func newLocal(t testing.TB) *local {
	t.Helper()
	e := engine.New(config.Default(), Table(), engine.Options{Log: logging.Discard(), Seed: 1})
	e.Enter()
	defer e.Leave()
	return &local{e, e.NewClient(nil)}
}

// exec runs a command and returns the reply's bytes. They are valid until the next call.
func (l *local) exec(argv [][]byte) []byte {
	l.e.Enter()
	defer l.e.Leave()
	l.c.W.Buf = l.c.W.Buf[:0]
	l.e.Exec(l.c, argv)
	return l.c.W.Buf
}

func (l *local) do(t testing.TB, argv [][]byte) client.Value {
	t.Helper()
	raw := l.exec(argv)
	v, rest, err := client.Parse(raw)
	if err != nil {
		t.Fatalf("%q: %v in %q", argv, err, raw)
	}
	if len(rest) > 0 {
		t.Fatalf("%q: more than one reply in %q", argv, raw)
	}
	return v
}

func (l *local) proto(_ testing.TB, version int) { l.c.W.Proto = version }

// remote is a connection to a redis-server that the test has started.
type remote struct {
	c    *client.Client
	sock string
}

func (r *remote) do(t testing.TB, argv [][]byte) client.Value {
	t.Helper()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	v, err := r.c.Do(args...)
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return v
}

func (r *remote) proto(t testing.TB, version int) {
	t.Helper()
	if v := r.do(t, argvOf("HELLO", strconv.Itoa(version))); v.IsError() {
		t.Fatal(v)
	}
}

// startRedis starts a redis-server that ends with the test. If there is none to start, it skips the
// test, except in CI.
func startRedis(t *testing.T) *remote {
	t.Helper()
	return dialServer(t, testserver.StartRedis(t, "", "--enable-debug-command", "yes").Socket)
}

// startPeer starts one of the newer servers.
func startPeer(t *testing.T, p testserver.Peer) *remote {
	t.Helper()
	return dialServer(t, p.Start(t, "", "--enable-debug-command", "yes").Socket)
}

func dialServer(t *testing.T, sock string) *remote {
	t.Helper()
	conn, err := net.Dial("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &remote{client.New(conn), sock}
}

func caseFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no case files", err)
	}
	return files
}

func TestDataDriven(t *testing.T) {
	for _, file := range caseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			l := newLocal(t)
			if strings.HasPrefix(filepath.Base(file), "debug_") {
				l.e.Cfg.EnableDebugCommand = config.GuardYes
			}
			got := runCases(t, file, l, func(step) bool { return false })
			if *rewrite && !t.Failed() {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestDataDrivenRedis(t *testing.T) {
	if *rewrite {
		t.Skip("rewriting")
	}
	redis := startRedis(t)
	for _, file := range caseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			redis.proto(t, 2)
			redis.do(t, [][]byte{[]byte("FLUSHALL")})
			redis.do(t, [][]byte{[]byte("SELECT"), []byte("0")})
			runCases(t, file, redis, func(st step) bool { return st.godwit || st.redis8 })
		})
	}
}

// TestDataDrivenRedis8 runs the blocks that Redis 8 confirms and 7.0 does not. Such blocks depend
// on no others.
func TestDataDrivenRedis8(t *testing.T) {
	if *rewrite {
		t.Skip("rewriting")
	}
	redis := startPeer(t, testserver.Redis)
	for _, file := range caseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			redis.proto(t, 2)
			redis.do(t, argvOf("FLUSHALL"))
			redis.do(t, argvOf("SELECT", "0"))
			runCases(t, file, redis, func(st step) bool { return !st.redis8 })
		})
	}
}
