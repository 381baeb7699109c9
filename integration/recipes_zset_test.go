package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The recipes of this file come from courses about Redis and use sorted sets. Each runs under
// several clients at once.

// together runs f n times at once and waits for all of them.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// TestDelayedQueue keeps jobs with the time when they are due as their score. Workers look for a
// job that is due, and the worker that can remove it runs it.
func TestDelayedQueue(t *testing.T) {
	everywhere(t, func(e *env) {
		const jobs, workers = 120, 6
		due := make([]int64, jobs)
		var runs [jobs]atomic.Int32
		var left atomic.Int32
		left.Store(jobs)
		now := func() int64 { return time.Now().UnixMilli() }
		start := now()
		for i := range due {
			due[i] = start + rand.Int64N(100)
		}
		deadline := time.Now().Add(patience)
		together(workers+1, func(w int) {
			if w == workers { // the producer
				for i, at := range due {
					assert.NoError(e,
						e.c.ZAdd(e.ctx, "q", redis.Z{Score: float64(at), Member: i}).Err())
				}
				return
			}
			for left.Load() > 0 && time.Now().Before(deadline) {
				at := now()
				found, err := e.c.ZRangeByScore(e.ctx, "q",
					&redis.ZRangeBy{Min: "0", Max: fmt.Sprint(at), Count: 1}).Result()
				if !assert.NoError(e, err) {
					return
				}
				if len(found) == 0 || e.c.ZRem(e.ctx, "q", found[0]).Val() == 0 {
					continue // nothing is due, or another worker was first
				}
				job, err := strconv.Atoi(found[0])
				assert.NoError(e, err)
				assert.LessOrEqual(e, due[job], at, "job %d ran before its time", job)
				runs[job].Add(1)
				left.Add(-1)
			}
		})
		for i := range runs {
			assert.EqualValues(e, 1, runs[i].Load(), "runs of job %d", i)
		}
		assert.Zero(e, e.c.Exists(e.ctx, "q").Val())
	})
}

// allowed asks the sliding-window limiter for a call, and reports whether it is allowed. The calls
// of the last period, in ms, are members with their times as scores. There may be at most limit of
// them, this call included.
func allowed(e *env, key string, now, period int64, limit int64) bool {
	var count *redis.IntCmd
	_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
		p.ZAdd(e.ctx, key,
			redis.Z{Score: float64(now), Member: fmt.Sprint(now, "-", rand.Uint64())})
		p.ZRemRangeByScore(e.ctx, key, "0", fmt.Sprint(now-period))
		count = p.ZCard(e.ctx, key)
		p.Expire(e.ctx, key, time.Duration(period+1000)*time.Millisecond)
		return nil
	})
	assert.NoError(e, err)
	return count.Val() <= limit
}

func TestSlidingWindowLimiter(t *testing.T) {
	everywhere(t, func(e *env) {
		const period, limit = 60_000, 5
		together(6, func(user int) {
			key := fmt.Sprintf("hist:%d:reply", user)
			var window []int64
			now := int64(1_700_000_000_000)
			for range 60 {
				now += rand.Int64N(20_000)
				window = append(window, now)
				window = slices.DeleteFunc(window, func(at int64) bool { return at <= now-period })
				want := len(window) <= limit
				assert.Equal(e, want, allowed(e, key, now, period, limit),
					"user %d, %d calls in the window", user, len(window))
			}
			assert.Greater(e, e.c.TTL(e.ctx, key).Val(), 50*time.Second)
		})

		// Of many calls at one moment no more than the limit pass.
		var passed atomic.Int32
		together(20, func(int) {
			if allowed(e, "hist:all", 1000, 500, limit) {
				passed.Add(1)
			}
		})
		assert.LessOrEqual(e, passed.Load(), int32(limit))
		assert.True(e, allowed(e, "hist:all", 2000, 500, limit))
		assert.EqualValues(e, 1, e.c.ZCard(e.ctx, "hist:all").Val())
	})
}

