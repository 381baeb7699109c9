//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// loadedParts runs the parts that need all servers loaded and otherwise leave them alone: latency,
// then throughput.
func (b *bench) loadedParts(ctx context.Context) error {
	if !b.plan.has("latency") && !b.plan.has("throughput") {
		return nil
	}
	all, stop, err := b.startAll(ctx)
	defer stop()
	if err != nil {
		return err
	}
	err = b.eachServer(ctx, func(side int) error {
		return b.loadAndSettle(ctx, all[side], 0, b.plan.keys, b.plan.valueSize)
	})
	if err != nil {
		return err
	}
	if b.plan.has("latency") {
		if err := b.latency(ctx, all); err != nil {
			return fmt.Errorf("latency: %w", err)
		}
	}
	if b.plan.has("throughput") {
		return b.throughput(ctx, all)
	}
	return nil
}

// loadAndSettle sets the keys from..to-1 and drives the rehash that this began to its end.
func (b *bench) loadAndSettle(ctx context.Context, s *server, from, to, valueSize int) error {
	if err := pump(ctx, s.Addr, setKeys(valueSize), from, to); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	// All servers advance a rehash by one bucket with each lookup. At most half as many buckets as
	// keys are left.
	return pump(ctx, s.Addr, getMissing(), 0, to/2)
}

func (b *bench) throughput(ctx context.Context, all []*server) error {
	c := b.report.compare(titleStrings,
		fmt.Sprintf("CPU time of the server, and redis-benchmark with 50 connections. %s keys, "+
			"%d-byte values. A server's own CPU time leaves out what the kernel does for it: "+
			"mostly reading requests and sending replies.",
			count(b.plan.keys), b.plan.valueSize),
		[]string{"command", "pipeline"}, measureCPU, measureUser, measureOps)
	for _, test := range testNames {
		if !slices.Contains(b.plan.tests, test) {
			continue
		}
		for _, pipeline := range b.plan.pipelines {
			var s loadSeries
			err := b.eachRound(ctx, func(side int) error {
				l, err := b.benchmark(ctx, all[side], test, pipeline)
				s.add(side, l)
				return err
			})
			if err != nil {
				return fmt.Errorf("throughput of %s at pipeline %d: %w", test, pipeline, err)
			}
			c.row([]string{testTitle(test), strconv.Itoa(pipeline)}, &s.cpu, &s.own, &s.rps)
		}
	}
	return nil
}

// testTitle returns how the report calls a test of redis-benchmark.
func testTitle(test string) string {
	if test == "mset" {
		return "MSET of 10"
	}
	return strings.ToUpper(test)
}

// loadFigures are what a load of many operations says about a server.
type loadFigures struct {
	rps float64 // operations a second
	cpu cpuUse  // for each operation
}

// loadSeries holds such figures of all servers.
type loadSeries struct{ cpu, own, rps series }

func (s *loadSeries) add(side int, l loadFigures) {
	s.cpu.add(side, l.cpu.all)
	s.own.add(side, l.cpu.user)
	s.rps.add(side, l.rps)
}

// benchmark runs redis-benchmark's test once over the loaded key space.
func (b *bench) benchmark(ctx context.Context, s *server, test string, pipeline int) (loadFigures,
	error) {
	return redisBenchmark(ctx, s, b.plan.ops(test, pipeline), pipeline, "-r",
		strconv.Itoa(b.plan.keys), "-d", strconv.Itoa(b.plan.valueSize), "-t", test)
}

// redisBenchmark runs redis-benchmark with 50 connections.
func redisBenchmark(ctx context.Context, s *server, ops, pipeline int, args ...string) (
	l loadFigures, err error) {
	args = append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-c", "50",
		"-n", strconv.Itoa(ops), "-P", strconv.Itoa(pipeline), "--csv"}, args...)
	var out []byte
	used, err := cpuDuring(s, func() error {
		out, err = tool(ctx, nil, "redis-benchmark", args...)
		return err
	})
	if err != nil {
		return l, err
	}
	l.rps, err = parseBenchmark(out)
	l.cpu = used.per(ops)
	return l, err
}

// cpuUse is CPU time in µs: all of it, and that outside the kernel.
type cpuUse struct{ all, user float64 }

func (u cpuUse) per(ops int) cpuUse { return cpuUse{u.all / float64(ops), u.user / float64(ops)} }

// cpuDuring returns the server's CPU time while f runs.
func cpuDuring(s *server, f func() error) (u cpuUse, err error) {
	before, beforeUser, err := cpuTime(s.Pid)
	if err != nil {
		return u, err
	}
	if err := f(); err != nil {
		return u, err
	}
	after, afterUser, err := cpuTime(s.Pid)
	return cpuUse{float64(after-before) / 1e3, float64(afterUser-beforeUser) / 1e3}, err
}

// parseBenchmark returns the requests a second from the last line of redis-benchmark's CSV.
func parseBenchmark(out []byte) (float64, error) {
	// A warning line may precede the table.
	if i := bytes.Index(out, []byte(`"test"`)); i >= 0 {
		out = out[i:]
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark's output: %w", err)
	}
	if len(rows) < 2 {
		return 0, fmt.Errorf("redis-benchmark printed no result: %q", out)
	}
	col := slices.Index(rows[0], "rps")
	if col < 0 {
		return 0, fmt.Errorf("redis-benchmark printed no rps column: %q", rows[0])
	}
	return strconv.ParseFloat(rows[len(rows)-1][col], 64)
}

func (b *bench) latency(ctx context.Context, all []*server) error {
	var p50, p99, p999, worst series
	err := b.eachRound(ctx, func(side int) error {
		addr := all[side].Addr
		stop := moderateLoad(ctx, addr, b.plan.keys, b.plan.valueSize)
		l, err := probeFor(ctx, addr, b.plan.probeEvery, b.plan.keys, b.plan.latencyTime, nil)
		if lerr := stop(); err == nil {
			err = lerr
		}
		p50.add(side, l.p50)
		p99.add(side, l.p99)
		p999.add(side, l.p999)
		worst.add(side, l.max)
		return err
	})
	c := b.report.compare("Latency under moderate load",
		fmt.Sprintf("A GET each millisecond beside 8 connections with about 2,000 commands a "+
			"second each; %s keys.", count(b.plan.keys)),
		[]string{"percentile"}, measure{"ms", 1})
	c.row([]string{"p50"}, &p50)
	c.row([]string{"p99"}, &p99)
	c.row([]string{"p99.9"}, &p999)
	c.row([]string{"max"}, &worst)
	return err
}
