package integration

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// The tests of this file show that the typed methods of go-redis read Godwit's replies, one test
// for each family of commands. The case files of package command say what each command replies.

const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

// zs returns scored members from scores and members in turn.
func zs(scoreMembers ...any) []redis.Z {
	var out []redis.Z
	for i := 0; i < len(scoreMembers); i += 2 {
		out = append(out, redis.Z{Score: scoreMembers[i].(float64), Member: scoreMembers[i+1]})
	}
	return out
}

func TestStrings(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.ErrorIs(e, c.Get(ctx, "missing").Err(), redis.Nil)
		require.True(e, c.SetNX(ctx, "k", "1", time.Hour).Val())
		require.False(e, c.SetNX(ctx, "k", "2", 0).Val())
		old, err := c.SetArgs(ctx, "k", "w",
			redis.SetArgs{Mode: "XX", Get: true, KeepTTL: true}).Result()
		require.NoError(e, err)
		require.Equal(e, "1", old)
		require.InDelta(e, 3600, c.TTL(ctx, "k").Val().Seconds(), 60)
		require.Equal(e, "w", c.GetEx(ctx, "k", 0).Val())
		require.NoError(e, c.MSet(ctx, "a", 1, "b", 2.5, "c", true).Err())
		require.Equal(e, []any{"1", "2.5", "1", nil}, c.MGet(ctx, "a", "b", "c", "none").Val())
		require.InDelta(e, 4, c.IncrByFloat(ctx, "b", 1.5).Val(), 1e-9)
		e.errs(c.Incr(ctx, "k").Err(), "ERR value is not an integer or out of range")
		require.NoError(e, c.MSet(ctx, "l1", "ohmytext", "l2", "mynewtext").Err())
		lcs := c.LCS(ctx, &redis.LCSQuery{Key1: "l1", Key2: "l2", Idx: true,
			MinMatchLen: 4, WithMatchLen: true}).Val()
		require.EqualValues(e, 6, lcs.Len)
		require.Equal(e, []redis.LCSMatchedPosition{{Key1: redis.LCSPosition{Start: 4, End: 7},
			Key2: redis.LCSPosition{Start: 5, End: 8}, MatchLen: 4}}, lcs.Matches)
	})
}

// TestNewStrings does what TestStrings does with commands that redis-server 7.0 does not have.
func TestNewStrings(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.ErrorIs(e, c.SetIFEQ(ctx, "k", "v", "x", 0).Err(), redis.Nil)
		require.NoError(e, c.SetIFNE(ctx, "k", "v", "x", 0).Err())
		digest := c.Digest(ctx, "k").Val()
		require.ErrorIs(e, c.SetIFDEQ(ctx, "k", "w", digest+1, 0).Err(), redis.Nil)
		require.NoError(e, c.SetIFDEQ(ctx, "k", "w", digest, 0).Err())
		require.Equal(e, "w", c.SetIFEQGet(ctx, "k", "x", "w", 0).Val())
		require.EqualValues(e, 1,
			c.DelExArgs(ctx, "k", redis.DelExArgs{Mode: "IFEQ", MatchValue: "x"}).Val())
		hour := &redis.ExpirationOption{Mode: redis.EX, Value: 3600}
		require.EqualValues(e, 1,
			c.MSetEX(ctx, redis.MSetEXArgs{Expiration: hour}, "a", 1, "b", 2).Val())
		n, err := c.IncrEXInt(ctx, "a", redis.IncrEXIntArgs{By: 8, HasBy: true,
			UBound: 5, HasUBound: true, Saturate: true}).Result()
		require.NoError(e, err)
		require.Equal(e, [2]int64{5, 4}, [2]int64{n.Value, n.AppliedIncrement})
		f, err := c.IncrEXFloat(ctx, "f", redis.IncrEXFloatArgs{By: 2.5}).Result()
		require.NoError(e, err)
		require.Equal(e, [2]float64{2.5, 2.5}, [2]float64{f.Value, f.AppliedIncrement})
	})
}

