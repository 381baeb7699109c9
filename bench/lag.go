//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"godwit/internal/resp"
)

// The lag part measures how far a replica is behind its master. One thread sends PUBLISH to the
// master at a fixed interval; the message goes to the replica with the stream of commands, behind
// all that was written before it. Another thread hears it there.

// lagChannel is where the messages go.
const lagChannel = "lag"

// lag measures it under a write load.
func (b *bench) lag(ctx context.Context) error {
	if !b.plan.has("lag") {
		return nil
	}
	var p50, p99, worst, rate series
	err := b.eachRound(ctx, func(side int) error {
		l, written, err := b.lagOnce(ctx, side)
		p50.add(side, l.p50)
		p99.add(side, l.p99)
		worst.add(side, l.max)
		rate.add(side, written)
		return err
	})
	t := b.report.compare(titleLag,
		fmt.Sprintf("From a PUBLISH to the master each %v until a subscriber of the replica has "+
			"the message, under %s writes a second, or as many as there were.", b.plan.probeEvery,
			count(lagRate)), nil, measureP50, measureP99, measureMax, measureOps)
	t.row(nil, &p50, &p99, &worst, &rate)
	return err
}

func (b *bench) lagOnce(ctx context.Context, side int) (l latencies, rate float64, err error) {
	master, err := b.startWith(ctx, side, replicated...)
	if err != nil {
		return l, 0, err
	}
	defer master.stop()
	replica, err := b.startWith(ctx, side, replicated...)
	if err != nil {
		return l, 0, err
	}
	defer replica.stop()
	if err := b.loadAndSettle(ctx, master, 0, b.plan.keys, b.plan.valueSize); err != nil {
		return l, 0, err
	}
	if err := follow(replica, master); err != nil {
		return l, 0, err
	}
	end := b.overwrites(ctx, master, lagRate, b.plan.keys)
	from, err := master.InfoInt("stats", "total_commands_processed")
	start := time.Now()
	if err == nil {
		l, err = messages(ctx, master.Addr, replica.Addr, b.plan.probeEvery, b.plan.latencyTime)
	}
	took := time.Since(start).Seconds()
	to, ierr := master.InfoInt("stats", "total_commands_processed")
	return l, float64(to-from) / took, errors.Join(err, ierr, end())
}

// messages publishes on one server for a while and returns how long the messages take to the other.
func messages(ctx context.Context, from, to string, every, window time.Duration) (latencies,
	error) {
	n := max(1, int(window/every))
	heard, err := dialBlocking(to)
	if err != nil {
		return latencies{}, err
	}
	defer heard.Close()
	said, err := dialBlocking(from)
	if err != nil {
		return latencies{}, err
	}
	defer said.Close()
	if err := subscribe(heard); err != nil {
		return latencies{}, err
	}
	sent := make([]atomic.Int64, n) // ns since begin
	begin := time.Now()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- publish(ctx, said, sent, begin, every)
	}()
	samples := make([]time.Duration, n)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, 0, 256)
	for i := range n {
		if buf, err = hear(heard, buf, i); err != nil {
			said.Close()
			return latencies{}, errors.Join(err, <-done)
		}
		samples[i] = time.Since(begin) - time.Duration(sent[i].Load())
	}
	return summarize(samples), <-done
}

// subscribe subscribes to the channel.
func subscribe(c *blockingConn) error {
	if _, err := c.Write(resp.AppendCommand(nil, "SUBSCRIBE", lagChannel)); err != nil {
		return err
	}
	want := fmt.Sprintf("*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1\r\n", len(lagChannel), lagChannel)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		return fmt.Errorf("SUBSCRIBE: %q %w", got, err)
	}
	return nil
}

// publish sends the messages, each at its time, and notes when that was.
func publish(ctx context.Context, c *blockingConn, sent []atomic.Int64, begin time.Time,
	every time.Duration) error {
	reply := make([]byte, 4)
	for i := range sent {
		threadSleep(time.Until(begin.Add(time.Duration(i) * every)))
		sent[i].Store(int64(time.Since(begin)))
		command := resp.AppendCommand(nil, "PUBLISH", lagChannel, message(i))
		if _, err := c.Write(command); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// message returns the text of a message. All have the same length.
func message(i int) string { return fmt.Sprintf("%08d", i) }

// hear reads the i-th message. rest holds what was read beyond the one before it.
func hear(c *blockingConn, rest []byte, i int) ([]byte, error) {
	want := resp.AppendCommand(nil, "message", lagChannel, message(i))
	for len(rest) < len(want) {
		part := make([]byte, 4096)
		n, err := c.Read(part)
		if err != nil {
			return nil, err
		}
		rest = append(rest, part[:n]...)
	}
	if !bytes.HasPrefix(rest, want) {
		return nil, errors.New("message " + strconv.Itoa(i) + " is not the next one")
	}
	return rest[len(want):], nil
}
