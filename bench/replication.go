//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/testserver"
)

// replicationNames lists the measurements of `make bench-replication`.
var replicationNames = []string{"fullsync", "onereplica", "lag"}

// replicationTitles lists their sections.
var replicationTitles = []string{titleFullSync, titleSyncLatency, titleReplicaCost, titleApply,
	titleLag}

// Rows of the parts of replication.
const (
	rowAlone      = "alone"
	rowElsewhere  = "replica elsewhere"
	rowOneReplica = "one replica"
	rowSyncing    = "full sync"
)

const (
	syncRate = 20_000  // writes a second during a full sync
	lagRate  = 200_000 // writes a second while the lag is measured
)

// replicated are the arguments of a master and of its replica. What waits for the replica is not
// bounded, and the backlog holds what is written while a link is set up.
var replicated = []string{"--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb",
	"--client-output-buffer-limit", "replica 0 0 0"}

// follow makes a server the replica of another one of its kind.
func follow(replica, master *server) error {
	return errors.Join(replica.Follow(master.Server), replica.WaitLink())
}

// startPair starts a master and a server that may become its replica. The latter has the lowest
// priority, as the load has: on a machine with few cores it would otherwise take them from the
// master, where a replica has a machine of its own.
func (b *bench) startPair(ctx context.Context, side int) (master, replica *server, stop func(),
	err error) {
	stop = func() {
		for _, s := range []*server{master, replica} {
			if s != nil {
				s.stop()
			}
		}
	}
	if master, err = b.startWith(ctx, side, replicated...); err != nil {
		return nil, nil, stop, err
	}
	if replica, err = b.startWith(ctx, side, replicated...); err != nil {
		return nil, nil, stop, err
	}
	return master, replica, stop, yield(replica.Pid)
}

// yield gives all threads of a process the lowest priority.
func yield(pid int) error {
	tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	for _, t := range tasks {
		tid, aerr := strconv.Atoi(t.Name())
		err = errors.Join(err, aerr, unix.Setpriority(unix.PRIO_PROCESS, tid, 19))
	}
	return err
}

// syncResult holds the figures of one full synchronization.
type syncResult struct {
	took           time.Duration
	growth         float64 // of the master's memory, per cent
	before, during latencies
}

// fullSync measures each kind of server once: a round takes minutes.
func (b *bench) fullSync(ctx context.Context) error {
	if !b.plan.has("fullsync") {
		return nil
	}
	var took, growth, before, during series
	err := b.eachServer(ctx, func(side int) error {
		r, err := b.fullSyncOnce(ctx, side)
		took.add(side, r.took.Seconds())
		growth.add(side, r.growth)
		before.add(side, r.before.p999)
		during.add(side, r.during.p999)
		return err
	})
	t := b.report.compare(titleFullSync,
		fmt.Sprintf("A replica of the same kind joins a master with %s keys, to which %s writes a "+
			"second go meanwhile. The time ends when the replica's link is up. Memory added is "+
			"the master's, as in the table of snapshots.", count(b.plan.syncKeys), count(syncRate)),
		nil, measureSeconds, measureGrowth)
	t.row(nil, &took, &growth)
	l := b.report.compare(titleSyncLatency,
		fmt.Sprintf("A GET each %v under the same writes.", b.plan.probeEvery),
		[]string{"during"}, measureP999)
	l.row([]string{eventIdle}, &before)
	l.row([]string{rowSyncing}, &during)
	return err
}

func (b *bench) fullSyncOnce(ctx context.Context, side int) (r syncResult, err error) {
	master, replica, stop, err := b.startPair(ctx, side)
	defer stop()
	if err != nil {
		return r, err
	}
	if err := b.loadAndSettle(ctx, master, 0, b.plan.syncKeys, b.plan.valueSize); err != nil {
		return r, err
	}
	end := b.overwrites(ctx, master, syncRate, b.plan.syncKeys)
	r.before, err = probeFor(ctx, master.Addr, b.plan.probeEvery, b.plan.syncKeys,
		b.plan.persistWindow, nil)
	if err == nil {
		r.during, err = probeFor(ctx, master.Addr, b.plan.probeEvery, b.plan.syncKeys, 0,
			func() error { return b.joined(master, replica, &r) })
	}
	return r, errors.Join(err, end())
}

// joined makes a server a replica, and stores how long that took and what it added to the master's
// memory.
func (b *bench) joined(master, replica *server, r *syncResult) error {
	loaded, err := testserver.RSS(master.Pid)
	if err != nil {
		return err
	}
	most, stopped := loaded, make(chan struct{})
	watched := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stopped:
				watched <- nil
				return
			case <-time.After(10 * time.Millisecond):
			}
			now, err := testserver.RSS(master.Pid)
			if err != nil {
				watched <- err
				return
			}
			most = max(most, now)
		}
	}()
	start := time.Now()
	err = follow(replica, master)
	r.took = time.Since(start)
	if err == nil { // a forked child says what it had to copy when it ends
		err = master.WaitInfo("persistence", "without a snapshot",
			func(info map[string]string) bool { return info["rdb_bgsave_in_progress"] == "0" })
	}
	close(stopped)
	if err = errors.Join(err, <-watched); err != nil {
		return err
	}
	copied, err := master.InfoInt("persistence", "rdb_last_cow_size")
	r.growth = 100 * (float64(most+copied)/float64(loaded) - 1)
	return err
}

