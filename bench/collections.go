//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp"
)

// collectionTest is one run of redis-benchmark against collections. The tests of one round go to
// one server in this order: the pops take what the pushes before them have left.
type collectionTest struct {
	name  string
	args  []string // what follows redis-benchmark's common arguments
	scale float64  // of the plan's number of operations
}

// collectionTests returns redis-benchmark's default list without the strings. LRANGE is given as a
// command: its built-in form counts the pushes that fill the list.
func collectionTests() []collectionTest {
	builtin := func(name string, scale float64) collectionTest {
		return collectionTest{name, []string{"-t", name}, scale}
	}
	lrange := func(n int, scale float64) collectionTest {
		return collectionTest{fmt.Sprintf("lrange_%d", n),
			[]string{"lrange", "mylist", "0", strconv.Itoa(n - 1)}, scale}
	}
	return []collectionTest{
		builtin("lpush", 1), builtin("rpush", 1),
		lrange(100, 0.2), lrange(300, 0.1), lrange(500, 0.06), lrange(600, 0.05),
		builtin("lpop", 1), builtin("rpop", 1),
		builtin("sadd", 1), builtin("hset", 1), builtin("spop", 0.5),
		builtin("zadd", 1), builtin("zpopmin", 0.5),
	}
}

// collections measures redis-benchmark's default list for collections at pipelines 1 and 16.
func (b *bench) collections(ctx context.Context) error {
	if !b.plan.has("collections") {
		return nil
	}
	tests := collectionTests()
	t := b.report.compare(titleCollections,
		fmt.Sprintf("The rest of redis-benchmark's default list: 50 connections, members from %s.",
			count(b.plan.elements)),
		[]string{"command", "pipeline"}, measureCPU, measureUser, measureOps)
	for _, pipeline := range []int{1, 16} {
		figures := make([]loadSeries, len(tests))
		err := b.eachRound(ctx, func(side int) error {
			s, err := b.start(ctx, side)
			if err != nil {
				return err
			}
			defer s.stop()
			for i, test := range tests {
				l, err := b.benchmarkCollection(ctx, s, test, pipeline)
				if err != nil {
					return fmt.Errorf("%s: %w", test.name, err)
				}
				figures[i].add(side, l)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, test := range tests {
			f := &figures[i]
			t.row([]string{testTitle(test.name), strconv.Itoa(pipeline)}, &f.cpu, &f.own, &f.rps)
		}
	}
	return nil
}

func (b *bench) benchmarkCollection(ctx context.Context, s *server, t collectionTest,
	pipeline int) (loadFigures, error) {
	ops := max(b.plan.leastOps, int(float64(b.plan.ops(t.name, pipeline))*t.scale))
	// redis-benchmark takes what follows a command for its arguments: t.args come last.
	return redisBenchmark(ctx, s, ops, pipeline,
		append([]string{"-r", strconv.Itoa(b.plan.elements), "-d", "3"}, t.args...)...)
}

// generated is a command stream whose replies are not checked.
type generated struct {
	name   string
	n      int // commands
	append func(dst []byte, rnd *rand.Rand, i int) []byte
}

// pipe feeds the stream to redis-cli --pipe and returns the server's CPU time in µs for each
// command.
func (b *bench) pipe(ctx context.Context, s *server, g generated) (cpu float64, err error) {
	path := filepath.Join(b.dir, "pipe.resp")
	rnd := rand.New(rand.NewPCG(5, 7))
	err = writeBulkFile(path, request{append: func(dst []byte, i int) []byte {
		return g.append(dst, rnd, i)
	}}, g.n)
	if err != nil {
		return 0, err
	}
	defer os.Remove(path)
	cpu, err = pipeFile(ctx, s, path, g.n)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", g.name, err)
	}
	return cpu, nil
}

// pipeFile feeds a file of n commands to redis-cli --pipe and returns the server's CPU time in µs
// for each.
func pipeFile(ctx context.Context, s *server, path string, n int) (cpu float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var out []byte
	used, err := cpuDuring(s, func() error {
		out, err = tool(ctx, f, "redis-cli", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port),
			"--pipe")
		return err
	})
	if err != nil {
		return 0, err
	}
	if want := fmt.Sprintf("errors: 0, replies: %d", n); !bytes.Contains(out, []byte(want)) {
		return 0, fmt.Errorf("redis-cli --pipe did not report %q: %q", want, out)
	}
	return used.per(n).all, nil
}

// elementKind is a collection, or many, whose memory is measured.
type elementKind struct {
	generated
	per string // what a figure is for
}

// elementKinds returns one collection of n elements of each type, and n small hashes. Members have
// 14 bytes.
func elementKinds(n int) []elementKind {
	member := func(i int) string { return fmt.Sprintf("member:%07d", i) }
	value := func(i int) string { return strings.Repeat(strconv.Itoa(i%10), 2+i%7) }
	return []elementKind{
		{generated{"zset", n, func(dst []byte, rnd *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "ZADD", "k", strconv.Itoa(rnd.IntN(1<<30)), member(i))
		}}, "member"},
		{generated{"hash", n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "HSET", "k", member(i), value(i))
		}}, "field"},
		{generated{"set", n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "SADD", "k", member(i))
		}}, "member"},
		{generated{"list", n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "RPUSH", "k", member(i))
		}}, "element"},
		{generated{"small hashes", n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "HSET", string(appendKey(nil, i)), "field:1", value(i),
				"field:2", value(i+1), "field:3", value(i+2),
				"field:4", value(i+3), "field:5", value(i+4))
		}}, "hash of 5 fields"},
	}
}

