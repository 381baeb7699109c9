//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/resp"
	"godwit/internal/testserver"
)

func equal[T any](t *testing.T, want, got T) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("want %v, got %v", want, got)
	}
}

func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails requires an error whose text contains part.
func fails(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Fatalf("want an error with %q, got %v", part, err)
	}
}

func TestMedian(t *testing.T) {
	equal(t, 0.0, median(nil))
	equal(t, 2.0, median([]float64{3, 1, 2}))
	equal(t, 2.5, median([]float64{4, 1, 2, 3}))
	var s series
	s.add(2, 7)
	s.add(2, 9)
	equal(t, 8.0, s.median(2))
	equal(t, 0.0, s.median(0)) // nothing was added
	equal(t, 0.0, s.median(3))
}

func TestSummarizeNearestRank(t *testing.T) {
	var samples []time.Duration
	for i := 1000; i >= 1; i-- {
		samples = append(samples, time.Duration(i)*time.Millisecond)
	}
	equal(t, latencies{p50: 500, p99: 990, p999: 999, max: 1000, samples: 1000}, summarize(samples))
	equal(t, latencies{p50: 1, p99: 1, p999: 1, max: 1, samples: 1}, summarize(samples[:1]))
	equal(t, latencies{}, summarize(nil))
}

func TestRecordCountsUnsentRequests(t *testing.T) {
	ms := time.Millisecond
	equal(t, []time.Duration{ms / 2}, record(nil, ms/2, ms))
	equal(t, []time.Duration{3*ms + 1, 2*ms + 1, ms + 1}, record(nil, 3*ms+1, ms))
}

func TestAppendKey(t *testing.T) {
	for _, i := range []int{0, 7, 10, 2_999_999, 999_999_999_999} {
		key := string(appendKey([]byte("x"), i))
		equal(t, fmt.Sprintf("xkey:%012d", i), key)
		equal(t, keyLen+1, len(key))
	}
}

func TestRequests(t *testing.T) {
	equal(t, string(resp.AppendCommand(nil, "SET", "key:000000000042", "xxx")),
		string(setKeys(3).append(nil, 42)))
	equal(t, string(resp.AppendCommand(nil,
		"SET", "key:000000001042", "xxx", "PXAT", "1700000000142")),
		string(setExpiringKeys(3, 1_700_000_000_100).append(nil, 1042)))
	var out bytes.Buffer
	succeeds(t, writeRequests(&out, setKeys(64), 5, 5000))
	equal(t, 4995, bytes.Count(out.Bytes(), []byte("SET")))
}

func TestReplyReader(t *testing.T) {
	stream := strings.Repeat("+OK\r\n", 100)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader {
			return r
		},
		"half": iotest.HalfReader, "bytes": iotest.OneByteReader,
		"eof with data": iotest.DataErrReader,
	} {
		r := newReplyReader("+OK\r\n", 16)
		t.Log(name)
		succeeds(t, r.read(wrap(strings.NewReader(stream)), 100))
		fails(t, r.read(wrap(strings.NewReader(stream)), 101), "bytes of replies missing: EOF")
		fails(t, r.read(wrap(strings.NewReader("+OK\r\n-OOM no\r\n+OK\r\n")), 3), "a reply is not")
	}
}

func TestBulkComplete(t *testing.T) {
	whole := "$3\r\na\nb\r\n"
	for i := range whole {
		done, err := bulkComplete([]byte(whole[:i]))
		succeeds(t, err)
		equal(t, false, done)
	}
	for _, s := range []string{whole, "$-1\r\n", "$0\r\n\r\n"} {
		done, err := bulkComplete([]byte(s))
		succeeds(t, err)
		equal(t, true, done)
	}
	for _, s := range []string{"-ERR no\r\n", "$x\r\n", "\n", "$\n"} {
		_, err := bulkComplete([]byte(s))
		fails(t, err, "")
	}
}

func TestParseBenchmark(t *testing.T) {
	const table = "\"test\",\"rps\",\"avg_latency_ms\"\n" +
		"\"MSET (10 keys)\",\"363636.38\",\"1.985\"\n"
	for _, out := range []string{table, "WARNING: Could not fetch server CONFIG\n" + table} {
		rps, err := parseBenchmark([]byte(out))
		succeeds(t, err)
		equal(t, 363636.38, rps)
	}
	for _, out := range []string{"", "nothing", "\"test\",\"rps\"\n",
		"\"test\",\"x\"\n\"a\",\"1\"\n", "\"test\",\"rps\"\n\"a\",\"b\"\n"} {
		_, err := parseBenchmark([]byte(out))
		fails(t, err, "")
	}
}

