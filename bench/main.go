//go:build linux

// Command bench measures Godwit beside Redis 8, Valkey 9 and the distribution's Redis 7, and prints
// medians, ratios and which goals are met.
//
//	go run ./bench                                  all but persistence and streams, 30 minutes
//	go run ./bench -quick                           the same, small, under two minutes
//	go run ./bench -only throughput -tests get,set -pipelines 16
//	go run ./bench -against redis8,before=/tmp/old -godwit /tmp/new -only batches
//	go run ./bench -o bench/RESULTS.md -readme README.md
//	go run ./bench -figures                         only the pages, from the reports
//
// # Contest
//
// -against lists the other servers, newest first: redis8 and valkey9, which scripts/peers.sh
// unpacks (make peers), redis7, which is the redis-server of the PATH, or NAME=PATH. A table has a
// column for each. Its ratio is Godwit ÷ the better one of the others, of the printed figures.
// Redis 7 is only shown: it counts where it is the only other server.
//
// # Method
//
// All servers run on the same machine with the same arguments, on free loopback ports, without
// persistence. Absolute figures say more about the machine than about the servers. Each measurement
// is taken from all servers in the same round. Each round begins with another server, so that a
// slow drift of the machine hits all, and the report shows the median of the rounds. CPU time of
// the server is the main measure: nanoseconds of its threads from schedstat, where the kernel has
// it. The throughput beside it is shared with the client that measures it.
//
// The parts (-only takes a comma-separated list of them):
//
//   - latency: a probe connection sends one GET at a fixed rate while eight other connections keep
//     the server moderately busy, with the key space loaded.
//   - throughput: redis-benchmark with 50 connections over a loaded key space, for each command and
//     pipeline depth: CPU time of the server for each operation, and operations a second. An MSET
//     of ten keys is one operation.
//   - batches: the same for commands with ten keys or members, and pipelines of different commands.
//   - rss: growth of resident memory since the idle start divided by the number of keys, with and
//     without deadlines, and with a tenth of the keys. Before that, lookups of missing keys drive
//     the rehash that the load began to its end.
//   - bulk: `redis-cli --pipe` fed from a file; CPU time of the server divided by the number of
//     SETs.
//   - expiry: keys whose deadlines all fall into one second. The probe's p99.9 from the first
//     deadline until DBSIZE is 0 against its p99.9 just before, and the time from the last deadline
//     until the database is empty.
//   - events: the probe's p99.9 while the key table doubles under a steady load of inserts, during
//     BGSAVE, BGREWRITEAOF, FLUSHALL ASYNC and UNLINK of big strings, each against the same
//     server's idle p99.9. The row `overwrite` is a control: the same load as for growth, but on
//     keys that exist.
//   - collections: the rest of redis-benchmark's default list at pipelines 1 and 16, one server for
//     a whole round.
//   - elements: growth of used_memory for each element of one large collection of each type, and
//     for small hashes.
//   - big: CPU time of the server for commands on large sorted sets and sets (from redis-cli
//     --pipe), and the longest wait of the probe while a big sorted set is deleted.
//   - scripts: EVAL at pipeline 16.
//   - sketches: HyperLogLog and geo at pipeline 16.
//   - modules: what the others have only in modules, on Godwit alone, beside its own SET and GET.
//   - wakeup: the time from an LPUSH until the client that waits in BLPOP has the element.
//   - light: one client that sends a GET 50 to 10,000 times a second: CPU time of the server for
//     each request, and latency. And the CPU time of a server that nobody asks anything, without
//     connections and with 5,000.
//   - pubsub: messages published and delivered a second, with 0 to 100 subscribers.
//   - atomicity: transactions of ten commands, pipelined, and one after the other with WATCH.
//
// The parts about persistence, which `make bench-persist` runs in at most 10 minutes:
//
//   - snapshot: BGSAVE and BGREWRITEAOF under a full write load: memory, throughput kept, the
//     probe's p99.9. Once for each server.
//   - files: SAVE, the file's size, and a start that loads it, with mixed keys.
//   - appendfsync: SET with the log and without.
//
// The parts about streams, which `make bench-streams` runs in at most 10 minutes:
//
//   - streammemory: growth of used_memory for each entry and each pending entry, and what is left
//     of it when 90 % of the entries are deleted at random.
//   - streams: XADD, XRANGE, XREADGROUP, XAUTOCLAIM and XACK at pipeline 16, and the time from an
//     XADD until the client that waits in XREAD or XREADGROUP has the entry.
//   - bigstream: commands that touch one entry, on a stream of ten million entries with a million
//     pending and on streams of a thousand; the probe's p99.9 during BGSAVE. Once for each server.
//
// The parts about replication, which `make bench-replication` runs, each with a master and a
// replica of the same kind:
//
//   - fullsync: time of a full synchronization under writes, the master's memory, the probe's
//     p99.9. Once for each server.
//   - onereplica: throughput and CPU time of the master without a replica, with one that only reads
//     the stream, and with a real one; CPU time of the latter for each command.
//   - lag: from a PUBLISH to the master until a subscriber of the replica has the message, under
//     200,000 writes a second.
//
// The probe is one thread with a blocking socket, so that no poller or scheduler of the client sits
// between the reply and the clock. While a server stalls, the probe cannot send. It counts the
// requests that it should have sent as if they had waited: a reply that took L at interval I also
// counts L−I, L−2I, …. Otherwise a stall of a second would be a single sample. The load beside the
// probe runs at the lowest priority. On a machine with few cores it would otherwise keep the server
// and the probe from a core, and look like a stall of the server.
//
// The report says how much CPU time the rest of the machine used meanwhile. The medians bear some
// of it; the last per mille of latencies does not.
//
// A missed goal does not fail the run; only a measurement that could not be taken does. Each
// process is ended by its own id, also after an error or an interrupt.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"godwit/internal/testserver"
)