// measureElement is memory for each element.
var measureElement = measure{"B", 1}

// elements measures used_memory for each element. Other load on the machine does not matter to it:
// one round is enough.
func (b *bench) elements(ctx context.Context) error {
	if !b.plan.has("elements") {
		return nil
	}
	n := count(b.plan.elements)
	t := b.report.compare(titleElements,
		fmt.Sprintf("Growth of used_memory: one collection of %s elements, members of 14 bytes, "+
			"hash values of 2 to 8; and %s small hashes.", n, n),
		[]string{"collection", "for each"}, measureElement)
	for _, k := range elementKinds(b.plan.elements) {
		var per series
		err := b.eachServer(ctx, func(side int) error {
			grown, err := b.growthOf(ctx, side, k.generated)
			per.add(side, grown/float64(k.n))
			return err
		})
		if err != nil {
			return err
		}
		t.row([]string{k.name, k.per}, &per)
	}
	return nil
}

// growthOf returns the number of bytes by which the stream makes used_memory grow.
func (b *bench) growthOf(ctx context.Context, side int, g generated) (float64, error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	c, err := dial(s.Addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	before, err := infoNumber(c, "memory", "used_memory")
	if err != nil {
		return 0, err
	}
	if _, err := b.pipe(ctx, s, g); err != nil {
		return 0, err
	}
	// Drive a rehash of the key table to its end.
	if err := pump(ctx, s.Addr, getMissing(), 0, g.n/2); err != nil {
		return 0, err
	}
	after, err := infoNumber(c, "memory", "used_memory")
	return after - before, err
}

// bigMember appends a member of the big sorted set.
func bigMember(dst []byte, i int) []byte { return appendKey(dst, i) }

// bigCommands returns the streams whose CPU time is compared on large collections of n members.
func bigCommands(n, ops int) []generated {
	start := func(rnd *rand.Rand) string { return strconv.Itoa(rnd.IntN(n)) }
	return []generated{
		{"ZRANK", ops, func(dst []byte, rnd *rand.Rand, _ int) []byte {
			return resp.AppendCommand(dst, "ZRANK", "big", string(bigMember(nil, rnd.IntN(n))))
		}},
		{"ZRANGE by rank", ops, func(dst []byte, rnd *rand.Rand, _ int) []byte {
			i := rnd.IntN(n)
			return resp.AppendCommand(dst, "ZRANGE", "big", strconv.Itoa(i), strconv.Itoa(i+9))
		}},
		{"ZRANGE by score", ops, func(dst []byte, rnd *rand.Rand, _ int) []byte {
			return resp.AppendCommand(dst, "ZRANGE", "big", start(rnd), "+inf", "BYSCORE",
				"LIMIT", "0", "10")
		}},
	}
}

// bigLoad returns a stream that adds ten members a command. The scores are a permutation of 0..n-1.
func bigLoad(key, command string, from, n int) generated {
	return generated{"load " + key, (n + 9) / 10, func(dst []byte, _ *rand.Rand, i int) []byte {
		args := []string{command, key}
		for j := i * 10; j < min(i*10+10, n); j++ {
			if command == "ZADD" {
				args = append(args, strconv.Itoa(j*7919%n))
			}
			args = append(args, string(bigMember(nil, from+j)))
		}
		return resp.AppendCommand(dst, args...)
	}}
}

// big measures CPU time on large collections, and how long others wait while one is deleted.
func (b *bench) big(ctx context.Context) error {
	if !b.plan.has("big") {
		return nil
	}
	cmds := bigCommands(b.plan.bigMembers, b.plan.bigOps)
	names := make([]string, 0, len(cmds)+2)
	for _, c := range cmds {
		names = append(names, c.name)
	}
	names = append(names, "ZUNIONSTORE of two", "SINTER of two")
	cpu := make([]series, len(names))
	var stall series
	err := b.eachServer(ctx, func(side int) error {
		figures, worst, err := b.bigOnce(ctx, side, cmds)
		for i, f := range figures {
			cpu[i].add(side, f)
		}
		stall.add(side, worst)
		return err
	})
	t := b.report.compare("Large collections",
		fmt.Sprintf("ZRANK and ZRANGE of 10 on a sorted set of %s; the set operations on %s "+
			"members each, half of them common. Once for each server.",
			count(b.plan.bigMembers), count(b.plan.elements)),
		[]string{"command"}, measureCPU)
	for i, name := range names {
		t.row([]string{name}, &cpu[i])
	}
	b.report.compare("DEL of the large sorted set", "The longest wait of another client.",
		nil, measureMax).row(nil, &stall)
	return err
}

// bigOnce returns CPU times in µs: of each of cmds for one command, then of one ZUNIONSTORE and one
// SINTER. stall is the longest wait in ms of a second client while the big sorted set is deleted.
func (b *bench) bigOnce(ctx context.Context, side int, cmds []generated) (cpu []float64,
	stall float64, err error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return nil, 0, err
	}
	defer s.stop()
	n, half := b.plan.bigMembers, b.plan.elements/2
	loads := []generated{bigLoad("big", "ZADD", 0, n), bigLoad("z1", "ZADD", 0, 2*half),
		bigLoad("z2", "ZADD", half, 2*half),
		bigLoad("s1", "SADD", 0, 2*half), bigLoad("s2", "SADD", half, 2*half)}
	for _, l := range loads {
		if _, err := b.pipe(ctx, s, l); err != nil {
			return nil, 0, err
		}
	}
	one := func(args ...string) generated {
		return generated{args[0], 1, func(dst []byte, _ *rand.Rand, _ int) []byte {
			return resp.AppendCommand(dst, args...)
		}}
	}
	for _, g := range append(cmds, one("ZUNIONSTORE", "dst", "2", "z1", "z2"),
		one("SINTER", "s1", "s2")) {
		c, err := b.pipe(ctx, s, g)
		if err != nil {
			return nil, 0, err
		}
		cpu = append(cpu, c)
	}
	c, err := dial(s.Addr)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	l, err := probeFor(ctx, s.Addr, b.plan.eventProbeEvery, 1, b.plan.eventWindow, func() error {
		time.Sleep(b.plan.eventWindow / 10)
		_, err := c.do("DEL", "big")
		return err
	})
	return cpu, l.max, err
}
