package testserver

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

// Kind is a server that can be a master or a replica of servers of any kind.
type Kind string

// The kinds: Godwit, the installed Redis 7.0, and the newest peers.
const (
	Godwit  Kind = "godwit"
	Redis7  Kind = "redis7"
	Redis8  Kind = "redis8"
	Valkey9 Kind = "valkey9"
)

// Kinds returns all kinds, Godwit first.
func Kinds() []Kind { return []Kind{Godwit, Redis7, Redis8, Valkey9} }

// Find returns the path of the kind's server for tools.
func (k Kind) Find() (string, error) {
	switch k {
	case Redis7:
		return exec.LookPath("redis-server")
	case Redis8:
		return Redis.Find("server")
	case Valkey9:
		return Valkey.Find("server")
	}
	return Binary()
}

// FindSentinel returns the path of the Sentinel that comes with the kind. Godwit is watched by the
// distribution's.
func (k Kind) FindSentinel() (string, error) {
	switch k {
	case Redis8:
		return Redis.Find("sentinel")
	case Valkey9:
		return Valkey.Find("sentinel")
	}
	return exec.LookPath("redis-sentinel")
}

// Program returns the path of the kind's server. Without it the test is skipped, except in CI,
// where that is a failure.
func (k Kind) Program(t testing.TB) string {
	t.Helper()
	path, err := k.Find()
	if err != nil && k == Godwit {
		t.Fatal(err)
	}
	if err != nil {
		Missing(t, err.Error())
	}
	return path
}

// quick are directives that keep replication from waiting for what tests do not have.
var quick = [][2]string{
	{"--repl-diskless-sync-delay", "0"}, {"--repl-ping-replica-period", "1"},
	{"--appendonly", "no"}, {"--enable-debug-command", "yes"},
}

// Options returns the options of a server of the kind that takes part in replication. Unless args
// say otherwise, full syncs begin at once, masters ping every second, and nothing is saved. The
// server keeps its port when it is started again.
func (k Kind) Options(dir string, args ...string) (Options, error) {
	program, err := k.Find()
	if err != nil {
		return Options{}, err
	}
	if _, fixed := Argument(args, "--port"); !fixed {
		port, err := Port()
		if err != nil {
			return Options{}, err
		}
		args = append([]string{"--port", strconv.Itoa(port)}, args...)
	}
	for _, d := range quick {
		if _, has := Argument(args, d[0]); !has {
			args = append(args, d[0], d[1])
		}
	}
	return Options{Program: program, Dir: dir, Args: slices.Clip(args)}, nil
}

// Run starts a server of the kind for a test, as Options says.
func (k Kind) Run(t testing.TB, args ...string) *Server {
	t.Helper()
	k.Program(t) // or skip
	o, err := k.Options(Dir(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	return Run(t, o)
}

// Again starts a server that has ended once more, for a test, at the same port and in the same
// folder.
func (s *Server) Again(t testing.TB, args ...string) *Server {
	t.Helper()
	o := s.opts
	o.Args = slices.Concat(o.Args, args)
	return Run(t, o)
}