func TestBitmaps(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 0, c.SetBit(ctx, "b", 7, 1).Val())
		require.EqualValues(e, 1, c.GetBit(ctx, "b", 7).Val())
		require.EqualValues(e, 1, c.BitCount(ctx, "b", &redis.BitCount{Start: 0, End: -1}).Val())
		require.EqualValues(e, 7, c.BitPos(ctx, "b", 1).Val())
		require.EqualValues(e, 1, c.BitOpNot(ctx, "d", "b").Val())
		require.Equal(e, "\xfe", c.Get(ctx, "d").Val())
		require.Equal(e, []int64{1, 0},
			c.BitField(ctx, "f", "INCRBY", "i5", 100, 1, "GET", "u4", 0).Val())
		v, err := c.Do(ctx, "BITFIELD", "d", "OVERFLOW", "FAIL", "INCRBY", "u8", 0, 9).Result()
		require.NoError(e, err)
		require.Equal(e, []any{nil}, v)
	})
}

func TestHashes(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 3, c.HSet(ctx, "h", "a", 1, "b", "two", "c", 3.5).Val())
		require.ErrorIs(e, c.HGet(ctx, "h", "none").Err(), redis.Nil)
		require.Equal(e, []any{"1", nil, "3.5"}, c.HMGet(ctx, "h", "a", "none", "c").Val())
		require.Equal(e, map[string]string{"a": "1", "b": "two", "c": "3.5"},
			c.HGetAll(ctx, "h").Val())
		require.ElementsMatch(e, []string{"a", "b", "c"}, c.HKeys(ctx, "h").Val())
		require.False(e, c.HExists(ctx, "h", "none").Val())
		require.InDelta(e, 4, c.HIncrByFloat(ctx, "h", "c", 0.5).Val(), 1e-9)
		var user struct {
			Name string `redis:"name"`
			Age  int    `redis:"age"`
		}
		require.NoError(e, c.HSet(ctx, "user", "name", "Ann", "age", 33).Err())
		require.NoError(e, c.HGetAll(ctx, "user").Scan(&user))
		require.Equal(e, "Ann", user.Name)
		require.Equal(e, 33, user.Age)
		require.NoError(e, c.Set(ctx, "s", "x", 0).Err())
		e.errs(c.HGetAll(ctx, "s").Err(), wrongType)
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
		require.InDelta(e, 3600_000, c.HPTTL(ctx, "h", "a").Val()[0], 60_000)
		require.Equal(e, []int64{2}, c.HPExpireAt(ctx, "h", time.UnixMilli(1), "a").Val())
		start := time.Now()
		require.Equal(e, []int64{1, 1},
			c.HPExpire(ctx, "h", 150*time.Millisecond, "b", "c").Val())
		eventually(e, "the hash goes with its fields", func() bool {
			return c.DBSize(ctx).Val() == 0
		})
		if d := time.Since(start); d < 149*time.Millisecond {
			e.Errorf("gone after %v", d)
		}
		require.EqualValues(e, 1, c.HSetEXWithArgs(ctx, "h", &redis.HSetEXOptions{
			Condition:      redis.HSetEXFNX,
			ExpirationType: redis.HSetEXExpirationEX, ExpirationVal: 3600}, "a", "1").Val())
		require.Equal(e, []string{"1"}, c.HGetEXWithArgs(ctx, "h",
			&redis.HGetEXOptions{ExpirationType: redis.HGetEXExpirationPERSIST}, "a").Val())
		require.Equal(e, []string{"1"}, c.HGetDel(ctx, "h", "a").Val())
	})
}

