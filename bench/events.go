//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// Windows of the events part that others are compared with: without load, and with the load that
// growth has, on keys that exist.
const (
	eventIdle      = "idle"
	eventOverwrite = "overwrite"
)

// eventNames lists the windows of the events part, in order.
var eventNames = []string{eventIdle, eventOverwrite, "growth", "BGSAVE", "BGREWRITEAOF",
	"FLUSHALL ASYNC", "UNLINK"}

func (b *bench) events(ctx context.Context) error {
	if !b.plan.has("events") {
		return nil
	}
	p999, worst := make([]series, len(eventNames)), make([]series, len(eventNames))
	err := b.eachRound(ctx, func(side int) error {
		seen, err := b.eventsOnce(ctx, side)
		for i, l := range seen {
			p999[i].add(side, l.p999)
			worst[i].add(side, l.max)
		}
		return err
	})
	p := &b.plan
	c := b.report.compare(titleEvents,
		fmt.Sprintf("A GET every %v. `growth`: from %s to %s keys at %s inserts a second, through "+
			"a doubling of the table; `overwrite`: the same load without growth; BGSAVE, "+
			"BGREWRITEAOF and FLUSHALL ASYNC of %s keys; UNLINK of %d strings of %d MiB.",
			p.eventProbeEvery, count(p.growFrom), count(p.growTo), count(p.growRate),
			count(p.growTo), p.bigValues, p.bigValueSize>>20),
		[]string{"during"}, measureP999, measureMax)
	for i, name := range eventNames {
		c.row([]string{name}, &p999[i], &worst[i])
	}
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
	var seen []latencies
	for i, during := range b.eventSteps(ctx, s, c) {
		if i == len(eventNames)-1 {
			if err := setBigValues(c, p.bigValues, p.bigValueSize); err != nil {
				return nil, err
			}
		}
		l, err := probeFor(ctx, s.Addr, p.eventProbeEvery, p.growFrom, p.eventWindow, during)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", eventNames[i], err)
		}
		seen = append(seen, l)
	}
	return seen, nil
}

// eventSteps returns what happens in each of the windows of eventNames.
func (b *bench) eventSteps(ctx context.Context, s *server, c *control) []func() error {
	p := &b.plan
	set := setKeys(p.valueSize)
	run := func(args ...string) func() error {
		return func() error {
			_, err := c.do(args...)
			return err
		}
	}
	snapshot := func(command string) func() error {
		return func() error {
			_, err := snapshotAndWait(ctx, s, c, command)
			return err
		}
	}
	return []func() error{
		nil,
		func() error {
			return pacedOverwrites(ctx, s.Addr, set, p.growRate, p.growFrom, p.eventWindow)
		},
		func() error { return pacedInserts(ctx, s.Addr, set, p.growRate, p.growFrom, p.growTo) },
		snapshot("BGSAVE"),
		snapshot("BGREWRITEAOF"),
		run("FLUSHALL", "ASYNC"),
		run(append([]string{"UNLINK"}, bigKeys(p.bigValues)...)...),
	}
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
