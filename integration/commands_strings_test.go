package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

func TestStrings(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e, c.Set(ctx, "k", "v", 0).Err())
		require.Equal(e, "v", c.Get(ctx, "k").Val())
		require.ErrorIs(e, c.Get(ctx, "missing").Err(), redis.Nil)
		require.True(e, c.SetNX(ctx, "nx", "1", time.Hour).Val())
		require.False(e, c.SetNX(ctx, "nx", "2", 0).Val())
		require.True(e, c.SetXX(ctx, "nx", "3", redis.KeepTTL).Val())
		require.False(e, c.SetXX(ctx, "no", "3", 0).Val())
		require.InDelta(e, 3600, c.TTL(ctx, "nx").Val().Seconds(), 60)
		//lint:ignore SA1019 the old command is what is tested
		require.Equal(e, "3", c.GetSet(ctx, "nx", "4").Val())
		require.Equal(e, time.Duration(-1), c.TTL(ctx, "nx").Val())
		//lint:ignore SA1019 the old command is what is tested
		require.NoError(e, c.SetEx(ctx, "ex", "v", time.Minute).Err())
		require.InDelta(e, 60, c.TTL(ctx, "ex").Val().Seconds(), 10)
		old, err := c.SetArgs(ctx, "ex", "w",
			redis.SetArgs{Mode: "XX", Get: true, KeepTTL: true}).Result()
		require.NoError(e, err)
		require.Equal(e, "v", old)
		require.NoError(e,
			c.SetArgs(ctx, "at", "w", redis.SetArgs{ExpireAt: time.Unix(4102444800, 0)}).Err())
		require.EqualValues(e, 4102444800, c.ExpireTime(ctx, "at").Val().Seconds())
		require.Equal(e, "w", c.GetEx(ctx, "at", time.Hour).Val())
		require.InDelta(e, 3600, c.TTL(ctx, "at").Val().Seconds(), 60)
		require.Equal(e, "w", c.GetEx(ctx, "at", 0).Val(), "0 persists")
		require.Equal(e, time.Duration(-1), c.TTL(ctx, "at").Val())
		require.Equal(e, "w", c.GetDel(ctx, "at").Val())
		require.ErrorIs(e, c.GetDel(ctx, "at").Err(), redis.Nil)

		require.NoError(e, c.MSet(ctx, "a", 1, "b", 2.5, "c", true).Err())
		require.Equal(e, []any{"1", "2.5", "1", nil}, c.MGet(ctx, "a", "b", "c", "none").Val())
		require.False(e, c.MSetNX(ctx, "z", 1, "a", 2).Val())
		require.True(e, c.MSetNX(ctx, "z", 1, "y", 2).Val())

		require.EqualValues(e, 5, c.Append(ctx, "s", "Hello").Val())
		require.EqualValues(e, 11, c.Append(ctx, "s", " World").Val())
		require.EqualValues(e, 11, c.StrLen(ctx, "s").Val())
		require.Equal(e, "World", c.GetRange(ctx, "s", -5, -1).Val())
		require.EqualValues(e, 11, c.SetRange(ctx, "s", 6, "Redis").Val())
		require.Equal(e, "Hello Redis", c.Get(ctx, "s").Val())

		require.EqualValues(e, 2, c.Incr(ctx, "a").Val())
		require.EqualValues(e, 12, c.IncrBy(ctx, "a", 10).Val())
		require.EqualValues(e, 11, c.Decr(ctx, "a").Val())
		require.EqualValues(e, 1, c.DecrBy(ctx, "a", 10).Val())
		require.InDelta(e, 4, c.IncrByFloat(ctx, "b", 1.5).Val(), 1e-9)
		e.errs(c.Incr(ctx, "s").Err(), "ERR value is not an integer or out of range")
		e.errs(c.IncrByFloat(ctx, "s", 1).Err(), "ERR value is not a valid float")
	})
}

