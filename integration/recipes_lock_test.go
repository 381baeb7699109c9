package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The recipes of this file are locks and semaphores as courses about Redis build them, without
// scripts. A release checks the owner with DELIFEQ if the server has it, else with WATCH.

// owner returns the value of a lock.
func owner() string { return fmt.Sprint("owner-", rand.Uint64()) }

// acquire waits for the lock and takes it.
func acquire(ctx context.Context, c redis.Cmdable, lock, me string, ttl time.Duration) error {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		ok, err := c.SetNX(ctx, lock, me, ttl).Result()
		if ok || err != nil {
			return err
		}
	}
	return context.DeadlineExceeded
}

// release gives the lock back, and reports whether the caller still owned it.
func release(ctx context.Context, c *redis.Client, lock, me string) (bool, error) {
	if built.godwit {
		n, err := c.Do(ctx, "DELIFEQ", lock, me).Int()
		return n == 1, err
	}
	return releaseWatched(ctx, c, lock, me)
}

// releaseWatched does what release does, on servers without DELIFEQ. It deletes nothing if the lock
// belongs to somebody else by then.
func releaseWatched(ctx context.Context, c *redis.Client, lock, me string) (mine bool, err error) {
	err = c.Watch(ctx, func(tx *redis.Tx) error {
		v, err := tx.Get(ctx, lock).Result()
		if errors.Is(err, redis.Nil) || err == nil && v != me {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, lock)
			return nil
		})
		mine = err == nil
		return err
	}, lock)
	if errors.Is(err, redis.TxFailedErr) {
		err = nil
	}
	return mine, err
}

// TestLockWithOwner takes a lock with SET NX PX and has only its owner release it, in both forms.
// One client dies holding the lock, and the others go on when its time is up. Another works for
// longer than its lock lasts. It learns so, and does not take the lock away from the next owner.
func TestLockWithOwner(t *testing.T) {
	everywhere(t, func(e *env) {
		releases := map[string]func(context.Context, *redis.Client, string, string) (bool, error){
			"delifeq": release, "watch": releaseWatched}
		for name, release := range releases {
			lock := "lock:" + name
			// never released
			require.NoError(e, acquire(e.ctx, e.c, lock, "dead", 30*time.Millisecond))
			var inside, most atomic.Int32
			done := 0 // guarded by the lock
			together(4, func(int) {
				for range 10 {
					me := owner()
					assert.NoError(e, acquire(e.ctx, e.c, lock, me, time.Minute))
					most.Store(max(most.Load(), inside.Add(1)))
					done++
					inside.Add(-1)
					mine, err := release(e.ctx, e.c, lock, me)
					assert.NoError(e, err)
					assert.True(e, mine)
				}
			})
			require.Equal(e, 40, done)
			require.EqualValues(e, 1, most.Load())

			slow, quick := owner(), owner()
			require.NoError(e, acquire(e.ctx, e.c, lock, slow, 5*time.Millisecond))
			// The lock of slow has expired, but slow works on.
			require.NoError(e, acquire(e.ctx, e.c, lock, quick, time.Minute))
			mine, err := release(e.ctx, e.c, lock, slow)
			require.NoError(e, err)
			require.False(e, mine)
			require.Equal(e, quick, e.c.Get(e.ctx, lock).Val())
			mine, err = release(e.ctx, e.c, lock, quick)
			require.NoError(e, err)
			require.True(e, mine)
		}
	})
}

// reentrant wraps a lock so that its owner may take it again. It counts, and only the last release
// gives the lock back.
type reentrant struct {
	e     *env
	me    string
	count map[string]int
}

func (r *reentrant) lock(name string) bool {
	if r.count[name] == 0 {
		if ok, err := r.e.c.SetNX(r.e.ctx, name, r.me, time.Minute).Result(); err != nil || !ok {
			return false
		}
	}
	r.count[name]++
	return true
}

func (r *reentrant) unlock(name string) bool {
	if r.count[name] == 0 {
		return false
	}
	if r.count[name]--; r.count[name] > 0 {
		return true
	}
	mine, err := release(r.e.ctx, r.e.c, name, r.me)
	return err == nil && mine
}

func TestReentrantLock(t *testing.T) {
	everywhere(t, func(e *env) {
		a, b := &reentrant{e, owner(), map[string]int{}}, &reentrant{e, owner(), map[string]int{}}
		require.True(e, a.lock("codehole"))
		require.True(e, a.lock("codehole"))
		require.False(e, b.lock("codehole"))
		require.True(e, a.unlock("codehole"))
		require.False(e, b.lock("codehole"))
		require.True(e, a.unlock("codehole"))
		require.False(e, a.unlock("codehole"))
		require.True(e, b.lock("codehole"))
		require.True(e, b.unlock("codehole"))
	})
}

// redlock is a lock on a majority of independent servers.
type redlock struct{ nodes []*redis.Client }

