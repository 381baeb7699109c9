//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"godwit/internal/resp"
)

// Targets of the light part: as Godwit ÷ Redis, and in percent of one core.
const (
	targetLight = 1.1
	targetIdle  = 0.2
)

// lightRates are the requests a second of the only client. At the lower ones, a server sleeps
// deeply before each request, so what it costs to wake up is what is measured.
var lightRates = []int{50, 100, 1_000, 10_000}

// lightWarmup is how many requests go before each measurement.
const lightWarmup = 10

// light measures servers that have little to do: one client that sends a GET now and then, and
// connections that send nothing. One pair of servers serves all rows and rounds.
func (b *bench) light(ctx context.Context) error {
	if !b.plan.has("light") {
		return nil
	}
	var pair [sides]*server
	for side := range sides {
		s, err := b.start(ctx, side)
		if err != nil {
			return err
		}
		defer s.stop()
		pair[side] = s
		if err := pump(ctx, s.Addr, setKeys(b.plan.valueSize), 0, 1); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := b.lightLoads(ctx, pair); err != nil {
		return err
	}
	return b.idle(ctx, pair)
}

func (b *bench) lightLoads(ctx context.Context, pair [sides]*server) error {
	b.report.section("Light load",
		"One client sends a GET at a fixed rate. CPU is the server's for each request.",
		"requests a second", "Redis CPU µs", "Godwit CPU µs", "ratio", "target",
		"Redis p50 ms", "Godwit p50 ms", "ratio", "target",
		"Redis p99 ms", "Godwit p99 ms", "ratio")
	for _, rate := range lightRates {
		var cpu, p50, p99 series
		err := b.eachRound(ctx, func(round, side int) error {
			c, l, err := lightLoad(pair[side], rate, b.plan.lightTime)
			b.progress("light round %d %-6s  %d/s  CPU %.2f µs  p50 %.4f  p99 %.4f ms", round+1,
				sideNames[side], rate, c, l.p50, l.p99)
			cpu.add(side, c)
			p50.add(side, l.p50)
			p99.add(side, l.p99)
			return err
		})
		if err != nil {
			return err
		}
		used, mid, late := cpu.show("%.2f", 1), p50.show("%.4f", 1), p99.show("%.4f", 1)
		b.report.last().row(fmt.Sprint(rate),
			used.redis, used.godwit, used.ratio, b.report.atMost(used.value, targetLight, ""),
			mid.redis, mid.godwit, mid.ratio, b.report.atMost(mid.value, targetLight, ""),
			late.redis, late.godwit, late.ratio)
	}
	return nil
}

// lightLoad sends rate requests a second for the given time. It returns the server's CPU time for
// each in µs.
func lightLoad(s *server, rate int, window time.Duration) (cpu float64, l latencies, err error) {
	c, err := dialBlocking(s.Addr)
	if err != nil {
		return 0, l, err
	}
	defer c.Close()
	every := time.Second / time.Duration(rate)
	request := resp.AppendCommand(nil, "GET", string(appendKey(nil, 0)))
	reply := make([]byte, 4<<10)
	var samples []time.Duration
	send := func(n int) error {
		next := time.Now()
		for range n {
			threadSleep(time.Until(next))
			start := time.Now()
			if err := roundTrip(c, request, reply); err != nil {
				return err
			}
			end := time.Now()
			samples = append(samples, end.Sub(start))
			if next = next.Add(every); next.Before(end) {
				next = end
			}
		}
		return nil
	}
	if err := send(lightWarmup); err != nil {
		return 0, l, err
	}
	samples = samples[:0]
	n := max(int(window/every), 1)
	used, err := cpuDuring(s, func() error { return send(n) })
	return used / float64(n), summarize(samples), err
}

// idle measures what servers cost that nobody asks anything.
func (b *bench) idle(ctx context.Context, pair [sides]*server) error {
	b.report.section("Idle", "CPU of one core, in percent, while nobody sends anything.",
		"connections", "Redis %", "Godwit %", "ratio", "target")
	for _, conns := range []int{0, b.plan.idleConns} {
		for side := range sides {
			for range conns {
				c, err := net.Dial("tcp", pair[side].Addr)
				if err != nil {
					return err
				}
				defer c.Close()
			}
			if err := welcomed(pair[side].Addr); err != nil {
				return err
			}
		}
		var cpu series
		err := b.eachRound(ctx, func(round, side int) error {
			start := time.Now()
			used, err := cpuDuring(pair[side], func() error { return sleep(ctx, b.plan.lightTime) })
			percent := used / float64(time.Since(start).Microseconds()) * 100
			b.progress("idle round %d %-6s  %d connections  %.3f %%", round+1, sideNames[side],
				conns, percent)
			cpu.add(side, percent)
			return err
		})
		if err != nil {
			return err
		}
		v := cpu.show("%.3f", 1)
		b.report.last().row(fmt.Sprint(conns), v.redis, v.godwit, v.ratio,
			b.report.atMost(cpu.median(sideGodwit), targetIdle, " %"))
	}
	return nil
}

// welcomed waits until the server has accepted the connections made before.
func welcomed(addr string) error {
	c, err := dialBlocking(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return err
	}
	return expectReply(c, make([]byte, len("+PONG\r\n")), "+PONG\r\n")
}
