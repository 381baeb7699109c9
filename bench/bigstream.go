//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"godwit/internal/resp"
)

// The bigstream part measures commands that touch one entry, on a stream that is large and on small
// ones of which each command takes the next. There are enough of the small ones that what commands
// add, read and delete hardly changes their size.

// Columns of the bigstream part.
const (
	streamLarge = "large"
	streamSmall = "small"
)

const (
	smallStream    = 1000 // entries of a small stream, each tenth of them pending
	streamReaders  = 10   // consumers that have read the pending entries
	smallEachTaken = smallStream / 2
)

// entryStream is where the commands of the part go: one stream, or many.
type entryStream struct {
	name    string
	streams int // that many of them
	entries int // of each
	pending int // of each
	// taken is how many commands there are of those that add an entry, read a new one, acknowledge
	// or delete one
	taken int
}

func (e entryStream) key(i int) string { return e.name + ":" + strconv.Itoa(i%e.streams) }

// entryStreams returns the large stream and the small ones.
func (p *plan) entryStreams() (large, small entryStream) {
	streams := max(1, p.bigOps/smallStream)
	taken := streams * smallEachTaken
	large = entryStream{streamLarge, 1, p.streamEntries, p.streamEntries / 10, taken}
	small = entryStream{streamSmall, streams, smallStream, smallStream / 10, taken}
	return large, small
}

// bigStreamCommands returns the names of what entryCommands returns.
func bigStreamCommands() (names []string) {
	for _, g := range (entryStream{streams: 1, entries: 1}).commands(1) {
		names = append(names, g.name)
	}
	return names
}

// commands returns streams of commands in the order in which they must run: the first ones change
// nothing or add entries, then more of them become pending, and in the end some go.
func (e entryStream) commands(ops int) []generated {
	h := streamShape{streamDense}
	run := func(name string, ops int, args func(rnd *rand.Rand, i int) []string) generated {
		return generated{name, ops, func(dst []byte, rnd *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, args(rnd, i)...)
		}}
	}
	// read is how many entries of each stream are pending once XREADGROUP has run.
	read := e.pending + e.taken/e.streams
	// once returns the numbers below n in an order of its own, one for each round of the streams.
	once := func(n, i int) string { return h.id(i / e.streams * 7919 % n) }
	reader := func(i int) string { return "c:" + strconv.Itoa(i%streamReaders) }
	return []generated{
		run("XLEN", ops, func(_ *rand.Rand, i int) []string {
			return []string{"XLEN", e.key(i)}
		}),
		run("XRANGE of one", ops, func(rnd *rand.Rand, i int) []string {
			id := h.id(rnd.IntN(e.entries))
			return []string{"XRANGE", e.key(i), id, id}
		}),
		{"XADD", e.taken, func(dst []byte, _ *rand.Rand, i int) []byte {
			return h.xadd(dst, e.key(i), e.entries+i/e.streams)
		}},
		run("XREADGROUP of one", e.taken, func(_ *rand.Rand, i int) []string {
			return []string{"XREADGROUP", "GROUP", "g", "c:0", "COUNT", "1", "STREAMS", e.key(i),
				">"}
		}),
		run("XPENDING of one", ops, func(rnd *rand.Rand, i int) []string {
			return []string{"XPENDING", e.key(i), "g", "-", "+", "1", reader(rnd.IntN(1 << 20))}
		}),
		run("XCLAIM of one", ops, func(rnd *rand.Rand, i int) []string {
			return []string{"XCLAIM", e.key(i), "g", reader(rnd.IntN(1 << 20)), "0",
				h.id(rnd.IntN(max(1, read)))}
		}),
		run("XACK", e.taken, func(_ *rand.Rand, i int) []string {
			return []string{"XACK", e.key(i), "g", once(read, i)}
		}),
		run("XDEL of one", e.taken, func(_ *rand.Rand, i int) []string {
			return []string{"XDEL", e.key(i), once(e.entries, i)}
		}),
	}
}

