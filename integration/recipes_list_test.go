package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The recipes of this file come from courses about Redis and use lists and hashes.

// TestQueueAndStack takes books out at the opposite end, as a queue, and at the same end, as a
// stack.
func TestQueueAndStack(t *testing.T) {
	everywhere(t, func(e *env) {
		books := []string{"python", "java", "golang"}
		fill := func() {
			require.EqualValues(e, 3, e.c.RPush(e.ctx, "books", books[0], books[1], books[2]).Val())
			require.EqualValues(e, 3, e.c.LLen(e.ctx, "books").Val())
		}
		fill()
		for _, b := range books {
			require.Equal(e, b, e.c.LPop(e.ctx, "books").Val())
		}
		require.ErrorIs(e, e.c.LPop(e.ctx, "books").Err(), redis.Nil)
		fill()
		for _, b := range slices.Backward(books) {
			require.Equal(e, b, e.c.RPop(e.ctx, "books").Val())
		}
		require.ErrorIs(e, e.c.RPop(e.ctx, "books").Err(), redis.Nil)
		require.Zero(e, e.c.Exists(e.ctx, "books").Val())
	})
}

// task is an element of a queue.
type task struct {
	Producer, Number int
	Urgent           bool
}

func (j task) encode() string {
	b, _ := json.Marshal(j)
	return string(b)
}

// TestTaskQueues has producers put tasks into an urgent and an ordinary queue. Workers take them
// with a blocking pop that looks at the urgent queue first. Each task runs once, and those of one
// producer and queue run in order.
func TestTaskQueues(t *testing.T) {
	everywhere(t, func(e *env) {
		const producers, workers, each = 3, 4, 60
		opt := e.opt
		opt.PoolSize = producers + workers
		c := redis.NewClient(&opt)
		defer c.Close()
		var runs [producers][each]atomic.Int32
		var taken atomic.Int32
		// With one task of each kind, the urgent one is served first although it came last.
		require.NoError(e, c.RPush(e.ctx, "queue:low", task{0, 0, false}.encode()).Err())
		require.NoError(e, c.RPush(e.ctx, "queue:high", task{0, 1, true}.encode()).Err())
		for _, urgent := range []bool{true, false} {
			packed, err := c.BLPop(e.ctx, time.Second, "queue:high", "queue:low").Result()
			require.NoError(e, err)
			require.Contains(e, packed[1], fmt.Sprintf(`"Urgent":%v`, urgent))
		}
		together(producers+workers, func(i int) {
			if i < producers {
				for n := range each {
					j := task{i, n, rand.IntN(3) == 0}
					queue := "queue:low"
					if j.Urgent {
						queue = "queue:high"
					}
					assert.NoError(e, c.RPush(e.ctx, queue, j.encode()).Err())
				}
				return
			}
			last := map[string]int{}
			for deadline := time.Now().Add(patience); taken.Load() < producers*each &&
				time.Now().Before(deadline); {
				packed, err := c.BLPop(e.ctx, time.Second, "queue:high", "queue:low").Result()
				if err == redis.Nil {
					continue
				}
				var j task
				if !assert.NoError(e, err) ||
					!assert.NoError(e, json.Unmarshal([]byte(packed[1]), &j)) {
					return
				}
				line := fmt.Sprint(packed[0], j.Producer)
				assert.GreaterOrEqual(e, j.Number, last[line], "%s: out of order", line)
				last[line] = j.Number
				runs[j.Producer][j.Number].Add(1)
				taken.Add(1)
			}
		})
		for p := range runs {
			for n := range runs[p] {
				assert.EqualValues(e, 1, runs[p][n].Load(), "task %d of producer %d", n, p)
			}
		}
	})
}

// TestRecentContacts keeps whom a user last wrote to: newest first, nobody twice, a hundred at
// most. Completions are the names that begin with what is typed.
func TestRecentContacts(t *testing.T) {
	everywhere(t, func(e *env) {
		together(4, func(user int) {
			key := fmt.Sprint("recent:user", user)
			var want []string
			for range 400 {
				name := fmt.Sprintf("%s%d", []string{"ann", "bob", "Anton", "carl"}[rand.IntN(4)],
					rand.IntN(40))
				if rand.IntN(20) == 0 {
					assert.NoError(e, e.c.LRem(e.ctx, key, 1, name).Err())
					want = slices.DeleteFunc(want, func(s string) bool { return s == name })
					continue
				}
				_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
					p.LRem(e.ctx, key, 1, name)
					p.LPush(e.ctx, key, name)
					p.LTrim(e.ctx, key, 0, 99)
					return nil
				})
				assert.NoError(e, err)
				want = slices.Insert(slices.DeleteFunc(want, func(s string) bool {
					return s == name
				}), 0, name)
				want = want[:min(len(want), 100)]
			}
			got := e.c.LRange(e.ctx, key, 0, -1).Val()
			assert.Equal(e, want, got)
			completions := slices.DeleteFunc(got, func(s string) bool {
				return !strings.HasPrefix(strings.ToLower(s), "an")
			})
			for _, name := range completions {
				assert.Contains(e, []string{"ann", "Anton"}, strings.TrimRight(name, "0123456789"))
			}
		})
	})
}