func TestSets(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 3, c.SAdd(ctx, "s", "a", "b", 3).Val())
		require.Equal(e, map[string]struct{}{"a": {}, "b": {}, "3": {}},
			c.SMembersMap(ctx, "s").Val())
		require.Equal(e, []bool{true, false}, c.SMIsMember(ctx, "s", "a", "z").Val())
		require.Len(e, c.SRandMemberN(ctx, "s", -5).Val(), 5)
		require.ErrorIs(e, c.SRandMember(ctx, "none").Err(), redis.Nil)
		require.NoError(e, c.SAdd(ctx, "t", 3, "x").Err())
		require.Equal(e, []string{"3"}, c.SInter(ctx, "s", "t").Val())
		require.ElementsMatch(e, []string{"a", "b"}, c.SDiff(ctx, "s", "t").Val())
		require.ElementsMatch(e, []string{"a", "b", "3"}, c.SPopN(ctx, "s", 5).Val())
		require.ErrorIs(e, c.SPop(ctx, "s").Err(), redis.Nil)
	})
}

func TestLists(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 3, c.RPush(ctx, "l", "a", "b", "c").Val())
		require.Equal(e, []string{"a", "b", "c"}, c.LRange(ctx, "l", 0, -1).Val())
		require.ErrorIs(e, c.LIndex(ctx, "l", 6).Err(), redis.Nil)
		require.Equal(e, []int64{2},
			c.LPosCount(ctx, "l", "c", 0, redis.LPosArgs{Rank: -1, MaxLen: 6}).Val())
		require.Equal(e, "a", c.LMove(ctx, "l", "m", "LEFT", "RIGHT").Val())
		key, elems, err := c.LMPop(ctx, "right", 5, "none", "l", "m").Result()
		require.NoError(e, err)
		require.Equal(e, "l", key)
		require.Equal(e, []string{"c", "b"}, elems)
		require.ErrorIs(e, c.LMPop(ctx, "left", 1, "none").Err(), redis.Nil)
		require.ErrorIs(e, c.LPopCount(ctx, "none", 2).Err(), redis.Nil)
	})
}

func TestZSet(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 3,
			c.ZAdd(ctx, "z", zs(1.0, "a", 2.5, "b", math.Inf(1), "c")...).Val())
		require.Equal(e, 3.5, c.ZAddArgsIncr(ctx, "z",
			redis.ZAddArgs{Members: zs(2.5, "a")}).Val())
		require.ErrorIs(e, c.ZAddArgsIncr(ctx, "z",
			redis.ZAddArgs{NX: true, Members: zs(1.0, "a")}).Err(), redis.Nil)
		require.Equal(e, math.Inf(1), c.ZScore(ctx, "z", "c").Val())
		require.ErrorIs(e, c.ZScore(ctx, "z", "nobody").Err(), redis.Nil)
		require.Equal(e, []float64{3.5, 0}, c.ZMScore(ctx, "z", "a", "nobody").Val())
		require.EqualValues(e, 1, c.ZRank(ctx, "z", "a").Val())
		require.Equal(e, zs(2.5, "b", 3.5, "a"), c.ZRangeWithScores(ctx, "z", 0, 1).Val())
		require.Equal(e, zs(3.5, "a", 2.5, "b"), c.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{
			Key: "z", Start: "(inf", Stop: 0, ByScore: true, Rev: true, Count: 2}).Val())
		require.NoError(e, c.ZAdd(ctx, "y", zs(10.0, "b")...).Err())
		require.Equal(e, zs(12.5, "b"),
			c.ZInterWithScores(ctx, &redis.ZStore{Keys: []string{"z", "y"}}).Val())
		require.Equal(e, zs(2.5, "b"), c.ZPopMin(ctx, "z").Val())
		key, popped, err := c.ZMPop(ctx, "max", 5, "none", "z").Result()
		require.NoError(e, err)
		require.Equal(e, "z", key)
		require.Equal(e, zs(math.Inf(1), "c", 3.5, "a"), popped)
		require.ErrorIs(e, c.ZMPop(ctx, "max", 5, "none").Err(), redis.Nil)
	})
}