// bigStream measures each server once: a load takes long.
func (b *bench) bigStream(ctx context.Context) error {
	if !b.plan.has("bigstream") {
		return nil
	}
	large, small := b.plan.entryStreams()
	names := bigStreamCommands()
	cpu := map[string][]series{large.name: make([]series, len(names)),
		small.name: make([]series, len(names))}
	var idle, save series
	err := b.eachServer(ctx, func(side int) error {
		return b.bigStreamOnce(ctx, side, &idle, &save, func(e entryStream, i int, used float64) {
			cpu[e.name][i].add(side, used)
		})
	})
	t := b.report.compare(titleBigStream,
		fmt.Sprintf("Commands that touch one entry, from redis-cli --pipe. `large`: a stream of "+
			"%s entries, %s of them pending with %d consumers; `small`: %d streams of %d, a "+
			"tenth of them pending, in turn. Once for each server.", count(large.entries),
			count(large.pending), streamReaders, small.streams, small.entries),
		[]string{"command", "stream"}, measureCPU)
	for i, name := range names {
		t.row([]string{name, streamSmall}, &cpu[streamSmall][i])
		t.row([]string{name, streamLarge}, &cpu[streamLarge][i])
	}
	s := b.report.compare(titleBigStreamSave,
		fmt.Sprintf("A GET every %v. The server has the streams of the table above.",
			b.plan.eventProbeEvery), []string{"during"}, measureP999)
	s.row([]string{eventIdle}, &idle)
	s.row([]string{"BGSAVE"}, &save)
	return err
}

// bigStreamOnce measures a fresh server. add receives the CPU time in µs of each command.
func (b *bench) bigStreamOnce(ctx context.Context, side int, idle, save *series,
	add func(e entryStream, i int, figure float64)) error {
	s, err := b.start(ctx, side)
	if err != nil {
		return err
	}
	defer s.stop()
	large, small := b.plan.entryStreams()
	for _, e := range []entryStream{large, small} {
		if err := b.loadEntryStream(ctx, s, e); err != nil {
			return err
		}
	}
	c, err := dial(s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for range b.plan.rounds {
		for _, window := range []struct {
			of     *series
			during func() error
		}{{idle, nil}, {save, func() error {
			_, err := snapshotAndWait(ctx, s, c, "BGSAVE")
			return err
		}}} {
			l, err := probeFor(ctx, s.Addr, b.plan.eventProbeEvery, 1, b.plan.eventWindow,
				window.during)
			if err != nil {
				return err
			}
			window.of.add(side, l.p999)
		}
	}
	inSmall, inLarge := small.commands(b.plan.bigOps), large.commands(b.plan.bigOps)
	for i := range inLarge {
		for _, one := range []struct {
			e entryStream
			g generated
		}{{small, inSmall[i]}, {large, inLarge[i]}} {
			figure, err := b.pipe(ctx, s, one.g)
			if err != nil {
				return err
			}
			add(one.e, i, figure)
		}
	}
	return nil
}

// loadEntryStream adds the entries and has consumers read those that are to be pending.
func (b *bench) loadEntryStream(ctx context.Context, s *server, e entryStream) error {
	h := streamShape{streamDense}
	total := e.entries * e.streams
	err := unanswered(ctx, s, total, func(dst []byte, i int) []byte {
		return h.xadd(dst, e.key(i), i/e.streams)
	})
	if err != nil {
		return err
	}
	perRead := max(1, min(1000, e.pending/streamReaders))
	reads := e.pending / perRead * e.streams
	for _, g := range []generated{
		{"groups", e.streams, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "XGROUP", "CREATE", e.key(i), "g", "0")
		}},
		{"reads", reads, func(dst []byte, _ *rand.Rand, i int) []byte {
			return resp.AppendCommand(dst, "XREADGROUP", "GROUP", "g",
				"c:"+strconv.Itoa(i/e.streams%streamReaders), "COUNT", strconv.Itoa(perRead),
				"STREAMS", e.key(i), ">")
		}},
	} {
		if _, err := b.pipe(ctx, s, g); err != nil {
			return err
		}
	}
	c, err := dial(s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	n, err := c.do("XLEN", e.key(0))
	if err == nil && n != strconv.Itoa(e.entries) {
		err = fmt.Errorf("%s has %s entries, not %d", e.key(0), n, e.entries)
	}
	return err
}

// unanswered sends n commands whose replies the server keeps to itself. They are too many for a
// file.
func unanswered(ctx context.Context, s *server, n int,
	command func(dst []byte, i int) []byte) error {
	c, err := dial(s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	w := bufio.NewWriterSize(c.Conn(), 1<<20)
	write := func(text []byte) {
		_, err = w.Write(text) // the writer keeps the first error
	}
	write(resp.AppendCommand(nil, "CLIENT", "REPLY", "OFF"))
	var buf []byte
	for i := 0; i < n && err == nil; i++ {
		buf = command(buf[:0], i)
		write(buf)
	}
	write(resp.AppendCommand(nil, "CLIENT", "REPLY", "ON"))
	if err := w.Flush(); err != nil {
		return err
	}
	reply := make([]byte, len("+OK\r\n"))
	if _, err := io.ReadFull(c.Conn(), reply); err != nil {
		return err
	}
	return ctx.Err()
}
