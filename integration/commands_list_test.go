package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"godwit/internal/testseed"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// TestLargeLists checks that lists of many nodes give the same answers as slices.
func TestLargeLists(t *testing.T) {
	everywhere(t, func(e *env) {
		rng := testseed.Rand(e)
		var want []string
		for range 40 {
			var batch []any
			for range 200 {
				s := strings.Repeat(strconv.Itoa(rng.IntN(1000)), 1+rng.IntN(20))
				batch = append(batch, s)
				want = append(want, s)
			}
			require.EqualValues(e, len(want), e.c.RPush(e.ctx, "l", batch...).Val())
		}
		require.Equal(e, "quicklist", e.c.ObjectEncoding(e.ctx, "l").Val())
		for range 200 {
			want = changeLargeList(e, rng, want)
		}
		require.Equal(e, want, e.c.LRange(e.ctx, "l", 0, -1).Val())
		require.EqualValues(e, 1, e.c.Copy(e.ctx, "l", "m", e.db, false).Val())
		require.NoError(e, e.c.LTrim(e.ctx, "l", 10, 12).Err())
		require.Equal(e, want[10:13], e.c.LRange(e.ctx, "l", 0, -1).Val())
		require.Equal(e, want, e.c.LRange(e.ctx, "m", 0, -1).Val())
		require.EqualValues(e, 2, e.c.Del(e.ctx, "l", "m").Val())
	})
}

// changeLargeList does one random thing to the list and to its model.
func changeLargeList(e *env, rng *rand.Rand, want []string) []string {
	c, ctx, i := e.c, e.ctx, rng.IntN(len(want))
	switch rng.IntN(6) {
	case 0:
		require.Equal(e, want[i], c.LIndex(ctx, "l", int64(i)).Val())
	case 1:
		want[i] = strings.Repeat("z", rng.IntN(3000))
		require.NoError(e, c.LSet(ctx, "l", int64(i-len(want)), want[i]).Err())
	case 2:
		at := slices.Index(want, want[i])
		want = slices.Insert(want, at, "new")
		require.EqualValues(e, len(want), c.LInsertBefore(ctx, "l", want[at+1], "new").Val())
	case 3:
		gone := want[i]
		n := len(want)
		want = slices.DeleteFunc(want, func(s string) bool { return s == gone })
		require.EqualValues(e, n-len(want), c.LRem(ctx, "l", 0, gone).Val())
	case 4:
		j := min(i+500, len(want))
		require.Equal(e, want[i:j], c.LRange(ctx, "l", int64(i), int64(j-1)).Val())
	default:
		n := rng.IntN(50)
		require.NoError(e, c.LTrim(ctx, "l", int64(n), -2).Err())
		want = want[n : len(want)-1]
	}
	return want
}

// TestSharedQueue checks that many consumers pop exactly once what many producers push, and that a
// list that elements are moved through keeps its order.
func TestSharedQueue(t *testing.T) {
	everywhere(t, func(e *env) {
		const producers, jobs = 4, 500
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() {
				for j := range jobs {
					if err := e.c.LPush(e.ctx, "q", fmt.Sprint(p, ":", j)).Err(); err != nil {
						e.Error(err)
					}
				}
			})
		}
		var mu sync.Mutex
		var got []string
		for range 3 {
			wg.Go(func() { consume(e.ctx, e, &mu, &got, producers*jobs) })
		}
		wg.Wait()
		slices.Sort(got)
		require.Len(e, slices.Compact(got), producers*jobs)
		require.Zero(e, e.c.Exists(e.ctx, "q").Val())
	})
}

// consume pops until all consumers together have n elements.
func consume(ctx context.Context, e *env, mu *sync.Mutex, got *[]string, n int) {
	for {
		elems, err := e.c.RPopCount(ctx, "q", 7).Result()
		if err != nil && err != redis.Nil {
			e.Error(err)
			return
		}
		mu.Lock()
		*got = append(*got, elems...)
		done := len(*got) >= n
		mu.Unlock()
		if done {
			return
		}
	}
}
