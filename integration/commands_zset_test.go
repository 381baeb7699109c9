package integration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestZSet(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 3,
			c.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2, Member: "b"},
				redis.Z{Score: 2, Member: "aa"}).Val())
		require.EqualValues(e, 0, c.ZAddXX(ctx, "z", redis.Z{Score: 5, Member: "new"}).Val())
		require.EqualValues(e, 0, c.ZAddNX(ctx, "z", redis.Z{Score: 5, Member: "a"}).Val())
		require.EqualValues(e, 1,
			c.ZAddArgs(ctx, "z",
				redis.ZAddArgs{GT: true, Ch: true,
					Members: []redis.Z{{Score: 3, Member: "a"}, {Score: 1, Member: "b"}}}).Val())
		require.Equal(e, 3.5,
			c.ZAddArgsIncr(ctx, "z",
				redis.ZAddArgs{Members: []redis.Z{{Score: .5, Member: "a"}}}).Val())
		require.ErrorIs(e,
			c.ZAddArgsIncr(ctx, "z",
				redis.ZAddArgs{NX: true, Members: []redis.Z{{Score: 1, Member: "a"}}}).Err(),
			redis.Nil)
		require.Equal(e, math.Inf(1), c.ZIncrBy(ctx, "z", math.Inf(1), "b").Val())
		e.errs(c.ZIncrBy(ctx, "z", math.Inf(-1), "b").Err(),
			"ERR resulting score is not a number (NaN)")
		require.Equal(e, 3.5, c.ZScore(ctx, "z", "a").Val())
		require.ErrorIs(e, c.ZScore(ctx, "z", "nobody").Err(), redis.Nil)
		require.EqualValues(e, 1, c.ZRank(ctx, "z", "a").Val())
		require.EqualValues(e, 2, c.ZRevRank(ctx, "z", "aa").Val())
		require.EqualValues(e, 3, c.ZCard(ctx, "z").Val())
		require.Equal(e, "listpack", c.ObjectEncoding(ctx, "z").Val())
		require.Equal(e, []redis.Z{{Score: 2, Member: "aa"}}, c.ZPopMin(ctx, "z").Val())
		key, popped, err := c.ZMPop(ctx, "max", 5, "none", "z").Result()
		require.NoError(e, err)
		require.Equal(e, "z", key)
		require.Equal(e, []redis.Z{{Score: math.Inf(1), Member: "b"}, {Score: 3.5, Member: "a"}},
			popped)
		require.EqualValues(e, 0, c.Exists(ctx, "z").Val())
	})
}

// TestZSetLarge walks a set through both encodings and back to nothing, and looks at it from every
// side.
func TestZSetLarge(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		want := map[string]float64{}
		p := c.Pipeline()
		for i := range 3000 {
			m, score := fmt.Sprint("member:", i), float64(rand.IntN(500))/4
			want[m] = score
			p.ZAdd(ctx, "z", redis.Z{Score: score, Member: m})
		}
		_, err := p.Exec(ctx)
		require.NoError(e, err)
		require.Equal(e, "skiplist", c.ObjectEncoding(ctx, "z").Val())
		members := make([]string, 0, len(want))
		for m := range want {
			members = append(members, m)
		}
		slices.SortFunc(members, func(a, b string) int {
			if want[a] != want[b] {
				return int(4 * (want[a] - want[b]))
			}
			return strings.Compare(a, b)
		})
		require.Equal(e, members, c.ZRange(ctx, "z", 0, -1).Val())
		for i := 0; i < len(members); i += 97 {
			require.EqualValues(e, i, c.ZRank(ctx, "z", members[i]).Val())
			require.Equal(e, want[members[i]], c.ZScore(ctx, "z", members[i]).Val())
		}

		seen := map[string]string{}
		it := c.ZScan(ctx, "z", 0, "", 100).Iterator()
		for it.Next(ctx) {
			m := it.Val()
			require.True(e, it.Next(ctx))
			seen[m] = it.Val()
		}
		require.NoError(e, it.Err())
		require.Len(e, seen, len(want))

		distinct := c.ZRandMember(ctx, "z", 1000).Val()
		slices.Sort(distinct)
		require.Len(e, slices.Compact(distinct), 1000)
		require.Len(e, c.ZRandMember(ctx, "z", -5000).Val(), 5000)
		require.Len(e, c.ZRandMember(ctx, "z", 5000).Val(), len(members))
		require.Len(e, c.ZRandMemberWithScores(ctx, "z", 10).Val(), 10)

		require.True(e, c.Copy(ctx, "z", "copy", e.db, false).Val() == 1)
		var popped []string
		for len(popped) < len(members) {
			for _, z := range c.ZPopMin(ctx, "z", 700).Val() {
				popped = append(popped, z.Member.(string))
			}
		}
		require.Equal(e, members, popped)
		require.EqualValues(e, 0, c.Exists(ctx, "z").Val())
		require.Equal(e, members, c.ZRange(ctx, "copy", 0, -1).Val())
		require.EqualValues(e, 1, c.Unlink(ctx, "copy").Val())
	})
}

// TestZSetRandomIsFair draws members of both encodings and compares the counts with equal chances
// (chi-square, 19 degrees of freedom, p < 1e-6 at 63).
func TestZSetRandomIsFair(t *testing.T) {
	godwitOnly(t) // Redis chooses a bucket of its table first
	t.Parallel()
	s := startServer(t)
	c, ctx := s.client(t), t.Context()
	for _, limit := range []string{"128", "0"} {
		require.NoError(t, c.ConfigSet(ctx, "zset-max-listpack-entries", limit).Err())
		require.NoError(t, c.Del(ctx, "z").Err())
		for i := range 20 {
			require.NoError(t, c.ZAdd(ctx, "z", redis.Z{Score: float64(i % 3), Member: i}).Err())
		}
		for _, draw := range []int{-20_000, 1, 7} {
			count := map[string]int{}
			n := 0
			for n < 20_000 {
				ms := c.ZRandMember(ctx, "z", draw).Val()
				require.NotEmpty(t, ms)
				for _, m := range ms {
					count[m]++
				}
				if n += len(ms); draw == 1 && n == 3000 {
					break
				}
			}
			chi, mean := 0.0, float64(n)/20
			for i := range 20 {
				d := float64(count[fmt.Sprint(i)]) - mean
				chi += d * d / mean
			}
			require.Less(t, chi, 63.0, "limit %s, count %d: %v", limit, draw, count)
		}
	}
}
