package integration

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

const year = 365 * 24 * time.Hour

// TestWallClockJumps sets the wall clock by decades, under load. The deadlines of keys and what
// shows the time move with it. Pauses, timeouts and periods must go on.
func TestWallClockJumps(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	s := startServer(t, "--enable-debug-command", "yes", "--appendonly", "yes", "--save", "1 1",
		"--io-threads", "2", "--slowlog-log-slower-than", "0", "--maxmemory-clients", "50mb")
	var load sync.WaitGroup
	over := make(chan struct{})
	for i := range 3 {
		c := s.dial(t)
		load.Go(func() { clockLoad(t, c, i, over) })
	}
	admin := s.dial(t)
	for i, to := range []time.Duration{-50 * year, 30 * year, -2 * time.Hour, 0, 20 * year,
		-30 * year} {
		policy := []string{"allkeys-lru", "allkeys-lfu", "volatile-ttl"}[i%3]
		clockJump(t, s, admin, to, policy)
	}
	close(over)
	load.Wait()
}

// clockLoad uses everything that looks at clocks, until over is closed. The test fails if the
// server stops answering or answers with an error.
func clockLoad(t *testing.T, c *client.Client, i int, over <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-over:
			return
		default:
		}
		k := fmt.Sprint("load:", i, ":", n%500)
		c.Queue("SET", k, n, "PX", 1+n%200)
		c.Queue("HSET", "h:"+k, "f", n)
		c.Queue("HPEXPIRE", "h:"+k, 1+n%300, "FIELDS", 1, "f")
		c.Queue("EXPIRE", "h:"+k, 1000, "NX")
		c.Queue("CL.THROTTLE", "t:"+k, 10, 100, 1)
		c.Queue("EVAL", "return redis.call('TIME')", 0)
		c.Queue("OBJECT", "ENCODING", "h:"+k)
		replies, err := c.Pipeline()
		if err != nil {
			t.Error("load:", err)
			return
		}
		for _, r := range replies {
			if r.IsError() && !strings.HasPrefix(r.Text(), "OOM") {
				t.Error("load:", r.Text())
				return
			}
		}
	}
}

// clockJump sets the wall clock and checks everything that uses time.
func clockJump(t *testing.T, s *server, admin *client.Client, to time.Duration, policy string) {
	t.Helper()
	info := func(field string) string { return fieldOf(t, admin, field) }
	rests, blocked, other := s.dial(t), s.dial(t), s.dial(t)
	restsID := do(t, rests, "CLIENT", "ID").Int
	before := do(t, admin, "TIME").Elems[0].Text()
	do(t, admin, "SET", "hour", "v", "EX", 3600)
	do(t, admin, "CONFIG", "SET", "maxmemory-policy", "noeviction") // LFU keeps no idle times
	do(t, admin, "SET", "fresh", "v")
	blocked.Queue("BLPOP", "nothing", "0.2")
	require.NoError(t, blocked.Flush())
	do(t, admin, "CLIENT", "PAUSE", 100, "WRITE")
	saves, rewrites := info("rdb_saves"), info("aof_rewrites")

	do(t, admin, "DEBUG", "SET-CLOCK-OFFSET", to.Milliseconds())

	do(t, other, "SET", "paused", "v") // once the pause is over
	v, err := blocked.Receive()
	require.NoError(t, err)
	require.True(t, v.IsNull(), "%v", v)
	now := do(t, admin, "TIME").Elems[0].Text()
	want := time.Now().Add(to).Unix()
	require.InDelta(t, want, number(t, now), 60)
	if number(t, now) > number(t, before)+3600 {
		require.Zero(t, do(t, admin, "EXISTS", "hour").Int, "its deadline has passed")
	} else {
		require.EqualValues(t, 1, do(t, admin, "EXISTS", "hour").Int, "its deadline has not passed")
	}
	do(t, admin, "SET", "soon", "v", "PX", 50)
	eventually(t, "a deadline", func() bool { return do(t, admin, "EXISTS", "soon").Int == 0 })

	if v := do(t, admin, "BGREWRITEAOF"); v.IsError() {
		require.Contains(t, v.Text(), "in progress")
	}
	eventually(t, "a rewrite", func() bool {
		return info("aof_rewrites") != rewrites && info("aof_rewrite_in_progress") == "0"
	})
	eventually(t, "a save point", func() bool { return info("rdb_saves") != saves })
	eventually(t, "its end", func() bool {
		return info("rdb_bgsave_in_progress") == "0" && info("rdb_last_bgsave_status") == "ok"
	})
	require.InDelta(t, want, do(t, admin, "LASTSAVE").Int, 60)
	eventually(t, "rates", func() bool { return info("instantaneous_ops_per_sec") != "0" })
	require.Less(t, number(t, info("uptime_in_seconds")), int64(3600))
	require.Less(t, do(t, admin, "OBJECT", "IDLETIME", "fresh").Int, int64(600))
	clockAges(t, admin)
	clockEvict(t, admin, policy)
	require.NotEmpty(t, do(t, admin, "SLOWLOG", "GET", 10).Elems)
	do(t, admin, "CONFIG", "SET", "timeout", 1) // nobody else may rest now
	eventually(t, "the end of who rests", func() bool {
		return do(t, admin, "CLIENT", "LIST", "ID", restsID).Text() == ""
	})
	do(t, admin, "CONFIG", "SET", "timeout", 0)
	_, err = rests.Receive()
	require.ErrorIs(t, err, io.EOF, "a client that rests is closed")
}

// clockAges checks that no client is older than the test can be.
func clockAges(t *testing.T, c *client.Client) {
	t.Helper()
	list := do(t, c, "CLIENT", "LIST").Text()
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		for _, f := range strings.Fields(line) {
			if age, ok := strings.CutPrefix(f, "age="); ok {
				require.Less(t, number(t, age), int64(600), line)
			}
		}
	}
}

// clockEvict writes more than maxmemory allows.
func clockEvict(t *testing.T, c *client.Client, policy string) {
	t.Helper()
	used := number(t, fieldOf(t, c, "used_memory"))
	do(t, c, "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", used+(1<<20))
	for i := range 4000 {
		c.Queue("SET", fmt.Sprint("evict:", i), strings.Repeat("x", 1000), "EX", 100_000)
	}
	replies, err := c.Pipeline()
	require.NoError(t, err)
	for _, r := range replies {
		require.False(t, r.IsError(), r.Text())
	}
	do(t, c, "CONFIG", "SET", "maxmemory", 0)
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// fieldOf returns a field of INFO.
func fieldOf(t *testing.T, c *client.Client, name string) string {
	t.Helper()
	for line := range strings.Lines(do(t, c, "INFO", "everything").Text()) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimRight(v, "\r\n")
		}
	}
	t.Fatal("INFO has no ", name)
	return ""
}
