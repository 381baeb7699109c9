//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"godwit/internal/freeport"
)

const (
	startTimeout = time.Minute // with millions of keys to load
	stopTimeout  = 5 * time.Second
)

// server is one running server process.
type server struct {
	procs *procs
	side  int
	cmd   *exec.Cmd
	port  int
	dir   string
	out   *tailBuffer
	done  chan struct{} // closed once the process is reaped
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }
func (s *server) pid() int     { return s.cmd.Process.Pid }

// start runs a server without persistence and waits until it answers PING.
func (b *bench) start(ctx context.Context, side int) (*server, error) { return b.startWith(ctx, side) }

// startWith is start with more arguments, which override the usual ones.
func (b *bench) startWith(ctx context.Context, side int, args ...string) (*server, error) {
	var last error
	// Between choosing a free port and the server's bind somebody else can take it.
	for range 3 {
		s, err := b.launch(side, args)
		if err != nil {
			return nil, err
		}
		if last = s.waitReady(ctx); last == nil {
			return s, nil
		}
		s.stop()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, last
}

func (b *bench) launch(side int, args []string) (*server, error) {
	port, err := freeport.Port()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.dir, "server-")
	if err != nil {
		return nil, err
	}
	s := &server{procs: b.procs, side: side, port: port, dir: dir, out: &tailBuffer{}, done: make(chan struct{})}
	s.cmd = exec.Command(b.paths[side], append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", dir}, args...)...)
	s.cmd.Dir = dir
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.SysProcAttr = childAttr()
	if err := b.procs.start(s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(b.paths[side]), err)
	}
	return s, nil
}

func (s *server) waitReady(ctx context.Context) error {
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		select {
		case <-s.done:
			return fmt.Errorf("%s ended before it was ready; its last output:\n%s", s.cmd.Path, s.out)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		if c, err := dial(s.addr()); err == nil {
			reply, err := c.do("PING")
			c.close()
			if err == nil && reply == "PONG" {
				return nil
			}
		}
	}
	return fmt.Errorf("%s did not answer PING within %v; its last output:\n%s", s.cmd.Path, startTimeout, s.out)
}

// stop ends the process, first politely, and returns when it is reaped. It may be called more than once.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	os.RemoveAll(s.dir)
}

// procs knows the server processes that are alive, so that none is left behind.
type procs struct {
	mu     sync.Mutex
	alive  map[*server]struct{}
	closed bool
}

func newProcs() *procs { return &procs{alive: map[*server]struct{}{}} }

func (p *procs) start(s *server) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return context.Canceled
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	p.alive[s] = struct{}{}
	go func() {
		_ = s.cmd.Wait()
		p.mu.Lock()
		delete(p.alive, s)
		p.mu.Unlock()
		close(s.done)
	}()
	return nil
}

// killAll ends every server and lets no new one start.
func (p *procs) killAll() {
	p.mu.Lock()
	p.closed = true
	var left []*server
	for s := range p.alive {
		left = append(left, s)
		_ = s.cmd.Process.Kill()
	}
	p.mu.Unlock()
	for _, s := range left {
		<-s.done
	}
}

// childAttr makes the kernel end a child when this process dies without its clean-up.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// tool runs redis-benchmark or redis-cli to its end and returns its standard output.
func tool(ctx context.Context, stdin *os.File, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = childAttr()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// tailBuffer keeps the last few kilobytes written to it.
type tailBuffer struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	const limit = 4096
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - limit; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
