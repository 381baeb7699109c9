package hostile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// memoryLimit is maxmemory while commands come. One command can make a filter of gigabytes, and
// SAVE of that takes minutes on a slow disk.
const memoryLimit = "96mb"

// patience is how long the server may take to answer or to end. The machine may be busy with other
// tests.
const patience = testserver.Patience

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// process is a running server.
type process struct {
	*testserver.Server
	more []string // arguments of its mode
	self string   // the id of the node, if it is one of a cluster
}

// start runs the server in dir, with its invariants checked, and waits until it answers.
func start(t *testing.T, dir string, more []string) *process {
	flags := []string{"-tags", "invariants"}
	if testserver.Race {
		flags = append(flags, "-race")
	}
	bin, err := testserver.BinaryWith(flags...)
	require.NoError(t, err)
	s, err := testserver.Start(testserver.Options{Program: bin, Dir: dir,
		Args: append([]string{"--unixsocket", "s", "--enable-debug-command", "yes",
			"--maxclients", "200", "--loglevel", "warning", "--busy-reply-threshold", "1000",
			"--client-query-buffer-limit", "64mb",
			"--client-output-buffer-limit", "normal 64mb 0 0 pubsub 8mb 0 0",
			"--latency-tracking", "no",
			"--maxmemory", memoryLimit}, more...),
		Env: []string{"GOTRACEBACK=crash"}}) // dump needs the stacks of all threads
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	p := &process{Server: s, more: more}
	p.join(t)
	return p
}

// ping sends a PING. A command of another client may close the connection, and ping then uses a new
// one. Under maxmemory-clients that can go on for as long as a protected client takes more than the
// limit.
func (p *process) ping() error {
	v, err := p.Do("PING")
	for end := time.Now().Add(patience); !p.Ended() && closed(err) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		v, err = p.Do("PING")
	}
	if err == nil && v.Text() != "PONG" && !strings.HasPrefix(v.Text(), "BUSY") &&
		!strings.HasPrefix(v.Text(), "LOADING") &&
		!strings.HasPrefix(v.Text(), "MISCONF") {
		err = fmt.Errorf("PING is answered %s", v.Text())
	}
	return err
}

// closed reports whether the server closed the connection. A timeout is not that.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// dump ends a server that does not answer, and makes it write what it was doing.
func (p *process) dump() {
	_ = p.Signal(syscall.SIGQUIT)
	select {
	case <-p.Done():
	case <-time.After(5 * time.Second):
	}
}

// text returns the reply of a command that must succeed.
func (p *process) text(t *testing.T, args ...any) string {
	t.Helper()
	v, err := p.Do(args...)
	require.NoError(t, err, "%q\n%s", args, p.Tail())
	require.False(t, v.IsError(), "%q: %s", args, v.Text())
	return v.Text()
}

// stop ends the server in order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Stop())
	require.Zero(t, p.ExitCode(), p.Tail())
}
