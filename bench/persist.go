//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp"
	"godwit/internal/testserver"
)

// persistNames lists the measurements of `make bench-persist`.
var persistNames = []string{"snapshot", "files", "appendfsync"}

// Measures of persistence.
var (
	measureGrowth  = measure{"memory added, %", 1}
	measureKept    = measure{"throughput kept, %", 1}
	measureBefore  = measure{"p99.9 before, ms", 1}
	measureDuring  = measure{"p99.9 during, ms", 1}
	measureSeconds = measure{"s", 1}
	measureMB      = measure{"MB", 1e6}
)

// snapshotKind is a data set, the load that writes to it, and the snapshot that is made meanwhile.
type snapshotKind struct {
	name    string
	load    func(n int) generated
	write   []string // redis-benchmark's command
	command string   // BGSAVE or BGREWRITEAOF
}

func snapshotKinds() []snapshotKind {
	strs := func(n int) generated {
		value := strings.Repeat("x", 64)
		return generated{"strings", n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "SET", string(appendKey(nil, i)), value)
		}}
	}
	set := []string{"set", "key:__rand_int__", strings.Repeat("y", 64)}
	return []snapshotKind{
		{"BGSAVE of strings", strs, set, "BGSAVE"},
		{"BGREWRITEAOF of strings", strs, set, "BGREWRITEAOF"},
		{"BGSAVE of one sorted set", func(n int) generated { return bigLoad("big", "ZADD", 0, n) },
			[]string{"zadd", "big", "__rand_int__", "key:__rand_int__"}, "BGSAVE"},
		{"BGSAVE of one list", func(n int) generated { return bigLoad("big", "RPUSH", 0, n) },
			[]string{"rpoplpush", "big", "big"}, "BGSAVE"},
	}
}

// snapshotResult holds the figures of one server under a write load, before and during a snapshot.
type snapshotResult struct {
	growth        float64 // per cent of the memory resident right before
	kept          float64 // per cent of the throughput before
	before, while latencies
	took          time.Duration
}

// snapshots measures each kind once for each server: a round takes minutes.
func (b *bench) snapshots(ctx context.Context) error {
	if !b.plan.has("snapshot") {
		return nil
	}
	t := b.report.compare(titleSnapshots,
		fmt.Sprintf("%s keys or elements; 20 connections write at pipeline 16, a probe reads "+
			"each %v. Memory added is what is resident at most, with what a forked child had to "+
			"copy (the server's copy-on-write figure), less what was resident right before the "+
			"snapshot; in per cent of the latter.", count(b.plan.persistKeys), b.plan.probeEvery),
		[]string{"snapshot"}, measureGrowth, measureKept, measureBefore, measureDuring,
		measureSeconds)
	for _, k := range snapshotKinds() {
		var growth, kept, before, while, took series
		err := b.eachServer(ctx, func(side int) error {
			r, err := b.snapshotOnce(ctx, side, k)
			growth.add(side, r.growth)
			kept.add(side, r.kept)
			before.add(side, r.before.p999)
			while.add(side, r.while.p999)
			took.add(side, r.took.Seconds())
			return err
		})
		if err != nil {
			return fmt.Errorf("%s, %w", k.name, err)
		}
		t.row([]string{k.name}, &growth, &kept, &before, &while, &took)
	}
	return nil
}

func (b *bench) snapshotOnce(ctx context.Context, side int, k snapshotKind) (r snapshotResult,
	err error) {
	s, err := b.startWith(ctx, side, "--appendonly", yesNo(k.command == "BGREWRITEAOF"),
		"--auto-aof-rewrite-percentage", "0")
	if err != nil {
		return r, err
	}
	defer s.stop()
	if _, err := b.pipe(ctx, s, k.load(b.plan.persistKeys)); err != nil {
		return r, err
	}
	c, err := dial(s.Addr)
	if err != nil {
		return r, err
	}
	defer c.Close()
	stop, err := b.pressure(s, k.write)
	if err != nil {
		return r, err
	}
	defer stop()
	if err := sleep(ctx, b.plan.persistWarm); err != nil {
		return r, err
	}
	var rate float64
	r.before, err = b.underLoad(ctx, s, c, &rate, func() error {
		return sleep(ctx, b.plan.persistWindow)
	})
	if err != nil {
		return r, err
	}
	var rateWhile, most float64
	var loaded int64 // resident right before the snapshot
	start := time.Now()
	r.while, err = b.underLoad(ctx, s, c, &rateWhile, func() error {
		if loaded, err = testserver.RSS(s.Pid); err != nil {
			return err
		}
		most, err = snapshotAndWait(ctx, s, c, k.command)
		return err
	})
	r.took = time.Since(start)
	r.growth = 100 * (most/float64(loaded) - 1)
	r.kept = 100 * rateWhile / rate
	return r, err
}

