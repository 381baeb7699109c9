//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/resp"
)

// sketchCase is one run of redis-benchmark at pipeline 16.
type sketchCase struct {
	name string
	// what follows redis-benchmark's common arguments: a command. __rand_int__ is a number below
	// the group's keys
	args  []string
	scale float64 // of the plan's number of operations
	keys  int     // what __rand_int__ is drawn from, if it is not what the group says

	// against names an earlier case of the group, with which this one is compared on Godwit alone
	against string
}

// sketchGroup is a list of cases that share a server, filled by load.
type sketchGroup struct {
	name  string
	keys  int // what __rand_int__ is drawn from
	load  []generated
	cases []sketchCase
}

// moduleGroups returns the commands that Redis has only in modules. They are measured on Godwit
// alone, beside its own SET and GET.
func moduleGroups(p *plan) []sketchGroup {
	return []sketchGroup{throttleGroup(p), bloomGroup(p)}
}

// bloomPerCommand is the number of items that a command of the load adds.
const bloomPerCommand = 100

// bloomGroup returns the cases of Bloom filters: one for ten times the plan's number of elements at
// 1 %, beside as many strings as there are elements. The filter holds every second item and is half
// full, so it has about half of the items that the cases ask for.
func bloomGroup(p *plan) sketchGroup {
	const key, item = "key:__rand_int__", "item:__rand_int__"
	items := 10 * p.elements
	return sketchGroup{
		name: "Bloom filter", keys: p.elements,
		load: []generated{
			{"filter", 1, func(dst []byte, _ *rand.Rand, _ int) []byte {
				return resp.AppendCommand(dst, "BF.RESERVE", "filter", "0.01", strconv.Itoa(items))
			}},
			{"items", items / 2 / bloomPerCommand, func(dst []byte, _ *rand.Rand, i int) []byte {
				args := []string{"BF.MADD", "filter"}
				for j := range bloomPerCommand {
					args = append(args, fmt.Sprintf("item:%012d", (i*bloomPerCommand+j)*2))
				}
				return resp.AppendCommand(dst, args...)
			}},
			{"strings", p.elements, func(dst []byte, _ *rand.Rand, i int) []byte {
				return resp.AppendCommand(dst, "SET", string(appendKey(nil, i)),
					strings.Repeat("v", p.valueSize))
			}},
		},
		cases: []sketchCase{
			{name: "SET", args: []string{"SET", key, strings.Repeat("v", p.valueSize)}, scale: 1},
			{name: "GET", args: []string{"GET", key}, scale: 1},
			{name: "BF.EXISTS", args: []string{"BF.EXISTS", "filter", item}, scale: 1, keys: items,
				against: "GET"},
			{name: "BF.ADD", args: []string{"BF.ADD", "filter", item}, scale: 1, keys: items,
				against: "SET"},
		},
	}
}

// hllGroup returns the cases of ten HyperLogLogs of 100,000 elements.
func hllGroup(p *plan) sketchGroup {
	ten := make([]string, 10)
	for i := range ten {
		ten[i] = "hll:" + strconv.Itoa(i)
	}
	load := generated{"hll", 10 * 1000, func(dst []byte, _ *rand.Rand, i int) []byte {
		args := []string{"PFADD", ten[i/1000]}
		for j := range 100 {
			args = append(args, fmt.Sprintf("%d:%d", i, j))
		}
		return resp.AppendCommand(dst, args...)
	}}
	return sketchGroup{
		name: "HyperLogLog", keys: p.elements, load: []generated{load},
		cases: []sketchCase{
			{name: "PFADD to one", args: []string{"PFADD", "hll", "element:__rand_int__"},
				scale: 1},
			{name: "PFADD to many",
				args: []string{"PFADD", "hll:__rand_int__", "element:__rand_int__"}, scale: 1},
			{name: "PFCOUNT of one", args: []string{"PFCOUNT", "hll:0"}, scale: 1},
			{name: "PFCOUNT of 10 dense", args: append([]string{"PFCOUNT"}, ten...), scale: 0.01},
			{name: "PFMERGE of 10 dense", args: append([]string{"PFMERGE", "dst"}, ten...),
				scale: 0.01},
		},
	}
}

// geoPerCommand is the number of places that a command of the load adds.
const geoPerCommand = 10