// TestLeaderboard adds points from several clients. Members with equal scores are in the order of
// their names' bytes. A player's place is one more than the number of better players, so players
// with equal scores share a place.
func TestLeaderboard(t *testing.T) {
	everywhere(t, func(e *env) {
		const players, clients, games = 40, 5, 80
		var points [players]atomic.Int64
		together(clients, func(int) {
			for range games {
				p, n := rand.IntN(players), rand.Int64N(3)
				points[p].Add(n)
				assert.NoError(e, e.c.ZIncrBy(e.ctx, "board", float64(n), playerName(p)).Err())
			}
		})
		var want []redis.Z
		for p := range players {
			require.NoError(e, e.c.ZAddArgs(e.ctx, "board",
				redis.ZAddArgs{NX: true, Members: []redis.Z{{Member: playerName(p)}}}).Err())
			want = append(want, redis.Z{Score: float64(points[p].Load()), Member: playerName(p)})
		}
		slices.SortFunc(want, func(a, b redis.Z) int {
			if a.Score != b.Score {
				return int(b.Score - a.Score)
			}
			return strings.Compare(b.Member.(string), a.Member.(string))
		})
		require.Equal(e, want[:10], e.c.ZRevRangeWithScores(e.ctx, "board", 0, 9).Val())
		require.Equal(e, want, e.c.ZRangeArgsWithScores(e.ctx,
			redis.ZRangeArgs{Key: "board", Start: 0, Stop: -1, Rev: true}).Val())
		for i, z := range want {
			name := z.Member.(string)
			require.EqualValues(e, i, e.c.ZRevRank(e.ctx, "board", name).Val(), name)
			better := slices.IndexFunc(want, func(o redis.Z) bool { return o.Score == z.Score })
			require.EqualValues(e, better,
				e.c.ZCount(e.ctx, "board", fmt.Sprintf("(%v", z.Score), "+inf").Val(), name)
			// Read the neighbours of a player.
			lo, hi := max(i-2, 0), min(i+2, players-1)
			require.Equal(e, want[lo:hi+1],
				e.c.ZRevRangeWithScores(e.ctx, "board", int64(lo), int64(hi)).Val(), name)
		}
		// Store the best of two boards.
		require.NoError(e, e.c.ZAdd(e.ctx, "old", redis.Z{Score: 1e6, Member: playerName(7)},
			redis.Z{Score: -1, Member: "gone"}).Err())
		n, err := e.c.ZUnionStore(e.ctx, "best",
			&redis.ZStore{Keys: []string{"board", "old"}, Aggregate: "MAX"}).Result()
		require.NoError(e, err)
		require.EqualValues(e, players+1, n)
		require.Equal(e, []string{playerName(7)}, e.c.ZRevRange(e.ctx, "best", 0, 0).Val())
		require.Equal(e, []string{"gone"}, e.c.ZRange(e.ctx, "best", 0, 0).Val())
	})
}

func playerName(i int) string { return fmt.Sprintf("player:%d", i*7919%1000) }

// TestAutocomplete finds the names with a prefix while others come and go. Names that stay are
// found each time, and all names that are found have the prefix.
func TestAutocomplete(t *testing.T) {
	everywhere(t, func(e *env) {
		const key = "members:guild"
		names := []string{"aba", "abaa", "abaz", "abb", "ab", "abc", "b", "a", "aba{", "aba`",
			"\u963f\u725b", "\u963f\u5fe0"}
		for _, n := range names {
			require.NoError(e, e.c.ZAdd(e.ctx, key, redis.Z{Member: n}).Err())
		}
		var done atomic.Bool
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for i := 0; !done.Load(); i++ {
					name := fmt.Sprintf("ab%d-%d", w, i%50)
					assert.NoError(e, e.c.ZAdd(e.ctx, key, redis.Z{Member: name}).Err())
					assert.NoError(e, e.c.ZRem(e.ctx, key, name).Err())
				}
			})
		}
		together(2, func(int) {
			for i := range 60 {
				prefix := []string{"a", "ab", "aba", "abaz", "\u963f", "zz"}[i%6]
				got, err := e.c.ZRangeByLex(e.ctx, key,
					&redis.ZRangeBy{Min: "[" + prefix, Max: "(" + prefix + "\xff"}).Result()
				assert.NoError(e, err)
				assert.True(e, slices.IsSorted(got), "%q", got)
				var stayed []string
				for _, g := range got {
					assert.True(e, strings.HasPrefix(g, prefix), "%q has no prefix %q", g, prefix)
					if slices.Contains(names, g) {
						stayed = append(stayed, g)
					}
				}
				var want []string
				for _, n := range names {
					if strings.HasPrefix(n, prefix) {
						want = append(want, n)
					}
				}
				slices.Sort(want)
				assert.Equal(e, want, stayed, "prefix %q", prefix)
			}
		})
		done.Store(true)
		wg.Wait()
		require.EqualValues(e, len(names), e.c.ZLexCount(e.ctx, key, "-", "+").Val())
		require.EqualValues(e, 4, e.c.ZLexCount(e.ctx, key, "(aba", "(abb").Val())
	})
}

