//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Rows of the memory part.
const (
	rss8        = "8-byte values"
	rss64       = "64-byte values"
	rss512      = "512-byte values"
	rssDeadline = "64-byte values with deadlines"
	rssTenth    = "64-byte values, a tenth of the keys"
)

// measureKey is memory for each key.
var measureKey = measure{"B/key", 1}

// keyKind is a key space whose memory is measured.
type keyKind struct {
	name     string
	size     int // bytes of a value
	share    int // one in so many of the plan's keys
	deadline bool
}

// keyKinds lists the key spaces of the memory part.
var keyKinds = []keyKind{
	{rss8, 8, 1, false}, {rss64, 64, 1, false}, {rss512, 512, 1, false},
	{rssDeadline, 64, 1, true}, {rssTenth, 64, 10, false},
}

// own returns the bytes of a key and its value.
func (k *keyKind) own() float64 { return float64(keyLen + k.size) }

// rss measures resident memory for each key. Other load on the machine hardly matters to it: one
// round is enough, but for few keys, where the server's own memory counts.
func (b *bench) rss(ctx context.Context) error {
	if !b.plan.has("rss") {
		return nil
	}
	perKey, over := make([]series, len(keyKinds)), make([]series, len(keyKinds))
	for i, k := range keyKinds {
		each := b.eachServer
		if k.share > 1 {
			each = b.eachRound
		}
		err := each(ctx, func(side int) error {
			n, err := b.rssOf(ctx, side, k)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			perKey[i].add(side, n)
			over[i].add(side, n-k.own())
			return nil
		})
		if err != nil {
			return err
		}
	}
	c := b.report.compare(titleMemory,
		fmt.Sprintf("Growth of resident memory since the idle start, for each of %s keys of %d "+
			"bytes. Deadlines are days away.", count(b.plan.rssKeys), keyLen),
		[]string{"keys"}, measureKey)
	d := b.report.compare(titleOverhead, "The same without the bytes of the key and its value.",
		[]string{"keys"}, measureKey)
	for i, k := range keyKinds {
		c.row([]string{k.name}, &perKey[i])
		d.row([]string{k.name}, &over[i])
	}
	return nil
}

// rssOf returns the bytes for each key of a fresh server.
func (b *bench) rssOf(ctx context.Context, side int, k keyKind) (float64, error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	idle, err := settledRSS(ctx, s.Pid, b.plan.rssPause)
	if err != nil {
		return 0, err
	}
	keys := b.plan.rssKeys / k.share
	if !k.deadline {
		err = b.loadAndSettle(ctx, s, 0, keys, k.size)
	} else {
		later := time.Now().Add(48 * time.Hour)
		err = pump(ctx, s.Addr, setExpiringKeys(k.size, later.UnixMilli()), 0, keys)
		if err == nil {
			err = pump(ctx, s.Addr, getMissing(), 0, keys/2) // as loadAndSettle does
		}
	}
	if err != nil {
		return 0, err
	}
	now, err := settledRSS(ctx, s.Pid, b.plan.rssPause)
	return float64(now-idle) / float64(keys), err
}

// bulk measures the server's CPU time for a load by redis-cli --pipe.
func (b *bench) bulk(ctx context.Context) error {
	if !b.plan.has("bulk") {
		return nil
	}
	path := filepath.Join(b.dir, "bulk.resp")
	if err := writeBulkFile(path, setKeys(b.plan.valueSize), b.plan.keys); err != nil {
		return err
	}
	defer os.Remove(path)
	var cpu series
	err := b.eachRound(ctx, func(side int) error {
		used, err := b.bulkOnce(ctx, side, path)
		cpu.add(side, used)
		return err
	})
	b.report.compare("Bulk load",
		fmt.Sprintf("`redis-cli --pipe` with %s SETs of %d-byte values.", count(b.plan.keys),
			b.plan.valueSize),
		[]string{"command"}, measureCPU).row([]string{"SET"}, &cpu)
	return err
}

func (b *bench) bulkOnce(ctx context.Context, side int, path string) (float64, error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	return pipeFile(ctx, s, path, b.plan.keys)
}

func writeBulkFile(path string, req request, n int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := writeRequests(w, req, 0, n); err != nil {
		return err
	}
	return w.Flush()
}
