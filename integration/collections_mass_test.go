package integration

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// micros returns how long all calls of a command took in the server since the statistics were
// reset, in µs.
func micros(t testing.TB, c *redis.Client, command string) int64 {
	t.Helper()
	info := c.Info(t.Context(), "commandstats").Val()
	m := regexp.MustCompile(`cmdstat_` + command + `:calls=\d+,usec=(\d+)`).FindStringSubmatch(info)
	require.NotNil(t, m, "%s in %s", command, info)
	n, err := strconv.ParseInt(m[1], 10, 64)
	require.NoError(t, err)
	return n
}

// build makes a collection of n elements with the command, 1000 at a time.
func build(t testing.TB, c *redis.Client, command, key string, n int) {
	t.Helper()
	p := c.Pipeline()
	for i := 0; i < n; i += 1000 {
		args := []any{command, key}
		for j := range 1000 {
			switch e := fmt.Sprintf("element:%07d", i+j); command {
			case "zadd":
				args = append(args, i+j, e)
			case "hset":
				args = append(args, e, "value")
			default:
				args = append(args, e)
			}
		}
		p.Do(t.Context(), args...)
	}
	_, err := p.Exec(t.Context())
	require.NoError(t, err)
}

// TestLargeCollectionsGoUnnoticed drops collections in every way while clients work. The command
// must take a small part of the time that filling took, since it only queues what is to be freed.
// The memory must come back.
func TestLargeCollectionsGoUnnoticed(t *testing.T) {
	t.Parallel()
	n := 200_000
	if raceEnabled {
		n = 40_000
	}
	s := startServer(t)
	c, ctx := s.client(t), t.Context()
	empty := infoInt(t, c, "used_memory")
	drops := []struct {
		command string
		args    []any
	}{
		{"del", []any{"DEL", "k"}}, {"unlink", []any{"UNLINK", "k"}},
		{"mset", []any{"MSET", "k", "v"}}, {"rename", []any{"RENAME", "other", "k"}},
		{"flushall", []any{"FLUSHALL", "SYNC"}},
	}
	for _, fill := range []string{"rpush", "sadd", "zadd", "hset"} {
		for _, d := range drops {
			require.NoError(t, c.ConfigResetStat(ctx).Err())
			build(t, c, fill, "k", n)
			took, full := micros(t, c, fill), infoInt(t, c, "used_memory")
			require.NoError(t, c.Do(ctx, "APPEND", "other", "v").Err())
			require.NoError(t, c.ConfigResetStat(ctx).Err())
			during(t, c, func() {
				require.NoError(t, c.Do(ctx, d.args...).Err())
				require.Less(t, 10*micros(t, c, d.command), took, "%s after %s", d.command, fill)
				eventually(t, "the memory is back", func() bool {
					return infoInt(t, c, "used_memory")-empty < (full-empty)/4
				})
			})
			c.FlushAll(ctx)
		}
	}
}
