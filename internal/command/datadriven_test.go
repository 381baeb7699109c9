package command

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// A case file, testdata/*.txt, is a session in redis-cli's notation:
//
//	# a comment
//	[godwit]
//	> SET k "a\x00b"
//	OK
//	>~ KEYS *
//	1) "k"
//
// A line "> …" is a command, split with the quoting rules of inline commands. The lines behind it
// are the reply, up to the next command or an empty line. The elements of a reply to ">~ …" come in
// any order. A reply line "~ RE" stands for any line that matches the whole regular expression.
//
// Empty lines separate blocks. A block may begin with comments and marks:
//
//	[redis8]  Redis 7.0 does not confirm it: it is older than what the block is about
//	[valkey9] only Valkey 9 confirms it
//	[redis7]  only Redis 7.0 confirms it
//	[godwit]  nobody confirms it: a command newer than all of them, or an intended difference
//	[resp3]   the block runs in RESP3
//	[both]    the block runs twice, in RESP2 and in RESP3. Where the replies differ, their lines
//	          begin with "2: " and "3: ".
//	[clients] the first word of a command names the connection that sends it. A name that ends in
//	          3 speaks RESP3. The reply is what all connections receive, in the order of their
//	          names. " ;; " parts the commands of one line. "close a" ends a connection, "list a"
//	          shows its flags and subscriptions, "info f g" shows fields of INFO. A name that ends
//	          in & waits: what it receives is shown by "await a".
//
// Each file starts with empty databases. DEBUG is allowed in the files called debug_*.
//
// TestDataDriven runs a file on an engine; with -rewrite it puts the engine's replies into the
// file. Other tests run the same file on real servers, which keeps the expectations honest: Redis
// 8, which is right where versions differ, Valkey 9 for what only it has, and Redis 7.0 for what
// has not changed since. Each skips the blocks that it does not confirm, so the keys of a marked
// block must be gone or unused when it ends.

var rewrite = flag.Bool("rewrite", false, "rewrite the replies in testdata/*.txt")

// caseBlock is what stands between two empty lines of a case file.
type caseBlock struct {
	head    []string // comments and marks, kept as they are
	judge   string   // "redis8" and so on; empty: Redis 8 and 7.0
	clients bool     // several connections
	protos  []int    // the protocol versions to run it in
	steps   []step
}

// step is one command and the reply expected in each protocol version.
type step struct {
	line      int
	prompt    string // "> " or ">~ "
	command   string
	want, got [4][]string
}

func parseCases(t *testing.T, file string) []*caseBlock {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &caseBlock{protos: []int{2}}
	blocks := []*caseBlock{b}
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		prompt, command, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			b = &caseBlock{protos: []int{2}}
			blocks = append(blocks, b)
		case prompt == ">" || prompt == ">~":
			b.steps = append(b.steps, step{line: i + 1, prompt: prompt + " ", command: command})
		case len(b.steps) > 0:
			b.steps[len(b.steps)-1].expect(line, b.protos)
		case strings.HasPrefix(line, "["):
			b.mark(line)
		case strings.HasPrefix(line, "#"):
			b.head = append(b.head, line)
		default:
			t.Fatalf("%s:%d: expected a command, a mark or a comment", file, i+1)
		}
	}
	return blocks
}

// mark adds a line of marks to the block.
func (b *caseBlock) mark(line string) {
	b.head = append(b.head, line)
	for _, judge := range []string{"redis8", "valkey9", "redis7", "godwit"} {
		if strings.Contains(line, "["+judge+"]") {
			b.judge = judge
		}
	}
	b.clients = b.clients || strings.Contains(line, "[clients]")
	switch {
	case strings.Contains(line, "[resp3]"):
		b.protos = []int{3}
	case strings.Contains(line, "[both]"):
		b.protos = []int{2, 3}
	}
}

