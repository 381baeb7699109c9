package integration

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestBitmaps(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 0, c.SetBit(ctx, "b", 7, 1).Val())
		require.EqualValues(e, 1, c.SetBit(ctx, "b", 7, 0).Val())
		require.EqualValues(e, 0, c.GetBit(ctx, "b", 7).Val())
		require.NoError(e, c.Set(ctx, "k", "foobar", 0).Err())
		require.EqualValues(e, 26, c.BitCount(ctx, "k", nil).Val())
		require.EqualValues(e, 6,
			c.BitCount(ctx, "k", &redis.BitCount{Start: 1, End: 1, Unit: "BYTE"}).Val())
		require.EqualValues(e, 17,
			c.BitCount(ctx, "k", &redis.BitCount{Start: 5, End: 30, Unit: "BIT"}).Val())
		require.NoError(e, c.Set(ctx, "p", "\xff\xf0\x00", 0).Err())
		require.EqualValues(e, 12, c.BitPos(ctx, "p", 0).Val())
		require.EqualValues(e, 8, c.BitPos(ctx, "p", 1, 1).Val())
		require.EqualValues(e, -1, c.BitPos(ctx, "p", 1, 2, -1).Val())
		require.EqualValues(e, 12, c.BitPosSpan(ctx, "p", 0, 9, 20, "BIT").Val())

		require.NoError(e, c.MSet(ctx, "x", "abc", "y", "bcd", "z", "ab").Err())
		not := func(ctx context.Context, dest string, keys ...string) *redis.IntCmd {
			return c.BitOpNot(ctx, dest, keys[0])
		}
		for _, op := range []struct {
			do   func(context.Context, string, ...string) *redis.IntCmd
			keys []string
			want string
		}{
			{c.BitOpAnd, []string{"x", "y"}, "`b`"},
			{c.BitOpOr, []string{"x", "z"}, "abc"},
			{c.BitOpXor, []string{"x", "z"}, "\x00\x00c"},
			{not, []string{"z"}, "\x9e\x9d"},
		} {
			cmd := op.do(ctx, "d", op.keys...)
			require.NoError(e, cmd.Err(), cmd.String())
			require.EqualValues(e, len(op.want), cmd.Val(), cmd.String())
			require.Equal(e, op.want, c.Get(ctx, "d").Val(), cmd.String())
		}

		require.Equal(e, []int64{1, 0},
			c.BitField(ctx, "f", "INCRBY", "i5", 100, 1, "GET", "u4", 0).Val())
		require.Equal(e, []int64{0, 255, 255},
			c.BitField(ctx, "g", "SET", "u8", "#1", 255, "OVERFLOW", "SAT", "INCRBY", "u8", "#1",
				10, "GET", "u8", 8).Val())
		require.Equal(e, []int64{255}, c.BitFieldRO(ctx, "g", "u8", 8).Val())
		v, err := c.Do(ctx, "BITFIELD", "g", "OVERFLOW", "FAIL", "INCRBY", "u8", 8, 1).Result()
		require.NoError(e, err)
		require.Equal(e, []any{nil}, v)
		e.errs(c.BitField(ctx, "g", "GET", "u64", 0).Err(),
			"ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not "+
				"supported but i64 is.")
	})
}

// TestBitOpFamily tests the operations of Redis 8.2 over keys X Y1 Y2 … DIFF is X and none of Y,
// DIFF1 some Y and not X, ANDOR X and some Y, ONE what exactly one key has.
func TestBitOpFamily(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e, c.MSet(ctx, "x", "\xf0\xff", "y", "\x3c", "z", "\x0f\x01\x80").Err())
		for _, op := range []struct {
			do   func(context.Context, string, ...string) *redis.IntCmd
			keys []string
			want string
		}{
			{c.BitOpDiff, []string{"x", "y", "z"}, "\xc0\xfe\x00"},
			{c.BitOpDiff1, []string{"x", "y", "z"}, "\x0f\x00\x80"},
			{c.BitOpAndOr, []string{"x", "y", "z"}, "\x30\x01\x00"},
			{c.BitOpOne, []string{"x", "y", "z"}, "\xc3\xfe\x80"},
		} {
			cmd := op.do(ctx, "d", op.keys...)
			require.NoError(e, cmd.Err(), cmd.String())
			require.EqualValues(e, len(op.want), cmd.Val(), cmd.String())
			require.Equal(e, op.want, c.Get(ctx, "d").Val(), cmd.String())
		}
	})
}
