//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"godwit/internal/resp"
)

// The atomicity part measures transactions: MULTI, ten commands, EXEC, sent together as client
// libraries do. It counts the ten commands. In one row, one connection always has many transactions
// under way, so that the server alone is the limit. In the other, each connection waits for the
// reply before the next transaction and begins with a WATCH, as optimistic locking does.
const (
	multiCommands = 10
	multiConns    = 16
)

// multiRequest returns a transaction of ten commands on different keys below keys.
func multiRequest(keys int, command func(dst []byte, key int) []byte, reply string) request {
	head, tail := resp.AppendCommand(nil, "MULTI"), resp.AppendCommand(nil, "EXEC")
	return request{
		reply: "+OK\r\n" + strings.Repeat("+QUEUED\r\n", multiCommands) +
			fmt.Sprintf("*%d\r\n", multiCommands) + strings.Repeat(reply, multiCommands),
		append: func(dst []byte, i int) []byte {
			dst = append(dst, head...)
			for k := range multiCommands {
				dst = command(dst, (i*multiCommands+k)%keys)
			}
			return append(dst, tail...)
		},
	}
}

// multiSets returns a transaction of ten SETs. multiGets returns one of ten GETs of what those have
// set.
func multiSets(keys, size int) request {
	set := setKeys(size)
	return multiRequest(keys, set.append, set.reply)
}

func multiGets(keys, size int) request {
	return multiRequest(keys, func(dst []byte, key int) []byte {
		dst = fmt.Appendf(dst, "*2\r\n$3\r\nGET\r\n$%d\r\n", keyLen)
		return append(appendKey(dst, key), "\r\n"...)
	}, fmt.Sprintf("$%d\r\n%s\r\n", size, strings.Repeat("x", size)))
}

// watched puts a WATCH of one key in front of each transaction.
func watched(r request, conn int) request {
	watch := resp.AppendCommand(nil, "WATCH", fmt.Sprint("watched:", conn))
	return request{
		reply:  "+OK\r\n" + r.reply,
		append: func(dst []byte, i int) []byte { return r.append(append(dst, watch...), i) },
	}
}

func (b *bench) atomicity(ctx context.Context) error {
	if !b.plan.has("atomicity") {
		return nil
	}
	keys := min(100_000, b.plan.multiOps/multiCommands)
	sets, gets := multiSets(keys, b.plan.valueSize), multiGets(keys, b.plan.valueSize)
	piped := b.plan.multiOps / multiCommands * multiCommands
	rows := []struct {
		name string
		run  func(ctx context.Context, s *server) error
		ops  int
	}{
		{"SET × 10, one connection, pipelined", b.multiPipelined(sets), piped},
		{"GET × 10, one connection, pipelined", b.multiPipelined(gets), piped},
		{fmt.Sprintf("WATCH, SET × 10, %d connections, one after the other", multiConns),
			b.multiClosed(sets), b.multiEach() * multiConns * multiCommands},
	}
	rps, cpu := make([]series, len(rows)), make([]series, len(rows))
	err := b.eachRound(ctx, func(side int) error {
		s, err := b.start(ctx, side)
		if err != nil {
			return err
		}
		defer s.stop()
		for i, row := range rows {
			start := time.Now()
			used, err := cpuDuring(s, func() error { return row.run(ctx, s) })
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			rps[i].add(side, float64(row.ops)/time.Since(start).Seconds())
			cpu[i].add(side, used.per(row.ops).all)
		}
		return nil
	})
	t := b.report.compare("Transactions",
		fmt.Sprintf("MULTI, %d commands, EXEC. Counted are the commands in the transactions.",
			multiCommands),
		[]string{"transaction"}, measureCPU, measureOps)
	for i, row := range rows {
		t.row([]string{row.name}, &cpu[i], &rps[i])
	}
	return err
}

// multiPipelined sends all transactions through one connection.
func (b *bench) multiPipelined(r request) func(context.Context, *server) error {
	return func(ctx context.Context, s *server) error {
		return pump(ctx, s.Addr, r, 0, b.plan.multiOps/multiCommands)
	}
}

// multiEach returns the number of transactions of each connection of multiClosed.
func (b *bench) multiEach() int { return b.plan.multiOps / 4 / multiCommands / multiConns }

// multiClosed shares the transactions out among connections that each have one under way.
func (b *bench) multiClosed(r request) func(context.Context, *server) error {
	each := b.multiEach()
	return func(ctx context.Context, s *server) error {
		errs := make([]error, multiConns)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = oneByOne(ctx, s.Addr, watched(r, i), i*each, each) })
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

// oneByOne sends n requests, each after the reply to the one before.
func oneByOne(ctx context.Context, addr string, r request, from, n int) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	var out []byte
	in := make([]byte, len(r.reply))
	for i := range n {
		out = r.append(out[:0], from+i)
		if err := c.Send(out); err != nil {
			return err
		}
		if _, err := io.ReadFull(c.Conn(), in); err != nil { // it may be several replies
			return err
		}
		if string(in) != r.reply {
			return fmt.Errorf("unexpected reply %.200q", in)
		}
	}
	return nil
}
