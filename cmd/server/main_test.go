package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// asServer makes the test binary be the server. The tests are about a process, its exit code, its
// output and how it obeys signals.
const asServer = "GODWIT_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a running server.
type process struct {
	*testserver.Server
	t *testing.T
}

// launch starts a server in a folder of its own, with nothing but these arguments.
func launch(t *testing.T, stdin string, env []string, args ...string) *process {
	t.Helper()
	s, err := testserver.Launch(testserver.Options{Program: os.Args[0], Dir: testserver.Dir(t),
		Stdin: stdin, Env: append(env, asServer+"=1"), Args: args, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return &process{s, t}
}

// exits waits for the end of the process and checks its exit code and what it has said.
func (p *process) exits(code int, said ...string) {
	p.t.Helper()
	if got := p.Exited(p.t); got != code {
		p.t.Errorf("exit code %d, want %d\n%s", got, code, p.Output())
	}
	for _, s := range said {
		if !strings.Contains(p.Output(), s) {
			p.t.Errorf("it did not say %q:\n%s", s, p.Output())
		}
	}
}

// waitFor waits until the process has said it.
func (p *process) waitFor(text string) {
	p.t.Helper()
	if err := p.WaitLog(text); err != nil {
		p.t.Fatal(err)
	}
}

// eventually waits until cond holds.
func (p *process) eventually(what string, cond func() bool) {
	p.t.Helper()
	for end := time.Now().Add(testserver.Patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("still waiting for %s:\n%s", what, p.Output())
		}
	}
}

// serving starts a server on a unix socket alone, and waits until it answers.
func serving(t *testing.T, args ...string) (*process, *client.Client) {
	t.Helper()
	p := launch(t, "", nil,
		append([]string{"--port", "0", "--save", "", "--unixsocket", "s"}, args...)...)
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return p, p.Client(t)
}

func TestVersionAndHelp(t *testing.T) {
	for _, arg := range []string{"-v", "--version"} {
		launch(t, "", nil, arg).exits(0, "Godwit server v=", " sha=", " malloc=arena bits=",
			" build=")
	}
	for _, arg := range []string{"-h", "--help"} {
		launch(t, "", nil, arg).exits(0, "Usage: godwit-server")
	}
}

func TestBadStart(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	dir := t.TempDir()
	conf := filepath.Join(dir, "bad.conf")
	if err := os.WriteFile(conf, []byte("# fine\nport 0\nnonesuch 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--port", taken, "--bind", "127.0.0.1"},
			"Could not create server TCP listening socket 127.0.0.1:" + taken +
				": bind: Address already in use"},
		{[]string{conf}, "at line 3"},
		{[]string{filepath.Join(dir, "none.conf")}, "can't open config file"},
		{[]string{"--port", "x"}, "argument couldn't be parsed into an integer"},
		{[]string{"--port", "0", "--logfile", "/nonexistent/log"},
			"Can't open the log file: No such file or directory"},
		{[]string{"--port", "0", "--dir", "/nonexistent"}, "No such file or directory"},
		{[]string{"--port", "0", "--rename-command", "nonesuch", "x"},
			"No such command in rename-command"},
		{[]string{"--port", "0"}, "Configured to not listen anywhere, exiting."},
	} {
		launch(t, "", nil, c.args...).exits(1, c.want)
	}
}

func TestLife(t *testing.T) {
	p, c := serving(t, "--pidfile", "pid", "--loglevel", "verbose")
	pid, err := os.ReadFile(filepath.Join(p.Dir, "pid"))
	if err != nil || strings.TrimSpace(string(pid)) != strconv.Itoa(p.Pid) {
		t.Errorf("pid file %q: %v", pid, err)
	}
	if err := p.Signal(syscall.SIGHUP); err != nil { // ignored
		t.Fatal(err)
	}
	if v, err := c.Do("ping"); err != nil || v.Text() != "PONG" {
		t.Fatal(v, err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.exits(0, "oO0OoO0OoO0Oo Godwit is starting", "Godwit version=", "just started",
		"Configuration loaded", "Running mode=standalone, port=0.",
		"# Server initialized", "Ready to accept connections unix s", "Accepted connection to s",
		"Received SIGTERM scheduling shutdown...",
		"User requested shutdown...", "Removing the pid file.", "Removing the unix socket file.",
		"is now ready to exit, bye bye...")
	for _, name := range []string{"s", "pid"} {
		if _, err := os.Stat(filepath.Join(p.Dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind: %v", name, err)
		}
	}
}

func TestShutdownCommand(t *testing.T) {
	p, c := serving(t)
	if v, err := c.Do("shutdown", "nosave"); err == nil {
		t.Errorf("answered with %v", v)
	}
	p.exits(0, "User requested shutdown...")
}

// TestSecondSignal ends a busy server, which cannot end in order.
func TestSecondSignal(t *testing.T) {
	p, c := serving(t, "--enable-debug-command", "yes")
	// In one turn with the sleep: nobody else has the executor between them.
	c.Queue("debug", "log", "busy from now on")
	c.Queue("debug", "sleep", "30")
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	p.waitFor("busy from now on")
	for range 2 {
		if err := p.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		p.waitFor("SIGINT scheduling shutdown")
	}
	p.exits(1, "Received SIGINT scheduling shutdown...", "You insist... exiting now.")
}

func TestDaemonize(t *testing.T) {
	p := launch(t, "pidfile pid\n", nil, "--port", "0", "--unixsocket", "s", "--daemonize", "yes",
		"--logfile", "log", "-")
	p.exits(0)
	p.eventually("an answer", func() bool { return testserver.Answers("unix", p.Socket) })
	c := p.Client(t)
	text, err := os.ReadFile(filepath.Join(p.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if pid <= 1 || pid == p.Pid {
		t.Fatalf("pid file: %q", text)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if sid, err := getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d of %d: %v", sid, pid, err)
	}
	if _, err := c.Do("shutdown"); err == nil {
		t.Error("shutdown was answered")
	}
	p.eventually("the last words of its log", func() bool {
		log, err := os.ReadFile(filepath.Join(p.Dir, "log"))
		return err == nil && strings.Contains(string(log), "bye bye...") &&
			strings.Contains(string(log), fmt.Sprintf("%d:M ", pid))
	})
}

// getsid reads a process's session from /proc.
func getsid(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	return strconv.Atoi(fields[3])
}

func TestSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	ln, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_ = ln.SetReadDeadline(time.Now().Add(testserver.Patience))
	p := launch(t, "", []string{"NOTIFY_SOCKET=" + path}, "--port", "0", "--unixsocket", "s",
		"--supervised", "systemd", "--daemonize", "yes")
	buf := make([]byte, 1000)
	n, err := ln.Read(buf)
	if err != nil || !strings.Contains(string(buf[:n]), "READY=1\n") {
		t.Fatalf("%q %v", buf[:n], err)
	}
	// It is supervised, so it did not go into the background.
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.exits(0)
}

// TestLogLines compares every line of the log with the format that log shippers know.
func TestLogLines(t *testing.T) {
	p, _ := serving(t)
	line := regexp.MustCompile(fmt.Sprintf(
		`^%d:[MC] \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} [.*#-] .+$`, p.Pid))
	for s := range strings.Lines(p.Output()) {
		if !line.MatchString(strings.TrimSuffix(s, "\n")) {
			t.Errorf("%q", s)
		}
	}
}