func TestLCS(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e, c.MSet(ctx, "l1", "ohmytext", "l2", "mynewtext").Err())
		lcs := c.LCS(ctx, &redis.LCSQuery{Key1: "l1", Key2: "l2"}).Val()
		require.Equal(e, "mytext", lcs.MatchString)
		require.EqualValues(e, 6,
			c.LCS(ctx, &redis.LCSQuery{Key1: "l1", Key2: "l2", Len: true}).Val().Len)
		lcs = c.LCS(ctx, &redis.LCSQuery{Key1: "l1", Key2: "l2", Idx: true, MinMatchLen: 4,
			WithMatchLen: true}).Val()
		require.EqualValues(e, 6, lcs.Len)
		require.Equal(e, []redis.LCSMatchedPosition{{Key1: redis.LCSPosition{Start: 4, End: 7},
			Key2: redis.LCSPosition{Start: 5, End: 8}, MatchLen: 4}}, lcs.Matches)
	})
}

// TestSubSecondExpiry checks that deadlines are in milliseconds, and that a key is gone after its
// own.
func TestSubSecondExpiry(t *testing.T) {
	everywhere(t, func(e *env) {
		start := time.Now()
		require.NoError(e, e.c.Set(e.ctx, "k", "v", 150*time.Millisecond).Err())
		if ttl := e.c.PTTL(e.ctx, "k").Val(); ttl > 150*time.Millisecond ||
			(ttl <= 0 && time.Since(start) < 100*time.Millisecond) {
			e.Errorf("PTTL %v", ttl)
		}
		eventually(e, "the key expires", func() bool { return e.c.Exists(e.ctx, "k").Val() == 0 })
		if d := time.Since(start); d < 149*time.Millisecond {
			e.Errorf("gone after %v", d)
		}
		require.ErrorIs(e, e.c.Get(e.ctx, "k").Err(), redis.Nil)
	})
}

func TestCompareAndSet(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.ErrorIs(e, c.SetIFEQ(ctx, "k", "v", "x", 0).Err(), redis.Nil,
			"IFEQ does not create")
		require.NoError(e, c.SetIFNE(ctx, "k", "v", "x", 0).Err(), "IFNE creates")
		require.ErrorIs(e, c.SetIFNE(ctx, "k", "w", "v", 0).Err(), redis.Nil)
		require.NoError(e, c.SetIFEQ(ctx, "k", "w", "v", time.Hour).Err())
		require.Equal(e, "w", c.SetIFEQGet(ctx, "k", "x", "w", 0).Val())
		require.Equal(e, "x", c.Get(ctx, "k").Val())
		require.Equal(e, "x", c.SetIFEQGet(ctx, "k", "y", "other", 0).Val(),
			"GET tells the value of a refused SET too")
		require.Equal(e, "x", c.SetIFNEGet(ctx, "k", "y", "z", 0).Val())

		require.NoError(e, c.Set(ctx, "k", "value", 0).Err())
		digest := xxh3.HashString("value")
		require.Equal(e, digest, c.Digest(ctx, "k").Val())
		require.ErrorIs(e, c.Digest(ctx, "missing").Err(), redis.Nil)
		require.ErrorIs(e, c.SetIFDEQ(ctx, "k", "v2", digest+1, 0).Err(), redis.Nil)
		require.NoError(e, c.SetIFDEQ(ctx, "k", "v2", digest, 0).Err())
		require.NoError(e, c.SetIFDNE(ctx, "k", "v3", digest, 0).Err())
		require.NoError(e, c.SetIFDNE(ctx, "fresh", "v", digest, 0).Err(), "IFDNE creates")
		require.ErrorIs(e, c.SetIFDEQ(ctx, "fresh2", "v", digest, 0).Err(), redis.Nil,
			"IFDEQ does not")

		require.EqualValues(e, 0,
			c.DelExArgs(ctx, "k", redis.DelExArgs{Mode: "IFEQ", MatchValue: "x"}).Val())
		require.EqualValues(e, 0,
			c.DelExArgs(ctx, "k",
				redis.DelExArgs{Mode: "IFDNE", MatchDigest: xxh3.HashString("v3")}).Val())
		require.EqualValues(e, 1,
			c.DelExArgs(ctx, "k",
				redis.DelExArgs{Mode: "IFDEQ", MatchDigest: xxh3.HashString("v3")}).Val())
		require.EqualValues(e, 0, c.DelExArgs(ctx, "k", redis.DelExArgs{}).Val())
		require.EqualValues(e, 1,
			c.DelExArgs(ctx, "fresh", redis.DelExArgs{Mode: "IFNE", MatchValue: "x"}).Val())
	})
}

