package integration

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// load pipelines n SETs of k:i with the same deadline.
func load(t testing.TB, c *redis.Client, n int, value string, deadline time.Time) {
	t.Helper()
	p := c.Pipeline()
	for i := range n {
		if deadline.IsZero() {
			p.Do(t.Context(), "SET", "k:"+strconv.Itoa(i), value)
		} else {
			p.Do(t.Context(), "SET", "k:"+strconv.Itoa(i), value, "PXAT", deadline.UnixMilli())
		}
		if p.Len() == 2000 || i == n-1 {
			if _, err := p.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// worker increments a key of its own until stopped, and checks each answer. Commands must be right
// whatever goes on in the background.
func worker(ctx context.Context, c *redis.Client, name string) (err error) {
	for n := int64(1); ctx.Err() == nil; n++ {
		p := c.Pipeline()
		count, set, get, gone := p.Incr(ctx, name), p.Set(ctx, name+":v", n, time.Hour),
			p.Get(ctx, name+":v"), p.Exists(ctx, name+":none")
		_, err := p.Exec(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case count.Val() < 1 || set.Val() != "OK" || get.Val() != strconv.FormatInt(n, 10) ||
			gone.Val() != 0:
			return fmt.Errorf("round %d: %v %v %v %v", n, count, set, get, gone)
		}
	}
	return nil
}

// during runs f while workers work.
func during(t testing.TB, c *redis.Client, f func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	errs := make(chan error, 3)
	for i := range cap(errs) {
		wg.Go(func() { errs <- worker(ctx, c, fmt.Sprint("worker", i)) })
	}
	f()
	cancel()
	wg.Wait()
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestMassExpiry has many keys fall due at once. Nobody sees one afterwards. All of them are
// deleted without being asked for, in slices between which clients are served, and their memory
// comes back.
func TestMassExpiry(t *testing.T) {
	t.Parallel()
	n := 200_000
	if raceEnabled {
		n = 40_000
	}
	for _, threads := range []string{"1", "3"} {
		s := startServer(t, "--io-threads", threads)
		c := s.client(t)
		empty := infoInt(t, c, "used_memory")
		due, full, expired := fallDue(t, c, n)
		during(t, c, func() {
			time.Sleep(time.Until(due.Add(2 * time.Millisecond)))
			for i := 0; i < n; i += n / 50 {
				require.Zero(t, c.Exists(t.Context(), "k:"+strconv.Itoa(i)).Val(),
					"due and still there")
			}
			keys, _, err := c.Scan(t.Context(), 0, "k:*", 1000).Result()
			require.NoError(t, err)
			require.Empty(t, keys)
			eventually(t, "nothing is left", func() bool {
				return c.DBSize(t.Context()).Val() <= 6
			})
		})
		require.EqualValues(t, n, infoInt(t, c, "expired_keys")-expired)
		eventually(t, "the memory is back", func() bool {
			return infoInt(t, c, "used_memory")-empty < (full-empty)/4
		})
	}
}

// fallDue makes n keys with one deadline. It also returns the memory in use with all of them and
// how many keys had expired before. If the deadline passes before the last key has it, fallDue
// tries again with a later one.
func fallDue(t testing.TB, c *redis.Client, n int) (due time.Time, full, expired int64) {
	t.Helper()
	for ahead := time.Second; ; ahead *= 2 {
		load(t, c, n, "value", time.Time{})
		full = infoInt(t, c, "used_memory")
		due = time.Now().Add(ahead)
		p := c.Pipeline()
		for i := range n {
			p.PExpireAt(t.Context(), "k:"+strconv.Itoa(i), due)
			if p.Len() == 2000 || i == n-1 {
				_, err := p.Exec(t.Context())
				require.NoError(t, err)
			}
		}
		expired = infoInt(t, c, "expired_keys")
		size := c.DBSize(t.Context()).Val()
		if time.Now().Before(due) {
			require.EqualValues(t, n, size)
			return due, full, expired
		}
		require.Less(t, ahead, time.Minute, "the keys cannot be made in that time")
	}
}

// TestExpiryCycleOff checks keys that are due while the active cycle is off. Reads miss them, and
// DBSIZE still counts them.
func TestExpiryCycleOff(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--enable-debug-command", "yes")
	c, ctx := s.client(t), t.Context()
	require.NoError(t, c.Do(ctx, "DEBUG", "SET-ACTIVE-EXPIRE", 0).Err())
	due, _, _ := fallDue(t, c, 100)
	time.Sleep(time.Until(due.Add(200 * time.Millisecond)))
	require.EqualValues(t, 100, c.DBSize(ctx).Val())
	require.Zero(t, c.Exists(ctx, "k:5").Val())
	require.EqualValues(t, 99, c.DBSize(ctx).Val())
	require.NoError(t, c.Do(ctx, "DEBUG", "SET-ACTIVE-EXPIRE", 1).Err())
	eventually(t, "the cycle finds the others", func() bool { return c.DBSize(ctx).Val() == 0 })
}

// TestUsedMemoryIsTrue checks that data adds the same to used_memory as to resident memory, within
// 2 %.
func TestUsedMemoryIsTrue(t *testing.T) {
	godwitOnly(t) // Redis counts what its allocator has handed out
	if raceEnabled {
		t.Skip("the race detector's shadow is resident too")
	}
	s := startServer(t, "--enable-debug-command", "yes")
	c, ctx := s.client(t), t.Context()
	for _, size := range []int{64, 1000} {
		populate := func(n int) {
			require.NoError(t, c.Do(ctx, "DEBUG", "POPULATE", n, "key", size).Err())
		}
		populate(1000) // the code that makes keys is resident from now on
		used, resident := infoInt(t, c, "used_memory"), infoInt(t, c, "used_memory_rss")
		populate(80_000_000 / size)
		used, resident = infoInt(t, c, "used_memory")-used,
			infoInt(t, c, "used_memory_rss")-resident
		require.InEpsilon(t, resident, used, 0.02,
			"values of %d bytes: used memory grew by %d, resident memory by %d", size, used,
			resident)
		require.NoError(t, c.FlushAll(ctx).Err())
		require.NoError(t, c.Do(ctx, "MEMORY", "PURGE").Err())
	}
}

// TestFlushAllWhileClientsWork checks that clients find nothing after a flush in the background has
// begun, and that its memory comes back in slices.
func TestFlushAllWhileClientsWork(t *testing.T) {
	t.Parallel()
	n := 100_000
	if raceEnabled {
		n = 20_000
	}
	for _, threads := range []string{"1", "3"} {
		s := startServer(t, "--io-threads", threads)
		c := s.client(t)
		empty := infoInt(t, c, "used_memory")
		for range 3 {
			load(t, c, n, strings.Repeat("x", 100), time.Now().Add(time.Hour))
			full := infoInt(t, c, "used_memory")
			require.NoError(t, c.FlushAllAsync(t.Context()).Err())
			require.Zero(t, c.DBSize(t.Context()).Val())
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- setAndGet(ctx, c) }()
			eventually(t, "the memory is back", func() bool {
				return infoInt(t, c, "used_memory")-empty < (full-empty)/4
			})
			cancel()
			require.NoError(t, <-done)
			require.NoError(t, c.FlushAll(t.Context()).Err())
		}
	}
}

// setAndGet writes and reads new keys until stopped.
func setAndGet(ctx context.Context, c *redis.Client) error {
	for i := 0; ctx.Err() == nil; i++ {
		k := "fresh:" + strconv.Itoa(i%500)
		p := c.Pipeline()
		p.Set(ctx, k, i, 0)
		got := p.Get(ctx, k)
		if _, err := p.Exec(ctx); err != nil && ctx.Err() == nil {
			return err
		} else if err == nil && got.Val() != strconv.Itoa(i) {
			return fmt.Errorf("%s is %q, want %d", k, got.Val(), i)
		}
	}
	return nil
}

// TestUnlinkBigValues drops values of many megabytes by every command that can, while other clients
// work.
func TestUnlinkBigValues(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c, ctx := s.client(t), t.Context()
	empty := infoInt(t, c, "used_memory")
	const size = 32 << 20
	drop := map[string]func(k string) error{
		"unlink": func(k string) error { return c.Unlink(ctx, k).Err() },
		"del":    func(k string) error { return c.Del(ctx, k).Err() },
		"set":    func(k string) error { return c.Set(ctx, k, "small", 0).Err() },
		"getdel": func(k string) error { return c.Do(ctx, "GETDEL", k).Err() },
		"rename": func(k string) error {
			c.Set(ctx, "other", 1, 0)
			return c.Rename(ctx, "other", k).Err()
		},
		"copy": func(k string) error {
			c.Set(ctx, "other", 1, 0)
			return c.Copy(ctx, "other", k, 0, true).Err()
		},
		"bitop":  func(k string) error { return c.BitOpNot(ctx, k, "missing").Err() },
		"expire": func(k string) error { return c.PExpire(ctx, k, time.Millisecond).Err() },
		"past":   func(k string) error { return c.ExpireAt(ctx, k, time.Unix(1, 0)).Err() },
	}
	during(t, c, func() {
		for name, f := range drop {
			require.NoError(t, c.SetRange(ctx, name, size-1, "x").Err())
			require.Greater(t, infoInt(t, c, "used_memory"), empty+size-1)
			require.NoError(t, f(name), name)
			eventually(t, "the memory is back after "+name, func() bool {
				return infoInt(t, c, "used_memory") < empty+size/2
			})
		}
	})
}

// TestRehashUnderLoad grows and shrinks the table by orders of magnitude. Rehashing goes in steps,
// and reads are right at every moment.
func TestRehashUnderLoad(t *testing.T) {
	t.Parallel()
	n := 150_000
	if raceEnabled {
		n = 30_000
	}
	s := startServer(t)
	c, ctx := s.client(t), t.Context()
	during(t, c, func() {
		load(t, c, n, "v", time.Time{})
		p := c.Pipeline()
		for i := range n {
			if i%100 != 0 {
				p.Unlink(ctx, "k:"+strconv.Itoa(i))
			}
			if p.Len() >= 2000 || i == n-1 {
				cmds, err := p.Exec(ctx)
				require.NoError(t, err)
				for _, cmd := range cmds {
					require.EqualValues(t, 1, cmd.(*redis.IntCmd).Val(), cmd.String())
				}
			}
		}
		for i := range n {
			p.Exists(ctx, "k:"+strconv.Itoa(i))
			if p.Len() >= 2000 || i == n-1 {
				cmds, err := p.Exec(ctx)
				require.NoError(t, err)
				for j, cmd := range cmds {
					require.Equal(t, (i-len(cmds)+1+j)%100 == 0, cmd.(*redis.IntCmd).Val() == 1,
						cmd.String())
				}
			}
		}
	})
	require.EqualValues(t, n/100+6, c.DBSize(ctx).Val())
}

// TestManyWriters checks that counters are exact with many clients on many threads.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	for _, threads := range []string{"1", "4"} {
		s := startServer(t, "--io-threads", threads)
		c, ctx := s.client(t, func(o *redis.Options) { o.PoolSize = 20 }), t.Context()
		const writers, rounds, depth = 20, 20, 50
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range rounds {
					p := c.Pipeline()
					for range depth {
						p.Incr(ctx, "n")
						p.Append(ctx, "s", "x")
						p.SetBit(ctx, "b", 5, 1)
					}
					if _, err := p.Exec(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, fmt.Sprint(writers*rounds*depth), c.Get(ctx, "n").Val())
		require.EqualValues(t, writers*rounds*depth, c.StrLen(ctx, "s").Val())
	}
}