// TestRecentLog keeps the newest hundred messages of each severity. Several clients write them at
// once.
func TestRecentLog(t *testing.T) {
	everywhere(t, func(e *env) {
		together(5, func(w int) {
			for i := range 60 {
				_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
					p.LPush(e.ctx, "recent:site:info", fmt.Sprint(w, " ", i))
					p.LTrim(e.ctx, "recent:site:info", 0, 99)
					return nil
				})
				assert.NoError(e, err)
			}
		})
		got := e.c.LRange(e.ctx, "recent:site:info", 0, -1).Val()
		require.Len(e, got, 100)
		last := map[string]int{}
		for _, line := range got { // newest first: the numbers of each writer fall
			w, n, _ := strings.Cut(line, " ")
			i, err := strconv.Atoi(n)
			require.NoError(e, err)
			if before, ok := last[w]; ok {
				require.Less(e, i, before)
			}
			last[w] = i
		}
	})
}

var precisions = []int64{1, 5, 60, 300, 3600}

// TestHitCounters counts hits in slices of time of several lengths, a hash for each length. A
// sorted set lists the counters. A cleaner walks it to drop old slices, and the counters that have
// no slice left.
func TestHitCounters(t *testing.T) {
	everywhere(t, func(e *env) {
		const clients, hits, samples = 4, 100, 10
		const start = int64(1_700_000_000)
		var seen [1000]atomic.Int64 // by second
		together(clients, func(int) {
			for range hits {
				s := rand.Int64N(int64(len(seen)))
				seen[s].Add(1)
				_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
					for _, prec := range precisions {
						counter := fmt.Sprint(prec, ":hits")
						p.ZAdd(e.ctx, "known:", redis.Z{Member: counter})
						p.HIncrBy(e.ctx, "count:"+counter, fmt.Sprint((start+s)/prec*prec), 1)
					}
					return nil
				})
				assert.NoError(e, err)
			}
		})
		for _, prec := range precisions {
			want := map[string]string{}
			for s := range int64(len(seen)) {
				if n := seen[s].Load(); n > 0 {
					slice := fmt.Sprint((start + s) / prec * prec)
					before, _ := strconv.ParseInt(want[slice], 10, 64)
					want[slice] = fmt.Sprint(before + n)
				}
			}
			require.Equal(e, want, e.c.HGetAll(e.ctx, fmt.Sprintf("count:%d:hits", prec)).Val(),
				"slices of %d s", prec)
		}
		require.EqualValues(e, len(precisions), e.c.ZCard(e.ctx, "known:").Val())

		// After an hour only the longest slices are young enough.
		for now, i := start+4000, int64(0); i < e.c.ZCard(e.ctx, "known:").Val(); {
			i += cleanCounter(e, i, now, samples)
		}
		require.Equal(e, []string{"3600:hits"}, e.c.ZRange(e.ctx, "known:", 0, -1).Val())
		require.Equal(e, []string{"count:3600:hits", "known:"},
			slices.Sorted(slices.Values(e.c.Keys(e.ctx, "*").Val())))
	})
}

// cleanCounter drops the slices of a counter that are older than that many samples, and drops the
// counter with its last slice. It returns how far the next counter is.
func cleanCounter(e *env, i, now, samples int64) int64 {
	counter := e.c.ZRange(e.ctx, "known:", i, i).Val()[0]
	prec, err := strconv.ParseInt(counter[:strings.IndexByte(counter, ':')], 10, 64)
	require.NoError(e, err)
	slicesOf := e.c.HKeys(e.ctx, "count:"+counter).Val()
	slices.Sort(slicesOf)
	old, _ := slices.BinarySearch(slicesOf, fmt.Sprint(now-samples*prec))
	if old == 0 {
		return 1
	}
	require.EqualValues(e, old, e.c.HDel(e.ctx, "count:"+counter, slicesOf[:old]...).Val())
	if e.c.HLen(e.ctx, "count:"+counter).Val() > 0 {
		return 1
	}
	require.EqualValues(e, 1, e.c.ZRem(e.ctx, "known:", counter).Val())
	return 0
}
