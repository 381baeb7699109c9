// Package redistest starts real servers for tests that hold Godwit against them: the redis-server
// that the system has installed, and the newest Redis and Valkey (Peer), which need not be there.
package redistest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"godwit/internal/testserver"
)

// Program is the path of one of Redis's programs. Where it is not installed the test is skipped, except in CI, where that is a failure.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, "no "+name+" to compare with")
	}
	return path
}

// missing ends a test that lacks a server: it is skipped, but fails in CI.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Start starts a redis-server in the folder, "" for one of its own, that goes with the test. It
// listens on a unix socket and nothing else. It saves nothing by itself and keeps no log unless
// args, which come last, say so.
func Start(t testing.TB, dir string, args ...string) *testserver.Server {
	t.Helper()
	return start(t, Program(t, "redis-server"), dir, args...)
}

// start starts the program at path, which is a redis-server or a valkey-server.
func start(t testing.TB, path, dir string, args ...string) *testserver.Server {
	t.Helper()
	if dir == "" {
		dir = testserver.Dir(t)
	}
	s, err := testserver.Start(testserver.Options{Program: path, Dir: dir,
		Args: append([]string{"--port", "0", "--unixsocket", filepath.Join(dir, "s"), "--appendonly", "no"}, args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}
