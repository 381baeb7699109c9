package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompatVersion checks where a server says which Redis it is equal to.
func TestCompatVersion(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	for _, c := range []struct {
		args    []string
		version string
		num     int64
	}{
		{nil, "8.0.6", 0x080006},
		{[]string{"--compat-version", "7.2.4"}, "7.2.4", 0x070204},
	} {
		s := startServer(t, c.args...)
		cl := s.Client(t)
		do := func(args ...any) string {
			v, err := cl.Do(args...)
			require.NoError(t, err)
			return v.String()
		}
		require.Contains(t, do("INFO", "server"), "redis_version:"+c.version)
		require.Contains(t, do("HELLO"), c.version)
		require.Contains(t, do("LOLWUT"), "Redis ver. "+c.version)
		require.Contains(t, do("CONFIG", "GET", "compat-version"), c.version)
		require.Contains(t, do("EVAL", "return redis.REDIS_VERSION", "0"), c.version)
		v, err := cl.Do("EVAL", "return redis.REDIS_VERSION_NUM", "0")
		require.NoError(t, err)
		require.Equal(t, c.num, v.Int)
		require.Contains(t, do("CONFIG", "SET", "compat-version", "7.0.0"), "immutable")
	}
}
