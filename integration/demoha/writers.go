package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"godwit/internal/testserver"
)

// writers are clients that ask the Sentinels for the master and write to it all the time. Each
// write has a key of its own, so that it shows which of them are lost.
type writers struct {
	client *redis.Client
	stop   context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	acked  []string
	times  []answer
	failed int
}

// manyErrors is the size of the clients' pool. After that many connections that are refused, it
// rests for a second, which is not what is measured here.
const manyErrors = 100_000

// silent keeps the client's library from logging what is expected here.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// answer is when a write was sent and how it ended.
type answer struct {
	sent, got time.Time
	ok        bool
	text      string // the error
}

// startWriters starts the writers of a group.
func (g *group) startWriters(ctx context.Context) *writers {
	w := &writers{client: redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: g.sentinels.Name, SentinelAddrs: g.sentinels.Addrs(), MaxRetries: -1,
		DialTimeout: 300 * time.Millisecond, ReadTimeout: 300 * time.Millisecond,
		DialerRetries: 1, PoolSize: manyErrors})}
	redis.SetLogger(silent{})
	ctx, w.stop = context.WithCancel(ctx)
	for i := range g.writers {
		w.wait.Go(func() { w.write(ctx, i, g.pause) })
	}
	return w
}

func (w *writers) write(ctx context.Context, i int, pause time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("w%d:%d", i, n)
		a := answer{sent: time.Now()}
		err := w.client.Set(ctx, key, strconv.Itoa(n), 0).Err()
		if ctx.Err() != nil {
			return
		}
		a.got, a.ok = time.Now(), err == nil
		if err != nil {
			a.text = err.Error()
			time.Sleep(5 * time.Millisecond)
		}
		w.note(key, a)
		time.Sleep(pause)
	}
}

func (w *writers) note(key string, a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times = append(w.times, a)
	if a.ok {
		w.acked = append(w.acked, key)
	} else {
		w.failed++
	}
}

// end stops the writers.
func (w *writers) end() {
	w.stop()
	w.wait.Wait()
	w.client.Close()
}

// firstAfter returns the first answer of the wanted kind to a write that was sent after a moment.
func (w *writers) firstAfter(t time.Time, ok bool) (a answer, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.times {
		if one.ok == ok && one.sent.After(t) && (!found || one.got.Before(a.got)) {
			a, found = one, true
		}
	}
	return a, found
}

// count returns how many writes have been acknowledged, and how many have failed.
func (w *writers) count() (acked, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked), w.failed
}

// waitAccepted waits until so many more writes have been acknowledged.
func (w *writers) waitAccepted(ctx context.Context, more int) error {
	begin, _ := w.count()
	for {
		if n, _ := w.count(); n >= begin+more {
			return nil
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// lost returns which of the acknowledged writes a server does not have.
func (w *writers) lost(s *testserver.Server) (keys []string, err error) {
	c, err := s.Dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for chunk := range slices.Chunk(w.acked, 1000) {
		args := []any{"MGET"}
		for _, key := range chunk {
			args = append(args, key)
		}
		v, err := c.Do(args...)
		if err != nil {
			return nil, err
		}
		for i, one := range v.Elems {
			if one.IsNull() {
				keys = append(keys, chunk[i])
			}
		}
	}
	return keys, nil
}