// overwrites writes random keys at a rate until the returned function is called, which returns how
// that went.
func (b *bench) overwrites(ctx context.Context, s *server, rate, keys int) (end func() error) {
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- pacedOverwrites(inner, s.Addr, setKeys(b.plan.valueSize), rate, keys, time.Hour)
	}()
	return func() error {
		cancel()
		if err := <-done; ctx.Err() == nil && !onlyCanceled(err) {
			return err
		}
		return ctx.Err()
	}
}

// onlyCanceled reports whether all that was wrong is that somebody wanted an end.
func onlyCanceled(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			if !onlyCanceled(one) {
				return false
			}
		}
		return true
	}
	return err == nil || errors.Is(err, context.Canceled)
}

// replicaTests are the commands of the onereplica part, by redis-benchmark's names.
var replicaTests = []string{"set", "incr", "lpush", "hset"}

// replicaFigures are those of one command.
type replicaFigures struct {
	alone, elsewhere, joined loadFigures // of the master
	apply                    loadFigures // of the replica
}

// oneReplica measures what a replica costs its master, and what applying the stream costs the
// replica.
func (b *bench) oneReplica(ctx context.Context) error {
	if !b.plan.has("onereplica") {
		return nil
	}
	n := len(replicaTests)
	alone, elsewhere, joined, apply := make([]loadSeries, n), make([]loadSeries, n),
		make([]loadSeries, n), make([]loadSeries, n)
	err := b.eachRound(ctx, func(side int) error {
		return b.oneReplicaRound(ctx, side, func(i int, f replicaFigures) {
			alone[i].add(side, f.alone)
			elsewhere[i].add(side, f.elsewhere)
			joined[i].add(side, f.joined)
			apply[i].add(side, f.apply)
		})
	})
	t := b.report.compare(titleReplicaCost,
		fmt.Sprintf("redis-benchmark with 50 connections at pipeline 16, %s keys. CPU time is "+
			"the master's. %q: the stream is read and acknowledged but not applied, as if the "+
			"replica had a machine of its own. %q: a real one, on the same machine. Both have "+
			"the lowest priority.", count(b.plan.keys), rowElsewhere, rowOneReplica),
		[]string{"command", "server"}, measureCPU, measureOps)
	a := b.report.compare(titleApply,
		"CPU time of the replica for each command that it applies, until it has all of them.",
		[]string{"command"}, measureCPU)
	for i, test := range replicaTests {
		t.row([]string{testTitle(test), rowAlone}, &alone[i].cpu, &alone[i].rps)
		t.row([]string{testTitle(test), rowElsewhere}, &elsewhere[i].cpu, &elsewhere[i].rps)
		t.row([]string{testTitle(test), rowOneReplica}, &joined[i].cpu, &joined[i].rps)
		a.row([]string{testTitle(test)}, &apply[i].cpu)
	}
	return err
}

// oneReplicaRound runs each command on a fresh master: alone, with a replica that keeps nothing,
// and with a real one.
func (b *bench) oneReplicaRound(ctx context.Context, side int,
	add func(i int, f replicaFigures)) error {
	master, replica, stop, err := b.startPair(ctx, side)
	defer stop()
	if err != nil {
		return err
	}
	if err := b.loadAndSettle(ctx, master, 0, b.plan.keys, b.plan.valueSize); err != nil {
		return err
	}
	for _, test := range replicaTests { // the first run creates more than the later ones
		if _, err := b.benchmark(ctx, master, test, 16); err != nil {
			return err
		}
	}
	figures := make([]replicaFigures, len(replicaTests))
	for i, test := range replicaTests {
		if figures[i].alone, err = b.benchmark(ctx, master, test, 16); err != nil {
			return err
		}
	}
	err = withSink(master, func(s *sink) (err error) {
		for _, test := range replicaTests { // fills the backlog
			if _, err = b.benchmark(ctx, master, test, 16); err != nil {
				return err
			}
		}
		for i, test := range replicaTests {
			if figures[i].elsewhere, err = b.benchmark(ctx, master, test, 16); err == nil {
				err = s.catchUp(master)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := follow(replica, master); err != nil {
		return err
	}
	for i, test := range replicaTests {
		f := &figures[i]
		used, err := cpuDuring(replica, func() error {
			if f.joined, err = b.benchmark(ctx, master, test, 16); err != nil {
				return err
			}
			return master.WaitCaughtUp(replica.Server)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
		f.apply.cpu = used.per(b.plan.ops(test, 16))
		add(i, *f)
	}
	return nil
}
