//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"godwit/internal/resp"
)

// Rows of the memory of streams.
const (
	rowEntry   = "entry"
	rowPending = "pending entry"
)

// measureShare is memory in relation to what it was.
var measureShare = measure{"of what it was", 1}

// streamShapes are the streams whose memory is measured: those of a busy producer, and of one that
// adds an entry each ms.
var streamShapes = []streamShape{{streamDense}, {1}}

// streamMemory measures used_memory for each entry and each pending entry, and what is left of it
// when most entries are deleted. Other load on the machine does not matter to it: one round is
// enough.
func (b *bench) streamMemory(ctx context.Context) error {
	if !b.plan.has("streammemory") {
		return nil
	}
	n := b.plan.elements
	t := b.report.compare(titleStreamMemory,
		fmt.Sprintf("Growth of used_memory: a stream of %s entries of three fields with small "+
			"numbers; then one consumer reads all of them.", count(n)),
		[]string{"for each", "entries a ms"}, measureElement)
	for _, h := range streamShapes {
		var entry, pending series
		err := b.eachServer(ctx, func(side int) error {
			e, p, err := b.streamMemoryOf(ctx, side, h, n)
			entry.add(side, e)
			pending.add(side, p)
			return err
		})
		if err != nil {
			return err
		}
		perMs := strconv.Itoa(h.perMs)
		t.row([]string{rowEntry, perMs}, &entry)
		t.row([]string{rowPending, perMs}, &pending)
	}
	var left series
	err := b.eachServer(ctx, func(side int) error {
		l, err := b.streamDeleted(ctx, side, n)
		left.add(side, l)
		return err
	})
	c := b.report.compare(titleStreamDeleted,
		fmt.Sprintf("Growth of used_memory since the empty start, after 90 %% of %s entries were "+
			"deleted at random, in relation to that before.", count(n)), nil, measureShare)
	c.row(nil, &left)
	return err
}

// loadedStream starts a server, adds n entries to a stream "s", and calls f, which can ask for the
// used_memory.
func (b *bench) loadedStream(ctx context.Context, side int, h streamShape, n int,
	f func(s *server, empty float64, used func() (float64, error)) error) error {
	s, err := b.start(ctx, side)
	if err != nil {
		return err
	}
	defer s.stop()
	c, err := dial(s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	used := func() (float64, error) {
		// What is freed beside the commands is freed by then, and buffers of clients are gone.
		if err := sleep(ctx, b.plan.streamPause); err != nil {
			return 0, err
		}
		return infoNumber(c, "memory", "used_memory")
	}
	empty, err := used()
	if err != nil {
		return err
	}
	if _, err := b.pipe(ctx, s, h.load("s", n)); err != nil {
		return err
	}
	return f(s, empty, used)
}

// streamMemoryOf returns the bytes for each entry and each pending one.
func (b *bench) streamMemoryOf(ctx context.Context, side int, h streamShape, n int) (entry,
	pending float64, err error) {
	err = b.loadedStream(ctx, side, h, n,
		func(s *server, empty float64, used func() (float64, error)) error {
			loaded, err := used()
			if err != nil {
				return err
			}
			const perCommand = 1000
			for _, g := range []generated{
				repeated(1, "XGROUP", "CREATE", "s", "g", "0"),
				repeated(n/perCommand+1, "XREADGROUP", "GROUP", "g", "c", "COUNT",
					strconv.Itoa(perCommand), "STREAMS", "s", ">"),
			} {
				if _, err := b.pipe(ctx, s, g); err != nil {
					return err
				}
			}
			read, err := used()
			entry, pending = (loaded-empty)/float64(n), (read-loaded)/float64(n)
			return err
		})
	return entry, pending, err
}

// streamDeleted returns which part is left of what used_memory has grown by.
func (b *bench) streamDeleted(ctx context.Context, side, n int) (left float64, err error) {
	h := streamShape{streamDense}
	order := rand.New(rand.NewPCG(11, 13)).Perm(n)
	del := request{reply: ":1\r\n", append: func(dst []byte, i int) []byte {
		return resp.AppendCommand(dst, "XDEL", "s", h.id(order[i]))
	}}
	err = b.loadedStream(ctx, side, h, n,
		func(s *server, empty float64, used func() (float64, error)) error {
			before, err := used()
			if err != nil {
				return err
			}
			if err := pump(ctx, s.Addr, del, 0, n/10*9); err != nil {
				return err
			}
			after, err := used()
			left = (after - empty) / (before - empty)
			return err
		})
	return left, err
}
