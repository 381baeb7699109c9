package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"godwit/internal/testserver"
)

// writers are go-redis clients that write all the time, one to the slots of each master. Each write
// has a key of its own, so that it shows which of them are lost.
type writers struct {
	client *redis.ClusterClient
	stop   context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	answers []answer
}

// answer is when a write was sent and how it ended.
type answer struct {
	tag, key  string
	sent, got time.Time
	err       error
}

// silent keeps the client's library from logging what is expected here.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// startWriters starts a writer for each tag.
func startWriters(ctx context.Context, c *testserver.Cluster, tags []string) *writers {
	redis.SetLogger(silent{})
	w := &writers{client: redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(),
		MaxRedirects: 4, MaxRetryBackoff: 10 * time.Millisecond, DialerRetries: 1,
		PoolSize:    100_000, // it rests after that many refused connections
		DialTimeout: 300 * time.Millisecond, ReadTimeout: 300 * time.Millisecond,
		ClusterStateReloadInterval: 50 * time.Millisecond})}
	ctx, w.stop = context.WithCancel(ctx)
	for _, tag := range tags {
		w.wait.Go(func() { w.write(ctx, tag) })
	}
	return w
}

func (w *writers) write(ctx context.Context, tag string) {
	for n := 0; ctx.Err() == nil; n++ {
		a := answer{tag: tag, key: fmt.Sprintf("{%s}w%d", tag, n), sent: time.Now()}
		a.err = w.client.Set(ctx, a.key, n, 0).Err()
		if ctx.Err() != nil {
			return
		}
		a.got = time.Now()
		w.mu.Lock()
		w.answers = append(w.answers, a)
		w.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// end stops the writers. Their connections stay for what is asked later.
func (w *writers) end() {
	w.stop()
	w.wait.Wait()
}

// count returns how many writes have been acknowledged, and how many have failed.
func (w *writers) count() (acked, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.answers {
		if a.err != nil {
			failed++
		}
	}
	return len(w.answers) - failed, failed
}

// more waits until so many more writes have been acknowledged.
func (w *writers) more(ctx context.Context, n int) error {
	begin, _ := w.count()
	return until(ctx, func() bool {
		now, _ := w.count()
		return now >= begin+n
	})
}

// next waits for an acknowledged write with a tag that was sent after a moment.
func (w *writers) next(ctx context.Context, tag string, after time.Time) (a answer, err error) {
	err = until(ctx, func() (found bool) {
		a, found = w.find(tag, after, true)
		return found
	})
	return a, err
}

// find returns the first write with a tag that was sent after a moment and ended well, or did not.
func (w *writers) find(tag string, after time.Time, ok bool) (a answer, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.answers {
		if one.tag == tag && one.sent.After(after) && (one.err == nil) == ok {
			return one, true
		}
	}
	return a, false
}

// lost returns how many of the acknowledged writes nobody has.
func (w *writers) lost(ctx context.Context) (int, error) {
	var keys []string
	for _, a := range w.answers {
		if a.err == nil {
			keys = append(keys, a.key)
		}
	}
	return w.missing(ctx, keys)
}

// missing returns how many of the keys nobody has.
func (w *writers) missing(ctx context.Context, keys []string) (n int, err error) {
	for part := range slices.Chunk(keys, 1000) {
		replies, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range part {
				p.Exists(ctx, key)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, r := range replies {
			if r.(*redis.IntCmd).Val() == 0 {
				n++
			}
		}
	}
	return n, nil
}

// until waits for a condition.
func until(ctx context.Context, ok func() bool) error {
	for !ok() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}
