package integration

import (
	"errors"
	"fmt"
	"math"
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

// The recipes of this file come from courses about Redis and use MULTI, EXEC and WATCH. Each runs
// under several clients at once, and with a client that fails.

// TestConfigurationWithWatch changes a configuration of several keys as a whole. Readers that read
// it in one transaction never see half of a version. Writers that began with an old version start
// over.
func TestConfigurationWithWatch(t *testing.T) {
	everywhere(t, func(e *env) {
		const writers, changes = 3, 15
		parts := []string{"config:host", "config:port", "config:user"}
		var written atomic.Int32
		together(writers+1, func(w int) {
			if w == writers {
				for written.Load() < writers*changes && !e.Failed() {
					var vals [3]*redis.StringCmd
					_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
						for i, key := range parts {
							vals[i] = p.Get(e.ctx, key)
						}
						return nil
					})
					if err != nil && !errors.Is(err, redis.Nil) {
						assert.NoError(e, err)
						return
					}
					assert.Equal(e, vals[0].Val(), vals[1].Val())
					assert.Equal(e, vals[0].Val(), vals[2].Val())
				}
				return
			}
			for range changes {
				assert.NoError(e, watchUntilDone(e, func(tx *redis.Tx) error {
					n, _ := strconv.Atoi(tx.Get(e.ctx, "config:version").Val())
					_, err := tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
						p.Set(e.ctx, "config:version", n+1, 0)
						for _, key := range parts {
							p.Set(e.ctx, key, fmt.Sprint(n+1, "-", w), 0)
						}
						return nil
					})
					return err
				}, "config:version"))
				written.Add(1)
			}
		})
		require.Equal(e, strconv.Itoa(writers*changes), e.c.Get(e.ctx, "config:version").Val())
	})
}

// TestConfigurationWriterDies checks that a client that has queued half of a change and disconnects
// leaves nothing behind.
func TestConfigurationWriterDies(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c, dying := s.dial(t), s.dial(t)
	do(t, c, "MSET", "config:version", "1", "config:host", "a")
	for _, cmd := range []string{"WATCH config:version", "GET config:version", "MULTI",
		"SET config:version 2", "SET config:host b"} {
		do(t, dying, argsOf(cmd)...)
	}
	dying.Close()
	eventually(t, "it is gone", func() bool {
		return strings.Count(do(t, c, "CLIENT", "LIST").Text(), "\n") == 1
	})
	require.Equal(t, []string{"1", "a"},
		do(t, c, "MGET", "config:version", "config:host").Strings())
}

// logCommon counts messages of the current hour. The first message of a new hour moves the counts
// of the last hour aside.
func logCommon(e *env, name, message, hour string) error {
	common := "common:" + name
	start, recent := common+":start", "recent:"+name
	return watchUntilDone(e, func(tx *redis.Tx) error {
		existing, err := tx.Get(e.ctx, start).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_, err = tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			switch {
			case existing == "":
				p.Set(e.ctx, start, hour, 0)
			case existing < hour:
				p.Rename(e.ctx, common, common+":last")
				p.Rename(e.ctx, start, common+":pstart")
				p.Set(e.ctx, start, hour, 0)
			}
			p.ZIncrBy(e.ctx, common, 1, message)
			p.LPush(e.ctx, recent, hour+" "+message)
			p.LTrim(e.ctx, recent, 0, 99)
			return nil
		})
		return err
	}, start)
}

