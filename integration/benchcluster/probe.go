package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"godwit/internal/testserver"
)

// latency is what clients notice, in ms.
type latency struct {
	p50, p99, p999, worst float64
}

// probe has a client of each master send commands at a steady rate while what runs, and returns
// how long these took. It counts from when each was due: one that waits makes the next ones late.
func (m *move) probe(ctx context.Context, what func(context.Context) error) (latency, error) {
	probing, stop := context.WithCancel(ctx)
	defer stop()
	var (
		wait  sync.WaitGroup
		nodes = []*testserver.Node{m.from, m.to}
		took  [2][]time.Duration
		errs  [2]error
	)
	for i, n := range nodes {
		wait.Go(func() { took[i], errs[i] = m.prober(probing, n) })
	}
	err := what(ctx)
	stop()
	wait.Wait()
	for _, e := range append(errs[:], err) {
		if e != nil {
			return latency{}, e
		}
	}
	return latencyOf(slices.Concat(took[0], took[1])), nil
}

// prober sends reads and writes of a master's keys in turn until ctx ends.
func (m *move) prober(ctx context.Context, n *testserver.Node) (took []time.Duration, err error) {
	conn, err := n.Dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	keys, every := m.probes(n), time.Second/time.Duration(m.rate)
	begin := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		due := begin.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		args := []any{"GET", keys[i%len(keys)]}
		if i%2 == 1 {
			args = []any{"SET", keys[i%len(keys)], "value"}
		}
		v, err := conn.Do(args...)
		if err != nil {
			return nil, err
		}
		if v.IsError() {
			return nil, fmt.Errorf("%v: %s", args, v.Text())
		}
		took = append(took, time.Since(due))
	}
	return took, nil
}

func latencyOf(took []time.Duration) latency {
	slices.Sort(took)
	at := func(q float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return took[min(len(took)-1, int(q*float64(len(took))))].Seconds() * 1000
	}
	return latency{at(0.5), at(0.99), at(0.999), at(1)}
}