// lock tries once. The lock is held if a majority gave it in less time than it lasts. Otherwise
// lock takes back what it got.
func (r *redlock) lock(ctx context.Context, name, me string, ttl time.Duration) (ok bool) {
	start := time.Now()
	var got atomic.Int32
	r.each(func(c *redis.Client) {
		try, cancel := context.WithTimeout(ctx, ttl/10)
		defer cancel()
		if ok, err := c.SetNX(try, name, me, ttl).Result(); err == nil && ok {
			got.Add(1)
		}
	})
	drift := ttl/100 + 2*time.Millisecond
	if int(got.Load()) > len(r.nodes)/2 && time.Since(start) < ttl-drift {
		return true
	}
	r.unlock(ctx, name, me)
	return false
}

func (r *redlock) unlock(ctx context.Context, name, me string) {
	r.each(func(c *redis.Client) {
		_, _ = release(ctx, c, name, me) // if a server is down, the lock expires there
	})
}

func (r *redlock) each(f func(c *redis.Client)) {
	var wg sync.WaitGroup
	for _, c := range r.nodes {
		wg.Go(func() { f(c) })
	}
	wg.Wait()
}

// TestRedlock has several clients take one lock on five servers, two of which are killed on the
// way. Never do two clients hold it, and it can still be taken. With three of five servers gone it
// cannot.
func TestRedlock(t *testing.T) {
	t.Parallel()
	servers := make([]*server, 5)
	r := &redlock{}
	for i := range servers {
		servers[i] = startServer(t)
		c := redis.NewClient(&redis.Options{Addr: servers[i].Addr, MaxRetries: -1,
			DialTimeout: time.Second})
		t.Cleanup(func() { c.Close() })
		r.nodes = append(r.nodes, c)
	}
	const clients, each, ttl = 4, 15, 10 * time.Second
	ctx := t.Context()
	var inside, taken atomic.Int32
	together(clients+1, func(i int) {
		if i == clients {
			for n, after := range []int32{clients * each / 4, clients * each / 2} {
				for until := time.Now().Add(patience); taken.Load() < after &&
					time.Now().Before(until); {
					time.Sleep(time.Millisecond)
				}
				servers[n*2].Kill()
			}
			return
		}
		for range each {
			me := owner()
			until := time.Now().Add(patience)
			for !r.lock(ctx, "resource", me, ttl) && time.Now().Before(until) {
				time.Sleep(time.Duration(1+rand.IntN(10)) * time.Millisecond)
			}
			if !assert.True(t, time.Now().Before(until), "no lock") {
				return
			}
			assert.EqualValues(t, 1, inside.Add(1))
			taken.Add(1)
			inside.Add(-1)
			r.unlock(ctx, "resource", me)
		}
	})
	require.EqualValues(t, clients*each, taken.Load())
	servers[4].Kill()
	require.False(t, r.lock(ctx, "resource", owner(), ttl), "a lock without a majority")
}

// acquireSemaphore takes a place if there are fewer than limit holders. It removes those that have
// held theirs for longer than the timeout.
func acquireSemaphore(e *env, key string, limit int64, timeout, now int64) (id string, err error) {
	id = owner()
	var rank *redis.IntCmd
	_, err = e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
		p.ZRemRangeByScore(e.ctx, key, "-inf", fmt.Sprint(now-timeout))
		p.ZAdd(e.ctx, key, redis.Z{Score: float64(now), Member: id})
		rank = p.ZRank(e.ctx, key, id)
		return nil
	})
	if err != nil {
		return "", err
	}
	if rank.Val() < limit {
		return id, nil
	}
	return "", e.c.ZRem(e.ctx, key, id).Err()
}

// TestSemaphore checks that never more than the limit hold it if clocks agree, and that a holder
// that dies loses its place.
func TestSemaphore(t *testing.T) {
	everywhere(t, func(e *env) {
		const limit, timeout = 3, 10_000
		var now atomic.Int64 // a shared clock that never stands, so that ranks are unambiguous
		now.Store(1_700_000_000_000)
		for range limit {
			// never released
			id, err := acquireSemaphore(e, "semaphore", limit, timeout, now.Add(1))
			require.NoError(e, err)
			require.NotEmpty(e, id)
		}
		id, err := acquireSemaphore(e, "semaphore", limit, timeout, now.Add(1))
		require.NoError(e, err)
		require.Empty(e, id)
		now.Add(timeout)
		together(5, func(int) {
			for range 15 {
				id, err := acquireSemaphore(e, "semaphore", limit, timeout, now.Add(1))
				assert.NoError(e, err)
				if id != "" {
					assert.NoError(e, e.c.ZRem(e.ctx, "semaphore", id).Err())
				}
			}
		})
		require.Zero(e, e.c.ZCard(e.ctx, "semaphore").Val())
	})
}

// fairSemaphore ranks by a counter, so that a fast clock is no advantage.
type fairSemaphore struct {
	e     *env
	key   string
	limit int64
}

