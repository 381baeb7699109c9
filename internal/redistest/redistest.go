// Package redistest starts real servers for tests that compare Godwit with them: the installed
// redis-server, and the newest Redis and Valkey (Peer), which need not be there.
package redistest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Program returns the path of one of Redis's programs. If it is not installed it skips the test,
// except in CI, where that is a failure.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, "no "+name+" to compare with")
	}
	return path
}

// missing ends a test that lacks a server: it skips it, but fails it in CI.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Server is a redis-server that ends with the test at the latest.
type Server struct {
	Socket string // the unix socket, the only thing that it listens on
	Dir    string
	cmd    *exec.Cmd
	once   sync.Once
}

// Start starts a server in the folder, or in one of its own if dir is "", which is removed after
// the test. It saves nothing by itself and keeps no log, unless args, which come last, say so. When
// Start returns, the server accepts connections; it may still be loading.
func Start(t testing.TB, dir string, args ...string) *Server {
	t.Helper()
	return start(t, Program(t, "redis-server"), dir, args...)
}

// start starts the program at path, which is a redis-server or a valkey-server.
func start(t testing.TB, path, dir string, args ...string) *Server {
	t.Helper()
	if dir == "" {
		dir = Dir(t)
	}
	s := &Server{Socket: filepath.Join(dir, "s"), Dir: dir}
	s.cmd = exec.Command(path,
		append([]string{"--port", "0", "--unixsocket", s.Socket, "--save", "", "--appendonly", "no",
			"--dir", dir}, args...)...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("unix", s.Socket)
		if err == nil {
			_ = c.Close()
			return s
		}
		if time.Now().After(end) {
			t.Fatal(filepath.Base(path), " does not answer: ", err)
		}
	}
}

// Stop kills the server and waits for its end.
func (s *Server) Stop() {
	s.once.Do(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
}

// Dir returns a folder that is removed after the test. Unlike t.TempDir, its name is short enough
// for a socket's.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
