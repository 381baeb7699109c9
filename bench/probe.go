//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// latencies holds the percentiles of one probing window, in milliseconds.
type latencies struct {
	p50, p99, p999, max float64
	samples             int
}

// probe sends GETs of random keys at a fixed interval from one thread, over a blocking socket.
type probe struct {
	stopped chan struct{}
	done    chan struct{}
	samples []time.Duration
	err     error
}

// startProbe connects and begins; finish ends it.
func startProbe(addr string, every time.Duration, keys int) (*probe, error) {
	c, err := dialBlocking(addr)
	if err != nil {
		return nil, err
	}
	p := &probe{stopped: make(chan struct{}), done: make(chan struct{}),
		samples: make([]time.Duration, 0, 1<<16)}
	go func() {
		defer close(p.done)
		defer c.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.err = p.run(c, every, keys)
	}()
	return p, nil
}

// finish stops the probe and returns the percentiles of what it saw.
func (p *probe) finish() (latencies, error) {
	close(p.stopped)
	<-p.done
	return summarize(p.samples), p.err
}

func (p *probe) run(c *blockingConn, every time.Duration, keys int) error {
	rnd := rand.New(rand.NewPCG(7, uint64(keys)))
	request, reply := make([]byte, 0, 64), make([]byte, 64<<10)
	next := time.Now()
	for {
		select {
		case <-p.stopped:
			return nil
		default:
		}
		threadSleep(time.Until(next))
		request = fmt.Appendf(request[:0], "*2\r\n$3\r\nGET\r\n$%d\r\n", keyLen)
		request = append(appendKey(request, rnd.IntN(keys)), "\r\n"...)
		start := time.Now()
		if err := roundTrip(c, request, reply); err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		end := time.Now()
		p.samples = record(p.samples, end.Sub(start), every)
		if next = next.Add(every); next.Before(end) {
			next = end
		}
	}
}

// record adds a latency and those of the requests that could not be sent while waiting for it.
func record(samples []time.Duration, d, every time.Duration) []time.Duration {
	samples = append(samples, d)
	for d -= every; d >= every; d -= every {
		samples = append(samples, d)
	}
	return samples
}

// roundTrip sends a request and reads the bulk that answers it.
func roundTrip(c *blockingConn, request, reply []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	for got := 0; ; {
		n, err := c.Read(reply[got:])
		if err != nil {
			return err
		}
		got += n
		if complete, err := bulkComplete(reply[:got]); complete || err != nil {
			return err
		}
	}
}

// bulkComplete reports whether buf holds one whole bulk reply.
func bulkComplete(buf []byte) (bool, error) {
	eol := bytes.IndexByte(buf, '\n')
	if eol < 0 {
		return false, nil
	}
	if buf[0] != '$' || eol < 3 {
		return false, fmt.Errorf("unexpected reply %.80q", buf)
	}
	n, err := strconv.Atoi(string(buf[1 : eol-1]))
	if err != nil {
		return false, fmt.Errorf("unexpected reply %.80q", buf)
	}
	return n < 0 || len(buf) >= eol+1+n+2, nil
}

func summarize(samples []time.Duration) latencies {
	if len(samples) == 0 {
		return latencies{}
	}
	slices.Sort(samples)
	at := func(permille int) float64 {
		// Nearest rank: the smallest sample that at least this share of them does not exceed.
		rank := (len(samples)*permille + 999) / 1000
		return samples[max(rank, 1)-1].Seconds() * 1e3
	}
	return latencies{p50: at(500), p99: at(990), p999: at(999), max: at(1000),
		samples: len(samples)}
}

// probeFor probes for a fixed time while during, which may be nil, runs beside it. It lasts at
// least until during returns.
func probeFor(ctx context.Context, addr string, every time.Duration, keys int, window time.Duration,
	during func() error) (latencies, error) {
	p, err := startProbe(addr, every, keys)
	if err != nil {
		return latencies{}, err
	}
	start := time.Now()
	if during != nil {
		err = during()
	}
	if err == nil {
		err = sleep(ctx, window-time.Since(start))
	}
	l, perr := p.finish()
	return l, errors.Join(err, perr)
}
