package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/integration/oracle/diff"
	"godwit/internal/testserver"
)

var (
	seed   = flag.Uint64("oracle.seed", 20240607, "seed of the random streams")
	number = flag.Int("oracle.n", 20_000, "commands of the random streams")
	godwit = flag.String("oracle.godwit", "", "server binary to test; empty: build ./cmd/server")
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// reference returns the program of a reference. Without it the test is skipped, except in CI.
func reference(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case redis8:
		return testserver.Redis.Program(t, "server")
	case valkey9:
		return testserver.Valkey.Program(t, "server")
	}
	return testserver.Program(t, "redis-server")
}

// newest returns the first of the references that the machine has.
func newest(t *testing.T) string {
	t.Helper()
	if path, err := program(redis8); err == nil {
		return path
	}
	return reference(t, redis7)
}

func knownRules(t *testing.T, ref *diff.Server) *diff.Known {
	t.Helper()
	k, err := knownFor(ref)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// start runs a reference, and another binary against it.
func start(t *testing.T, program, tested string, extra ...string) (ref, other *diff.Server) {
	t.Helper()
	dir := t.TempDir()
	ref, err := diff.StartServer("reference", program, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ref.Stop)
	other, err = diff.StartServer("tested", tested, dir, extra...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Stop)
	return ref, other
}

// runSession runs random streams and returns what they found.
func runSession(t *testing.T, ref, tested *diff.Server, o diff.Options) *diff.Session {
	t.Helper()
	var log bytes.Buffer
	o.Log = &log
	if o.Round == 0 {
		o.Round = 5000
	}
	o.Gen = diff.GenConfig{Keys: 10, Clients: 4, DBs: 3, Kinds: o.Gen.Kinds}
	o.MaxFinds, o.Shrinks = max(o.MaxFinds, 1), 200
	s, err := diff.NewSession(ref, tested, knownRules(t, ref), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatalf("seed %d: %v\n%s", o.Seed, err, &log)
	}
	return s
}

func report(s *diff.Session) string {
	var b strings.Builder
	s.Report(&b)
	return b.String()
}

// TestRedisEqualsItself checks that nothing that is compared is random.
func TestRedisEqualsItself(t *testing.T) {
	redis := newest(t)
	ref, tested := start(t, redis, redis)
	// an id that XADD makes is the time
	s := runSession(t, ref, tested, diff.Options{N: *number / 2, Seed: *seed,
		Without: list("xadd,xautoclaim,xclaim,vadd,vsim,vrandmember,vlinks")})
	if len(s.Findings) > 0 {
		t.Fatal(report(s))
	}
	if s.Runner.StateReads == 0 || len(s.Families) < 10 {
		t.Fatalf("too little was compared:\n%s", report(s))
	}
}

// lyingProxy forwards connections to a server and replaces old with new in the requests.
func lyingProxy(t *testing.T, addr, old, new string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go forward(client, addr, old, new)
		}
	}()
	return l.Addr().String()
}

func forward(client net.Conn, addr, old, new string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := client.Read(buf)
			if err != nil {
				server.(*net.TCPConn).CloseWrite()
				return
			}
			server.Write(bytes.ReplaceAll(buf[:n], []byte(old), []byte(new)))
		}
	}()
	io.Copy(client, server)
	server.Close()
}

