//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"godwit/internal/resp"
)

// The wakeup part measures the time from an LPUSH until a client that is blocked in BLPOP has its
// element. Producer and consumer are two blocking sockets of one thread, so that no scheduler of
// the client sits between the two. In the second row, other consumers wait for other keys: they
// must not matter.
const (
	// time between two pushes: the consumer is blocked again long before
	wakeupEvery   = time.Millisecond
	wakeupOthers  = 1000
	wakeupPush    = "*3\r\n$5\r\nLPUSH\r\n$5\r\nqueue\r\n$3\r\njob\r\n"
	wakeupPop     = "*3\r\n$5\r\nBLPOP\r\n$5\r\nqueue\r\n$1\r\n0\r\n"
	wakeupPushed  = ":1\r\n"
	wakeupElement = "*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n"
)

func (b *bench) wakeup(ctx context.Context) error {
	if !b.plan.has("wakeup") {
		return nil
	}
	t := b.report.compare("Wake-up of a blocked client",
		"From an LPUSH to the reply of the BLPOP that waits for it.",
		[]string{"other waiting clients"}, measureP50, measureP99)
	for _, others := range []int{0, wakeupOthers} {
		var p50, p99 series
		err := b.eachRound(ctx, func(side int) error {
			l, err := b.wakeupRun(ctx, side, others)
			p50.add(side, l.p50)
			p99.add(side, l.p99)
			return err
		})
		if err != nil {
			return err
		}
		t.row([]string{fmt.Sprint(others)}, &p50, &p99)
	}
	return nil
}

// wakeupRun measures a fresh server.
func (b *bench) wakeupRun(ctx context.Context, side, others int) (latencies, error) {
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
		block := resp.AppendCommand(nil, "BLPOP", fmt.Sprintf("other:%d", i), "0")
		if err := c.Send(block); err != nil {
			return latencies{}, err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return wakeups(s.Addr, b.plan.wakeupTime)
}

// wakeups pushes and pops for the given time.
func wakeups(addr string, window time.Duration) (latencies, error) {
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
	buf := make([]byte, 256)
	end := time.Now().Add(window)
	for next := time.Now(); next.Before(end); {
		if _, err := io.WriteString(consumer, wakeupPop); err != nil {
			return latencies{}, err
		}
		threadSleep(time.Until(next))
		start := time.Now()
		if _, err := io.WriteString(producer, wakeupPush); err != nil {
			return latencies{}, err
		}
		if err := expectReply(consumer, buf[:len(wakeupElement)], wakeupElement); err != nil {
			return latencies{}, err
		}
		samples = append(samples, time.Since(start))
		if err := expectReply(producer, buf[:len(wakeupPushed)], wakeupPushed); err != nil {
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