// partNames lists the measurements in the order in which they run.
var partNames = []string{"latency", "throughput", "batches", "rss", "bulk", "expiry", "events",
	"collections", "elements", "big", "wakeup", "light", "pubsub", "scripts", "sketches",
	"atomicity"}

// ownNames lists the measurements that Godwit takes part in alone.
var ownNames = []string{"modules"}

// bench is one run: what to measure, the servers to start, and the report to fill.
type bench struct {
	plan    plan
	contest contest
	dir     string // scratch folder, removed at the end
	procs   *procs
	report  *report
	log     io.Writer
}

type options struct {
	quick              bool
	only               []string
	rounds             int
	keys               int
	scale              float64
	tests              []string
	pipelines          []int
	godwit, against    string
	output, readmePath string
	figures            bool
}

func main() {
	os.Exit(mainExit())
}

// mainExit keeps the deferred clean-up in front of os.Exit.
func mainExit() int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	defer cancel()
	opts, err := parseFlags(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	// The probe must find a free scheduler slot the moment its system call returns.
	runtime.GOMAXPROCS(max(8, runtime.GOMAXPROCS(0)))
	if err := run(ctx, opts, os.Stdout, os.Stderr); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func parseFlags(args []string, errw io.Writer) (options, error) {
	var o options
	var only, tests, pipelines string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(errw)
	fs.BoolVar(&o.quick, "quick", false, "one small round of everything, under two minutes")
	known := slices.Concat(partNames, ownNames, persistNames, streamNames, replicationNames)
	fs.StringVar(&only, "only", strings.Join(slices.Concat(partNames, ownNames), ","),
		"comma-separated parts to run, of "+strings.Join(known, ","))
	fs.IntVar(&o.rounds, "rounds", 0, "rounds of each measurement (0: 3, or 1 with -quick)")
	fs.IntVar(&o.keys, "keys", 0, "size of the key space (0: 1000000, or 60000 with -quick)")
	fs.Float64Var(&o.scale, "scale", 1, "scales the numbers of operations and the windows")
	fs.StringVar(&tests, "tests", strings.Join(testNames, ","), "commands of the throughput part")
	fs.StringVar(&pipelines, "pipelines", "1,16", "pipeline depths of the throughput part")
	fs.StringVar(&o.godwit, "godwit", "",
		"server to measure as Godwit (default: one that is built for this run)")
	fs.StringVar(&o.against, "against", defaultAgainst,
		"comma-separated servers to measure against, newest first: NAME=PATH, or a known NAME")
	fs.StringVar(&o.output, "o", "", "also write the report to this file")
	fs.StringVar(&o.readmePath, "readme", "",
		"afterwards bring the figures of this README and the docs beside it up to the reports")
	fs.BoolVar(&o.figures, "figures", false,
		"measure nothing, only bring README.md, or -readme, up to the reports")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	var err error
	if o.only, err = pick("-only", only, known); err != nil {
		return o, err
	}
	if o.tests, err = pick("-tests", tests, testNames); err != nil {
		return o, err
	}
	for _, s := range strings.Split(pipelines, ",") {
		p, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || p < 1 {
			return o, fmt.Errorf("-pipelines: %q is not a depth", s)
		}
		o.pipelines = append(o.pipelines, p)
	}
	if o.rounds < 0 || o.keys < 0 || (o.keys > 0 && o.keys < 1000) || o.scale <= 0 {
		return o, errors.New("-rounds, -keys and -scale want a positive number, at least 1000 keys")
	}
	return o, nil
}

// pick splits a comma-separated list and checks every word of it. An empty list stands for all of
// them.
func pick(name, list string, allowed []string) ([]string, error) {
	if list == "" {
		return allowed, nil
	}
	var out []string
	for _, s := range strings.Split(strings.ToLower(list), ",") {
		s = strings.TrimSpace(s)
		if !slices.Contains(allowed, s) {
			return nil, fmt.Errorf("%s: unknown %q, known: %s", name, s, strings.Join(allowed, ","))
		}
		out = append(out, s)
	}
	return out, nil
}

func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	if o.figures {
		return updatePages(cmp.Or(o.readmePath, "README.md"))
	}
	p := fullPlan()
	if o.quick {
		p = quickPlan()
	}
	p.apply(o)
	for _, tool := range []string{"redis-benchmark", "redis-cli"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w (it comes with the distribution's redis-tools package)", err)
		}
	}
	all, err := newContest(o.against, o.godwit)
	if err != nil {
		return err
	}
	if o.godwit == "" {
		path, err := testserver.Build("-trimpath")
		if err != nil {
			return err
		}
		defer testserver.RemoveBuilds()
		all[all.godwit()].path = path
	}
	rep, err := hold(ctx, p, all, stderr)
	if rep == nil {
		return err
	}
	text := rep.markdown()
	if _, werr := io.WriteString(stdout, text); err != nil || werr != nil {
		return cmp.Or(err, werr)
	}
	if o.output != "" {
		if err := replaceFile(o.output, "# Godwit beside Redis and Valkey\n\n"+text); err != nil {
			return err
		}
	}
	if o.readmePath != "" {
		return updatePages(o.readmePath)
	}
	return nil
}