// TestCommonLog checks that every message is counted once, in its hour, although clients change the
// hour under each other.
func TestCommonLog(t *testing.T) {
	everywhere(t, func(e *env) {
		const clients, each = 4, 20
		for hour, name := range []string{"2026-11-21T10", "2026-11-21T11"} {
			together(clients, func(int) {
				for i := range each {
					assert.NoError(e, logCommon(e, "app:info", fmt.Sprint("message ", i%3), name))
				}
			})
			total := 0.0
			for _, z := range e.c.ZRangeWithScores(e.ctx, "common:app:info", 0, -1).Val() {
				total += z.Score
			}
			require.EqualValues(e, clients*each, total)
			require.Equal(e, name, e.c.Get(e.ctx, "common:app:info:start").Val())
			if hour == 1 {
				require.Equal(e, "2026-11-21T10", e.c.Get(e.ctx, "common:app:info:pstart").Val())
				require.EqualValues(e, 3, e.c.ZCard(e.ctx, "common:app:info:last").Val())
			}
		}
		require.EqualValues(e, 100, e.c.LLen(e.ctx, "recent:app:info").Val())
	})
}

// updateStats keeps minimum, maximum, count, sum and sum of squares of a number in one sorted set.
// Minimum and maximum come from a union with a set of the one value.
func updateStats(e *env, dest string, value float64) error {
	start := dest + ":start"
	low, high := fmt.Sprint("tmp:", rand.Uint64()), fmt.Sprint("tmp:", rand.Uint64())
	return watchUntilDone(e, func(tx *redis.Tx) error {
		existing := tx.Exists(e.ctx, start).Val() == 1
		_, err := tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			if !existing {
				p.Set(e.ctx, start, "2026-11-21T10", 0)
			}
			p.ZAdd(e.ctx, low, redis.Z{Score: value, Member: "min"})
			p.ZAdd(e.ctx, high, redis.Z{Score: value, Member: "max"})
			p.ZUnionStore(e.ctx, dest, &redis.ZStore{Keys: []string{dest, low}, Aggregate: "MIN"})
			p.ZUnionStore(e.ctx, dest, &redis.ZStore{Keys: []string{dest, high}, Aggregate: "MAX"})
			p.Del(e.ctx, low, high)
			p.ZIncrBy(e.ctx, dest, 1, "count")
			p.ZIncrBy(e.ctx, dest, value, "sum")
			p.ZIncrBy(e.ctx, dest, value*value, "sumsq")
			return nil
		})
		return err
	}, start)
}

func TestUpdateStats(t *testing.T) {
	everywhere(t, func(e *env) {
		const clients, each = 4, 15
		values := make([]float64, clients*each)
		for i := range values {
			values[i] = float64(rand.IntN(1000)) / 4
		}
		together(clients, func(c int) {
			for i := range each {
				assert.NoError(e, updateStats(e, "stats:page:time", values[c*each+i]))
			}
		})
		want := map[string]float64{"min": slices.Min(values), "max": slices.Max(values),
			"count": clients * each}
		for _, v := range values {
			want["sum"] += v
			want["sumsq"] += v * v
		}
		got := map[string]float64{}
		for _, z := range e.c.ZRangeWithScores(e.ctx, "stats:page:time", 0, -1).Val() {
			got[z.Member.(string)] = z.Score
		}
		require.Equal(e, want, got)
		average := got["sum"] / got["count"]
		stddev := math.Sqrt(
			(got["sumsq"] - got["sum"]*got["sum"]/got["count"]) / (got["count"] - 1))
		require.Greater(e, stddev, 0.0)
		require.Less(e, average, got["max"])
		keys, err := e.c.Keys(e.ctx, "tmp:*").Result()
		require.NoError(e, err)
		require.Empty(e, keys, "temporary sets are left")
	})
}

