//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/resp"
)

// The batches part measures commands that name many keys or members, and pipelines of different
// commands: a server that looks ahead can fetch for all of them at once what lies in memory.

// batchOf is the number of keys or members of a command.
const batchOf = 10

// batchCase is one run of redis-benchmark. An operation is one command.
type batchCase struct {
	name     string
	pipeline int
	args     []string
	keys     int     // what __rand_int__ is drawn from; 0: all keys, or all members
	scale    float64 // of the plan's number of operations
}

// Shape of the sets of SUNION.
const (
	unionSets    = 1000
	unionMembers = 50
)

// batchCases returns the cases in their order. DEL is the last: it takes keys away.
func batchCases() []batchCase {
	const key, member = "key:__rand_int__", "member:__rand_int__"
	of := func(command string, args ...string) []string {
		return append(strings.Fields(command), slices.Repeat(args, batchOf)...)
	}
	return []batchCase{
		{"MGET of 10", 1, of("MGET", key), 0, 0.6},
		{"MGET of 10", 16, of("MGET", key), 0, 0.25},
		{"EXISTS of 10", 16, of("EXISTS", key), 0, 0.3},
		{"TOUCH of 10", 16, of("TOUCH", key), 0, 0.3},
		{"HMGET of 10", 16, of("HMGET hash", member), 0, 0.25},
		{"HSET of 10", 16, of("HSET hash", member, "value"), 0, 0.15},
		{"SMISMEMBER of 10", 16, of("SMISMEMBER set", member), 0, 0.25},
		{"SADD of 10", 16, of("SADD set", member), 0, 0.2},
		{"ZADD of 10", 16, of("ZADD zset", "__rand_int__", member), 0, 0.04},
		{"ZMSCORE of 10", 16, of("ZMSCORE zset", member), 0, 0.2},
		{"SUNION of two of 50", 16, []string{"SUNION", "s:__rand_int__", "s:__rand_int__"},
			unionSets, 0.04},
		{"DEL of 10", 16, of("DEL", key), 0, 0.08},
	}
}

// mixedName is the row of pipelines of different commands.
const mixedName = "8 different commands"

func (b *bench) batches(ctx context.Context) error {
	if !b.plan.has("batches") {
		return nil
	}
	all, stop, err := b.startAll(ctx)
	defer stop()
	if err != nil {
		return err
	}
	err = b.eachServer(ctx, func(side int) error { return b.loadBatches(ctx, all[side]) })
	if err != nil {
		return err
	}
	cases := batchCases()
	figures := make([]loadSeries, len(cases)+1)
	err = b.eachRound(ctx, func(side int) error {
		return b.batchRound(ctx, all[side], cases, func(i int, l loadFigures) {
			figures[i].add(side, l)
		})
	})
	t := b.report.compare(titleBatches,
		fmt.Sprintf("%s keys, and as many fields and members; redis-benchmark, 50 connections. "+
			"An operation is one command. The last row: %d connections with pipelines of GET, "+
			"SET, EXISTS, TTL, HGET, HSET, SISMEMBER, ZADD, twice.", count(b.plan.elements),
			mixedConns),
		[]string{"command", "pipeline"}, measureCPU, measureUser, measureOps)
	for i, c := range cases {
		f := &figures[i]
		t.row([]string{c.name, strconv.Itoa(c.pipeline)}, &f.cpu, &f.own, &f.rps)
	}
	f := &figures[len(cases)]
	t.row([]string{mixedName, strconv.Itoa(mixedPipeline)}, &f.cpu, &f.own, &f.rps)
	return err
}