// expect adds a line to the reply that the step expects in the given protocol versions.
func (st *step) expect(line string, protos []int) {
	for _, proto := range protos {
		if len(protos) == 1 {
			st.want[proto] = append(st.want[proto], line)
		} else if rest, ok := strings.CutPrefix(line, strconv.Itoa(proto)+": "); ok {
			st.want[proto] = append(st.want[proto], rest)
		} else if !strings.HasPrefix(line, "2: ") && !strings.HasPrefix(line, "3: ") {
			st.want[proto] = append(st.want[proto], line)
		}
	}
}

// appendTo appends the block with the replies that it got.
func (b *caseBlock) appendTo(out *strings.Builder) {
	for _, line := range b.head {
		out.WriteString(line + "\n")
	}
	for _, st := range b.steps {
		out.WriteString(st.prompt + st.command + "\n")
		same := slices.Equal(st.got[b.protos[0]], st.got[b.protos[len(b.protos)-1]])
		for _, proto := range b.protos {
			for _, line := range st.got[proto] {
				if !same {
					line = strconv.Itoa(proto) + ": " + line
				}
				out.WriteString(line + "\n")
			}
			if same {
				break
			}
		}
	}
}

// server runs the commands of a case file.
type server interface {
	do(t testing.TB, argv [][]byte) client.Value
	proto(t testing.TB, version int)
	open(t testing.TB) talker // a connection for a block marked [clients]
}

// runCases runs the file and returns it as it would be with the server's replies.
func runCases(t *testing.T, file string, s server, skip func(*caseBlock) bool) string {
	t.Helper()
	var out strings.Builder
	proto := 2
	for i, b := range parseCases(t, file) {
		if i > 0 {
			out.WriteByte('\n')
		}
		if skip(b) {
			continue
		}
		for _, want := range b.protos {
			if len(b.steps) > 0 && want != proto {
				s.proto(t, want)
				proto = want
			}
			b.run(t, file, s, proto)
		}
		b.appendTo(&out)
	}
	return out.String()
}

// run runs the steps of a block in the protocol version that the server speaks.
func (b *caseBlock) run(t *testing.T, file string, s server, proto int) {
	t.Helper()
	p := newTalk(s)
	defer p.end(t)
	same := sameLine
	if r, ok := s.(*remote); ok && r.older {
		same = sameNumbers
	}
	for i := range b.steps {
		st := &b.steps[i]
		if b.clients {
			st.check(t, file, proto, p.step(t, file, st), same)
			continue
		}
		v := s.do(t, splitCommand(t, file, st))
		if st.prompt == ">~ " {
			sortElems(v)
		}
		st.check(t, file, proto, cliLines(v, 0), same)
	}
}

// check compares the reply with the one expected, line by line with same.
func (st *step) check(t *testing.T, file string, proto int, got []string,
	same func(want, got string) bool,
) {
	t.Helper()
	want := st.want[proto]
	st.got[proto] = got
	if slices.EqualFunc(want, got, same) {
		st.got[proto] = want
	} else if !*rewrite {
		t.Errorf("%s:%d: %s\nRESP%d, got:\n%s\nwant:\n%s", file, st.line, st.command, proto,
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// sortElems sorts the elements of a reply, or the pairs of a map.
func sortElems(v client.Value) {
	per := 1
	if v.Kind == client.Map {
		per = 2
	}
	var groups [][]client.Value
	for g := range slices.Chunk(slices.Clone(v.Elems), per) {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b []client.Value) int {
		return strings.Compare(a[0].String(), b[0].String())
	})
	for i, g := range groups {
		copy(v.Elems[i*per:], g)
	}
}

func splitCommand(t *testing.T, file string, st *step) [][]byte {
	t.Helper()
	var p resp.Parser
	argv, n, err := p.Next([]byte(st.command+"\r\n"), &resp.Limits{Authenticated: true})
	if err != nil || n == 0 {
		t.Fatalf("%s:%d: cannot split the command: %v", file, st.line, err)
	}
	return argv
}

// sameLine compares a line of a reply with the one expected, which may be a regular expression.
func sameLine(want, got string) bool {
	if re, ok := strings.CutPrefix(want, "~ "); ok {
		return regexp.MustCompile("^(?:" + re + ")$").MatchString(got)
	}
	return want == got
}

// sameNumbers compares lines as sameLine does, but doubles as numbers: servers before 7.2 print
// more digits of them than they need.
func sameNumbers(want, got string) bool {
	if sameLine(want, got) {
		return true
	}
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '"' })
	}
	return slices.EqualFunc(words(want), words(got), func(want, got string) bool {
		w, err1 := strconv.ParseFloat(want, 64)
		g, err2 := strconv.ParseFloat(got, 64)
		return want == got || err1 == nil && err2 == nil && math.Abs(w-g) <= 1e-9*math.Abs(w)
	})
}

