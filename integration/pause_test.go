package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPauseKeepsKeys checks that during CLIENT PAUSE keys and fields do not expire and are not
// evicted, although those that are due are not found any more. All of it follows after the pause.
func TestPauseKeepsKeys(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--maxmemory-policy", "allkeys-random")
	c := s.dial(t)
	for i := range 100 {
		do(t, c, "SET", i, strings.Repeat("x", 100_000))
	}
	do(t, c, "MULTI") // the deadlines are sure to pass during the pause
	do(t, c, "SET", "k", "v", "PX", 100)
	do(t, c, "HSET", "h", "f", "v", "g", "w")
	do(t, c, "HPEXPIRE", "h", 100, "FIELDS", 1, "f")
	do(t, c, "CLIENT", "PAUSE", 600_000, "WRITE")
	do(t, c, "EXEC")
	do(t, c, "CONFIG", "SET", "maxmemory", "5mb")
	require.Eventually(t, func() bool {
		return do(t, c, "GET", "k").IsNull() && do(t, c, "HGET", "h", "f").IsNull()
	}, patience, 10*time.Millisecond)
	stats := func() string { return do(t, c, "INFO", "stats").Text() }
	for range 5 { // cron has its chance
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, int64(102), do(t, c, "DBSIZE").Int)
		require.NotContains(t, do(t, c, "KEYS", "[hk]").Strings(), "k")
		for _, none := range []string{"expired_keys", "expired_subkeys", "evicted_keys"} {
			require.Contains(t, stats(), "\r\n"+none+":0\r\n")
		}
	}
	do(t, c, "CLIENT", "UNPAUSE")
	require.Eventually(t, func() bool {
		return do(t, c, "DBSIZE").Int < 95 && !strings.Contains(stats(), "\r\nevicted_keys:0\r\n")
	}, patience, 10*time.Millisecond)
}