func TestParseProc(t *testing.T) {
	d, user, err := parseStat("42 (a ) b (x)) S 1 2 3 4 5 6 7 8 9 10 7 5 0 0 20 0 5 0\n")
	succeeds(t, err)
	equal(t, 120*time.Millisecond, d)
	equal(t, 70*time.Millisecond, user)
	for _, s := range []string{"", "42 (x) S 1", "42 (x) S 1 2 3 4 5 6 7 8 9 10 a b 0 0"} {
		_, _, err := parseStat(s)
		fails(t, err, "")
	}
	d, err = parseSchedstat("541259289 18040666 3833\n")
	succeeds(t, err)
	equal(t, 541259289*time.Nanosecond, d)
	_, err = parseSchedstat("1")
	fails(t, err, "")

	d, err = parseMachineBusy("cpu  1 2 4 1000 1000 8 16 32 64 64\ncpu0 9 9 9\n")
	succeeds(t, err)
	equal(t, 630*time.Millisecond, d)
	for _, s := range []string{"", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8 9", "cpu x 2 4 8 8 8 8 8 8"} {
		_, err := parseMachineBusy(s)
		fails(t, err, "")
	}

	used, user, err := cpuTime(os.Getpid())
	succeeds(t, err)
	equal(t, true, used > 0 && user >= 0)
	rss, err := testserver.RSS(os.Getpid())
	succeeds(t, err)
	equal(t, true, rss > 0)
}

func TestBetweenMarkers(t *testing.T) {
	const markBegin, markEnd = "<!-- x:begin -->", "<!-- x:end -->"
	doc := "# T\n" + markBegin + "\nold\n" + markEnd + "\nrest\n"
	want := "# T\n" + markBegin + "\nnew\n" + markEnd + "\nrest\n"
	for range 2 { // the second time must change nothing
		got, err := betweenMarkers(doc, "x", "new\n\n")
		succeeds(t, err)
		equal(t, want, got)
		doc = got
	}
	for _, s := range []string{"", markBegin, markEnd + markBegin} {
		_, err := betweenMarkers(s, "x", "text")
		fails(t, err, "")
	}

	path := filepath.Join(t.TempDir(), "README.md")
	fails(t, putBetween(path, "x", "x"), "")
	succeeds(t, os.WriteFile(path, []byte("no markers"), 0o600))
	fails(t, putBetween(path, "x", "x"), "README.md")
	succeeds(t, os.WriteFile(path, []byte(doc), 0o600))
	succeeds(t, putBetween(path, "x", "newer"))
	text, err := os.ReadFile(path)
	succeeds(t, err)
	equal(t, true, strings.Contains(string(text), "\nnewer\n"))
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{3_000_000: "3 M", 1_550_000: "1.55 M", 10_000_000: "10 M",
		150_000: "150 k", 999: "999"} {
		equal(t, want, count(n))
	}
}

func TestParseFlags(t *testing.T) {
	o, err := parseFlags([]string{"-only", "rss, bulk", "-pipelines", "1,7", "-tests", "GET"},
		io.Discard)
	succeeds(t, err)
	equal(t, []string{"rss", "bulk"}, o.only)
	equal(t, []int{1, 7}, o.pipelines)
	equal(t, []string{"get"}, o.tests)
	for _, args := range [][]string{{"-only", "nope"}, {"-tests", "del"}, {"-pipelines", "0"},
		{"-keys", "5"}, {"-rounds", "-1"}, {"-scale", "0"}, {"x"}} {
		_, err := parseFlags(args, io.Discard)
		fails(t, err, "")
	}
}

func TestScaleShortensARun(t *testing.T) {
	o, err := parseFlags([]string{"-scale", "0.1", "-keys", "5000"}, io.Discard)
	succeeds(t, err)
	p, full := fullPlan(), fullPlan()
	p.apply(o)
	equal(t, full.ops("get", 16)/10, p.ops("get", 16))
	equal(t, full.latencyTime/10, p.latencyTime)
	equal(t, 5000, p.elements)
}