func TestGeo(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 2, c.GeoAdd(ctx, "company",
			&redis.GeoLocation{Name: "juejin", Longitude: 116.48105, Latitude: 39.996794},
			&redis.GeoLocation{Name: "ireader", Longitude: 116.514203, Latitude: 39.905409}).Val())
		require.Equal(e, 10.5501, c.GeoDist(ctx, "company", "juejin", "ireader", "km").Val())
		require.ErrorIs(e, c.GeoDist(ctx, "company", "juejin", "none", "km").Err(), redis.Nil)
		juejin := &redis.GeoPos{Longitude: 116.48104995489120483, Latitude: 39.99679348858259686}
		require.Equal(e, []*redis.GeoPos{juejin, nil},
			c.GeoPos(ctx, "company", "juejin", "nobody").Val())
		require.Equal(e, []string{"wx4g52e1ce0", ""},
			c.GeoHash(ctx, "company", "ireader", "nobody").Val())
		near, err := c.GeoRadiusByMember(ctx, "company", "ireader", &redis.GeoRadiusQuery{
			Radius: 20, Unit: "km", Sort: "DESC", Count: 1,
			WithCoord: true, WithDist: true, WithGeoHash: true}).Result()
		require.NoError(e, err)
		require.Equal(e, []redis.GeoLocation{{Name: "juejin", Dist: 10.5501,
			GeoHash: 4069887154388167, Longitude: juejin.Longitude,
			Latitude: juejin.Latitude}}, near)
	})
}

func TestKeys(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.ErrorIs(e, c.RandomKey(ctx).Err(), redis.Nil)
		require.Equal(e, time.Duration(-2), c.TTL(ctx, "k").Val())
		require.NoError(e, c.MSet(ctx, "a", 1, "b", 2).Err())
		require.Equal(e, "string", c.Type(ctx, "a").Val())
		require.Equal(e, time.Duration(-1), c.PTTL(ctx, "a").Val())
		require.True(e, c.ExpireAt(ctx, "a", time.Unix(4102444800, 0)).Val())
		require.EqualValues(e, 4102444800, c.ExpireTime(ctx, "a").Val().Seconds())
		require.True(e, c.Persist(ctx, "a").Val())
		e.errs(c.Rename(ctx, "none", "a").Err(), "ERR no such key")
		require.False(e, c.RenameNX(ctx, "a", "b").Val())
		require.ElementsMatch(e, []string{"a", "b"}, c.Keys(ctx, "*").Val())
		other, db := e.another()
		require.True(e, c.Move(ctx, "a", db).Val())
		require.EqualValues(e, 1, c.Copy(ctx, "b", "a", db, true).Val())
		require.Equal(e, "2", other.Get(ctx, "a").Val())
		require.NoError(e, c.Do(ctx, "SWAPDB", e.db, db).Err())
		require.NoError(e, c.RPush(ctx, "l", 3, 1, 2).Err())
		require.Equal(e, []string{"1", "2", "3"}, c.Sort(ctx, "l", &redis.Sort{}).Val())
		require.EqualValues(e, 1, c.Unlink(ctx, "l", "none").Val())
		require.EqualValues(e, 0, c.Wait(ctx, 1, time.Millisecond).Val())
		require.True(e, c.PExpire(ctx, "a", 30*time.Millisecond).Val())
		eventually(e, "the key expires", func() bool { return c.DBSize(ctx).Val() == 0 })
	})
}

