package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

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

// TestZSetEvents listens to the keyspace events of the commands, in order.
func TestZSetEvents(t *testing.T) {
	s := startServer(t, "--notify-keyspace-events", "KEA")
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	ctx := t.Context()
	sub := c.PSubscribe(ctx, "__keyevent@0__:*")
	defer sub.Close()
	_, err := sub.Receive(ctx)
	require.NoError(t, err)
	for _, step := range []struct {
		command string
		events  []string
	}{
		{"ZADD z 1 a 2 b 3 c", []string{"zadd z"}},
		{"ZRANGESTORE d z 0 -1", []string{"zrangestore d"}},
		{"ZRANGESTORE d z 5 9", []string{"del d"}},
		{"ZUNIONSTORE u 1 z", []string{"zunionstore u"}},
		{"ZINTERSTORE u 2 z missing", []string{"del u"}},
		{"ZINTERSTORE i 1 z", []string{"zinterstore i"}},
		{"ZDIFFSTORE f 1 z", []string{"zdiffstore f"}},
		{"ZREMRANGEBYRANK i 0 0", []string{"zremrangebyrank i"}},
		{"ZREMRANGEBYSCORE i -inf inf", []string{"zremrangebyscore i", "del i"}},
		{"ZREMRANGEBYLEX f - +", []string{"zremrangebylex f", "del f"}},
	} {
		args, err := words(step.command)
		require.NoError(t, err)
		require.NoError(t, c.Do(ctx, args...).Err(), step.command)
		for _, want := range step.events {
			msg, err := sub.ReceiveMessage(ctx)
			require.NoError(t, err)
			require.Equal(t, want,
				strings.TrimPrefix(msg.Channel, "__keyevent@0__:")+" "+msg.Payload, step.command)
		}
	}
}
