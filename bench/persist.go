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

// Targets of persistence, as Godwit ÷ Redis unless noted.
const (
	targetGrowth   = 10.0 // per cent at most, of memory during a snapshot
	targetKept     = 80.0 // per cent at least, of throughput during a snapshot
	targetFileTime = 0.8  // at most, saving and loading
	targetFileSize = 1.02 // at most
	targetEverysec = 10.0 // per cent at most, of throughput at pipeline 16
	targetAlways   = 1.2  // at least, 50 clients
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
	growth        float64 // per cent of the memory that the data took
	kept          float64 // per cent of the throughput before
	before, while latencies
	took          time.Duration
}

// snapshots measures each kind once for each server: a round takes minutes.
func (b *bench) snapshots(ctx context.Context) error {
	if !b.plan.has("snapshot") {
		return nil
	}
	b.report.snapshotHeader()
	for _, k := range snapshotKinds() {
		var results [sides]snapshotResult
		for side := range sides {
			r, err := b.snapshotOnce(ctx, side, k)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", k.name, sideNames[side], err)
			}
			b.progress("%s %-6s  memory +%.1f %%, throughput kept %.0f %%, p99.9 %.2f → %.2f ms, "+
				"%.1f s", k.name, sideNames[side], r.growth, r.kept,
				r.before.p999, r.while.p999, r.took.Seconds())
			results[side] = r
		}
		b.report.snapshotRow(k.name, &results)
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
	if err := sleep(ctx, time.Second); err != nil {
		return r, err
	}
	loaded, err := testserver.RSS(s.Pid)
	if err != nil {
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
	start := time.Now()
	r.while, err = b.underLoad(ctx, s, c, &rateWhile, func() error {
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
	err := b.eachRound(ctx, func(round, side int) error {
		s, n, l, err := b.filesOnce(ctx, side)
		if err != nil {
			return err
		}
		b.progress("files round %d %-6s  save %.2f s, %.1f MB, load %.2f s", round+1,
			sideNames[side], s, n/1e6, l)
		save.add(side, s)
		size.add(side, n)
		load.add(side, l)
		return nil
	})
	b.report.files(&save, &size, &load)
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

// appendfsync measures what the log costs: SET at pipeline 16 without a log and with everysec, and
// 50 clients one by one under always.
func (b *bench) appendfsync(ctx context.Context) error {
	if !b.plan.has("appendfsync") {
		return nil
	}
	var off, everysec, always series
	err := b.eachRound(ctx, func(round, side int) error {
		for _, m := range []struct {
			args     []string
			pipeline int
			to       *series
		}{
			{[]string{"--appendonly", "no"}, 16, &off},
			{[]string{"--appendonly", "yes", "--appendfsync", "everysec",
				"--auto-aof-rewrite-percentage", "0"}, 16, &everysec},
			{[]string{"--appendonly", "yes", "--appendfsync", "always",
				"--auto-aof-rewrite-percentage", "0"}, 1, &always},
		} {
			s, err := b.startWith(ctx, side, m.args...)
			if err != nil {
				return err
			}
			rps, _, err := b.benchmark(ctx, s, "set", m.pipeline)
			s.stop()
			if err != nil {
				return err
			}
			m.to.add(side, rps)
		}
		b.progress("appendfsync round %d %-6s  done", round+1, sideNames[side])
		return nil
	})
	b.report.appendfsync(&off, &everysec, &always)
	return err
}

func (r *report) snapshotHeader() {
	r.section("Snapshots under a full write load",
		fmt.Sprintf("%s keys or elements; 20 connections write at pipeline 16, a probe reads "+
			"each %v. Memory is what is resident at most, less what was before; "+
			"of Redis with what parent and child had to copy (its copy-on-write figure); "+
			"in per cent of what the data takes.", count(r.plan.persistKeys), r.plan.probeEvery),
		"snapshot", "Redis memory", "Godwit memory", "target", "Redis throughput kept",
		"Godwit throughput kept", "target",
		"Redis p99.9 before → during, ms", "Godwit p99.9 before → during, ms", "target", "Redis s",
		"Godwit s")
}

func (r *report) snapshotRow(name string, results *[sides]snapshotResult) {
	x, g := &results[sideRedis], &results[sideGodwit]
	p999 := func(s *snapshotResult) string { return ms(s.before.p999) + " → " + ms(s.while.p999) }
	r.last().row(name, fmt.Sprintf("+%.1f %%", x.growth), fmt.Sprintf("+%.1f %%", g.growth),
		r.atMost(g.growth, targetGrowth, " %"),
		fmt.Sprintf("%.1f %%", x.kept), fmt.Sprintf("%.1f %%", g.kept),
		r.atLeast(g.kept, targetKept, " %"), p999(x), p999(g),
		r.atMost(g.while.p999-g.before.p999, targetStall, " ms"),
		fmt.Sprintf("%.1f", x.took.Seconds()), fmt.Sprintf("%.1f", g.took.Seconds()))
}

func (r *report) files(save, size, load *series) {
	s := r.section("Files", fmt.Sprintf("%s mixed keys.", count(r.plan.persistKeys)), "", "Redis",
		"Godwit", "ratio", "target")
	row := func(name, format string, v *series, scale, limit float64) {
		x := v.show(format, scale)
		s.row(name, x.redis, x.godwit, x.ratio,
			r.verdict(fmt.Sprintf("≤ %.2f", limit), x.value <= limit))
	}
	row("SAVE", "%.2f s", save, 1, targetFileTime)
	row("load", "%.2f s", load, 1, targetFileTime)
	row("size of the file", "%.1f MB", size, 1e6, targetFileSize)
}

func (r *report) appendfsync(off, everysec, always *series) {
	s := r.section("The log", "SET of 64-byte values, 50 connections.", "appendfsync", "pipeline",
		"Redis k ops/s", "Godwit k ops/s", "ratio", "target")
	row := func(name, pipeline string, v shown, target string) {
		s.row(name, pipeline, v.redis, v.godwit, v.ratio, target)
	}
	cost := 100 * (1 - everysec.median(sideGodwit)/max(off.median(sideGodwit), 1))
	row("no log", "16", off.show("%.1f", 1e3), "")
	row("everysec", "16", everysec.show("%.1f", 1e3), "costs "+r.atMost(cost, targetEverysec, " %"))
	safe := always.show("%.1f", 1e3)
	row("always", "1", safe, r.atLeast(safe.value, targetAlways, "×"))
}
