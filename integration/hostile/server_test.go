package hostile

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/respclient"
	"godwit/internal/testbuild"
)

// memoryLimit is what holds while commands come: a filter of gigabytes is one command, and SAVE
// of it takes minutes on a slow disk.
const memoryLimit = "96mb"

// patience is how long the server may take to answer or to end. The machine may be busy with other
// tests.
const patience = 30 * time.Second

// build makes the server with its invariants checked; GODWIT_BIN names another one.
func build(t *testing.T) string {
	if bin := os.Getenv("GODWIT_BIN"); bin != "" {
		return bin
	}
	bin := filepath.Join(t.TempDir(), "godwit-server")
	flags := []string{"-tags", "invariants"}
	if raceEnabled {
		flags = append(flags, "-race")
	}
	require.NoError(t, testbuild.Server(bin, flags...))
	return bin
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	socket string
	log    string
	done   chan struct{}
}

// start runs the server in dir and waits for its PONG.
func start(t *testing.T, bin, dir string) *process {
	p := &process{socket: filepath.Join(dir, "s"), log: filepath.Join(dir, "log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer log.Close()
	p.cmd = exec.Command(bin, "--port", "0", "--unixsocket", p.socket, "--dir", dir, "--save", "", "--enable-debug-command", "yes",
		"--maxclients", "200", "--loglevel", "warning", "--busy-reply-threshold", "1000", "--client-query-buffer-limit", "64mb",
		"--client-output-buffer-limit", "normal 64mb 0 0 pubsub 8mb 0 0", "--latency-tracking", "no",
		"--maxmemory", memoryLimit)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), "GOTRACEBACK=crash") // dump wants the stacks of all threads
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the log says why
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	require.Eventually(t, func() bool { return p.ended() || p.ping() == nil }, patience, 5*time.Millisecond)
	require.False(t, p.ended(), "%s", p.tail())
	return p
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// do sends one command on a connection of its own.
func (p *process) do(args ...any) (respclient.Value, error) {
	conn, err := net.Dial("unix", p.socket)
	if err != nil {
		return respclient.Value{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return respclient.Value{}, err
	}
	return respclient.New(conn).Do(args...)
}

// ping asks for a PONG. Commands of others may have its connection closed, and under
// maxmemory-clients that of everybody for as long as a protected client takes more than the limit:
// then it asks on another one.
func (p *process) ping() error {
	v, err := p.do("PING")
	for end := time.Now().Add(patience); !p.ended() && closed(err) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		v, err = p.do("PING")
	}
	if err == nil && v.Text() != "PONG" && !strings.HasPrefix(v.Text(), "BUSY") && !strings.HasPrefix(v.Text(), "LOADING") &&
		!strings.HasPrefix(v.Text(), "MISCONF") {
		err = fmt.Errorf("PING is answered %s", v.Text())
	}
	return err
}

// closed reports whether the server closed the connection, rather than not to answer.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// dump ends a server that does not answer, and has it write what it was doing.
func (p *process) dump() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
}

// text is the answer to a command that must succeed.
func (p *process) text(t *testing.T, args ...any) string {
	t.Helper()
	v, err := p.do(args...)
	require.NoError(t, err, "%q\n%s", args, p.tail())
	require.False(t, v.IsError(), "%q: %s", args, v.Text())
	return v.Text()
}

// stop ends the server in order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("the server does not end\n%s", p.tail())
	}
	require.Zero(t, p.cmd.ProcessState.ExitCode(), p.tail())
}

// tail is the end of the server's log: of a trace, the stacks that are in our code.
func (p *process) tail() string {
	raw, _ := os.ReadFile(p.log)
	log := string(raw)
	for _, begin := range []string{"panic: ", "SIGQUIT: "} {
		if i := strings.Index(log, begin); i >= 0 {
			head, stacks, _ := strings.Cut(log[i:], "\n\n")
			log = head
			for s := range strings.SplitSeq(stacks, "\n\n") {
				if strings.Contains(s, "godwit/") {
					log += "\n\n" + s[:min(len(s), 4000)]
				}
			}
			return log[:min(len(log), 30000)]
		}
	}
	return log[max(0, len(log)-4000):]
}
