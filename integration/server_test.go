// Package integration drives the built server as its users do: with real clients over real sockets,
// signals, files and restarts.
//
// GODWIT_BIN names another binary to test instead of the one that the tests build. It may be
// redis-server. Then the tests skip what only Godwit does, and everything else must hold for both.
package integration

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

const (
	patience    = testserver.Patience
	raceEnabled = testserver.Race
)

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{}) // half of the tests cause what it would log
	// Most tests wait for servers most of the time. -parallel on the command line overrules this.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := m.Run()
	if !shared.stop() && code == 0 {
		code = 1
	}
	testserver.RemoveBuilds()
	os.Exit(code)
}

// built is the binary under test.
var built struct {
	once   sync.Once
	path   string
	godwit bool // not redis-server
	err    error
}

// serverBinary returns the path of the binary under test.
func serverBinary() (string, error) {
	built.once.Do(func() {
		if built.path, built.err = testserver.Binary(); built.err != nil {
			return
		}
		out, err := exec.Command(built.path, "--version").Output()
		if err != nil {
			built.err = fmt.Errorf("%s --version: %w", built.path, err)
		}
		built.godwit = bytes.HasPrefix(out, []byte("Godwit"))
	})
	return built.path, built.err
}

// godwitOnly skips a test of what redis-server does differently, or not at all.
func godwitOnly(t testing.TB) {
	t.Helper()
	if _, err := serverBinary(); err != nil {
		t.Fatal(err)
	}
	if !built.godwit {
		t.Skip("the binary under test is not Godwit")
	}
}

// server is a running server.
type server struct{ *testserver.Server }

// startServer runs the server with args until the test ends.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	s, err := launchReady(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Finish(t) })
	return s
}

// stop ends the server in an orderly way. The test fails if it does not end.
func (s *server) stop(t testing.TB) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
}

// launchReady starts the server in the folder and waits until it answers. The caller must end it.
func launchReady(dir string, args ...string) (*server, error) {
	if _, err := serverBinary(); err != nil {
		return nil, err
	}
	s, err := testserver.Start(testserver.Options{Dir: dir, Args: args})
	return &server{s}, err
}

// launch starts a process with exactly these arguments.
func launch(dir, stdin string, args ...string) (*server, error) {
	s, err := testserver.Launch(testserver.Options{Dir: dir, Stdin: stdin, Args: args, Exact: true})
	return &server{s}, err
}

// freePort returns a free port of the loopback interface.
func freePort() int {
	port, err := testserver.Port()
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
func (s *server) dial(t testing.TB) *client.Client {
	t.Helper()
	return s.Client(t)
}

// do runs a command that must not fail.
func do(t testing.TB, c *client.Client, args ...any) client.Value {
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

// startNewest does what startRedis does with Redis 8, which is right where versions differ.
func startNewest(t *testing.T, args ...string) string {
	t.Helper()
	bin := testserver.Redis.Program(t, "server")
	return testserver.Run(t, testserver.Options{Program: bin, Args: args}).Addr
}

// startRedis runs redis-server with args until the test ends, and returns its address. Without
// redis-server it skips the test, or fails it in CI.
func startRedis(t *testing.T, args ...string) string {
	t.Helper()
	bin := testserver.Program(t, "redis-server")
	return testserver.Run(t, testserver.Options{Program: bin, Args: args}).Addr
}
