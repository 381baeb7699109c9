//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// eventNames lists the windows of the events part, in order. All others are compared with the
// first.
var eventNames = []string{"idle", "overwrite", "growth", "flushall async", "unlink"}

func (b *bench) events(ctx context.Context) error {
	if !b.plan.has("events") {
		return nil
	}
	p999, diff, worst := make([]series, len(eventNames)), make([]series, len(eventNames)),
		make([]series, len(eventNames))
	err := b.eachRound(ctx, func(round, side int) error {
		seen, err := b.eventsOnce(ctx, side)
		if err != nil {
			return err
		}
		for i, l := range seen {
			b.progress("events round %d %-6s  %-14s p99.9 %.3f  max %.3f ms", round+1,
				sideNames[side], eventNames[i],
				l.p999, l.max)
			p999[i].add(side, l.p999)
			diff[i].add(side, l.p999-seen[0].p999)
			worst[i].add(side, l.max)
		}
		return nil
	})
	b.report.events(p999, diff, worst)
	return err
}

// eventsOnce returns the latencies in the windows of eventNames on a fresh server.
func (b *bench) eventsOnce(ctx context.Context, side int) ([]latencies, error) {
	p := &b.plan
	s, err := b.start(ctx, side)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := b.loadAndSettle(ctx, s, 0, p.growFrom, p.valueSize); err != nil {
		return nil, err
	}
	c, err := dial(s.Addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	run := func(args ...string) error {
		_, err := c.do(args...)
		return err
	}
	set := setKeys(p.valueSize)
	var seen []latencies
	for _, during := range []func() error{
		nil,
		func() error {
			return pacedOverwrites(ctx, s.Addr, set, p.growRate, p.growFrom, p.eventWindow)
		},
		func() error { return pacedInserts(ctx, s.Addr, set, p.growRate, p.growFrom, p.growTo) },
		func() error { return run("FLUSHALL", "ASYNC") },
		func() error { return run(append([]string{"UNLINK"}, bigKeys(p.bigValues)...)...) },
	} {
		if len(seen) == len(eventNames)-1 {
			if err := setBigValues(c, p.bigValues, p.bigValueSize); err != nil {
				return nil, err
			}
		}
		l, err := probeFor(ctx, s.Addr, p.eventProbeEvery, p.growFrom, p.eventWindow, during)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", eventNames[len(seen)], err)
		}
		seen = append(seen, l)
	}
	return seen, nil
}

func bigKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "big:" + strconv.Itoa(i)
	}
	return keys
}

// setBigValues writes real bytes: a value that was never touched has no pages to give back.
func setBigValues(c *control, n, size int) error {
	value := string(bytes.Repeat([]byte{'x'}, size))
	for _, key := range bigKeys(n) {
		if _, err := c.do("SET", key, value); err != nil {
			return err
		}
	}
	return nil
}