func TestTransactions(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		cmds, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "k", "v", 0)
			p.Get(ctx, "k")
			p.RPush(ctx, "l", "a", "b")
			p.LRange(ctx, "l", 0, -1)
			p.HSet(ctx, "h", "f", 1)
			p.HGetAll(ctx, "h")
			p.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "m"})
			p.ZRangeWithScores(ctx, "z", 0, -1)
			return nil
		})
		require.NoError(e, err)
		require.Len(e, cmds, 8)
		require.Equal(e, "v", cmds[1].(*redis.StringCmd).Val())
		require.Equal(e, []string{"a", "b"}, cmds[3].(*redis.StringSliceCmd).Val())
		require.Equal(e, map[string]string{"f": "1"}, cmds[5].(*redis.MapStringStringCmd).Val())
		require.Equal(e, zs(1.5, "m"), cmds[7].(*redis.ZSliceCmd).Val())

		// One command fails, and the others take effect.
		cmds, err = c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "a", "1", 0)
			p.Incr(ctx, "l")
			p.Set(ctx, "b", "1", 0)
			return nil
		})
		e.errs(err, wrongType)
		e.errs(cmds[1].Err(), wrongType)
		require.Equal(e, int64(2), c.Exists(ctx, "a", "b").Val())

		// One command cannot be queued, and nothing happens.
		cmds, err = c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "c", "1", 0)
			p.Do(ctx, "nosuch")
			return nil
		})
		require.Error(e, err)
		require.Error(e, cmds[0].Err())
		require.Zero(e, c.Exists(ctx, "c").Val())

		// A watched key changes, and go-redis reads the null as a failed transaction.
		err = c.Watch(ctx, func(tx *redis.Tx) error {
			require.NoError(e, c.Append(ctx, "k", "w").Err())
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "k", "lost", 0)
				return nil
			})
			return err
		}, "k")
		require.ErrorIs(e, err, redis.TxFailedErr)
		require.Equal(e, "vw", c.Get(ctx, "k").Val())
	})
}

func TestScripts(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		s := redis.NewScript("return {KEYS[1],tonumber(ARGV[1]),false,{ok='fine'},{1}}")
		for range 2 { // first by EVAL, then by EVALSHA
			v, err := s.Run(ctx, c, []string{"k"}, 7).Slice()
			require.NoError(e, err)
			require.Equal(e, []any{"k", int64(7), nil, "fine", []any{int64(1)}}, v)
		}
		_, err := c.Eval(ctx, "return redis.error_reply('MINE text')", nil).Result()
		e.errs(err, "MINE text")
		require.ErrorIs(e, c.Eval(ctx, "return nil", nil).Err(), redis.Nil)
		many, err := c.Eval(ctx, "local t = {} for i=1,70000 do t[i] = i end return t",
			nil).Int64Slice()
		require.NoError(e, err)
		require.Len(e, many, 70000)
		for i, n := range many {
			require.EqualValues(e, i+1, n)
		}
	})
}

// TestScan iterates over keys, fields and members, alone and by pattern and type.
func TestScan(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		want := make([]string, 1000)
		p := c.Pipeline()
		for i := range want {
			want[i] = fmt.Sprintf("key:%d", i)
			p.Set(ctx, want[i], i, 0)
		}
		_, err := p.Exec(ctx)
		require.NoError(e, err)
		for _, count := range []int64{0, 1, 10, 1000, 100_000} {
			keys := collect(e, c.Scan(ctx, 0, "", count).Iterator())
			require.Equal(e, sorted(want), sorted(keys), "COUNT %d", count)
		}
		sevens := slices.DeleteFunc(slices.Clone(want), func(k string) bool {
			return !strings.HasPrefix(k, "key:7")
		})
		keys := collect(e, c.Scan(ctx, 0, "key:7*", 50).Iterator())
		require.Equal(e, sorted(sevens), sorted(keys))
		require.Len(e, collect(e, c.ScanType(ctx, 0, "", 100, "string").Iterator()), len(want))
		require.Empty(e, collect(e, c.ScanType(ctx, 0, "", 100, "list").Iterator()))
	})
}

// collect iterates to the end, and drops duplicates.
func collect(e *env, it *redis.ScanIterator) []string {
	e.Helper()
	seen := map[string]bool{}
	var keys []string
	for it.Next(e.ctx) {
		if !seen[it.Val()] {
			seen[it.Val()] = true
			keys = append(keys, it.Val())
		}
	}
	require.NoError(e, it.Err())
	return keys
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
