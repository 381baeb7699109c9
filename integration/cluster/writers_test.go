package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// writers are go-redis clients that write all the time, each key once. The keys have the tags of
// the masters that are about to fail. go-redis tries again what may have been executed, which does
// no harm here.
type writers struct {
	client redis.UniversalClient
	stop   context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	answers []answer
}

// answer is when a write was sent and how it ended.
type answer struct {
	key       string
	sent, got time.Time
	err       error
}

// startWriters starts a writer for each tag.
func startWriters(t *testing.T, c *testserver.Cluster, tags ...string) *writers {
	return startWritersWith(t, connect(t, c, func(o *redis.ClusterOptions) {
		o.PoolSize = 100_000 // it rests after that many refused connections
		o.MaxRedirects, o.DialerRetries, o.MaxRetryBackoff = 4, 1, 10*time.Millisecond
		o.ReadTimeout, o.DialTimeout = 300*time.Millisecond, 300*time.Millisecond
		o.ClusterStateReloadInterval = 50 * time.Millisecond // not a minute
	}), tags...)
}

// startWritersWith does the same with a client of any kind.
func startWritersWith(t *testing.T, client redis.UniversalClient, tags ...string) *writers {
	w := &writers{client: client}
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	for _, tag := range tags {
		w.wait.Go(func() { w.write(ctx, tag) })
	}
	t.Cleanup(w.end)
	return w
}

func (w *writers) write(ctx context.Context, tag string) {
	for n := 0; ctx.Err() == nil; n++ {
		a := answer{key: fmt.Sprintf("{%s}w%d", tag, n), sent: time.Now()}
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

// end stops the writers. It may be called again.
func (w *writers) end() {
	w.stop()
	w.wait.Wait()
}

// acked returns the keys whose writes were acknowledged, and how many writes failed.
func (w *writers) acked() (keys []string, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.answers {
		if a.err != nil {
			failed++
		} else {
			keys = append(keys, a.key)
		}
	}
	return keys, failed
}

// firstAfter returns the first acknowledged write that was sent after a moment.
func (w *writers) firstAfter(t time.Time) (a answer, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.answers {
		if one.err == nil && one.sent.After(t) && (!found || one.got.Before(a.got)) {
			a, found = one, true
		}
	}
	return a, found
}

// longest returns the longest time in which no write was acknowledged, from a moment on.
func (w *writers) longest(from time.Time) (gap time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.answers {
		if a.err == nil && a.got.After(from) {
			gap, from = max(gap, a.got.Sub(from)), a.got
		}
	}
	return gap.Round(time.Millisecond)
}

// more waits until more writes have been acknowledged.
func (w *writers) more(t *testing.T, n int) {
	t.Helper()
	begin, _ := w.acked()
	eventually(t, func() bool {
		now, _ := w.acked()
		return len(now) >= len(begin)+n
	}, "writes are acknowledged")
}

// lost returns which of the acknowledged writes nobody has.
func (w *writers) lost(t *testing.T) (keys []string) {
	t.Helper()
	ctx := context.Background()
	all, _ := w.acked()
	for part := range slices.Chunk(all, 1000) {
		replies, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range part {
				p.Exists(ctx, key)
			}
			return nil
		})
		require.NoError(t, err)
		for i, r := range replies {
			if r.(*redis.IntCmd).Val() == 0 {
				keys = append(keys, part[i])
			}
		}
	}
	return keys
}

// tagOf returns a tag whose keys the i-th master has.
func tagOf(t *testing.T, c *testserver.Cluster, i int) string {
	t.Helper()
	view, err := c.Master(i).View()
	require.NoError(t, err)
	mine := view.Find(c.Master(i).ID).Slots
	for n := 0; ; n++ {
		if tag := fmt.Sprint("tag", n); mine.Has(slotOf(tag)) {
			return tag
		}
	}
}