// batchRound runs the cases on a server, the mixed pipelines first. add receives each case's
// figures.
func (b *bench) batchRound(ctx context.Context, s *server, cases []batchCase,
	add func(i int, l loadFigures)) error {
	// What DEL took in the round before comes back.
	if err := b.loadAndSettle(ctx, s, 0, b.plan.elements, b.plan.valueSize); err != nil {
		return err
	}
	l, err := b.mixed(ctx, s)
	if err != nil {
		return fmt.Errorf("mixed: %w", err)
	}
	add(len(cases), l)
	for i, c := range cases {
		keys := c.keys
		if keys == 0 {
			keys = b.plan.elements
		}
		ops := max(b.plan.leastOps, int(float64(b.plan.ops(c.name, c.pipeline))*c.scale))
		l, err := redisBenchmark(ctx, s, ops, c.pipeline,
			append([]string{"-r", strconv.Itoa(keys)}, c.args...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		add(i, l)
	}
	return nil
}

// memberName returns the i-th member or field, as redis-benchmark writes it.
func memberName(i int) string { return fmt.Sprintf("member:%012d", i) }

// loadBatches fills a hash, a set and a sorted set, and the small sets of SUNION.
func (b *bench) loadBatches(ctx context.Context, s *server) error {
	n := b.plan.elements
	one := func(head []string, args func(i int) []string) generated {
		return generated{head[0], n, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, slices.Concat(head, args(i))...)
		}}
	}
	for _, g := range []generated{
		one([]string{"HSET", "hash"}, func(i int) []string {
			return []string{memberName(i), "value"}
		}),
		one([]string{"SADD", "set"}, func(i int) []string { return []string{memberName(i)} }),
		one([]string{"ZADD", "zset"}, func(i int) []string {
			return []string{strconv.Itoa(i), memberName(i)}
		}),
		{"sets", unionSets, func(dst []byte, _ *rand.Rand, i int) []byte {
			args := []string{"SADD", fmt.Sprintf("s:%012d", i)}
			for j := range unionMembers {
				args = append(args, fmt.Sprintf("element:%07d", i*unionMembers/2+j))
			}
			return resp.AppendCommand(dst, args...)
		}},
	} {
		if _, err := b.pipe(ctx, s, g); err != nil {
			return err
		}
	}
	return nil
}

// Pipelines of different commands: connections that each have one under way.
const (
	mixedConns    = 50
	mixedCommands = 8
	mixedPipeline = 2 * mixedCommands
)

// mixedRequest returns a pipeline of commands on different keys and members, all of which exist.
func mixedRequest(n, valueSize int) request {
	set := setKeys(valueSize)
	part := func(dst []byte, i int) []byte {
		at := func(k int) int { return int(spread(uint64(i*mixedCommands+k)) % uint64(n)) }
		key := func(k int) string { return string(appendKey(nil, at(k))) }
		dst = resp.AppendCommand(dst, "GET", key(0))
		dst = set.append(dst, at(1))
		dst = resp.AppendCommand(dst, "EXISTS", key(2))
		dst = resp.AppendCommand(dst, "TTL", key(3))
		dst = resp.AppendCommand(dst, "HGET", "hash", memberName(at(4)))
		dst = resp.AppendCommand(dst, "HSET", "hash", memberName(at(5)), "value")
		dst = resp.AppendCommand(dst, "SISMEMBER", "set", memberName(at(6)))
		return resp.AppendCommand(dst, "ZADD", "zset", strconv.Itoa(at(7)), memberName(at(7)))
	}
	reply := fmt.Sprintf("$%d\r\n%s\r\n", valueSize, strings.Repeat("x", valueSize)) + set.reply +
		":1\r\n:-1\r\n$5\r\nvalue\r\n:0\r\n:1\r\n:0\r\n"
	return request{reply: reply + reply, append: func(dst []byte, i int) []byte {
		return part(part(dst, 2*i), 2*i+1)
	}}
}

// spread maps neighbours to numbers far from each other.
func spread(i uint64) uint64 {
	i = (i ^ i>>31) * 0x9e3779b97f4a7c15
	return i ^ i>>32
}

// mixed measures pipelines of different commands.
func (b *bench) mixed(ctx context.Context, s *server) (loadFigures, error) {
	r := mixedRequest(b.plan.elements, b.plan.valueSize)
	each := max(20, b.plan.ops("mixed", 16)/mixedConns/mixedPipeline)
	return inPipelines(ctx, s, r, each, mixedPipeline)
}
