//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"godwit/internal/resp"
)

// The wakeup part measures the time from an LPUSH until a client that is blocked in BLPOP has its
// element, the streams part the same of an XADD and readers of the stream. Producer and consumer
// are two blocking sockets of one thread, so that no scheduler of the client sits between the two.
// In some rows, other consumers wait for other keys: they must not matter.
const (
	// time between two pushes: the consumer is blocked again long before
	wakeupEvery  = time.Millisecond
	wakeupOthers = 1000
)

// wakeup is a way to wait and to be woken.
type wakeup struct {
	name  string
	setup []string // a command, or nothing
	// block appends the command that waits for a key. It finds the i-th push even if that came
	// before it.
	block func(dst []byte, key string, i int) []byte
	// push appends the command that wakes whoever waits for "queue", pushed what its sender is
	// answered, and woken what the one that waits gets. i is the number of the push.
	push, pushed, woken func(dst []byte, i int) []byte
}

// listWakeup returns BLPOP and LPUSH.
func listWakeup() wakeup {
	fixed := func(text string) func([]byte, int) []byte {
		return func(dst []byte, _ int) []byte { return append(dst, text...) }
	}
	return wakeup{
		name: "BLPOP",
		block: func(dst []byte, key string, _ int) []byte {
			return resp.AppendCommand(dst, "BLPOP", key, "0")
		},
		push:   fixed(string(resp.AppendCommand(nil, "LPUSH", "queue", "job"))),
		pushed: fixed(":1\r\n"),
		woken:  fixed("*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n"),
	}
}

// streamWakeups returns XADD, and a reader of the stream alone or in a group.
func streamWakeups() []wakeup {
	id := func(i int) string { return strconv.Itoa(streamBase+i) + "-1" }
	reader := wakeup{
		name: "XREAD",
		block: func(dst []byte, key string, i int) []byte {
			return resp.AppendCommand(dst, "XREAD", "BLOCK", "0", "STREAMS", key, id(i-1))
		},
		push: func(dst []byte, i int) []byte {
			return resp.AppendCommand(dst, "XADD", "queue", id(i), "job", "1")
		},
		pushed: func(dst []byte, i int) []byte { return fmt.Appendf(dst, "$15\r\n%s\r\n", id(i)) },
		woken: func(dst []byte, i int) []byte {
			return fmt.Appendf(dst, "*1\r\n*2\r\n$5\r\nqueue\r\n*1\r\n*2\r\n$15\r\n%s\r\n"+
				"*2\r\n$3\r\njob\r\n$1\r\n1\r\n", id(i))
		},
	}
	grouped := reader
	grouped.name = "XREADGROUP"
	grouped.setup = []string{"XGROUP", "CREATE", "queue", "g", "$", "MKSTREAM"}
	grouped.block = func(dst []byte, key string, _ int) []byte {
		return resp.AppendCommand(dst, "XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS",
			key, ">")
	}
	return []wakeup{reader, grouped}
}

func (b *bench) wakeup(ctx context.Context) error {
	if !b.plan.has("wakeup") {
		return nil
	}
	t := b.report.compare("Wake-up of a blocked client",
		"From an LPUSH to the reply of the BLPOP that waits for it.",
		[]string{"other waiting clients"}, measureP50, measureP99)
	for _, others := range []int{0, wakeupOthers} {
		p50, p99, err := b.wakeupRounds(ctx, listWakeup(), others)
		if err != nil {
			return err
		}
		t.row([]string{fmt.Sprint(others)}, p50, p99)
	}
	return nil
}

// readerWakeups measures readers of streams.
func (b *bench) readerWakeups(ctx context.Context) error {
	t := b.report.compare(titleReaders,
		"From an XADD to the reply of the command that waits for it.",
		[]string{"command"}, measureP50, measureP99)
	for _, w := range streamWakeups() {
		p50, p99, err := b.wakeupRounds(ctx, w, 0)
		if err != nil {
			return err
		}
		t.row([]string{w.name}, p50, p99)
	}
	return nil
}

func (b *bench) wakeupRounds(ctx context.Context, w wakeup, others int) (p50, p99 *series,
	err error) {
	p50, p99 = new(series), new(series)
	err = b.eachRound(ctx, func(side int) error {
		l, err := b.wakeupRun(ctx, side, w, others)
		p50.add(side, l.p50)
		p99.add(side, l.p99)
		return err
	})
	return p50, p99, err
}

// wakeupRun measures a fresh server.
func (b *bench) wakeupRun(ctx context.Context, side int, w wakeup, others int) (latencies, error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return latencies{}, err
	}
	defer s.stop()
	for i := range others {
		c, err := dial(s.Addr)
		if err != nil {
			return latencies{}, err
		}
		defer c.Close()
		if err := c.Send(w.block(nil, fmt.Sprintf("other:%d", i), 0)); err != nil {
			return latencies{}, err
		}
	}
	if w.setup != nil {
		c, err := dial(s.Addr)
		if err != nil {
			return latencies{}, err
		}
		defer c.Close()
		if _, err := c.do(w.setup...); err != nil {
			return latencies{}, err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return w.measure(s.Addr, b.plan.wakeupTime)
}

// measure waits and pushes for the given time.
func (w *wakeup) measure(addr string, window time.Duration) (latencies, error) {
	producer, err := dialBlocking(addr)
	if err != nil {
		return latencies{}, err
	}
	defer producer.Close()
	consumer, err := dialBlocking(addr)
	if err != nil {
		return latencies{}, err
	}
	defer consumer.Close()
	var samples []time.Duration
	var block, push, pushed, woken, in []byte
	end := time.Now().Add(window)
	i := 0
	for next := time.Now(); next.Before(end); i++ {
		push, pushed, woken = w.push(push[:0], i), w.pushed(pushed[:0], i), w.woken(woken[:0], i)
		block = w.block(block[:0], "queue", i)
		in = append(in[:0], woken...) // of the same length
		if _, err := consumer.Write(block); err != nil {
			return latencies{}, err
		}
		threadSleep(time.Until(next))
		start := time.Now()
		if _, err := producer.Write(push); err != nil {
			return latencies{}, err
		}
		if err := expectReply(consumer, in, string(woken)); err != nil {
			return latencies{}, err
		}
		samples = append(samples, time.Since(start))
		if err := expectReply(producer, in[:len(pushed)], string(pushed)); err != nil {
			return latencies{}, err
		}
		// After a stall, the pushes that were missed are not made up for.
		if next = next.Add(wakeupEvery); time.Until(next) < 0 {
			next = time.Now()
		}
	}
	return summarize(samples[len(samples)/10:]), nil // the first tenth warms up
}

// expectReply reads as many bytes as buf has. They must be the wanted ones.
func expectReply(c io.Reader, buf []byte, want string) error {
	if _, err := io.ReadFull(c, buf); err != nil {
		return err
	}
	if string(buf) != want {
		return fmt.Errorf("unexpected reply %q", buf)
	}
	return nil
}
