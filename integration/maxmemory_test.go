package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// The tests of this file look at the server at maxmemory as the operator of a cache does.

// pipelined sends n commands that make returns, some hundred at a time, and gives the replies to
// look.
func pipelined(t testing.TB, c *client.Client, n int, make func(i int) []any,
	look func(i int, v client.Value)) {
	t.Helper()
	const batch = 500
	for i := 0; i < n; i += batch {
		for k := i; k < min(i+batch, n); k++ {
			c.Queue(make(k)...)
		}
		vs, err := c.Pipeline()
		require.NoError(t, err)
		for k, v := range vs {
			look(i+k, v)
		}
	}
}

func accepted(t testing.TB) func(i int, v client.Value) {
	return func(_ int, v client.Value) { require.False(t, v.IsError(), v) }
}

func scaled(n int) int {
	if raceEnabled {
		return n / 5
	}
	return n
}

// TestLimitFarBelowTheData lowers the limit to a small part of the data, under every policy. The
// server answers all the while and comes down to the limit. Where it may evict nothing, it refuses
// only what needs memory.
func TestLimitFarBelowTheData(t *testing.T) {
	godwitOnly(t) // Redis counts other things as used
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
		"volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lrm", "volatile-lrm",
		"noeviction"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "--maxmemory-policy", policy, "--enable-debug-command", "yes")
			c, admin := s.dial(t), s.client(t)
			n := scaled(200_000)
			empty := infoInt(t, admin, "used_memory")
			do(t, c, "DEBUG", "POPULATE", n, "k", 8)
			if strings.HasPrefix(policy, "volatile") {
				pipelined(t, c, n, func(i int) []any {
					return []any{"EXPIRE", fmt.Sprint("k:", i), 10000 + i}
				}, accepted(t))
				do(t, c, "PERSIST", "k:7")
			}
			limit := int64(600_000) // half of it is for data, whatever the process takes
			if raceEnabled {        // which must be no less than a server takes
				limit = empty + 300_000
			}
			if policy == "noeviction" {
				do(t, c, "CONFIG", "SET", "maxmemory", limit)
				v, err := c.Do("SET", "a", "b")
				require.NoError(t, err)
				require.True(t, strings.HasPrefix(v.Text(), "OOM "), v)
				do(t, c, "GET", "k:1")
				do(t, c, "DEL", "k:1")
				do(t, c, "FLUSHALL")
				do(t, c, "SET", "a", "b")
				return
			}
			do(t, c, "CONFIG", "SET", "maxmemory", limit)
			eventually(t, "memory is within the limit", func() bool {
				do(t, c, "PING")
				return infoInt(t, admin, "used_memory")-infoInt(t, admin,
					"mem_not_counted_for_evict") <= limit
			})
			require.Positive(t, admin.DBSize(t.Context()).Val(), "all is evicted")
			do(t, c, "SET", "a", "b")
			// The limit goes up and down again, to where nothing fits.
			do(t, c, "CONFIG", "SET", "maxmemory", 4*limit)
			pipelined(t, c, 5000, func(i int) []any {
				return []any{"SET", fmt.Sprint("k:", i), "value", "EX", 1000}
			}, accepted(t))
			do(t, c, "CONFIG", "SET", "maxmemory", 1)
			eventually(t, "all that may go is gone", func() bool {
				v, err := c.Do("SET", "a", "b")
				require.NoError(t, err)
				return v.IsError()
			})
			do(t, c, "GET", "a")
			do(t, c, "CONFIG", "SET", "maxmemory", 0)
			do(t, c, "SET", "a", "b")
		})
	}
}

// TestSmallestLimits checks that a server holds keys under a limit of a megabyte or two, as people
// set it to see eviction at work.
func TestSmallestLimits(t *testing.T) {
	skipUnderRace(t) // the race detector alone takes more than the limits
	t.Parallel()
	for _, limit := range []int{1 << 20, 2 << 20} {
		s := startServer(t, "--maxmemory", fmt.Sprint(limit), "--maxmemory-policy", "allkeys-lru")
		c := s.dial(t)
		pipelined(t, c, 20_000, func(i int) []any {
			return []any{"SET", fmt.Sprint("key:", i), "v"}
		}, accepted(t))
		require.Greater(t, s.client(t).DBSize(t.Context()).Val(), int64(limit/4/200))
	}
}

