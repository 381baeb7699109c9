// Package testserver starts servers for tests and tools: Godwit as Build makes it, the redis-server
// that the system has installed, the newest Redis and Valkey (Peer), which need not be there, and
// any other program that takes redis-server's command line.
//
// A server is a process with a folder of its own, which holds its data and its log, and with a port
// that nobody else has. It has answered a PING when Start returns. It never outlives the process
// that started it, not even one that is killed.
//
//	s := testserver.Run(t, testserver.Options{Args: []string{"--appendonly", "yes"}})
//	c := s.Client(t)
package testserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/resp/client"
)

// Patience is how long to wait for what happens soon unless something is broken. Machines may be
// busy, and the race detector is slow.
const Patience = 60 * time.Second

// Options say which server to start, and how.
type Options struct {
	// Program is the server's path, "" for that of Binary.
	Program string
	// Dir is the folder that the server runs in. Run makes one if it is empty.
	Dir string
	// Args is the command line. What it does not say itself is put in front of it, behind the name
	// of a configuration file: a port of its own on 127.0.0.1, no save points, the folder.
	Args []string
	// Exact says that Args is the whole command line.
	Exact bool
	// Env is added to the environment, and Stdin is what the server reads.
	Env   []string
	Stdin string
	// Wrap is a command that runs the server, whose command line is appended to it.
	Wrap []string
}

// Server is one process.
type Server struct {
	Addr   string // of its plain TCP listener, "" if it has none
	Port   int
	Socket string // the path of its unix socket, "" if it has none
	Dir    string
	Log    string // the file of its standard output and standard error
	Pid    int

	opts Options
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// Run starts a server for a test, whose end ends it. The test fails if the server's log shows a
// panic or a data race. If the test fails, the end of the log is shown.
func Run(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = Dir(t)
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Finish(t) })
	return s
}

// Finish ends the server of a test, within a few seconds, and judges its log as Run says.
func (s *Server) Finish(t testing.TB) {
	t.Helper()
	_ = s.stop(10 * time.Second) // a test may leave it busy
	if bad := s.Sick(); bad != "" {
		t.Errorf("the log of the server %s:\n%s", s.cmd, bad)
	} else if t.Failed() {
		t.Logf("the end of the log of the server %s:\n%s", s.cmd, s.Tail())
	}
}

// Start starts a server and waits until it is ready. If somebody else has taken the port that was
// chosen for it, it takes another one.
func Start(o Options) (*Server, error) {
	for try := 1; ; try++ {
		s, err := Launch(o)
		if err != nil {
			return nil, err
		}
		if err = s.Ready(); err == nil {
			return s, nil
		}
		s.Kill()
		_, fixed := Argument(o.Args, "--port")
		taken := strings.Contains(strings.ToLower(s.Output()), "address already in use")
		if fixed || o.Exact || !taken || try == 3 {
			return nil, err
		}
	}
}

// Launch starts a server and returns at once.
func Launch(o Options) (*Server, error) {
	args := o.Args
	var err error
	if !o.Exact {
		if args, err = o.commandLine(); err != nil {
			return nil, err
		}
	}
	program := o.Program
	if program == "" {
		if program, err = Binary(); err != nil {
			return nil, err
		}
	}
	log, err := os.CreateTemp(o.Dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	words := slices.Concat(o.Wrap, []string{program}, args)
	s := &Server{Dir: o.Dir, Log: log.Name(), opts: o, done: make(chan struct{})}
	s.cmd = exec.Command(words[0], words[1:]...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = o.Dir, log, log
	s.cmd.Env = append(os.Environ(), o.Env...)
	if o.Stdin != "" {
		s.cmd.Stdin = strings.NewReader(o.Stdin)
	}
	s.listensOn(args)
	return s, s.start()
}

// commandLine returns Args with what they lack.
func (o Options) commandLine() (args []string, err error) {
	rest := o.Args
	if len(rest) > 0 && !strings.HasPrefix(rest[0], "--") { // a configuration file
		args, rest = append(args, rest[0]), rest[1:]
	}
	if _, fixed := Argument(rest, "--port"); !fixed {
		port, err := Port()
		if err != nil {
			return nil, err
		}
		args = append(args, "--port", strconv.Itoa(port))
	}
	for _, d := range [][2]string{{"--bind", "127.0.0.1"}, {"--save", ""}, {"--dir", o.Dir}} {
		if _, has := Argument(rest, d[0]); !has {
			args = append(args, d[0], d[1])
		}
	}
	return append(args, rest...), nil
}

// listensOn takes the server's addresses from its command line.
func (s *Server) listensOn(args []string) {
	if port, _ := Argument(args, "--port"); port != "" && port != "0" {
		s.Port, _ = strconv.Atoi(port)
		s.Addr = net.JoinHostPort("127.0.0.1", port)
	}
	if path, ok := Argument(args, "--unixsocket"); ok {
		if s.Socket = path; !filepath.IsAbs(path) {
			s.Socket = filepath.Join(s.Dir, path)
		}
	}
}

// start starts the process. The thread that does so lives as long as the process: see
// endWithParent.
func (s *Server) start() error {
	endWithParent(s.cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait() // ExitCode tells
			close(s.done)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.Pid = s.cmd.Process.Pid
	return nil
}

// Ready waits until the server Answers. A server without an address is taken to be ready.
func (s *Server) Ready() error {
	if s.Addr == "" && s.Socket == "" {
		return nil
	}
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		network, addr := s.network()
		if Answers(network, addr) {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("%s does not start: code %d:\n%s", s.cmd, s.ExitCode(), s.Tail())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s does not answer:\n%s", s.cmd, s.Tail())
}

// Answers reports whether a server at the address answers PING, be it to ask for a password. One
// that is still loading its data does not answer.
func Answers(network, addr string) bool {
	c, err := client.Dial(network, addr)
	if err != nil {
		return false
	}
	defer c.Close()
	v, err := c.Do("PING")
	return err == nil && !strings.HasPrefix(v.Text(), "LOADING")
}

// Argument returns the value of a directive in a command line: the last one, which counts.
func Argument(args []string, name string) (value string, ok bool) {
	for i, a := range args {
		if a == name && i+1 < len(args) {
			value, ok = args[i+1], true
		}
	}
	return value, ok
}

// Dir returns a folder that goes with the test. Unlike that of t.TempDir its name is short enough
// for a socket's.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// errAlive is the error of a server that does not end when it is told to.
var errAlive = errors.New("does not end")
