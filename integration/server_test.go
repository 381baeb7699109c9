// Package integration drives the built server as its users do: real clients over real sockets, signals, files, restarts.
//
// GODWIT_BIN names another binary to test instead of the one that the tests build, which may be redis-server: what is Godwit's alone is
// skipped then, and everything else must hold for both.
package integration

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"godwit/internal/freeport"
	"godwit/internal/invariant"
	"godwit/internal/resp/respclient"
	"godwit/internal/testbuild"
)

// patience is how long a test waits for something that happens soon unless it is broken.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{}) // what it has to say is the purpose of half of the tests
	code := m.Run()
	if !shared.stop() && code == 0 {
		code = 1
	}
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the binary under test.
var built struct {
	once   sync.Once
	dir    string
	path   string
	godwit bool // not redis-server
	err    error
}

// serverBinary builds ./cmd/server once, as the tests themselves are built: under -race its races
// fail the tests too.
func serverBinary() (string, error) {
	built.once.Do(func() {
		if built.path = os.Getenv("GODWIT_BIN"); built.path == "" {
			if built.dir, built.err = os.MkdirTemp("", "godwit-integration-"); built.err != nil {
				return
			}
			built.path = filepath.Join(built.dir, "godwit-server")
			var flags []string
			if raceEnabled {
				flags = append(flags, "-race")
			}
			if invariant.Enabled {
				flags = append(flags, "-tags", "invariants")
			}
			if built.err = testbuild.Server(built.path, flags...); built.err != nil {
				return
			}
		}
		out, err := exec.Command(built.path, "--version").Output()
		if err != nil {
			built.err = fmt.Errorf("%s --version: %w", built.path, err)
		}
		built.godwit = bytes.HasPrefix(out, []byte("Godwit"))
	})
	return built.path, built.err
}

// godwitOnly skips what redis-server does differently, or not at all.
func godwitOnly(t testing.TB) {
	t.Helper()
	if _, err := serverBinary(); err != nil {
		t.Fatal(err)
	}
	if !built.godwit {
		t.Skip("the binary under test is not Godwit")
	}
}

// server is one running server process.
type server struct {
	Addr string // of its plain TCP listener; empty with --port 0
	Port int
	Pid  int
	Log  string // the file of its standard output and standard error
	Dir  string // its working directory

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	once sync.Once
}

// startServer runs the server with args on a free port (unless args has --port), without persistence, and waits for its PONG. The end of the
// test ends the process. A log that shows a data race or a panic fails the test.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	s, err := launchReady(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		if bad := s.misbehaved(); bad != "" {
			t.Errorf("the server's log:\n%s", bad)
		} else if t.Failed() {
			t.Logf("end of the server's log:\n%s", s.logTail())
		}
	})
	return s
}

// launchReady is startServer without a test.
func launchReady(dir string, args ...string) (*server, error) {
	var last error
	for range 3 { // somebody else may take the port between its choice and the server's bind
		port, fixed := argument(args, "--port")
		if !fixed {
			port = strconv.Itoa(freePort())
		}
		s, err := launch(dir, nil, withDefaults(dir, port, args)...)
		if err != nil {
			return nil, err
		}
		if port == "0" {
			return s, nil // the caller knows how to reach it
		}
		s.Port, _ = strconv.Atoi(port)
		s.Addr = net.JoinHostPort("127.0.0.1", port)
		if last = s.waitReady(); last == nil {
			return s, nil
		}
		s.Stop()
		if fixed {
			break
		}
	}
	return nil, last
}

// withDefaults puts what every server of the tests has before args, but after the name of a configuration file.
func withDefaults(dir, port string, args []string) []string {
	var out []string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		out, args = append(out, args[0]), args[1:]
	}
	for _, d := range [][2]string{{"--port", port}, {"--bind", "127.0.0.1"}, {"--save", ""}, {"--dir", dir}} {
		if _, has := argument(args, d[0]); !has {
			out = append(out, d[0], d[1])
		}
	}
	return append(out, args...)
}

// launch starts a process with exactly these arguments.
func launch(dir string, stdin []byte, args ...string) (*server, error) {
	bin, err := serverBinary()
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &server{Log: log.Name(), Dir: dir, done: make(chan struct{}), cmd: exec.Command(bin, args...)}
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, log, log
	if stdin != nil {
		s.cmd.Stdin = bytes.NewReader(stdin)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.Pid = s.cmd.Process.Pid
	go func() {
		_ = s.cmd.Wait() // ExitCode tells
		close(s.done)
	}()
	return s, nil
}

func (s *server) waitReady() error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if answers("tcp", s.Addr) {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("the server ended at its start with code %d:\n%s", s.ExitCode(), s.logTail())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return fmt.Errorf("the server does not answer:\n%s", s.logTail())
}

// answers reports whether something speaks RESP there, be it to ask for a password.
func answers(network, addr string) bool {
	c, err := respclient.Dial(network, addr)
	if err != nil {
		return false
	}
	defer c.Close()
	v, err := c.Do("PING")
	return err == nil && (v.Text() == "PONG" || strings.HasPrefix(v.Text(), "NOAUTH"))
}

// Stop ends the process, in order if it will.
func (s *server) Stop() {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-s.done:
		case <-time.After(10 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.done
		}
	})
}

// Exited waits for the end of the process and returns its exit code; -1 is a signal.
func (s *server) Exited(t testing.TB) int {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Fatalf("the server does not end:\n%s", s.logTail())
	}
	return s.ExitCode()
}

// ExitCode is valid once done is closed.
func (s *server) ExitCode() int { return s.cmd.ProcessState.ExitCode() }

// Output is everything that the process has written.
func (s *server) Output() string {
	b, err := os.ReadFile(s.Log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (s *server) logTail() string {
	out := s.Output()
	return out[max(0, len(out)-4000):]
}

var crash = regexp.MustCompile(`(?s)(WARNING: DATA RACE|panic: |fatal error: |goroutine \d+ \[running\]).*`)

// misbehaved returns the log from the first sign of a crash or a race.
func (s *server) misbehaved() string {
	bad := crash.FindString(s.Output())
	return bad[:min(len(bad), 8000)]
}

// argument finds the value of a directive in a command line.
func argument(args []string, name string) (string, bool) {
	for i, a := range args {
		if a == name && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// freePort is a port of the loopback interface that was free a moment ago.
func freePort() int {
	port, err := freeport.Port()
	if err != nil {
		panic(err) // no test can go on
	}
	return port
}

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("still waiting: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// dial opens a connection that the end of the test closes.
func (s *server) dial(t testing.TB) *respclient.Client {
	t.Helper()
	c, err := respclient.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// do runs a command that must not fail.
func do(t testing.TB, c *respclient.Client, args ...any) respclient.Value {
	t.Helper()
	v, err := c.Do(args...)
	if err == nil && v.IsError() {
		err = errors.New(v.Text())
	}
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}