// underLoad probes while during runs, and stores the rate of commands meanwhile.
func (b *bench) underLoad(ctx context.Context, s *server, c *control, rate *float64,
	during func() error) (latencies, error) {
	from, err := infoNumber(c, "stats", "total_commands_processed")
	if err != nil {
		return latencies{}, err
	}
	p, err := startProbe(s.Addr, b.plan.probeEvery, b.plan.persistKeys)
	if err != nil {
		return latencies{}, err
	}
	start := time.Now()
	err = during()
	took := time.Since(start).Seconds()
	l, perr := p.finish()
	to, ierr := infoNumber(c, "stats", "total_commands_processed")
	*rate = (to - from) / took
	return l, errors.Join(err, perr, ierr, ctx.Err())
}

// snapshotAndWait starts a snapshot, waits for its end, and returns the most memory that was
// resident meanwhile: the server's, and what a forked child had of its own. That is what either of
// the two had to copy.
func snapshotAndWait(ctx context.Context, s *server, c *control, command string) (most float64,
	err error) {
	if _, err := c.do(command); err != nil {
		return 0, err
	}
	for err == nil {
		var now int64
		now, err = testserver.RSS(s.Pid)
		most = max(most, float64(now))
		saving, err1 := infoNumber(c, "persistence", "rdb_bgsave_in_progress")
		rewriting, err2 := infoNumber(c, "persistence", "aof_rewrite_in_progress")
		scheduled, err3 := infoNumber(c, "persistence", "aof_rewrite_scheduled")
		if err = errors.Join(err, err1, err2, err3); err != nil || saving+rewriting+scheduled == 0 {
			break
		}
		err = sleep(ctx, 20*time.Millisecond)
	}
	if err != nil {
		return 0, err
	}
	field := "rdb_last_cow_size"
	if command != "BGSAVE" {
		field = "aof_last_cow_size"
	}
	copied, err := infoNumber(c, "persistence", field)
	if err != nil {
		return 0, err
	}
	info, err := c.do("INFO", "persistence")
	if err == nil &&
		(strings.Contains(info, "rdb_last_bgsave_status:err") ||
			strings.Contains(info, "aof_last_bgrewrite_status:err")) {
		err = errors.New("the snapshot failed")
	}
	return most + copied, err
}

// pressure writes with redis-benchmark until the returned function is called.
func (b *bench) pressure(s *server, write []string) (stop func(), err error) {
	args := append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-c", "20", "-P", "16",
		"-n", "2000000000", "-r", strconv.Itoa(b.plan.persistKeys), "-q"}, write...)
	cmd := exec.Command("redis-benchmark", args...)
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// mixedKeys returns a stream of strings, with small hashes, lists, sets and sorted sets among them.
func mixedKeys(n int) generated {
	return generated{"mixed keys", n, func(dst []byte, rnd *rand.Rand, i int) []byte {
		key := string(appendKey(nil, i))
		value := func(j int) string { return strconv.Itoa(rnd.IntN(1<<20) + j) }
		switch i % 10 {
		case 0:
			return resp.AppendCommand(dst, "HSET", key, "field:1", value(1), "field:2", value(2),
				"field:3", value(3), "field:4", value(4))
		case 1:
			return resp.AppendCommand(dst, "RPUSH", key, value(1), value(2), "element "+value(3),
				value(4), value(5))
		case 2:
			return resp.AppendCommand(dst, "SADD", key, value(1), value(2), value(3), value(4),
				value(5))
		case 3:
			return resp.AppendCommand(dst, "ZADD", key, value(1), "a", value(2), "b", value(3), "c",
				value(4), "d")
		}
		return resp.AppendCommand(dst, "SET", key, strings.Repeat(value(0)+" some text ", 3))
	}}
}

