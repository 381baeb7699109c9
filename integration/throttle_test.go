package integration

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestThrottleClients has up to a hundred clients ask for the same key as fast as they can. No more
// are admitted than the burst and what the rate gives in the time that it took, and not much fewer
// either.
func TestThrottleClients(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, clients := range []int{1, 7, 100} {
		const burst, count, period = 20, 50, 1
		key := "limit:" + string(rune('a'+clients))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		var admitted atomic.Int64
		var wg sync.WaitGroup
		start := time.Now()
		for range clients {
			c := s.dial(t)
			wg.Go(func() {
				for ctx.Err() == nil {
					reply, err := c.Do("CL.THROTTLE", key, burst, count, period)
					if err != nil || len(reply.Elems) != 5 {
						t.Error(reply, err)
						return
					}
					if reply.Elems[0].Int == 0 {
						admitted.Add(1)
					}
					time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
				}
			})
		}
		wg.Wait()
		cancel()
		most := burst + 1 + int64(time.Since(start)*count/period/time.Second)
		require.LessOrEqual(t, admitted.Load(), most, "%d clients", clients)
		require.GreaterOrEqual(t, admitted.Load(), int64(burst+1), "%d clients", clients)
	}
}

// TestThrottleVanishes checks that the key goes when the bucket is empty, and that it outlives a
// restart while the bucket is not.
func TestThrottleVanishes(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--appendonly", "yes")
	c := s.client(t)
	require.NoError(t, c.Do(t.Context(), "CL.THROTTLE", "soon", 0, 10, 1).Err())
	require.EqualValues(t, 1, c.Exists(t.Context(), "soon").Val())
	require.Eventually(t, func() bool {
		return c.DBSize(t.Context()).Val() == 0
	}, patience, 10*time.Millisecond)
	require.NoError(t, c.Do(t.Context(), "CL.THROTTLE", "long", 0, 1, 1000).Err())
	before := c.Get(t.Context(), "long").Val()
	s.stop(t)
	c = startServer(t, "--appendonly", "yes", "--dir", s.Dir).client(t)
	require.Equal(t, before, c.Get(t.Context(), "long").Val())
	limited, err := c.Do(t.Context(), "CL.THROTTLE", "long", 0, 1, 1000).Slice()
	require.NoError(t, err)
	require.EqualValues(t, 1, limited[0])
}
