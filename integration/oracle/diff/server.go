package diff

import (
	"fmt"
	"os"
	"path/filepath"

	"godwit/internal/testserver"
)

// Server is one side of the comparison: a child process, or an address that somebody else keeps
// alive.
type Server struct {
	Name string // "redis" or "godwit", for reports
	Addr string

	child *testserver.Server // nil: somebody else's
}

// StartServer starts a server binary on a free loopback port, with persistence off and debug
// commands on. Both servers take redis-server's command line.
func StartServer(name, bin, dir string, extra ...string) (*Server, error) {
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	args := []string{"--appendonly", "no", "--enable-debug-command", "yes", "--loglevel", "notice"}
	child, err := testserver.Start(
		testserver.Options{Program: bin, Dir: dir, Args: append(args, extra...)})
	if err != nil {
		return &Server{}, fmt.Errorf("%s: %w", name, err)
	}
	return &Server{Name: name, Addr: child.Addr, child: child}, nil
}

// AttachServer returns a server that is already running.
func AttachServer(name, addr string) *Server { return &Server{Name: name, Addr: addr} }

// dir returns the folder of the child's files, "" for an attached server.
func (s *Server) dir() string {
	if s.child == nil {
		return ""
	}
	return s.child.Dir
}

// LogTail returns the end of what the child wrote, for reports of its death.
func (s *Server) LogTail() string {
	if s.child == nil {
		return ""
	}
	return s.child.Tail()
}

// Dead reports whether the child process has ended, and how. It never reports an attached server as
// dead: its connections fail instead.
func (s *Server) Dead() (error, bool) {
	if s.child == nil || !s.child.Ended() {
		return nil, false
	}
	return fmt.Errorf("%s ended with code %d", s.Name, s.child.ExitCode()), true
}

// Revive starts the child again after its death.
func (s *Server) Revive() error {
	if _, dead := s.Dead(); !dead {
		return nil
	}
	child, err := s.child.Restart()
	if err == nil {
		s.child, s.Addr = child, child.Addr
	}
	return err
}

// Stop ends the child process. It leaves an attached server alone.
func (s *Server) Stop() {
	if s.child != nil {
		s.child.Kill()
	}
}
