package soak

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/freeport"
	"godwit/internal/resp/respclient"
	"godwit/internal/testbuild"
)

// patience is how long a server may take for what is soon done unless it hangs.
const patience = 60 * time.Second

// binaries is the folder that the server is built into.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "godwit-soak-")
	if err != nil {
		panic(err)
	}
	binaries = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build returns the server's path. It builds the server unless GODWIT_BIN names one.
func build() (string, error) {
	if bin := os.Getenv("GODWIT_BIN"); bin != "" {
		return bin, nil
	}
	return buildOnce()
}

var buildOnce = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(binaries, "godwit-server")
	return bin, testbuild.Server(bin, "-trimpath", "-ldflags", "-s -w")
})

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	addr string
	dir  string
	log  string
	done chan struct{}
}

// launch starts a server in a folder of its own and waits until it answers.
func launch(bin string) (*process, error) {
	dir, err := os.MkdirTemp(binaries, "data-")
	if err != nil {
		return nil, err
	}
	port, err := freeport.Port()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{dir: dir, log: log.Name(), done: make(chan struct{})}
	p.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p.cmd = exec.Command(bin, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--enable-debug-command", "local",
		"--busy-reply-threshold", "0") // a script that a busy machine delays is no error
	p.cmd.Stdout, p.cmd.Stderr = log, log
	endWithParent(p.cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // endWithParent
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the log tells why it ended
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, p.await()
}

// await waits until the server answers.
func (p *process) await() error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if c, err := respclient.Dial("tcp", p.addr); err == nil {
			v, err := c.Do("PING")
			c.Close()
			if err == nil && v.Text() == "PONG" {
				return nil
			}
		}
		select {
		case <-p.done:
			return fmt.Errorf("the server does not start:\n%s", p.tail())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return errors.Join(fmt.Errorf("the server does not answer:\n%s", p.tail()), p.end())
}

// end kills the server and removes its folder.
func (p *process) end() error {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
	return os.RemoveAll(p.dir)
}

// alive reports whether the process still runs.
func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// tail returns the end of the server's log.
func (p *process) tail() string {
	out, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(out[max(0, len(out)-3000):])
}

// rss returns the resident bytes of the process, as the system counts them.
func (p *process) rss() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
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

// info returns the fields of INFO's reply.
func info(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}