func TestMSetEXAndIncrEX(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		hour := &redis.ExpirationOption{Mode: redis.EX, Value: 3600}
		require.EqualValues(e, 1,
			c.MSetEX(ctx, redis.MSetEXArgs{Expiration: hour}, "a", 1, "b", 2).Val())
		require.InDelta(e, 3600, c.TTL(ctx, "b").Val().Seconds(), 60)
		require.EqualValues(e, 0,
			c.MSetEX(ctx, redis.MSetEXArgs{Condition: redis.NX}, "a", 5, "new", 5).Val())
		require.EqualValues(e, 0, c.Exists(ctx, "new").Val())
		require.EqualValues(e, 0,
			c.MSetEX(ctx, redis.MSetEXArgs{Condition: redis.XX}, "a", 5, "new", 5).Val())
		require.EqualValues(e, 1,
			c.MSetEX(ctx, redis.MSetEXArgs{Condition: redis.XX,
				Expiration: &redis.ExpirationOption{Mode: redis.KEEPTTL}}, "a", 6).Val())
		require.InDelta(e, 3600, c.TTL(ctx, "a").Val().Seconds(), 60)

		incr := func(a redis.IncrEXIntArgs) [2]int64 {
			e.Helper()
			v, err := c.IncrEXInt(ctx, "n", a).Result()
			require.NoError(e, err)
			return [2]int64{v.Value, v.AppliedIncrement}
		}
		require.Equal(e, [2]int64{1, 1}, incr(redis.IncrEXIntArgs{Expiration: hour, ENX: true}))
		require.Equal(e, [2]int64{9, 8},
			incr(redis.IncrEXIntArgs{By: 8, HasBy: true, UBound: 10, HasUBound: true}))
		require.Equal(e, [2]int64{9, 0},
			incr(redis.IncrEXIntArgs{By: 8, HasBy: true, UBound: 10, HasUBound: true}),
			"out of bounds")
		require.Equal(e, [2]int64{10, 1},
			incr(redis.IncrEXIntArgs{By: 8, HasBy: true, UBound: 10, HasUBound: true,
				Saturate: true}))
		require.Equal(e, [2]int64{-3, -13},
			incr(redis.IncrEXIntArgs{By: -100, HasBy: true, LBound: -3, HasLBound: true,
				Saturate: true}))
		require.InDelta(e, 3600, c.TTL(ctx, "n").Val().Seconds(), 60)
		require.Equal(e, [2]int64{-2, 1},
			incr(redis.IncrEXIntArgs{Expiration: &redis.ExpirationOption{Mode: "PERSIST"}}))
		require.Equal(e, time.Duration(-1), c.TTL(ctx, "n").Val())
		f, err := c.IncrEXFloat(ctx, "f",
			redis.IncrEXFloatArgs{By: 2.5, UBound: 3, HasUBound: true}).Result()
		require.NoError(e, err)
		require.InDelta(e, 2.5, f.Value, 0)
		require.InDelta(e, 2.5, f.AppliedIncrement, 0)

		require.NoError(e, c.Set(ctx, "lock", "mine", 0).Err())
		require.EqualValues(e, 0, c.Do(ctx, "DELIFEQ", "lock", "theirs").Val())
		require.EqualValues(e, 1, c.Do(ctx, "DELIFEQ", "lock", "mine").Val())
		require.EqualValues(e, 0, c.Do(ctx, "DELIFEQ", "lock", "mine").Val())
	})
}

// TestBinary checks that keys and values may hold any bytes.
func TestBinary(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	keys := []string{"", "\x00", "a\x00b", "\r\n", "$3\r\nfoo\r\n", "\xff\xfe", "\xc3\x28", "键",
		string(all), strings.Repeat("k", 100_000)}
	everywhere(t, func(e *env) {
		for i, k := range keys {
			v := strings.Repeat(string(all), i) + k
			require.NoError(e, e.c.Set(e.ctx, k, v, 0).Err())
			require.Equal(e, v, e.c.Get(e.ctx, k).Val())
			require.EqualValues(e, len(v), e.c.StrLen(e.ctx, k).Val())
		}
		require.ElementsMatch(e, keys, e.c.Keys(e.ctx, "*").Val())
		require.EqualValues(e, len(keys), e.c.Exists(e.ctx, keys...).Val())
		require.EqualValues(e, len(keys), e.c.Del(e.ctx, keys...).Val())
	})
}