// TestInventory sells items of a market. The seller's inventory and the buyer's money are watched,
// and one transaction changes both. Again and again a client dies between WATCH and EXEC. Nothing
// is sold twice, and no money appears or vanishes.
func TestInventory(t *testing.T) {
	everywhere(t, func(e *env) {
		const sellers, buyers, items, money = 3, 4, 8, 100
		for s := range sellers {
			for i := range items {
				require.NoError(e, offer(e, s, fmt.Sprintf("item%d.%d", s, i), rand.IntN(20)))
			}
		}
		for b := range buyers {
			require.NoError(e, e.c.HSet(e.ctx, fmt.Sprint("buyer:", b), "funds", money).Err())
		}
		market := e.c.ZRangeWithScores(e.ctx, "market", 0, -1).Val()
		require.Len(e, market, sellers*items)
		var sold atomic.Int32
		together(buyers+1, func(b int) {
			if b == buyers { // this one queues commands and disconnects
				for range 10 {
					opt := e.opt
					client := redis.NewClient(&opt)
					c := client.Conn()
					for _, cmd := range []string{"WATCH market", "MULTI", "DEL market"} {
						assert.NoError(e, c.Do(e.ctx, argsOf(cmd)...).Err())
					}
					client.Close()
				}
				return
			}
			for _, i := range rand.Perm(len(market)) {
				err := buy(e, b, market[i].Member.(string), market[i].Score)
				if err == nil {
					sold.Add(1)
				} else if !errors.Is(err, errNotSold) {
					assert.NoError(e, err)
				}
			}
		})
		left := e.c.ZCard(e.ctx, "market").Val()
		require.EqualValues(e, sellers*items, int64(sold.Load())+left)
		funds, owned := 0, 0
		for _, key := range e.c.Keys(e.ctx, "*er:*").Val() { // buyer:N, seller:N
			n, _ := e.c.HGet(e.ctx, key, "funds").Int()
			require.GreaterOrEqual(e, n, 0, key)
			funds += n
		}
		for b := range buyers {
			owned += int(e.c.SCard(e.ctx, fmt.Sprint("inventory:", b)).Val())
		}
		require.Equal(e, buyers*money, funds)
		require.EqualValues(e, sold.Load(), owned)
	})
}

// offer puts an item of a seller's stock on the market, if it is still there.
func offer(e *env, seller int, item string, price int) error {
	stock := fmt.Sprint("stock:", seller)
	if err := e.c.SAdd(e.ctx, stock, item).Err(); err != nil {
		return err
	}
	return watchUntilDone(e, func(tx *redis.Tx) error {
		if !tx.SIsMember(e.ctx, stock, item).Val() {
			return errNotSold
		}
		_, err := tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			p.ZAdd(e.ctx, "market", redis.Z{Score: float64(price), Member: item})
			p.SRem(e.ctx, stock, item)
			return nil
		})
		return err
	}, stock)
}

var errNotSold = errors.New("sold to another, or too expensive")

func buy(e *env, buyer int, item string, price float64) error {
	me := fmt.Sprint("buyer:", buyer)
	var s, i int
	if _, err := fmt.Sscanf(item, "item%d.%d", &s, &i); err != nil {
		return err
	}
	return watchUntilDone(e, func(tx *redis.Tx) error {
		at, err := tx.ZScore(e.ctx, "market", item).Result()
		if errors.Is(err, redis.Nil) {
			return errNotSold
		}
		if err != nil {
			return err
		}
		funds, err := tx.HGet(e.ctx, me, "funds").Int()
		if err != nil {
			return err
		}
		if at != price || float64(funds) < price {
			return errNotSold
		}
		_, err = tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			p.HIncrBy(e.ctx, fmt.Sprint("seller:", s), "funds", int64(price))
			p.HIncrBy(e.ctx, me, "funds", -int64(price))
			p.SAdd(e.ctx, fmt.Sprint("inventory:", buyer), item)
			p.ZRem(e.ctx, "market", item)
			return nil
		})
		return err
	}, "market", me)
}

// TestRecentContactsInTransaction checks that an update in one transaction keeps each name once,
// the latest first.
func TestRecentContactsInTransaction(t *testing.T) {
	everywhere(t, func(e *env) {
		together(4, func(int) {
			for range 30 {
				name := fmt.Sprint("contact", rand.IntN(120))
				_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
					p.LRem(e.ctx, "recent:me", 1, name)
					p.LPush(e.ctx, "recent:me", name)
					p.LTrim(e.ctx, "recent:me", 0, 99)
					return nil
				})
				assert.NoError(e, err)
			}
		})
		names := e.c.LRange(e.ctx, "recent:me", 0, -1).Val()
		require.LessOrEqual(e, len(names), 100)
		slices.Sort(names)
		require.Len(e, slices.Compact(names), len(names))
	})
}

