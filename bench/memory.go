//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// rss measures resident memory for each key. Other load on the machine hardly matters to it: one
// round is enough.
func (b *bench) rss(ctx context.Context) error {
	if !b.plan.has("rss") {
		return nil
	}
	b.report.rssHeader()
	for _, size := range b.plan.rssValues {
		perKey := make([]series, len(b.plan.rssKeys))
		for side := range sides {
			if err := b.rssOf(ctx, side, size, perKey); err != nil {
				return fmt.Errorf("%s, %d-byte values: %w", sideNames[side], size, err)
			}
		}
		for i, keys := range b.plan.rssKeys {
			b.progress("rss %d keys × %d bytes: %.2f×", keys, size, perKey[i].ratio())
			b.report.rssRow(keys, size, &perKey[i])
		}
	}
	return nil
}

// rssOf fills perKey[i] with the bytes for each of plan.rssKeys[i] keys of one server.
func (b *bench) rssOf(ctx context.Context, side, valueSize int, perKey []series) error {
	s, err := b.start(ctx, side)
	if err != nil {
		return err
	}
	defer s.stop()
	idle, err := settledRSS(ctx, s.Pid, b.plan.rssPause)
	if err != nil {
		return err
	}
	loaded := 0
	for i, keys := range b.plan.rssKeys {
		if err := b.loadAndSettle(ctx, s, loaded, keys, valueSize); err != nil {
			return err
		}
		loaded = keys
		now, err := settledRSS(ctx, s.Pid, b.plan.rssPause)
		if err != nil {
			return err
		}
		perKey[i].add(side, float64(now-idle)/float64(keys))
	}
	return nil
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
	err := b.eachRound(ctx, func(round, side int) error {
		used, err := b.bulkOnce(ctx, side, path)
		cpu.add(side, used)
		b.progress("bulk round %d %-6s  CPU/op %.2f µs", round+1, sideNames[side], used)
		return err
	})
	b.report.bulk(&cpu)
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
