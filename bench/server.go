//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"godwit/internal/testserver"
)

// server is one running server process.
type server struct{ *testserver.Server }

// start runs a server without persistence and waits until it answers PING.
func (b *bench) start(ctx context.Context, side int) (*server, error) {
	return b.startWith(ctx, side)
}

// startWith does what start does, with more arguments, which override the usual ones.
func (b *bench) startWith(ctx context.Context, side int, args ...string) (*server, error) {
	dir, err := os.MkdirTemp(b.dir, "server-")
	if err != nil {
		return nil, err
	}
	s, err := b.procs.start(testserver.Options{Program: b.contest[side].path, Dir: dir,
		Args: append([]string{"--appendonly", "no"}, args...)})
	if err != nil {
		return nil, err
	}
	if err := s.Ready(); err != nil {
		s.stop()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return s, nil
}

// stop kills the process and returns when it is reaped: what a server would do about its end takes
// time, and is not what is measured. It may be called more than once.
func (s *server) stop() {
	s.Kill()
	os.RemoveAll(s.Dir)
}

// procs keeps the servers that it has started, so that none is left behind.
type procs struct {
	mu      sync.Mutex
	started []*server
	closed  bool
}

func newProcs() *procs { return &procs{} }

func (p *procs) start(o testserver.Options) (*server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, context.Canceled
	}
	one, err := testserver.Launch(o)
	if err != nil {
		return nil, err
	}
	s := &server{one}
	p.started = append(p.started, s)
	return s, nil
}

// killAll ends every server and lets no new one start.
func (p *procs) killAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.started {
		s.Kill()
	}
}

// childAttr returns attributes that make the kernel end a child if this process dies without its
// clean-up.
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