// TestCityOfAddress keeps the first address of each range with the number of its city, made unique
// by a counter. The range of an address is the last one that begins at or before it.
func TestCityOfAddress(t *testing.T) {
	everywhere(t, func(e *env) {
		const ranges = 500
		first := make([]uint32, ranges)
		for i := range first {
			first[i] = rand.Uint32()
		}
		first[0] = 16
		slices.Sort(first)
		first = slices.Compact(first)
		_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
			for i, at := range first {
				p.ZAdd(e.ctx, "ip2cityid:",
					redis.Z{Score: float64(at), Member: fmt.Sprintf("%d_%d", i%50, i)})
			}
			for city := range 50 {
				p.HSet(e.ctx, "cityid2city:", city,
					fmt.Sprintf(`["City %d","Region","Country"]`, city))
			}
			return nil
		})
		require.NoError(e, err)
		together(4, func(int) {
			for i := range 50 {
				addr := rand.Uint32()
				if i%5 == 0 {
					addr = first[rand.IntN(len(first))] // the very first of a range
				}
				at, found := slices.BinarySearch(first, addr)
				if !found {
					at--
				}
				got, err := e.c.ZRevRangeByScore(e.ctx, "ip2cityid:",
					&redis.ZRangeBy{Max: fmt.Sprint(addr), Min: "0", Count: 1}).Result()
				assert.NoError(e, err)
				if at < 0 {
					assert.Empty(e, got)
					continue
				}
				if !assert.Equal(e, []string{fmt.Sprintf("%d_%d", at%50, at)}, got, "address %d",
					addr) {
					return
				}
				city, _, _ := strings.Cut(got[0], "_")
				assert.Equal(e, fmt.Sprintf(`["City %s","Region","Country"]`, city),
					e.c.HGet(e.ctx, "cityid2city:", city).Val())
			}
		})
	})
}

// TestRecentlyViewed keeps the newest 25 items that a visitor looked at, by trimming to ranks from
// the high end.
func TestRecentlyViewed(t *testing.T) {
	everywhere(t, func(e *env) {
		together(4, func(visitor int) {
			key := fmt.Sprint("viewed:", visitor)
			var last []string // newest first
			for i := range 80 {
				item := fmt.Sprint("item:", rand.IntN(40))
				assert.NoError(e,
					e.c.ZAdd(e.ctx, key, redis.Z{Score: float64(i), Member: item}).Err())
				assert.NoError(e, e.c.ZRemRangeByRank(e.ctx, key, 0, -26).Err())
				last = slices.Insert(slices.DeleteFunc(last, func(s string) bool {
					return s == item
				}), 0, item)
				last = last[:min(len(last), 25)]
			}
			assert.Equal(e, last, e.c.ZRevRange(e.ctx, key, 0, -1).Val())
		})
	})
}

// TestStatistics adds samples to minimum, maximum, sum and count of a period from several clients.
// Each sample is a small set, and its union with the stored set replaces that.
func TestStatistics(t *testing.T) {
	everywhere(t, func(e *env) {
		const clients, samples = 4, 30
		var mu sync.Mutex
		lo, hi, sum := 1e9, -1e9, 0.0
		together(clients, func(w int) {
			tmp := fmt.Sprint("tmp:", w)
			for range samples {
				v := float64(rand.IntN(2000) - 1000)
				mu.Lock()
				lo, hi, sum = min(lo, v), max(hi, v), sum+v
				mu.Unlock()
				_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
					for _, agg := range []string{"min", "max"} {
						p.ZAdd(e.ctx, tmp, redis.Z{Score: v, Member: agg})
						p.ZUnionStore(e.ctx, "stats:"+agg,
							&redis.ZStore{Keys: []string{"stats:" + agg, tmp},
								Aggregate: strings.ToUpper(agg)})
						p.Del(e.ctx, tmp)
					}
					p.ZIncrBy(e.ctx, "stats:sum", v, "sum")
					p.ZIncrBy(e.ctx, "stats:sum", 1, "count")
					return nil
				})
				assert.NoError(e, err)
			}
		})
		require.Equal(e, []redis.Z{{Score: lo, Member: "min"}},
			e.c.ZRangeWithScores(e.ctx, "stats:min", 0, -1).Val())
		require.Equal(e, []redis.Z{{Score: hi, Member: "max"}},
			e.c.ZRangeWithScores(e.ctx, "stats:max", 0, -1).Val())
		require.Equal(e, sum, e.c.ZScore(e.ctx, "stats:sum", "sum").Val())
		require.EqualValues(e, clients*samples, e.c.ZScore(e.ctx, "stats:sum", "count").Val())
	})
}