// cliLines returns the reply as redis-cli shows it, but tells the nulls of RESP2 apart.
func cliLines(v client.Value, depth int) []string {
	switch v.Kind {
	case client.Array, client.Set, client.Push:
		return aggregateLines(v, depth, 1)
	case client.Map:
		return aggregateLines(v, depth, 2)
	case client.Int:
		return []string{"(integer) " + strconv.FormatInt(v.Int, 10)}
	case client.Bulk:
		return []string{string(resp.AppendQuoted(nil, []byte(v.Str)))}
	case client.Error:
		return []string{"(error) " + v.Str}
	case client.Null:
		return []string{"(nil)"}
	case client.NullArray:
		return []string{"(nil array)"}
	case client.Double:
		return []string{"(double) " + v.Str}
	case client.Bool:
		return []string{"(" + strconv.FormatBool(v.Bool) + ")"}
	case client.BigNumber:
		return []string{"(big number) " + v.Str}
	case client.Verbatim:
		if v.Str == "" {
			return []string{"(empty verbatim)"}
		}
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

// remote is a connection to a server that the test has started.
type remote struct {
	c     *client.Client
	s     *testserver.Server
	older bool // than Redis 7.2
}

func dialServer(t testing.TB, s *testserver.Server) *remote { return &remote{c: s.Client(t), s: s} }

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

// startRedis starts a redis-server that ends with the test. Without one it skips the test, except
// in CI.
func startRedis(t *testing.T) *remote {
	t.Helper()
	r := dialServer(t, testserver.StartRedis(t, "", "--enable-debug-command", "yes"))
	r.older = true
	return r
}

// startPeer starts one of the newer servers.
func startPeer(t *testing.T, p testserver.Peer) *remote {
	t.Helper()
	return dialServer(t, p.Start(t, "", "--enable-debug-command", "yes"))
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
			got := runCases(t, file, l, func(*caseBlock) bool { return false })
			if *rewrite && !t.Failed() {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestDataDrivenRedis8(t *testing.T) {
	confirmed(t, func() *remote { return startPeer(t, testserver.Redis) }, "", "redis8")
}

func TestDataDrivenValkey9(t *testing.T) {
	confirmed(t, func() *remote { return startPeer(t, testserver.Valkey) }, "valkey9")
}

func TestDataDrivenRedis7(t *testing.T) {
	redis := func() *remote { return startRedis(t) }
	confirmed(t, redis, "", "redis7")
}

// confirmed runs the blocks with the given marks on a server.
func confirmed(t *testing.T, start func() *remote, judges ...string) {
	t.Helper()
	if *rewrite {
		t.Skip("rewriting")
	}
	redis := start()
	for _, file := range caseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			redis.proto(t, 2)
			redis.do(t, argvOf("FLUSHALL"))
			redis.do(t, argvOf("SELECT", "0"))
			runCases(t, file, redis, func(b *caseBlock) bool {
				return !slices.Contains(judges, b.judge)
			})
		})
	}
}
