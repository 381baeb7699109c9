package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestObject(t *testing.T) {
	t.Parallel()
	const switching = "Please note that when switching between policies at runtime LRU and LFU " +
		"data will take some time to adjust."
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
		"ERR An LFU maxmemory policy is selected, idle time not tracked. "+switching)
	require.NoError(t, c.ConfigSet(ctx, "maxmemory-policy", "allkeys-lru").Err())
	require.NoError(t, c.Set(ctx, "k", "v", 0).Err())
	require.Less(t, c.ObjectIdleTime(ctx, "k").Val(), time.Minute)
	require.EqualValues(t, 1, c.ObjectRefCount(ctx, "k").Val())
	require.EqualError(t, c.ObjectFreq(ctx, "k").Err(),
		"ERR An LFU maxmemory policy is not selected, access frequency not tracked. "+switching)
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
