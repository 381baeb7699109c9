package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"godwit/internal/testserver"
)

// settings say which servers to start, and what happens to the master.
type settings struct {
	kind      testserver.Kind // of the servers
	sentinels testserver.Kind // whose Sentinels watch them
	conf      string          // the path of conf/sentinel.conf
	args      []string        // of each server
	replicas  int
	downAfter time.Duration
	failover  time.Duration // Sentinel's failover-timeout
	writers   int
	pause     time.Duration // of a writer after each write
	quick     bool          // the Sentinels do not take their time
	freeze    bool          // the master is stopped with SIGSTOP, not killed
}

// defaults returns the settings of the demonstration.
func defaults() settings {
	return settings{kind: testserver.Godwit, sentinels: testserver.Redis7,
		conf: "conf/sentinel.conf", replicas: 2, downAfter: time.Second,
		failover: 5 * time.Second, writers: 4, pause: time.Millisecond}
}

// group is a master with replicas and Sentinels.
type group struct {
	settings
	servers   []*testserver.Server // servers[0] is the master at the beginning
	sentinels *testserver.Sentinels
}

// startGroup starts everything below a folder and waits until a failover would succeed. stop ends
// what has been started, also after an error.
func startGroup(s settings, dir string) (*group, error) {
	g := &group{settings: s, sentinels: &testserver.Sentinels{}}
	for i := range s.replicas + 1 {
		if err := g.startServer(filepath.Join(dir, fmt.Sprintf("server%d", i+1))); err != nil {
			return g, err
		}
	}
	master, replicas := g.servers[0], g.servers[1:]
	for _, r := range replicas {
		if err := errors.Join(r.Follow(master), r.WaitLink()); err != nil {
			return g, err
		}
	}
	program, err := s.sentinels.FindSentinel()
	if err != nil {
		return g, err
	}
	g.sentinels, err = testserver.StartSentinels(testserver.SentinelOptions{Program: program,
		Conf: s.conf, Dir: dir, Count: 3, Master: master, DownAfter: s.downAfter,
		FailoverTimeout: s.failover, Quick: s.quick})
	if err != nil {
		return g, err
	}
	return g, g.sentinels.WaitReady(s.replicas)
}

func (g *group) startServer(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	o, err := g.kind.Options(dir, g.args...)
	if err != nil {
		return err
	}
	one, err := testserver.Start(o)
	if err == nil {
		g.servers = append(g.servers, one)
	}
	return err
}

// stop ends all processes.
func (g *group) stop() {
	g.sentinels.Stop()
	for _, s := range g.servers {
		s.Kill()
	}
}

// end takes the master away.
func (g *group) end() error {
	if g.freeze {
		return g.servers[0].Signal(syscall.SIGSTOP)
	}
	g.servers[0].Kill()
	return nil
}

// comeBack brings the old master back.
func (g *group) comeBack() error {
	old := g.servers[0]
	if g.freeze {
		return old.Signal(syscall.SIGCONT)
	}
	s, err := old.Restart()
	if err == nil {
		g.servers[0] = s
	}
	return err
}

// promoted waits until the Sentinels agree on a new master, and returns it and the other servers
// but the old master.
func (g *group) promoted(ctx context.Context) (master *testserver.Server,
	rest []*testserver.Server, err error) {
	old := g.servers[0].Addr
	addr := old
	for addr == old {
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return nil, nil, err
		}
		if addr, err = g.sentinels.Master(g.sentinels.Servers[0]); err != nil {
			return nil, nil, err
		}
	}
	if err := g.sentinels.WaitMaster(addr); err != nil {
		return nil, nil, err
	}
	for _, s := range g.servers[1:] {
		if s.Addr == addr {
			master = s
		} else {
			rest = append(rest, s)
		}
	}
	if master == nil {
		err = fmt.Errorf("the new master is %s, which nobody has started", addr)
	}
	return master, rest, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