// files measures SAVE, the size of its file, and the start of a server that loads it.
func (b *bench) files(ctx context.Context) error {
	if !b.plan.has("files") {
		return nil
	}
	var save, size, load series
	err := b.eachRound(ctx, func(side int) error {
		s, n, l, err := b.filesOnce(ctx, side)
		save.add(side, s)
		size.add(side, n)
		load.add(side, l)
		return err
	})
	t := b.report.compare(titleFiles, fmt.Sprintf("%s mixed keys.", count(b.plan.persistKeys)),
		[]string{""}, measureSeconds)
	t.row([]string{"SAVE"}, &save)
	t.row([]string{"load"}, &load)
	b.report.compare(titleFileSize, "", nil, measureMB).row(nil, &size)
	return err
}

func (b *bench) filesOnce(ctx context.Context, side int) (save, size, load float64, err error) {
	dir, err := os.MkdirTemp(b.dir, "files-")
	if err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(dir)
	s, err := b.startWith(ctx, side, "--dir", dir)
	if err != nil {
		return 0, 0, 0, err
	}
	defer s.stop()
	if _, err := b.pipe(ctx, s, mixedKeys(b.plan.persistKeys)); err != nil {
		return 0, 0, 0, err
	}
	c, err := dial(s.Addr)
	if err != nil {
		return 0, 0, 0, err
	}
	defer c.Close()
	start := time.Now()
	if _, err := c.do("SAVE"); err != nil {
		return 0, 0, 0, err
	}
	save = time.Since(start).Seconds()
	fi, err := os.Stat(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		return 0, 0, 0, err
	}
	s.stop()
	start = time.Now()
	again, err := b.startWith(ctx, side, "--dir", dir)
	if err != nil {
		return 0, 0, 0, err
	}
	defer again.stop()
	return save, float64(fi.Size()), time.Since(start).Seconds(), nil
}

// logMode is a row of the appendfsync part.
type logMode struct {
	name     string
	args     []string
	pipeline int
}

var logModes = []logMode{
	{"no log", []string{"--appendonly", "no"}, 16},
	{"everysec", []string{"--appendonly", "yes", "--appendfsync", "everysec",
		"--auto-aof-rewrite-percentage", "0"}, 16},
	{"always", []string{"--appendonly", "yes", "--appendfsync", "always",
		"--auto-aof-rewrite-percentage", "0"}, 1},
}

// appendfsync measures what the log costs: SET at pipeline 16 without a log and with everysec, and
// 50 clients one by one under always. Every second round takes the modes backwards.
func (b *bench) appendfsync(ctx context.Context) error {
	if !b.plan.has("appendfsync") {
		return nil
	}
	rps, cpu := make([]series, len(logModes)), make([]series, len(logModes))
	turns := make([]int, len(b.contest))
	err := b.eachRound(ctx, func(side int) error {
		turns[side]++
		for i := range logModes {
			if turns[side]%2 == 0 {
				i = len(logModes) - 1 - i
			}
			r, c, err := b.logOnce(ctx, side, logModes[i])
			if err != nil {
				return err
			}
			rps[i].add(side, r)
			cpu[i].add(side, c)
		}
		return nil
	})
	t := b.report.compare(titleLog, "SET of 64-byte values, 50 connections.",
		[]string{"appendfsync", "pipeline"}, measureCPU, measureOps)
	for i, m := range logModes {
		t.row([]string{m.name, strconv.Itoa(m.pipeline)}, &cpu[i], &rps[i])
	}
	return err
}

// logOnce measures a fresh server for at least the plan's logTime. A first run fills the key space
// and says how many operations that are.
func (b *bench) logOnce(ctx context.Context, side int, m logMode) (rps, cpu float64, err error) {
	s, err := b.startWith(ctx, side, m.args...)
	if err != nil {
		return 0, 0, err
	}
	defer s.stop()
	l, err := b.benchmark(ctx, s, "set", m.pipeline)
	if err != nil {
		return 0, 0, err
	}
	for want := b.plan.logTime; ; want *= 2 {
		ops := max(1000, int(l.rps*1.25*want.Seconds()))
		start := time.Now()
		l, err = redisBenchmark(ctx, s, ops, m.pipeline, "-r", strconv.Itoa(b.plan.keys),
			"-d", strconv.Itoa(b.plan.valueSize), "-t", "set")
		if err != nil || time.Since(start) >= b.plan.logTime {
			return l.rps, l.cpu.all, err
		}
	}
}
