package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestHashes(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 3, c.HSet(ctx, "h", "a", 1, "b", "two", "c", 3.5).Val())
		require.EqualValues(e, 0, c.HSet(ctx, "h", map[string]any{"a": 2}).Val())
		require.Equal(e, "2", c.HGet(ctx, "h", "a").Val())
		require.ErrorIs(e, c.HGet(ctx, "h", "none").Err(), redis.Nil)
		require.ErrorIs(e, c.HGet(ctx, "none", "a").Err(), redis.Nil)
		require.Equal(e, []any{"2", nil, "3.5"}, c.HMGet(ctx, "h", "a", "none", "c").Val())
		require.Equal(e, map[string]string{"a": "2", "b": "two", "c": "3.5"},
			c.HGetAll(ctx, "h").Val())
		require.ElementsMatch(e, []string{"a", "b", "c"}, c.HKeys(ctx, "h").Val())
		require.ElementsMatch(e, []string{"2", "two", "3.5"}, c.HVals(ctx, "h").Val())
		require.EqualValues(e, 3, c.HLen(ctx, "h").Val())
		require.True(e, c.HExists(ctx, "h", "b").Val())
		require.False(e, c.HExists(ctx, "h", "none").Val())
		require.EqualValues(e, 3, c.HStrLen(ctx, "h", "b").Val())
		require.True(e, c.HSetNX(ctx, "h", "d", 1).Val())
		require.False(e, c.HSetNX(ctx, "h", "d", 2).Val())
		require.EqualValues(e, 12, c.HIncrBy(ctx, "h", "a", 10).Val())
		require.InDelta(e, 4, c.HIncrByFloat(ctx, "h", "c", 0.5).Val(), 1e-9)
		e.errs(c.HIncrBy(ctx, "h", "b", 1).Err(), "ERR hash value is not an integer")
		e.errs(c.HIncrByFloat(ctx, "h", "b", 1).Err(), "ERR hash value is not a float")
		require.True(e, c.HMSet(ctx, "h", "e", 5).Val())

		var user struct {
			Name string `redis:"name"`
			Age  int    `redis:"age"`
		}
		require.NoError(e, c.HSet(ctx, "user", "name", "Ann", "age", 33).Err())
		require.NoError(e, c.HGetAll(ctx, "user").Scan(&user))
		require.Equal(e, "Ann", user.Name)
		require.Equal(e, 33, user.Age)

		require.EqualValues(e, 4, c.HDel(ctx, "h", "a", "b", "c", "d", "none").Val())
		require.EqualValues(e, 1, c.Exists(ctx, "h").Val())
		require.EqualValues(e, 1, c.HDel(ctx, "h", "e").Val())
		require.EqualValues(e, 0, c.Exists(ctx, "h").Val(), "a hash goes with its last field")

		require.NoError(e, c.Set(ctx, "s", "x", 0).Err())
		e.errs(c.HSet(ctx, "s", "a", 1).Err(),
			"WRONGTYPE Operation against a key holding the wrong kind of value")
		e.errs(c.HGetAll(ctx, "s").Err(),
			"WRONGTYPE Operation against a key holding the wrong kind of value")
	})
}

// TestBigHash walks a hash table with HSCAN while it changes, and draws from it.
func TestBigHash(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		const n = 2000
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range n {
				p.HSet(ctx, "h", fmt.Sprintf("field:%d", i), i)
			}
			return nil
		})
		require.NoError(e, err)
		require.Equal(e, "hashtable", c.ObjectEncoding(ctx, "h").Val())
		seen := map[string]string{}
		for cursor := uint64(0); ; {
			kv, next, err := c.HScan(ctx, "h", cursor, "field:*", 100).Result()
			require.NoError(e, err)
			for p := range slices.Chunk(kv, 2) {
				seen[p[0]] = p[1]
			}
			require.NoError(e, c.HSet(ctx, "h", fmt.Sprintf("new:%d", next), 1).Err())
			if cursor = next; cursor == 0 {
				break
			}
		}
		require.Len(e, seen, n)
		require.Equal(e, "1999", seen["field:1999"])

		fields := c.HRandField(ctx, "h", 50).Val()
		slices.Sort(fields)
		require.Len(e, slices.Compact(fields), 50, "all different")
		require.Len(e, c.HRandField(ctx, "h", -5000).Val(), 5000)
		for _, kv := range c.HRandFieldWithValues(ctx, "h", 20).Val() {
			require.Equal(e, c.HGet(ctx, "h", kv.Key).Val(), kv.Value)
		}
	})
}

// TestFieldTTLs checks that fields of hashes expire by themselves, and the hash with its last
// field.
func TestFieldTTLs(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e, c.HSet(ctx, "h", "a", 1, "b", 2, "c", 3).Err())
		require.Equal(e, []int64{1, -2}, c.HExpire(ctx, "h", time.Hour, "a", "none").Val())
		require.Equal(e, []int64{0},
			c.HExpireWithArgs(ctx, "h", time.Hour, redis.HExpireArgs{NX: true}, "a").Val())
		require.Equal(e, []int64{-1, -2}, c.HTTL(ctx, "h", "b", "none").Val())
		require.InDelta(e, 3600, c.HTTL(ctx, "h", "a").Val()[0], 60)
		require.InDelta(e, 3600_000, c.HPTTL(ctx, "h", "a").Val()[0], 60_000)
		require.Equal(e, []int64{1}, c.HExpireAt(ctx, "h", time.Unix(4102444800, 0), "a").Val())
		require.Equal(e, []int64{4102444800}, c.HExpireTime(ctx, "h", "a").Val())
		require.Equal(e, []int64{4102444800000}, c.HPExpireTime(ctx, "h", "a").Val())
		require.Equal(e, []int64{1, -1}, c.HPersist(ctx, "h", "a", "b").Val())
		require.Equal(e, []int64{2}, c.HPExpireAt(ctx, "h", time.UnixMilli(1), "a").Val())

		start := time.Now()
		require.Equal(e, []int64{1, 1}, c.HPExpire(ctx, "h", 150*time.Millisecond, "b", "c").Val())
		eventually(e, "the hash goes with its fields", func() bool {
			return c.DBSize(ctx).Val() == 0
		})
		if d := time.Since(start); d < 149*time.Millisecond {
			e.Errorf("gone after %v", d)
		}

		require.EqualValues(e, 1,
			c.HSetEXWithArgs(ctx, "h", &redis.HSetEXOptions{Condition: redis.HSetEXFNX,
				ExpirationType: redis.HSetEXExpirationEX, ExpirationVal: 3600}, "a", "1", "b",
				"2").Val())
		require.EqualValues(e, 0,
			c.HSetEXWithArgs(ctx, "h", &redis.HSetEXOptions{Condition: redis.HSetEXFNX}, "a",
				"1").Val())
		require.Equal(e, []string{"1", "2"},
			c.HGetEXWithArgs(ctx, "h",
				&redis.HGetEXOptions{ExpirationType: redis.HGetEXExpirationPERSIST}, "a",
				"b").Val())
		require.Equal(e, []int64{-1, -1}, c.HTTL(ctx, "h", "a", "b").Val())
		require.Equal(e, []string{"1", "2"}, c.HGetDel(ctx, "h", "a", "b").Val())
		require.EqualValues(e, 0, c.Exists(ctx, "h").Val())
	})
}
