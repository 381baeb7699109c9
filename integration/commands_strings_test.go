package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

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
	last := c.BitField(ctx, "k", "SET", "u8", 1<<32-7, 1).Val()
	require.Equal(t, []int64{2}, last, "a field may end behind the last bit")
	require.EqualValues(t, 1, c.Unlink(ctx, "k").Val())
	eventually(t, "the memory is back", func() bool {
		return infoInt(t, c, "used_memory") < 64<<20
	})
}