// geoGroup returns the cases of places all over a country, one for every three square kilometers at
// a million places. Searches are around one of them: the small ones find one or two places, the
// large ones some 2,500.
func geoGroup(p *plan) sketchGroup {
	load := generated{"places", p.elements / geoPerCommand,
		func(dst []byte, rnd *rand.Rand, i int) []byte {
			args := []string{"GEOADD", "geo"}
			for j := range geoPerCommand {
				args = append(args, fmt.Sprintf("%.6f", 100+20*rnd.Float64()),
					fmt.Sprintf("%.6f", 25+15*rnd.Float64()),
					fmt.Sprintf("place:%012d", i*geoPerCommand+j))
			}
			return resp.AppendCommand(dst, args...)
		}}
	search := func(name, radius string, scale float64, options ...string) sketchCase {
		args := append([]string{"GEOSEARCH", "geo", "FROMMEMBER", "place:__rand_int__",
			"BYRADIUS", radius, "km"}, options...)
		return sketchCase{name: "GEOSEARCH " + name, args: args, scale: scale}
	}
	return sketchGroup{
		name: "Places", keys: p.elements, load: []generated{load},
		cases: []sketchCase{
			search("1 km", "1", 0.2),
			search("1 km, by distance", "1", 0.2, "ASC", "WITHDIST"),
			search("50 km", "50", 0.001),
			search("50 km, nearest 10", "50", 0.001, "ASC", "COUNT", "10", "WITHDIST"),
			{name: "GEODIST",
				args:  []string{"GEODIST", "geo", "place:__rand_int__", "place:__rand_int__", "km"},
				scale: 0.5},
			// Last, since it adds places. The numbers are up to 2^31: coordinates up to 21°.
			{name: "GEOADD",
				args: []string{"GEOADD", "geo", "__rand_int__e-8", "__rand_int__e-8",
					"place:__rand_int__"}, scale: 0.5, keys: 1<<31 - 1},
		},
	}
}

// throttleGroup returns the cases of CL.THROTTLE: a bucket for each key, slow enough to stay.
func throttleGroup(p *plan) sketchGroup {
	const key = "key:__rand_int__"
	bucket := []string{"15", "30", "86400"}
	return sketchGroup{
		name: "CL.THROTTLE", keys: p.elements,
		load: []generated{
			{"buckets", p.elements, func(dst []byte, _ *rand.Rand, i int) []byte {
				return resp.AppendCommand(dst,
					append([]string{"CL.THROTTLE", "b" + string(appendKey(nil, i))}, bucket...)...)
			}},
			{"strings", p.elements, func(dst []byte, _ *rand.Rand, i int) []byte {
				return resp.AppendCommand(dst, "SET", string(appendKey(nil, i)),
					strings.Repeat("v", p.valueSize))
			}},
		},
		cases: []sketchCase{
			{name: "SET", args: []string{"SET", key, strings.Repeat("v", p.valueSize)}, scale: 1},
			{name: "GET", args: []string{"GET", key}, scale: 1},
			{name: "CL.THROTTLE", args: append([]string{"CL.THROTTLE", "b" + key}, bucket...),
				scale: 1, against: "SET"},
		},
	}
}

// sketches measures the groups on all servers.
func (b *bench) sketches(ctx context.Context) error {
	if !b.plan.has("sketches") {
		return nil
	}
	return b.sketchGroups(ctx, titleSketches, hllGroup(&b.plan), geoGroup(&b.plan))
}

// sketchGroups measures groups on all servers.
func (b *bench) sketchGroups(ctx context.Context, title string, groups ...sketchGroup) error {
	t := b.report.compare(title, "redis-benchmark, 50 connections, pipeline 16.",
		[]string{"command"}, measureCPU, measureUser, measureOps)
	for _, g := range groups {
		figures := make([]loadSeries, len(g.cases))
		err := b.eachRound(ctx, func(side int) error {
			return b.sketchRound(ctx, side, &g, func(i int, l loadFigures) {
				figures[i].add(side, l)
			})
		})
		if err != nil {
			return err
		}
		for i, c := range g.cases {
			f := &figures[i]
			t.row([]string{c.name}, &f.cpu, &f.own, &f.rps)
		}
	}
	return nil
}

// modules measures the groups on Godwit.
func (b *bench) modules(ctx context.Context) error {
	if !b.plan.has("modules") {
		return nil
	}
	s := b.report.section("Filters and rate limits (CPU µs/op)",
		"Godwit alone, redis-benchmark, 50 connections, pipeline 16; compared with a plain "+
			"command of the same server.",
		"command", "compared with", "other", titleGodwit, ratioHead)
	for _, g := range moduleGroups(&b.plan) {
		cpu := make([][]float64, len(g.cases))
		for range b.plan.rounds {
			err := b.sketchRound(ctx, b.contest.godwit(), &g, func(i int, l loadFigures) {
				cpu[i] = append(cpu[i], l.cpu.all)
			})
			if err != nil {
				return err
			}
		}
		for i, c := range g.cases {
			other := slices.IndexFunc(g.cases, func(o sketchCase) bool {
				return o.name == c.against
			})
			if other >= 0 {
				by := measureCPU.print(median(cpu[other]))
				of := measureCPU.print(median(cpu[i]))
				ratio, _ := printedRatio(by, of)
				s.row(c.name, c.against, by, of, ratio)
			}
		}
	}
	return nil
}

// sketchRound runs the cases of a group on a fresh server. add receives each case's figures.
func (b *bench) sketchRound(ctx context.Context, side int, g *sketchGroup,
	add func(i int, l loadFigures)) error {
	s, err := b.start(ctx, side)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, l := range g.load {
		if _, err := b.pipe(ctx, s, l); err != nil {
			return err
		}
	}
	for i, c := range g.cases {
		ops := max(b.plan.leastOps, int(float64(b.plan.ops(c.name, 16))*c.scale))
		l, err := redisBenchmark(ctx, s, ops, 16,
			append([]string{"-r", strconv.Itoa(cmp.Or(c.keys, g.keys))}, c.args...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		add(i, l)
	}
	return nil
}
