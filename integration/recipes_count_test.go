package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The recipes of this file come from courses about Redis. They count visitors and limit what users
// do.

// TestUniqueVisitors runs a program of the courses. It adds 100,000 users to a HyperLogLog and
// counts 99725. Here several clients add them, each more than once. Then come the visitors of two
// pages and of a week.
func TestUniqueVisitors(t *testing.T) {
	everywhere(t, func(e *env) {
		const users, batch = 100_000, 1000
		together(4, func(w int) {
			for _, first := range rand.Perm(users / batch) {
				if first%4 != w && rand.IntN(3) > 0 {
					continue // others add these
				}
				names := make([]any, batch)
				for i := range names {
					names[i] = fmt.Sprint("user", first*batch+i)
				}
				assert.NoError(e, e.c.PFAdd(e.ctx, "codehole", names...).Err())
			}
		})
		require.EqualValues(e, 99725, e.c.PFCount(e.ctx, "codehole").Val())
		require.Zero(e, e.c.PFAdd(e.ctx, "codehole", "user5").Val())
		require.Less(e, e.c.StrLen(e.ctx, "codehole").Val(), int64(12_500))

		// Two pages with common visitors are put together; seven days make a week.
		var all []any
		for day := range 7 {
			var names []any
			for i := range 400 {
				names = append(names, fmt.Sprint("visitor", day*200+i))
			}
			all = append(all, names...)
			require.NoError(e, e.c.PFAdd(e.ctx, fmt.Sprint("uv:", day), names...).Err())
		}
		days := []string{"uv:0", "uv:1", "uv:2", "uv:3", "uv:4", "uv:5", "uv:6"}
		require.NoError(e, e.c.PFAdd(e.ctx, "uv:direct", all...).Err())
		require.NoError(e, e.c.PFMerge(e.ctx, "uv:week", days...).Err())
		week := e.c.PFCount(e.ctx, "uv:week").Val()
		require.Equal(e, e.c.PFCount(e.ctx, days...).Val(), week)
		require.Equal(e, e.c.PFCount(e.ctx, "uv:direct").Val(), week)
		require.InEpsilon(e, 1600, week, 0.05)
	})
}

// TestFunnelLimiter runs the limit on replies of the courses: 15 at once, one more that is always
// allowed, then 30 a minute. A refused call learns when to come again.
func TestFunnelLimiter(t *testing.T) {
	everywhere(t, func(e *env) {
		throttle := func(key string, args ...any) []int64 {
			reply, err := e.c.Do(e.ctx, append([]any{"CL.THROTTLE", key}, args...)...).Int64Slice()
			require.NoError(e, err)
			return reply
		}
		start := time.Now()
		require.Equal(e, []int64{0, 16, 15, -1, 2}, throttle("laoqian:reply", 15, 30, 60))
		for i := range 15 {
			require.Equal(e, []int64{0, 16}, throttle("laoqian:reply", 15, 30, 60)[:2], "call %d",
				i+2)
		}
		last := throttle("laoqian:reply", 15, 30, 60)
		if time.Since(start) < time.Second {
			require.Equal(e, []int64{1, 16, 0, 2, 32}, last)
		}
		require.Equal(e, []int64{0, 16, 15, -1, 2}, throttle("icehe:reply", 15, 30, 60, 1),
			"another user")
		require.EqualValues(e, 1, throttle("heavy", 15, 30, 60, 17)[0],
			"more than the funnel holds")

		// Many clients use one funnel at once. It leaks slowly, so exactly what it holds gets
		// through.
		var passed atomic.Int32
		together(40, func(int) {
			reply, err := e.c.Do(e.ctx, "CL.THROTTLE", "crowd", 9, 1, 3600).Int64Slice()
			if assert.NoError(e, err) && reply[0] == 0 {
				passed.Add(1)
			}
		})
		require.EqualValues(e, 10, passed.Load())
		require.Greater(e, e.c.TTL(e.ctx, "crowd").Val(), time.Hour)
	})
}

// TestSlidingWindowInTransaction runs the other form of the limiter with a sorted set. One
// transaction reads the calls of the window and then adds this one. So of many calls at once
// exactly the limit pass.
func TestSlidingWindowInTransaction(t *testing.T) {
	everywhere(t, func(e *env) {
		const interval, limit = int64(60_000), 4
		allowed := func(key string, now int64) bool {
			var calls *redis.StringSliceCmd
			_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
				calls = p.ZRangeByScore(e.ctx, key,
					&redis.ZRangeBy{Min: fmt.Sprint(now - interval), Max: fmt.Sprint(now)})
				p.ZAdd(e.ctx, key,
					redis.Z{Score: float64(now), Member: fmt.Sprint(now, rand.Uint64())})
				p.ZRemRangeByScore(e.ctx, key, "0", fmt.Sprint(now-interval))
				p.Expire(e.ctx, key, 100*time.Second)
				return nil
			})
			assert.NoError(e, err)
			return len(calls.Val()) < limit
		}
		now := int64(1_700_000_000_000)
		var window []int64
		for range 80 {
			now += 1 + rand.Int64N(30_000)
			window = slices.DeleteFunc(window, func(at int64) bool { return at < now-interval })
			require.Equal(e, len(window) < limit, allowed("limit_user_1_api_2", now),
				"%d calls in the window", len(window))
			window = append(window, now)
			window = slices.DeleteFunc(window, func(at int64) bool { return at <= now-interval })
		}
		var passed atomic.Int32
		together(20, func(int) {
			if allowed("limit_user_2_api_2", now) {
				passed.Add(1)
			}
		})
		require.EqualValues(e, limit, passed.Load())
	})
}
