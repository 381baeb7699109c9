//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/resp"
)

// measureIdle is the load of one core.
var measureIdle = measure{"% of a core", 1}

// lightRates are the requests a second of the only client. At the lower ones, a server sleeps
// deeply before each request, so what it costs to wake up is what is measured.
var lightRates = []int{50, 100, 1_000, 10_000}

// lightTailRate is the least rate that yields enough requests for a p99.
const lightTailRate = 1000

// lightWarmup is how many requests go before each measurement.
const lightWarmup = 10

// checkFiles reports whether the light part may open as many descriptors as it needs.
func (p *plan) checkFiles() error {
	if !p.has("light") {
		return nil
	}
	const others = 200 // what bench and a server have open beside the idle connections
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	if want := uint64(p.idleConns + others); limit.Cur < want {
		return fmt.Errorf("light needs %d open files, the limit is %d: ulimit -n %d", want,
			limit.Cur, want)
	}
	return nil
}

// light measures servers that have little to do: one client that sends a GET now and then, and
// connections that send nothing. The same servers serve all rows and rounds.
func (b *bench) light(ctx context.Context) error {
	if !b.plan.has("light") {
		return nil
	}
	all, stop, err := b.startAll(ctx)
	defer stop()
	if err != nil {
		return err
	}
	err = b.eachServer(ctx, func(side int) error {
		return pump(ctx, all[side].Addr, setKeys(b.plan.valueSize), 0, 1)
	})
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := b.lightLoads(ctx, all); err != nil {
		return err
	}
	return b.idle(ctx, all)
}

func (b *bench) lightLoads(ctx context.Context, all []*server) error {
	t := b.report.compare(titleLight,
		"One client sends a GET at a fixed rate. CPU is the server's for each request.",
		[]string{"requests a second"}, measureCPU, measureP50, measureP99)
	for _, rate := range lightRates {
		var cpu, p50, p99 series
		err := b.eachRound(ctx, func(side int) error {
			c, l, err := lightLoad(all[side], rate, b.plan.lightTime)
			cpu.add(side, c)
			p50.add(side, l.p50)
			p99.add(side, l.p99)
			return err
		})
		if err != nil {
			return err
		}
		tail := &p99
		if rate < lightTailRate {
			tail = nil
		}
		t.row([]string{fmt.Sprint(rate)}, &cpu, &p50, tail)
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
	return used.per(n).all, summarize(samples), err
}

// idle measures what servers cost that nobody asks anything, one server after the other: there are
// not descriptors for the connections of all.
func (b *bench) idle(ctx context.Context, all []*server) error {
	t := b.report.compare(titleIdle, "The server's CPU time while nobody sends anything.",
		[]string{"connections"}, measureIdle)
	for _, conns := range []int{0, b.plan.idleConns} {
		var cpu series
		err := b.eachServer(ctx, func(side int) error {
			return b.idleLoad(ctx, all[side], conns, func(percent float64) {
				cpu.add(side, percent)
			})
		})
		if err != nil {
			return err
		}
		t.row([]string{fmt.Sprint(conns)}, &cpu)
	}
	return nil
}

// idleLoad opens connections that send nothing. add receives the server's share of a core in
// percent, for each round, after as much time has passed for what the connections have begun.
func (b *bench) idleLoad(ctx context.Context, s *server, conns int,
	add func(percent float64)) error {
	for range conns {
		c, err := net.Dial("tcp", s.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
	}
	if err := welcomed(s.Addr); err != nil {
		return err
	}
	pause := func() error { return sleep(ctx, b.plan.lightTime) }
	if err := pause(); err != nil {
		return err
	}
	for range b.plan.rounds {
		start := time.Now()
		used, err := cpuDuring(s, pause)
		if err != nil {
			return err
		}
		add(used.all / float64(time.Since(start).Microseconds()) * 100)
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
