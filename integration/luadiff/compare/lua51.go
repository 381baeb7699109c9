package compare

import (
	"bufio"
	_ "embed" // for the driver
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

//go:embed lua51.lua
var driver string

// patience is how long a program may run.
const patience = 3 * time.Second

// Lua51 is the reference implementation of Lua 5.1, one process for all programs.
type Lua51 struct {
	path string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// NewLua51 starts lua5.1. It returns ErrMissing if that is not installed.
func NewLua51() (*Lua51, error) {
	path, err := exec.LookPath("lua5.1")
	if err != nil {
		return nil, fmt.Errorf("lua5.1: %w", ErrMissing)
	}
	l := &Lua51{path: path}
	return l, l.start()
}

func (l *Lua51) start() error {
	// What shrinking leaves of a program may ask for a lot of memory.
	l.cmd = exec.Command("sh", "-c", "ulimit -v 2000000; exec \"$@\"", "sh", l.path, "-e", driver)
	in, err := l.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	l.in, l.out = in, bufio.NewReader(out)
	return l.cmd.Start()
}

// Close implements Engine.
func (l *Lua51) Close() {
	l.in.Close()
	_ = l.cmd.Process.Kill()
	_ = l.cmd.Wait()
}

// Run implements Engine. A program that does not end costs a new process.
func (l *Lua51) Run(programs ...string) ([]string, error) {
	results := make([]string, len(programs))
	for i, p := range programs {
		late := false
		process := l.cmd.Process
		timer := time.AfterFunc(patience, func() { late = true; _ = process.Kill() })
		result, err := l.run(p)
		timer.Stop()
		if err != nil {
			l.Close()
			if err := l.start(); err != nil {
				return nil, err
			}
			if result = Timeout; !late {
				result = "crash: " + err.Error()
			}
		}
		results[i] = result
	}
	return results, nil
}

func (l *Lua51) run(program string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n%s", len(program), program)
	if _, err := io.WriteString(l.in, b.String()); err != nil {
		return "", err
	}
	var n int
	if _, err := fmt.Fscanf(l.out, "%d\n", &n); err != nil {
		return "", err
	}
	result := make([]byte, n)
	_, err := io.ReadFull(l.out, result)
	return string(result), err
}
