package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestKeys(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.ErrorIs(e, c.RandomKey(ctx).Err(), redis.Nil)
		require.NoError(e, c.MSet(ctx, "a", 1, "b", 2, "c", 3).Err())
		require.EqualValues(e, 3, c.DBSize(ctx).Val())
		require.EqualValues(e, 4, c.Exists(ctx, "a", "b", "c", "d", "a").Val())
		require.EqualValues(e, 2, c.Touch(ctx, "a", "b", "none").Val())
		require.Equal(e, "string", c.Type(ctx, "a").Val())
		require.Equal(e, "none", c.Type(ctx, "none").Val())
		require.Contains(e, []string{"a", "b", "c"}, c.RandomKey(ctx).Val())
		require.EqualValues(e, 1, c.Unlink(ctx, "a", "none").Val())
		require.NoError(e, c.Rename(ctx, "b", "a").Err())
		e.errs(c.Rename(ctx, "b", "a").Err(), "ERR no such key")
		require.False(e, c.RenameNX(ctx, "a", "c").Val())
		require.True(e, c.RenameNX(ctx, "a", "d").Val())
		require.Equal(e, "int", c.ObjectEncoding(ctx, "d").Val())
		require.EqualValues(e, 1, c.Copy(ctx, "d", "d2", e.db, false).Val())
		require.EqualValues(e, 0, c.Copy(ctx, "c", "d2", e.db, false).Val())
		require.EqualValues(e, 1, c.Copy(ctx, "c", "d2", e.db, true).Val())
		require.Equal(e, "3", c.Get(ctx, "d2").Val())

		other, db := e.another()
		require.True(e, c.Move(ctx, "d", db).Val())
		require.False(e, c.Move(ctx, "d", db).Val())
		require.EqualValues(e, 1, c.Copy(ctx, "c", "d", db, true).Val())
		require.Equal(e, "3", other.Get(ctx, "d").Val())
		require.EqualValues(e, 1, other.DBSize(ctx).Val())
		e.errs(c.Move(ctx, "c", e.db).Err(), "ERR source and destination objects are the same")

		require.NoError(e, c.Do(ctx, "SWAPDB", e.db, db).Err())
		require.EqualValues(e, 1, c.DBSize(ctx).Val())
		require.Equal(e, "3", c.Get(ctx, "d").Val())
		require.NoError(e, other.FlushDBAsync(ctx).Err())
		require.EqualValues(e, 0, other.DBSize(ctx).Val())
		require.EqualValues(e, 1, c.DBSize(ctx).Val())
		require.EqualValues(e, 0, c.Wait(ctx, 1, time.Millisecond).Val())
	})
}

func TestExpiry(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.Equal(e, time.Duration(-2), c.TTL(ctx, "k").Val())
		require.False(e, c.Expire(ctx, "k", time.Hour).Val())
		require.NoError(e, c.Set(ctx, "k", "v", 0).Err())
		require.Equal(e, time.Duration(-1), c.PTTL(ctx, "k").Val())
		require.False(e, c.ExpireXX(ctx, "k", time.Hour).Val())
		require.False(e, c.ExpireGT(ctx, "k", time.Hour).Val())
		require.True(e, c.ExpireNX(ctx, "k", time.Hour).Val())
		require.True(e, c.ExpireGT(ctx, "k", 2*time.Hour).Val())
		require.True(e, c.ExpireLT(ctx, "k", time.Minute).Val())
		require.InDelta(e, 60, c.TTL(ctx, "k").Val().Seconds(), 20)
		require.InDelta(e, 60_000, c.PTTL(ctx, "k").Val().Milliseconds(), 20_000)
		require.True(e, c.ExpireAt(ctx, "k", time.Unix(4102444800, 0)).Val())
		require.EqualValues(e, 4102444800, c.ExpireTime(ctx, "k").Val().Seconds())
		require.True(e, c.PExpireAt(ctx, "k", time.UnixMilli(4102444800123)).Val())
		require.EqualValues(e, 4102444800123, c.PExpireTime(ctx, "k").Val().Milliseconds())
		require.True(e, c.Persist(ctx, "k").Val())
		require.False(e, c.Persist(ctx, "k").Val())
		require.True(e, c.PExpire(ctx, "k", 30*time.Millisecond).Val())
		eventually(e, "the key expires", func() bool { return c.DBSize(ctx).Val() == 0 })
		require.NoError(e, c.Set(ctx, "k", "v", 0).Err())
		require.True(e, c.ExpireAt(ctx, "k", time.Unix(1, 0)).Val(),
			"a deadline in the past deletes")
		require.EqualValues(e, 0, c.Exists(ctx, "k").Val())
	})
}