// TestSmallKeysMakeRoomForLargeOnes writes large values to a table full of small keys, until it is
// nearly empty. Each value evicts thousands of keys, and used memory keeps to the limit at any
// speed.
func TestSmallKeysMakeRoomForLargeOnes(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--maxmemory", "24mb", "--maxmemory-policy", "allkeys-lru",
		"--enable-debug-command", "yes")
	c := s.dial(t)
	do(t, c, "DEBUG", "POPULATE", scaled(400_000), "k", 8)
	large := strings.Repeat("x", 1<<20)
	for i := range 200 {
		do(t, c, "SET", fmt.Sprint("large:", i), large)
		// Room for the value is made by the next command, and Go's garbage comes on top.
		require.LessOrEqual(t, number(t, fieldOf(t, c, "used_memory")), int64(24<<20*107/100))
		do(t, c, "RANDOMKEY")
	}
	do(t, c, "GET", "large:199")
}

// TestCacheWithDeadlines checks that a cache of keys with distant deadlines holds as many as fit,
// however many have passed through it.
func TestCacheWithDeadlines(t *testing.T) {
	skipUnderRace(t) // the race detector alone takes more than the limit
	t.Parallel()
	s := startServer(t, "--maxmemory", "16mb", "--maxmemory-policy", "allkeys-lru")
	c, admin := s.dial(t), s.client(t)
	n, full := scaled(1_000_000), int64(0)
	pipelined(t, c, n, func(i int) []any {
		return []any{"SET", fmt.Sprint("key:", i), "v", "EX", 86400}
	}, func(i int, v client.Value) {
		require.False(t, v.IsError(), v)
		if i%(n/20) != n/20-1 {
			return
		}
		size := admin.DBSize(t.Context()).Val()
		require.Greater(t, size, full*8/10, "after %d writes", i)
		full = max(full, size)
	})
	require.Greater(t, full, int64(n/20))
}

// TestDeadlinesLeaveNothing checks that all memory comes back of keys and fields that are removed
// long before their deadlines, one by one or by a flush.
func TestDeadlinesLeaveNothing(t *testing.T) {
	godwitOnly(t)
	const slack = 1 << 20
	t.Parallel()
	s := startServer(t)
	c, admin := s.dial(t), s.client(t)
	n := scaled(200_000)
	used := func() int64 { return infoInt(t, admin, "used_memory") }
	empty := used()
	for name, cmds := range map[string][2][]any{
		"SET EX and DEL":      {{"SET", "key", "v", "EX", 86400}, {"DEL", "key"}},
		"EXPIRE and PERSIST":  {{"EXPIRE", "kept", 86400}, {"PERSIST", "kept"}},
		"shorter and shorter": {{"SET", "key", "v", "EX", 86400}, {"EXPIRE", "key", 1000}},
		"SET EX and SET":      {{"SET", "key", "v", "EX", 86400}, {"SET", "key", "v"}},
		"SET EX and RENAME":   {{"SET", "key", "v", "EX", 86400}, {"RENAME", "key", "other"}},
		"fields and DEL": {{"HSETEX", "h", "EX", 86400, "FIELDS", 1, "f", "v"},
			{"DEL", "h"}},
		"fields and HPERSIST": {{"HEXPIRE", "hash", 86400, "FIELDS", 1, "f"},
			{"HPERSIST", "hash", "FIELDS", 1, "f"}},
		"fields, COPY to other": {{"HSETEX", "h", "EX", 86400, "FIELDS", 1, "f", "v"},
			{"COPY", "h", "h2", "REPLACE"}},
	} {
		do(t, c, "SET", "kept", "v")
		do(t, c, "HSET", "hash", "f", "v")
		pipelined(t, c, n, func(i int) []any { return cmds[i%2] }, accepted(t))
		eventually(t, name, func() bool { return used()-empty < slack })
	}
	// The tables and wheels have grown large.
	for _, flush := range [][]any{{"FLUSHALL"}, {"FLUSHALL", "ASYNC"}} {
		pipelined(t, c, n, func(i int) []any {
			return []any{"HSETEX", fmt.Sprint("h", i), "EX", 86400, "FIELDS", 1, "f", "v"}
		}, accepted(t))
		pipelined(t, c, n, func(i int) []any {
			return []any{"SET", fmt.Sprint("k", i), "v", "EX", 86400}
		}, accepted(t))
		require.Greater(t, used()-empty, int64(n*30))
		do(t, c, flush...)
		eventually(t, "the flush gives all back", func() bool { return used()-empty < slack })
	}
}

// TestSmallestLimitOfClients checks that a client can connect and raise maxmemory-clients, however
// small it is.
func TestSmallestLimitOfClients(t *testing.T) {
	s := startServer(t, "--maxmemory-clients", "1", "--maxmemory", "100mb")
	for _, limit := range []string{"1", "100%", "1%", "0"} {
		c := s.dial(t)
		do(t, c, "CONFIG", "SET", "maxmemory-clients", limit)
		do(t, c, "CONFIG", "SET", "maxmemory", "1kb")
		do(t, c, "CONFIG", "SET", "maxmemory", "100mb")
	}
}
