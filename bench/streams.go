//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"godwit/internal/resp"
)

// streamNames lists the measurements of `make bench-streams`.
var streamNames = []string{"streammemory", "streams", "bigstream"}

// streamTitles lists their sections.
var streamTitles = []string{titleStreams, titleReaders, titleStreamMemory, titleStreamDeleted,
	titleBigStream, titleBigStreamSave}

const (
	// streamBase is the time in ms in the ID of a stream's first entry. redis-benchmark can name an
	// entry: 1, and the twelve digits of __rand_int__.
	streamBase = 1_000_000_000_000
	// streamDense is how many entries a busy producer adds in a ms. IDs so close to each other are
	// the least memory that a pending entry takes in Redis.
	streamDense = 300
)

// streamShape says which IDs entries have.
type streamShape struct{ perMs int }

// appendID appends the ID of the i-th entry.
func (h streamShape) appendID(dst []byte, i int) []byte {
	dst = strconv.AppendInt(dst, int64(streamBase+i/h.perMs), 10)
	return strconv.AppendInt(append(dst, '-'), int64(i%h.perMs), 10)
}

func (h streamShape) id(i int) string { return string(h.appendID(nil, i)) }

// xadd appends an XADD of the i-th entry: three fields with small numbers. In Redis it takes 18
// bytes.
func (h streamShape) xadd(dst []byte, key string, i int) []byte {
	r := spread(uint64(i) + 1)
	value := func(shift, n uint64) string { return strconv.Itoa(int(r >> shift % n)) }
	return resp.AppendCommand(dst, "XADD", key, h.id(i), "sensor", value(0, 220),
		"temp", value(16, 400), "hum", value(32, 100))
}

// load returns a stream of commands that adds n entries.
func (h streamShape) load(key string, n int) generated {
	return generated{"load " + key, n, func(dst []byte, _ *rand.Rand, i int) []byte {
		return h.xadd(dst, key, i)
	}}
}

// repeated returns a stream of n commands that are all the same.
func repeated(n int, args ...string) generated {
	command := resp.AppendCommand(nil, args...)
	return generated{args[0], n, func(dst []byte, _ *rand.Rand, _ int) []byte {
		return append(dst, command...)
	}}
}

// streamCase is a load of the streams part.
type streamCase struct {
	name string
	run  func(ctx context.Context, s *server) (loadFigures, error)
}

const (
	streamRead    = 10  // entries that an XREADGROUP asks for
	streamClaimed = 100 // entries that an XAUTOCLAIM asks for
)

// streamCases returns the cases in their order, for a stream "s" of n entries with a group "g" that
// has read nothing. XREADGROUP makes all of them pending, XACK none.
func (b *bench) streamCases(n int) []streamCase {
	dense := streamShape{streamDense}
	benchmark := func(name string, ops, keys int, command ...string) streamCase {
		return streamCase{name, func(ctx context.Context, s *server) (loadFigures, error) {
			return redisBenchmark(ctx, s, ops, streamPipeline,
				slices.Concat([]string{"-r", strconv.Itoa(keys)}, command)...)
		}}
	}
	scaled := func(scale float64) int {
		return max(b.plan.leastOps, int(float64(b.plan.ops("stream", streamPipeline))*scale))
	}
	ms := n / streamDense
	claim := func(name, idle string, scale float64) streamCase {
		return benchmark(name, scaled(scale), ms, "XAUTOCLAIM", "s", "g", "claimer", idle,
			"1__rand_int__-0", "COUNT", strconv.Itoa(streamClaimed))
	}
	return []streamCase{
		benchmark(rowXADD, scaled(1), 1, "XADD", "t", "*", "sensor", "117", "temp", "215", "hum",
			"44"),
		benchmark(rowXRANGE, scaled(0.04), ms, "XRANGE", "s", "1__rand_int__-0", "+", "COUNT",
			"100"),
		benchmark(rowXREADGROUP, max(1, n/streamRead), 10, "XREADGROUP", "GROUP", "g",
			"c:__rand_int__", "COUNT", strconv.Itoa(streamRead), "STREAMS", "s", ">"),
		claim(rowXAUTOCLAIM, "0", 0.008),
		claim(rowNothingIdle, "86400000", 0.004),
		{rowXACK, func(ctx context.Context, s *server) (loadFigures, error) {
			return inPipelines(ctx, s, dense.acks(), n/mixedConns/streamPipeline, streamPipeline)
		}},
	}
}

// streamPipeline is the depth of pipelines of the streams part.
const streamPipeline = 16

// acks returns pipelines of XACKs of entries that follow each other.
func (h streamShape) acks() request {
	return request{reply: strings.Repeat(":1\r\n", streamPipeline),
		append: func(dst []byte, i int) []byte {
			for k := range streamPipeline {
				dst = resp.AppendCommand(dst, "XACK", "s", "g", h.id(i*streamPipeline+k))
			}
			return dst
		}}
}

// inPipelines has connections send so many requests each, every one after the reply to the one
// before. commands is the number of commands of a request.
func inPipelines(ctx context.Context, s *server, r request, each, commands int) (loadFigures,
	error) {
	ops := each * mixedConns * commands
	start := time.Now()
	used, err := cpuDuring(s, func() error {
		errs := make([]error, mixedConns)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = oneByOne(ctx, s.Addr, r, i*each, each) })
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	return loadFigures{float64(ops) / time.Since(start).Seconds(), used.per(ops)}, err
}

// Rows of the streams part.
const (
	rowXADD        = "XADD"
	rowXRANGE      = "XRANGE COUNT 100"
	rowXREADGROUP  = "XREADGROUP COUNT 10"
	rowXAUTOCLAIM  = "XAUTOCLAIM COUNT 100"
	rowNothingIdle = "XAUTOCLAIM COUNT 100, nothing idle"
	rowXACK        = "XACK"
)

// streams measures commands on streams and groups, and the wake-up of readers.
func (b *bench) streams(ctx context.Context) error {
	if !b.plan.has("streams") {
		return nil
	}
	n := b.plan.elements
	cases := b.streamCases(n)
	figures := make([]loadSeries, len(cases))
	err := b.eachRound(ctx, func(side int) error {
		return b.streamRound(ctx, side, n, cases, func(i int, l loadFigures) {
			figures[i].add(side, l)
		})
	})
	t := b.report.compare(titleStreams,
		fmt.Sprintf("50 connections, pipeline %d. A stream of %s entries of three small fields; "+
			"XREADGROUP makes all of them pending, then XAUTOCLAIM begins at random ones, then "+
			"XACK takes each. XADD adds to a stream of its own.", streamPipeline, count(n)),
		[]string{"command"}, measureCPU, measureUser, measureOps)
	for i, c := range cases {
		f := &figures[i]
		t.row([]string{c.name}, &f.cpu, &f.own, &f.rps)
	}
	if err != nil {
		return err
	}
	return b.readerWakeups(ctx)
}

// streamRound runs the cases on a fresh server. add receives each case's figures.
func (b *bench) streamRound(ctx context.Context, side, n int, cases []streamCase,
	add func(i int, l loadFigures)) error {
	s, err := b.start(ctx, side)
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := b.pipe(ctx, s, streamShape{streamDense}.load("s", n)); err != nil {
		return err
	}
	if _, err := b.pipe(ctx, s, repeated(1, "XGROUP", "CREATE", "s", "g", "0")); err != nil {
		return err
	}
	for i, c := range cases {
		l, err := c.run(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		add(i, l)
	}
	return nil
}
