package testserver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"godwit/internal/resp/client"
)

// Done returns a channel that is closed when the process has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Ended reports whether the process has ended.
func (s *Server) Ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// ExitCode returns the exit code of a process that has ended, -1 after a signal.
func (s *Server) ExitCode() int { return s.cmd.ProcessState.ExitCode() }

// Signal sends a signal. A process that has ended is an error.
func (s *Server) Signal(sig os.Signal) error { return s.cmd.Process.Signal(sig) }

// Freeze stops the process by SIGSTOP, and waits until all its threads stand still: on a busy
// machine some go on for a while.
func (s *Server) Freeze() error {
	if err := s.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	tasks := filepath.Join("/proc", strconv.Itoa(s.Pid), "task", "*", "stat")
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if stopped(tasks) {
			return nil
		}
	}
	return fmt.Errorf("%s does not stop", s.cmd)
}

// stopped reports whether all threads are stopped, by what Linux shows of them.
func stopped(tasks string) bool {
	list, _ := filepath.Glob(tasks)
	return !slices.ContainsFunc(list, func(path string) bool {
		text, err := os.ReadFile(path)
		_, rest, _ := bytes.Cut(text, []byte(") "))
		return err == nil && !bytes.HasPrefix(rest, []byte("T"))
	})
}

// Kill ends the process as kill -9 does, and waits for its end.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.done
}

// Stop asks the server to end and waits until it has. After Patience it is killed, which is an
// error.
func (s *Server) Stop() error { return s.stop(Patience) }

func (s *Server) stop(within time.Duration) error {
	_ = s.Signal(syscall.SIGTERM) // it may have ended
	if err := s.await(within); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// await waits for the end of the process.
func (s *Server) await(within time.Duration) error {
	select {
	case <-s.done:
		return nil
	case <-time.After(within):
		return fmt.Errorf("%s %w:\n%s", s.cmd, errAlive, s.Tail())
	}
}

// Exited waits for the end of the process and returns its exit code.
func (s *Server) Exited(t testing.TB) int {
	t.Helper()
	if err := s.await(Patience); err != nil {
		t.Fatal(err)
	}
	return s.ExitCode()
}

// Restart starts the server again in its folder, with the same options. If its port was chosen for
// it, it gets another one.
func (s *Server) Restart() (*Server, error) { return Start(s.opts) }

// network returns where the server listens.
func (s *Server) network() (network, addr string) {
	if s.Addr != "" {
		return "tcp", s.Addr
	}
	return "unix", s.Socket
}

// Dial connects to the server: by TCP, or by its unix socket if it has no port.
func (s *Server) Dial() (*client.Client, error) {
	c, err := client.Dial(s.network())
	if err != nil {
		return nil, err
	}
	c.Timeout = Patience
	return c, nil
}

// Client returns a connection that the end of the test closes.
func (s *Server) Client(t testing.TB) *client.Client {
	t.Helper()
	c, err := s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Do sends one command on a connection of its own.
func (s *Server) Do(args ...any) (client.Value, error) {
	c, err := s.Dial()
	if err != nil {
		return client.Value{}, err
	}
	defer c.Close()
	return c.Do(args...)
}

// Info returns the fields of an INFO reply.
func Info(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}

// RSS returns the resident bytes of a process, as Linux counts them.
func RSS(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm: %q", text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