func (s *fairSemaphore) acquire(now, timeout int64) (string, error) {
	e, id, owners := s.e, owner(), s.key+":owner"
	var counter, rank *redis.IntCmd
	_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
		p.ZRemRangeByScore(e.ctx, s.key, "-inf", fmt.Sprint(now-timeout))
		p.ZInterStore(e.ctx, owners,
			&redis.ZStore{Keys: []string{owners, s.key}, Weights: []float64{1, 0}})
		counter = p.Incr(e.ctx, s.key+":counter")
		return nil
	})
	if err != nil {
		return "", err
	}
	_, err = e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
		p.ZAdd(e.ctx, s.key, redis.Z{Score: float64(now), Member: id})
		p.ZAdd(e.ctx, owners, redis.Z{Score: float64(counter.Val()), Member: id})
		rank = p.ZRank(e.ctx, owners, id)
		return nil
	})
	if err != nil || rank.Val() < s.limit {
		return id, err
	}
	_, err = s.release(id)
	return "", err
}

func (s *fairSemaphore) release(id string) (bool, error) {
	e := s.e
	var removed *redis.IntCmd
	_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
		removed = p.ZRem(e.ctx, s.key, id)
		p.ZRem(e.ctx, s.key+":owner", id)
		return nil
	})
	return err == nil && removed.Val() == 1, err
}

// refresh keeps a holder's place. It reports false if the place is already lost.
func (s *fairSemaphore) refresh(id string, now int64) (bool, error) {
	added, err := s.e.c.ZAdd(s.e.ctx, s.key, redis.Z{Score: float64(now), Member: id}).Result()
	if err != nil || added == 0 {
		return err == nil, err
	}
	_, err = s.release(id)
	return false, err
}

// TestFairSemaphore takes the semaphore under a lock, which makes it exact. Whatever the clients'
// clocks say, within the timeout, never more than the limit hold it.
func TestFairSemaphore(t *testing.T) {
	everywhere(t, func(e *env) {
		const limit, timeout, start = 3, 60_000, 1_700_000_000_000
		s := &fairSemaphore{e, "semaphore", limit}
		var holders atomic.Int32
		var got atomic.Int32
		together(5, func(client int) {
			skew := int64(client-2) * 5000 // each client has its own clock
			for range 12 {
				me := owner()
				if !assert.NoError(e, acquire(e.ctx, e.c, "semaphore:lock", me, time.Minute)) {
					return
				}
				id, err := s.acquire(start+skew, timeout)
				assert.NoError(e, err)
				if id != "" {
					assert.LessOrEqual(e, holders.Add(1), int32(limit))
				}
				_, err = release(e.ctx, e.c, "semaphore:lock", me)
				assert.NoError(e, err)
				if id == "" {
					continue
				}
				got.Add(1)
				ok, err := s.refresh(id, start+skew+1)
				assert.NoError(e, err)
				assert.True(e, ok)
				holders.Add(-1)
				ok, err = s.release(id)
				assert.NoError(e, err)
				assert.True(e, ok)
			}
		})
		require.Positive(e, got.Load())
		require.Zero(e, e.c.ZCard(e.ctx, "semaphore:owner").Val())

		// A holder dies. Its place is free after the timeout, and it can no longer refresh.
		dead, err := s.acquire(start, timeout)
		require.NoError(e, err)
		require.NotEmpty(e, dead)
		_, err = s.acquire(start+timeout+1, timeout)
		require.NoError(e, err)
		ok, err := s.refresh(dead, start+timeout+2)
		require.NoError(e, err)
		require.False(e, ok)
	})
}

// TestDelayedQueueMoves moves jobs that are due from a sorted set to the list of their queue, under
// WATCH. The move is atomic, whichever of several movers does it, and a worker blocks on the list.
func TestDelayedQueueMoves(t *testing.T) {
	everywhere(t, func(e *env) {
		const jobs, movers = 40, 3
		start := time.Now().UnixMilli()
		for i := range jobs {
			require.NoError(e, e.c.ZAdd(e.ctx, "delayed",
				redis.Z{Score: float64(start + rand.Int64N(60)), Member: i}).Err())
		}
		var left atomic.Int32
		left.Store(jobs)
		seen := map[string]int{}
		together(movers+1, func(m int) {
			if m == movers { // the worker
				for left.Load() > 0 {
					v, err := e.c.BLPop(e.ctx, patience, "queue").Result()
					if !assert.NoError(e, err) {
						left.Store(0)
						return
					}
					seen[v[1]]++
					left.Add(-1)
				}
				return
			}
			for left.Load() > 0 {
				err := e.c.Watch(e.ctx, func(tx *redis.Tx) error {
					due, err := tx.ZRangeByScore(e.ctx, "delayed",
						&redis.ZRangeBy{Min: "-inf", Max: fmt.Sprint(time.Now().UnixMilli()),
							Count: 1}).Result()
					if err != nil || len(due) == 0 {
						return err
					}
					_, err = tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
						p.ZRem(e.ctx, "delayed", due[0])
						p.RPush(e.ctx, "queue", due[0])
						return nil
					})
					return err
				}, "delayed")
				if err != nil && !errors.Is(err, redis.TxFailedErr) {
					assert.NoError(e, err)
					return
				}
			}
		})
		require.Len(e, seen, jobs)
		for job, n := range seen {
			require.Equal(e, 1, n, "runs of job %s", job)
		}
	})
}