// TestAutocompleteUnderWatch inserts the ends of a range and looks up their ranks under WATCH. One
// transaction reads what is between them and removes the ends.
func TestAutocompleteUnderWatch(t *testing.T) {
	everywhere(t, func(e *env) {
		var members []string
		for range 200 {
			name := string(
				[]byte{'a' + byte(rand.IntN(3)), 'a' + byte(rand.IntN(3)), 'a' + byte(rand.IntN(3)),
					'a' + byte(rand.IntN(26))})
			members = append(members, name)
		}
		slices.Sort(members)
		members = slices.Compact(members)
		for _, m := range members {
			require.NoError(e, e.c.ZAdd(e.ctx, "members:guild", redis.Z{Member: m}).Err())
		}
		together(4, func(c int) {
			for _, prefix := range []string{"a", "ab", "abc", "c", "zz"} {
				got, err := autocomplete(e, "members:guild", prefix)
				assert.NoError(e, err)
				var want []string
				for _, m := range members {
					if len(m) >= len(prefix) && m[:len(prefix)] == prefix && len(want) < 10 {
						want = append(want, m)
					}
				}
				// The ends of the others' ranges are in the way. So some names may be missing, but
				// none is wrong.
				if c == 0 {
					assert.LessOrEqual(e, len(got), len(want))
				}
				for _, m := range got {
					assert.Contains(e, want, m)
				}
			}
		})
		require.EqualValues(e, len(members), e.c.ZCard(e.ctx, "members:guild").Val())
	})
}

func autocomplete(e *env, key, prefix string) ([]string, error) {
	last := prefix[len(prefix)-1]
	id := fmt.Sprint(rand.Uint64())
	start, end := prefix[:len(prefix)-1]+string([]byte{last - 1, '{'})+id, prefix+"{"+id
	if err := e.c.ZAdd(e.ctx, key, redis.Z{Member: start}, redis.Z{Member: end}).Err(); err != nil {
		return nil, err
	}
	var items *redis.StringSliceCmd
	err := watchUntilDone(e, func(tx *redis.Tx) error {
		from, err := tx.ZRank(e.ctx, key, start).Result()
		if err != nil {
			return err
		}
		to, err := tx.ZRank(e.ctx, key, end).Result()
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			p.ZRem(e.ctx, key, start, end)
			items = p.ZRange(e.ctx, key, from, min(from+9, to-2))
			return nil
		})
		return err
	}, key)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items.Val(), func(s string) bool {
		return slices.Contains([]byte(s), '{')
	}), nil
}

// TestWindowLimiterInTransaction runs the sliding-window limiter with its four commands in one
// transaction.
func TestWindowLimiterInTransaction(t *testing.T) {
	everywhere(t, func(e *env) {
		const limit, calls = 5, 12
		var passed atomic.Int32
		now := time.Now().UnixMilli()
		together(calls, func(i int) {
			var count *redis.IntCmd
			_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
				p.ZAdd(e.ctx, "hist", redis.Z{Score: float64(now), Member: i})
				p.ZRemRangeByScore(e.ctx, "hist", "0", fmt.Sprint(now-60_000))
				count = p.ZCard(e.ctx, "hist")
				p.Expire(e.ctx, "hist", 61*time.Second)
				return nil
			})
			assert.NoError(e, err)
			if count.Val() <= limit {
				passed.Add(1)
			}
		})
		// The number is exact: no other call comes between ZADD and ZCARD.
		require.EqualValues(e, limit, passed.Load())
	})
}