func TestScan(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		want := make([]string, 1000)
		p := c.Pipeline()
		for i := range want {
			want[i] = fmt.Sprintf("key:%d", i)
			p.Set(ctx, want[i], i, 0)
		}
		_, err := p.Exec(ctx)
		require.NoError(e, err)
		for _, count := range []int64{0, 1, 10, 1000, 100_000} {
			require.Equal(e, sorted(want), sorted(collect(e, c.Scan(ctx, 0, "", count).Iterator())),
				"COUNT %d", count)
		}
		sevens := slices.DeleteFunc(slices.Clone(want), func(k string) bool {
			return !strings.HasPrefix(k, "key:7")
		})
		require.Equal(e, sorted(sevens),
			sorted(collect(e, c.Scan(ctx, 0, "key:7*", 50).Iterator())))
		require.Len(e, collect(e, c.ScanType(ctx, 0, "", 100, "string").Iterator()), len(want))
		require.Empty(e, collect(e, c.ScanType(ctx, 0, "", 100, "list").Iterator()))
		e.errs(c.Do(ctx, "SCAN", "cursor").Err(), "ERR invalid cursor")
	})
}

// collect iterates to the end, and drops duplicates.
func collect(e *env, it *redis.ScanIterator) []string {
	e.Helper()
	seen := map[string]bool{}
	var keys []string
	for it.Next(e.ctx) {
		if !seen[it.Val()] {
			seen[it.Val()] = true
			keys = append(keys, it.Val())
		}
	}
	require.NoError(e, it.Err())
	return keys
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func TestObject(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--maxmemory-policy", "allkeys-lfu")
	c, ctx := s.client(t), t.Context()
	require.NoError(t, c.Set(ctx, "k", "v", 0).Err())
	freq, err := c.ObjectFreq(ctx, "k").Result()
	require.NoError(t, err)
	require.InDelta(t, 5, freq, 1, "the counter's start")
	for range 200 {
		c.Get(ctx, "k")
	}
	require.Greater(t, c.ObjectFreq(ctx, "k").Val(), freq)
	require.EqualError(t, c.ObjectIdleTime(ctx, "k").Err(),
		"ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "+
			"switching between policies at runtime LRU and LFU data will take some time to adjust.")
	require.NoError(t, c.ConfigSet(ctx, "maxmemory-policy", "allkeys-lru").Err())
	require.NoError(t, c.Set(ctx, "k", "v", 0).Err())
	require.Less(t, c.ObjectIdleTime(ctx, "k").Val(), time.Minute)
	require.EqualValues(t, 1, c.ObjectRefCount(ctx, "k").Val())
	require.EqualError(t, c.ObjectFreq(ctx, "k").Err(),
		"ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "+
			"that when switching between policies at runtime LRU and LFU data will take some "+
			"time to adjust.")
	help, err := c.Do(ctx, "OBJECT", "HELP").StringSlice()
	require.NoError(t, err)
	require.Equal(t, "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", help[0])
}

func TestFlushAll(t *testing.T) {
	t.Parallel()
	for _, mode := range [][]any{{}, {"SYNC"}, {"ASYNC"}} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			s := startServer(t)
			for db := range 3 {
				c := s.client(t, func(o *redis.Options) { o.DB = db })
				require.NoError(t, c.Set(t.Context(), "k", "v", time.Hour).Err())
			}
			c := s.client(t)
			require.NoError(t, c.Do(t.Context(), append([]any{"FLUSHALL"}, mode...)...).Err())
			require.NotContains(t, c.Info(t.Context(), "keyspace").Val(), "db")
		})
	}
}