// TestPipelines checks that replies come in the order of the commands, however many and however
// large they are.
func TestPipelines(t *testing.T) {
	everywhere(t, func(e *env) {
		const n = 5000
		p := e.c.Pipeline()
		for range n {
			p.Incr(e.ctx, "n")
			p.Do(e.ctx, "NOSUCH")
			p.Echo(e.ctx, "x")
		}
		cmds, err := p.Exec(e.ctx)
		require.Error(e, err)
		require.Len(e, cmds, 3*n)
		for i := range n {
			require.EqualValues(e, i+1, cmds[3*i].(*redis.IntCmd).Val())
			e.errs(cmds[3*i+1].Err(), "ERR unknown command 'NOSUCH', with args beginning with: ")
			require.Equal(e, "x", cmds[3*i+2].(*redis.StringCmd).Val())
		}
		big := strings.Repeat("0123456789", 100_000)
		require.NoError(e, e.c.Set(e.ctx, "big", big, 0).Err())
		p = e.c.Pipeline()
		for range 20 {
			p.Get(e.ctx, "big")
		}
		cmds, err = p.Exec(e.ctx)
		require.NoError(e, err)
		for _, cmd := range cmds {
			require.True(e, cmd.(*redis.StringCmd).Val() == big)
		}
	})
}

// TestStringLimit checks that no command makes a string longer than proto-max-bulk-len.
func TestStringLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s := startServer(t, "--proto-max-bulk-len", "1mb")
	c, ctx := s.client(t), t.Context()
	const tooLong = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	require.NoError(t, c.Set(ctx, "k", strings.Repeat("x", limit), 0).Err())
	for name, err := range map[string]error{
		"append":   c.Append(ctx, "k", "y").Err(),
		"setrange": c.SetRange(ctx, "k", limit, "y").Err(),
		"new":      c.SetRange(ctx, "new", limit, "y").Err(),
		"two":      c.SetRange(ctx, "new", limit-1, "yy").Err(),
	} {
		require.EqualError(t, err, tooLong, name)
	}
	require.EqualError(t, c.SetBit(ctx, "bits", 8*limit, 1).Err(),
		"ERR bit offset is not an integer or out of range")
	require.EqualError(t, c.BitField(ctx, "bits", "SET", "u8", 8*limit, 1).Err(),
		"ERR bit offset is not an integer or out of range")
	require.EqualValues(t, 1, c.Exists(ctx, "k", "new", "bits").Val())
	require.EqualValues(t, limit, c.StrLen(ctx, "k").Val())
	require.EqualValues(t, limit, c.SetRange(ctx, "new", limit-1, "y").Val())
	require.EqualValues(t, 0, c.SetBit(ctx, "bits", 8*limit-1, 1).Val())
	require.EqualValues(t, limit, c.StrLen(ctx, "bits").Val())

	raw := s.dial(t)
	if err := raw.Send([]byte("*2\r\n$4\r\nECHO\r\n$1048577\r\n")); err != nil {
		t.Fatal(err)
	}
	v, err := raw.Receive()
	require.NoError(t, err)
	require.Equal(t, "ERR Protocol error: invalid bulk length", v.Text())
}

// TestLargestString sets the last bit of a string of 512 MiB, the largest allowed.
func TestLargestString(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes 512 MiB")
	}
	godwitOnly(t) // where fresh memory costs nothing until it is touched
	s := startServer(t)
	c, ctx := s.client(t, func(o *redis.Options) { o.ReadTimeout = time.Minute }), t.Context()
	require.EqualValues(t, 0, c.SetBit(ctx, "k", 1<<32-1, 1).Val())
	require.EqualValues(t, 512<<20, c.StrLen(ctx, "k").Val())
	require.Equal(t, "\x00\x01", c.GetRange(ctx, "k", -2, -1).Val())
	require.EqualError(t, c.Append(ctx, "k", "x").Err(),
		"ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	require.EqualValues(t, 1, c.Unlink(ctx, "k").Val())
	eventually(t, "the memory is back", func() bool {
		return infoInt(t, c, "used_memory") < 64<<20
	})
}
