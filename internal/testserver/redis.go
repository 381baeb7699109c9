package testserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Program returns the path of one of the installed Redis's programs. Without it the test is
// skipped, except in CI, where that is a failure.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "no "+name+" to compare with")
	}
	return path
}

// Missing ends a test that lacks a server: it is skipped, but fails in CI.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// StartRedis starts the installed redis-server for the test, in the folder, or in one of its own if
// dir is "". The server listens on a unix socket and nothing else. It saves nothing by itself and
// keeps no log unless args, which come last, say so.
func StartRedis(t testing.TB, dir string, args ...string) *Server {
	t.Helper()
	return startSocket(t, Program(t, "redis-server"), dir, args)
}

// startSocket starts the program at path, which is a redis-server or a valkey-server.
func startSocket(t testing.TB, path, dir string, args []string) *Server {
	t.Helper()
	if dir == "" {
		dir = Dir(t)
	}
	own := []string{"--port", "0", "--unixsocket", filepath.Join(dir, "s"), "--appendonly", "no"}
	s, err := Start(Options{Program: path, Dir: dir, Args: append(own, args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}