// TestFindsWhatDiffers runs redis against one that was made to differ: in a reply, in the data
// alone, by a limit. It expects a stream of a few commands.
func TestFindsWhatDiffers(t *testing.T) {
	redis := newest(t)
	for _, c := range []struct {
		name, class string
		longest     int
		only        string
		args        []string
		old, new    string
		kind        string
	}{
		{name: "reply", class: "reply of incr", longest: 2, only: "incr,set,get,append",
			old: "$4\r\nINCR\r\n", new: "$4\r\nDECR\r\n"},
		{name: "state", class: "state:", longest: 2, only: "setnx,msetnx,setex",
			old: "\r\nfoobar\r\n", new: "\r\nfoobaz\r\n"},
		{name: "limit", class: "reply of select", longest: 1, only: "select,get,set",
			args: []string{"--databases", "2"}},
		{name: "message", class: "heard after", longest: 4, kind: "messages", old: "\r\nm\r\n",
			new: "\r\nn\r\n"},
		{name: "event", class: "heard after", longest: 5, kind: "messages", old: "\r\nKEA",
			new: "\r\nKEx"},
		{name: "invalidation", longest: 6, kind: "caching", old: "NOLOOP", new: "OPTOUT"},
		{name: "rule", class: "acl", longest: 4, kind: "users", old: "~a*", new: "~A*"},
		{name: "library", longest: 3, kind: "functions", old: "return keys", new: "return args"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			redis := redis
			if c.kind == "functions" { // Redis 8.0.6 crashes on them
				redis = reference(t, redis7)
			}
			ref, tested := start(t, redis, redis, c.args...)
			if c.old != "" {
				tested = diff.AttachServer("tested", lyingProxy(t, tested.Addr, c.old, c.new))
			}
			s := runSession(t, ref, tested,
				diff.Options{N: 20_000, Seed: *seed, Only: list(c.only), Save: t.TempDir(),
					Without: []string{"xadd"}, // its ids are of the clock
					Gen:     diff.GenConfig{Kinds: list(c.kind)}})
			if len(s.Findings) == 0 {
				t.Fatalf("nothing found:\n%s", report(s))
			}
			f := s.Findings[0]
			if !f.Reproduced || !strings.Contains(f.Class, c.class) || len(f.Stream) > c.longest {
				t.Fatalf("want at most %d commands about %q:\n%s", c.longest, c.class, report(s))
			}
			if stream, err := diff.ReadCase(f.File); err != nil || len(stream) != len(f.Stream) {
				t.Fatalf("%s: %d commands, %v", f.File, len(stream), err)
			}
		})
	}
}

// TestTellsMissingCommands renames a command away on the tested side.
func TestTellsMissingCommands(t *testing.T) {
	redis := newest(t)
	ref, tested := start(t, redis, redis, "--rename-command", "STRLEN", "")
	s := runSession(t, ref, tested,
		diff.Options{N: 1000, Seed: *seed, Families: []string{"string"}})
	if got := strings.Join(s.Coverage.Missing, " "); got != "strlen" {
		t.Fatalf("missing commands: %q", got)
	}
}

// binary builds the server under test and returns its path.
func binary(t *testing.T) string {
	t.Helper()
	if *godwit != "" {
		return *godwit
	}
	bin, err := testserver.Build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// TestGodwitEqualsReferences runs the short form of the long runs of the command.
func TestGodwitEqualsReferences(t *testing.T) {
	bin := binary(t)
	for _, name := range []string{redis8, valkey9, redis7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref, tested := start(t, reference(t, name), bin)
			s := runSession(t, ref, tested, diff.Options{N: *number, Seed: *seed, MaxFinds: 5})
			t.Log(report(s))
			if differs(s.Findings) {
				t.Fatalf("seed %d: %d classes of differences", *seed, len(s.Findings))
			}
		})
	}
}

// TestRegressions replays every stream that once showed a difference.
func TestRegressions(t *testing.T) {
	redis := newest(t)
	files, err := filepath.Glob(filepath.Join("testdata", "regress", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no streams saved yet")
	}
	ref, tested := start(t, redis, binary(t))
	r := diff.NewRunner(ref, tested, knownRules(t, ref), 3)
	defer r.Close()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			stream, err := diff.ReadCase(file)
			if err != nil {
				t.Fatal(err)
			}
			f, _, err := r.Exec(stream)
			if err != nil {
				t.Fatal(err)
			}
			if f != nil {
				t.Fatal(fmt.Sprint(f))
			}
		})
	}
}
