package crash

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"godwit/internal/freeport"
	"godwit/internal/invariant"
	"godwit/internal/resp/respclient"
	"godwit/internal/testbuild"
)

// patience is how long the test waits for what happens soon unless it is broken.
const patience = 60 * time.Second

// binaries is where the server is built, once for all tests.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "godwit-crash-bin-")
	if err != nil {
		panic(err)
	}
	binaries = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the server as the test itself is built; GODWIT_BIN names another one, which may be
// redis-server.
func build(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("GODWIT_BIN"); bin != "" {
		return bin
	}
	bin, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

var buildOnce = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(binaries, "godwit-server")
	var flags []string
	if raceEnabled {
		flags = append(flags, "-race")
	}
	if invariant.Enabled {
		flags = append(flags, "-tags", "invariants")
	}
	return bin, testbuild.Server(bin, flags...)
})

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	addr  string
	log   string
	done  chan struct{}
	doors *doors // other ways in than addr, nil for none
	dials atomic.Uint32
}

// start runs the server in dir and waits until it has loaded its data.
func start(bin, dir string, args []string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args = append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir}, args...)
	p := &process{cmd: exec.Command(bin, args...), addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), log: log.Name(), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // it is killed
		close(p.done)
	}()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if p.ready() {
			return p, p.persists(args)
		}
		select {
		case <-p.done:
			return nil, fmt.Errorf("the server does not start:\n%s", p.logTail())
		case <-time.After(2 * time.Millisecond):
		}
	}
	p.kill()
	return nil, fmt.Errorf("the server does not answer:\n%s", p.logTail())
}

// persists fails for a server that keeps no log although it was told to: the test would show nothing.
func (p *process) persists(args []string) error {
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	v, err := do(c, "INFO", "persistence")
	if err == nil && strings.Contains(strings.Join(args, " "), "appendonly yes") && !strings.Contains(v.Text(), "aof_enabled:1") {
		err = errors.New("the server does not keep a log")
	}
	return err
}

func freePort() (int, error) {
	return freeport.Port()
}

func (p *process) ready() bool {
	c, err := respclient.Dial("tcp", p.addr)
	if err != nil {
		return false
	}
	defer c.Close()
	v, err := c.Do("PING")
	return err == nil && v.Text() == "PONG"
}

// kill ends the process as kill -9 does, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

func (p *process) logTail() string {
	out, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(out[max(0, len(out)-6000):])
}

// waitForLog waits until the log contains text or the process has ended, within patience.
func (p *process) waitForLog(text string) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if out, _ := os.ReadFile(p.log); bytes.Contains(out, []byte(text)) {
			return
		}
		select {
		case <-p.done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// sick returns the log when it shows a data race or a panic.
func (p *process) sick() string {
	out, _ := os.ReadFile(p.log)
	for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: ", "[running]"} {
		if at := strings.Index(string(out), sign); at >= 0 {
			return string(out[at:min(len(out), at+8000)])
		}
	}
	return ""
}

// dial connects to the server: to its port, and by each of its doors in turn.
func (p *process) dial() (*respclient.Client, error) {
	if p.doors != nil {
		if n := int(p.dials.Add(1)) % (1 + len(p.doors.dials)); n > 0 {
			return p.doors.dials[n-1]()
		}
	}
	return respclient.Dial("tcp", p.addr)
}

// do runs a command that must not fail.
func do(c *respclient.Client, args ...any) (respclient.Value, error) {
	v, err := c.Do(args...)
	if err == nil && v.IsError() {
		err = errors.New(v.Text())
	}
	if err != nil {
		err = fmt.Errorf("%.200v: %w", args, err)
	}
	return v, err
}

// probe finds out what the server can do.
func (p *process) probe() (features, error) {
	c, err := p.dial()
	if err != nil {
		return features{}, err
	}
	defer c.Close()
	names := []any{"COMMAND", "INFO", "multi", "eval", "hpexpireat", "bf.insert", "geosearchstore", "function", "cf.insertnx", "cms.incrby", "topk.add",
		"tdigest.add", "cl.throttle"}
	v, err := do(c, names...)
	if err != nil || len(v.Elems) != len(names)-2 {
		return features{}, fmt.Errorf("COMMAND INFO: %v, %w", v, err)
	}
	known := func(i int) bool { return len(v.Elems[i].Elems) > 0 }
	return features{multi: known(0), script: known(1), fieldTTL: known(2), bloom: known(3), geo: known(4), functions: known(5),
		cuckoo: known(6), cms: known(7), topk: known(8), tdigest: known(9), throttle: known(10)}, nil
}
