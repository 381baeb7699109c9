//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// testNames lists redis-benchmark's names of the throughput commands. The order matters: incr adds
// keys of its own to the shared key space, so it comes last.
var testNames = []string{"ping_inline", "ping_mbulk", "set", "get", "mset", "incr"}

// plan is the size of a run.
type plan struct {
	quick     bool
	scale     float64 // see -scale
	parts     []string
	rounds    int
	keys      int // loaded for latency, throughput and bulk
	valueSize int // bytes, except in the rss part

	tests     []string
	pipelines []int
	ops       func(test string, pipeline int) int
	leastOps  int // of a case that takes a share of ops

	probeEvery  time.Duration
	latencyTime time.Duration

	rssKeys  int
	rssPause time.Duration // between the readings that must agree

	expireKeys int
	expireLead time.Duration // from the start of the load to the first deadline
	expireIdle time.Duration // idle window before the first deadline
	expireWait time.Duration // give up waiting for DBSIZE 0

	growFrom, growTo int // at least a doubling, so that any power-of-two table grows in between
	growRate         int // inserts a second
	eventProbeEvery  time.Duration
	eventWindow      time.Duration
	bigValues        int
	bigValueSize     int // bytes

	elements   int // of a collection, and the members that redis-benchmark chooses from
	bigMembers int // of the big sorted set
	bigOps     int

	streamEntries int           // of the large stream, a tenth of them pending
	streamPause   time.Duration // before memory is read

	syncKeys      int           // of a full synchronization
	persistKeys   int           // or elements, of the parts of persistence
	persistWarm   time.Duration // load before what is measured
	persistWindow time.Duration // before a snapshot
	logTime       time.Duration // of each measurement of the appendfsync part, at least
	wakeupTime    time.Duration
	lightTime     time.Duration // of each row of the light part
	idleConns     int           // connections that send nothing
	multiOps      int           // commands in transactions
}

func fullPlan() plan {
	return plan{
		scale: 1,
		parts: partNames, rounds: 3, keys: 1_000_000, valueSize: 64,
		tests: testNames, pipelines: []int{1, 16},
		ops: scaledOps(0.5), leastOps: 1000,
		probeEvery: time.Millisecond, latencyTime: 5 * time.Second,
		rssKeys: 1_000_000, rssPause: 100 * time.Millisecond,
		expireKeys: 1_000_000, expireLead: 5 * time.Second,
		expireIdle: 2 * time.Second, expireWait: time.Minute,
		growFrom: 600_000, growTo: 1_250_000, growRate: 150_000,
		eventProbeEvery: 250 * time.Microsecond, eventWindow: 2 * time.Second,
		bigValues: 5, bigValueSize: 100 << 20,
		elements: 1_000_000, bigMembers: 3_000_000, bigOps: 200_000,
		streamEntries: 10_000_000, streamPause: 200 * time.Millisecond,
		syncKeys: 5_000_000, persistKeys: 2_000_000,
		persistWarm: time.Second, persistWindow: 3 * time.Second,
		logTime:    5 * time.Second,
		wakeupTime: 2 * time.Second, lightTime: 2500 * time.Millisecond, idleConns: 5000,
		multiOps: 2_000_000,
	}
}

func quickPlan() plan {
	p := fullPlan()
	p.quick, p.rounds, p.keys = true, 1, 60_000
	p.ops = scaledOps(0.04)
	p.latencyTime = 500 * time.Millisecond
	p.rssKeys, p.rssPause = 60_000, 20*time.Millisecond
	p.expireKeys, p.expireLead, p.expireIdle, p.expireWait = 50_000, 800*time.Millisecond,
		300*time.Millisecond, 10*time.Second
	p.growFrom, p.growTo = 38_000, 80_000
	p.eventWindow = 300 * time.Millisecond
	p.bigValues, p.bigValueSize = 4, 16<<20
	p.elements, p.bigMembers, p.bigOps = 30_000, 60_000, 10_000
	p.streamEntries, p.streamPause = 200_000, 50*time.Millisecond
	p.syncKeys, p.persistKeys, p.persistWindow = 60_000, 60_000, 300*time.Millisecond
	p.logTime = 200 * time.Millisecond
	p.wakeupTime = 200 * time.Millisecond
	p.lightTime, p.idleConns = 150*time.Millisecond, 200
	p.multiOps = 80_000
	return p
}

// apply overrides the plan with what the command line asks for.
func (p *plan) apply(o options) {
	p.parts, p.tests, p.pipelines = o.only, o.tests, o.pipelines
	if o.rounds > 0 {
		p.rounds = o.rounds
	}
	if o.keys > 0 {
		p.keys = o.keys
		p.rssKeys = o.keys
		p.expireKeys = min(p.expireKeys, o.keys)
		p.growFrom, p.growTo = o.keys*48/100, o.keys
		p.persistKeys, p.syncKeys = o.keys, min(p.syncKeys, 5*o.keys)
		p.elements, p.bigMembers = min(p.elements, o.keys), min(p.bigMembers, o.keys)
		p.streamEntries = min(p.streamEntries, 10*o.keys)
	}
	if o.scale > 0 {
		p.shorten(o.scale)
	}
}

// shorten scales the numbers of operations and the lengths of windows.
func (p *plan) shorten(scale float64) {
	p.scale *= scale
	ops := p.ops
	p.ops = func(test string, pipeline int) int {
		return max(1000, int(float64(ops(test, pipeline))*scale))
	}
	p.multiOps = max(20_000, int(float64(p.multiOps)*scale))
	p.bigOps = max(1000, int(float64(p.bigOps)*scale))
	for _, d := range []*time.Duration{&p.latencyTime, &p.eventWindow, &p.expireIdle,
		&p.expireLead, &p.wakeupTime, &p.lightTime, &p.persistWindow,
		&p.logTime} {
		*d = time.Duration(float64(*d) * scale)
	}
}

// differences names what sets the plan apart from the full one, each behind a comma.
func (p *plan) differences() string {
	full, text := fullPlan(), ""
	if p.rounds != full.rounds {
		text += fmt.Sprintf(" (the full plan: %d)", full.rounds)
	}
	if p.quick {
		text += ", -quick"
	}
	if p.keys != full.keys || p.persistKeys != full.persistKeys {
		text += fmt.Sprintf(", %s keys (%s in the parts of persistence)", count(p.keys),
			count(p.persistKeys))
	}
	if p.scale != full.scale {
		text += fmt.Sprintf(", scale %g", p.scale)
	}
	return text
}

// small reports whether the plan is smaller than the full one.
func (p *plan) small() bool {
	full := fullPlan()
	return p.quick || p.rounds < full.rounds || p.scale < full.scale || p.keys < full.keys ||
		p.persistKeys < full.persistKeys || p.syncKeys < full.syncKeys ||
		p.bigMembers < full.bigMembers || p.streamEntries < full.streamEntries
}

func (p *plan) has(part string) bool { return slices.Contains(p.parts, part) }

// scaledOps returns the sizes of the runs of redis-benchmark: fewer operations for slower requests.
// At scale 1 and pipeline 1 a run takes one to two seconds.
func scaledOps(scale float64) func(string, int) int {
	return func(test string, pipeline int) int {
		n := 150_000.0
		switch {
		case test == "mset" && pipeline > 1:
			n = 120_000
		case test == "mset":
			n = 90_000
		case pipeline >= 64:
			n = 1_500_000
		case pipeline >= 8:
			n = 1_000_000
		}
		return max(1000, int(n*scale))
	}
}
