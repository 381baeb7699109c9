package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		return g.servers[0].Freeze()
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

// promoted waits until the Sentinels agree on another master than the first one.
func (g *group) promoted(ctx context.Context) error {
	for {
		if m := g.agreed(); m != nil && m != g.servers[0] {
			return nil
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// agreed returns the server that all Sentinels call the master, nil if they differ.
func (g *group) agreed() *testserver.Server {
	var addr string
	for i, s := range g.sentinels.Servers {
		got, err := g.sentinels.Master(s)
		if err != nil || i > 0 && got != addr {
			return nil
		}
		addr = got
	}
	for _, s := range g.servers {
		if s.Addr == addr {
			return s
		}
	}
	return nil
}

// settled waits until all servers follow the one that the Sentinels call the master, and returns
// it and the others. On a busy machine the Sentinels may change their minds once more.
func (g *group) settled(ctx context.Context) (master *testserver.Server,
	rest []*testserver.Server, err error) {
	for {
		if master = g.agreed(); master != nil {
			rest = slices.DeleteFunc(slices.Clone(g.servers), func(s *testserver.Server) bool {
				return s == master
			})
			if !slices.ContainsFunc(rest, func(s *testserver.Server) bool {
				return !follows(s, master)
			}) {
				return master, rest, nil
			}
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return nil, nil, err
		}
	}
}

// follows reports whether a server is a linked replica of the master.
func follows(s, master *testserver.Server) bool {
	_, port := master.HostPort()
	info, err := s.Info("replication")
	return err == nil && info["role"] == "slave" && info["master_port"] == port &&
		info["master_link_status"] == "up"
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