// hold runs the parts of p and returns the filled report. If a part fails, it returns the report of
// the parts before it, with the error. No process it started outlives it.
func hold(ctx context.Context, p plan, c contest, log io.Writer) (*report, error) {
	if err := c.resolve(); err != nil {
		return nil, err
	}
	if err := p.checkFiles(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "godwit-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{plan: p, contest: c, dir: dir, procs: newProcs(), log: log}
	defer b.procs.killAll()
	// Killing the servers on an interrupt also fails every blocked socket read at once.
	stop := context.AfterFunc(ctx, b.procs.killAll)
	defer stop()

	// The kernel ends a child with the thread that forked it (Pdeathsig), so one thread that stays
	// forks all tools.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	b.report = newReport(p, c, describeMachine(ctx, c), log)
	others, err := startOtherWork()
	if err != nil {
		return nil, err
	}
	err = b.runParts(ctx)
	b.report.took = time.Since(others.start)
	b.procs.killAll()
	var serr error
	b.report.others, serr = others.share()
	return b.report, cmp.Or(err, serr)
}

// runParts runs the parts of the plan in turn. It stops at the first error and when ctx ends.
func (b *bench) runParts(ctx context.Context) error {
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"latency or throughput", b.loadedParts},
		{"batches", b.batches},
		{"rss", b.rss},
		{"bulk", b.bulk},
		{"expiry", b.expiry},
		{"events", b.events},
		{"collections", b.collections},
		{"elements", b.elements},
		{"big", b.big},
		{"snapshot", b.snapshots},
		{"files", b.files},
		{"appendfsync", b.appendfsync},
		{"wakeup", b.wakeup},
		{"light", b.light},
		{"pubsub", b.pubsub},
		{"scripts", b.scripts},
		{"sketches", b.sketches},
		{"modules", b.modules},
		{"streammemory", b.streamMemory},
		{"streams", b.streams},
		{"bigstream", b.bigStream},
		{"fullsync", b.fullSync},
		{"onereplica", b.oneReplica},
		{"lag", b.lag},
		{"atomicity", b.atomicity},
	} {
		start := time.Now()
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if took := time.Since(start); took > time.Second {
			b.progress("%s took %v", part.name, took.Round(time.Second))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.log, format+"\n", args...)
}