// tinyPlan returns a plan that runs every part in moments.
func tinyPlan() plan {
	p := quickPlan()
	p.rounds, p.keys = 2, 2000
	p.tests, p.pipelines = []string{"get", "mset"}, []int{16}
	p.ops = func(string, int) int { return 2000 }
	p.latencyTime = 30 * time.Millisecond
	p.rssKeys, p.rssPause = 2000, 10*time.Millisecond
	p.expireKeys, p.expireLead, p.expireIdle = 2000, 400*time.Millisecond, 50*time.Millisecond
	p.growFrom, p.growTo, p.eventWindow = 2000, 4200, 30*time.Millisecond
	p.bigValues, p.bigValueSize = 2, 1<<20
	p.lightTime, p.idleConns = 30*time.Millisecond, 20
	p.elements, p.persistKeys, p.syncKeys = 2000, 2000, 2000
	p.bigOps, p.streamEntries, p.streamPause = 2000, 2000, time.Millisecond
	p.logTime = 10 * time.Millisecond
	p.persistWarm, p.persistWindow, p.leastOps = 0, 50*time.Millisecond, 100
	return p
}

func requireRedis(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"redis-server", "redis-cli", "redis-benchmark"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// redisAlone returns a contest of redis-server with itself.
func redisAlone() contest {
	var c contest
	for _, title := range []string{titleRedis8, titleValkey9, titleRedis7, titleGodwit} {
		c = append(c, contestant{title, "redis-server"})
	}
	return c
}

// TestEveryPartAgainstItself takes every measurement with redis-server in both places. Each goal
// and each figure of the pages must find its row.
func TestEveryPartAgainstItself(t *testing.T) {
	requireRedis(t)
	p := tinyPlan()
	p.rounds, p.parts = 1, slices.Concat(partNames, persistNames, streamNames, replicationNames)
	p.tests, p.pipelines = testNames, []int{1, 16}
	p.ops = func(string, int) int { return 1000 }
	p.eventWindow = 20 * time.Millisecond
	two := contest{{titleRedis8, "redis-server"}, {titleGodwit, "redis-server"}}
	rep, err := hold(t.Context(), p, two, t.Output())
	succeeds(t, err)
	text := rep.markdown()
	t.Log("\n" + text)
	for _, s := range rep.sections {
		for _, row := range s.rows {
			equal(t, len(s.header), len(row))
		}
	}
	tables := parseTables(text)
	for _, g := range goals() {
		if g.against == anyOfMeasure || strings.HasPrefix(g.what, titleIdle) {
			continue // rows are named otherwise, or by the plan's connections
		}
		if _, err := find(tables, g.what, g.measure); err != nil {
			t.Error(err)
		}
	}
	for _, c := range charts() {
		_, err := c.svg(tables)
		succeeds(t, err)
	}
	_, err = headlineTable(tables)
	succeeds(t, err)
	_, err = reasons(tables)
	succeeds(t, err)
}

// TestNothingOutlivesAnInterrupt cancels a run while its servers are up, and looks for their
// process ids.
func TestNothingOutlivesAnInterrupt(t *testing.T) {
	requireRedis(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &bench{plan: tinyPlan(), contest: redisAlone(), dir: t.TempDir(), procs: newProcs()}
	stop := context.AfterFunc(ctx, b.procs.killAll)
	defer stop()
	var up []*server
	for side := range b.contest {
		s, err := b.start(ctx, side)
		succeeds(t, err)
		up = append(up, s)
	}
	failed := make(chan error, 1)
	go func() { failed <- pump(ctx, up[0].Addr, getMissing(), 0, 1<<30) }()
	cancel()
	fails(t, <-failed, "") // a blocked load must end with the interrupt
	for _, s := range up {
		<-s.Done()
		equal[error](t, unix.ESRCH, unix.Kill(s.Pid, 0))
		s.stop() // harmless when it is gone
	}
	_, err := b.start(ctx, 0)
	equal(t, true, errors.Is(err, context.Canceled)) // nothing starts after an interrupt
}

func TestStartReportsWhyAServerDied(t *testing.T) {
	script := filepath.Join(t.TempDir(), "server")
	succeeds(t, os.WriteFile(script, []byte("#!/bin/sh\necho cannot open the shop\nexit 1\n"),
		0o700))
	b := &bench{contest: contest{{titleGodwit, script}}, dir: t.TempDir(), procs: newProcs()}
	_, err := b.start(t.Context(), 0)
	fails(t, err, "cannot open the shop")
}
