package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// mixed queues commands that make key number i. The keys have every type and mixed sizes, packed
// and large.
func mixed(c *client.Client, r *rand.Rand, i int) {
	key := "key:" + strconv.Itoa(i)
	text := func(most int) string { return strings.Repeat("x", r.IntN(most)) }
	many := func(command string, n int, element func(j int) []any) {
		args := []any{command, key}
		for j := range n {
			args = append(args, element(j)...)
		}
		c.Queue(args...)
	}
	size := 1 + r.IntN(15)
	if r.IntN(20) == 0 {
		size = 200 + r.IntN(1000)
	}
	switch k := r.IntN(100); {
	case k < 40:
		c.Queue("SET", key, text(1<<(4+r.IntN(8))))
	case k < 50:
		c.Queue("SET", key, strconv.Itoa(i))
	case k < 55:
		c.Queue("APPEND", key, text(3000))
	case k < 65:
		many("HSET", size, func(j int) []any { return []any{"field" + strconv.Itoa(j), text(60)} })
		if r.IntN(4) == 0 {
			c.Queue("HEXPIRE", key, "100000", "FIELDS", "1", "field0")
		}
	case k < 75:
		many("SADD", size, func(j int) []any { return []any{fmt.Sprint("member", j*r.IntN(1000))} })
	case k < 80:
		many("SADD", size, func(j int) []any { return []any{strconv.Itoa(j * r.IntN(100000))} })
	case k < 90:
		many("ZADD", size, func(j int) []any {
			return []any{strconv.Itoa(r.IntN(100)), "m" + strconv.Itoa(j)}
		})
	case k < 99:
		many("RPUSH", size, func(int) []any { return []any{text(100)} })
	default:
		c.Queue("BF.RESERVE", key, "0.01", strconv.Itoa(100+r.IntN(5000)))
	}
	if r.IntN(3) == 0 {
		c.Queue("EXPIRE", key, strconv.Itoa(100_000+r.IntN(100_000)))
	}
}

// probeLatency reads random keys, one at a time, until it has read n or stop says so. It returns
// how long each read took.
func probeLatency(t *testing.T, c *client.Client, r *rand.Rand, keys, n int,
	stop func() bool) string {
	t.Helper()
	var took []time.Duration
	for len(took) < n && !stop() {
		start := time.Now()
		do(t, c, "EXISTS", "key:"+strconv.Itoa(r.IntN(keys)))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	at := func(q float64) time.Duration {
		return took[int(q*float64(len(took)-1))].Round(time.Microsecond)
	}
	return fmt.Sprintf("%d in sequence, median %s, p99 %s, p99.9 %s, longest %s",
		len(took), at(.5), at(.99), at(.999), at(1))
}

// TestDefragmentation deletes 70 % of many mixed keys at random. Without active defragmentation
// most of the memory stays resident. With it nearly all comes back, and no value changes.
func TestDefragmentation(t *testing.T) {
	if testing.Short() {
		t.Skip("fills 270 MB")
	}
	t.Parallel()
	n := 400_000
	if raceEnabled {
		n = 60_000 // this only checks that it runs: the ratio has the race detector's memory in it
	}
	r := testseed.Rand(t)
	s := startServer(t, with("--save", "", "--activedefrag", "no")...)
	c := s.dial(t)
	flush := func(i int) {
		if i%1000 == 999 {
			vs, err := c.Pipeline()
			require.NoError(t, err)
			for _, v := range vs {
				require.False(t, v.IsError(), v)
			}
		}
	}
	for i := range n {
		mixed(c, r, i)
		flush(i)
	}
	for i, k := range r.Perm(n)[:n/10*7] {
		c.Queue("DEL", "key:"+strconv.Itoa(k))
		flush(i)
	}
	want := digest(t, c)
	ratio := func() float64 {
		f, err := strconv.ParseFloat(persistInfo(t, c, "mem_fragmentation_ratio"), 64)
		require.NoError(t, err)
		return f
	}
	require.Equal(t, "0", persistInfo(t, c, "active_defrag_hits"))
	require.Greater(t, ratio(), 1.5, "there is nothing to defragment")

	probe := s.dial(t)
	quiet := probeLatency(t, probe, r, n, 20_000, func() bool { return false })
	do(t, c, "CONFIG", "SET", "activedefrag", "yes")
	start := time.Now()
	busy := probeLatency(t, probe, r, n, 1<<30, func() bool {
		return time.Since(start) > time.Second
	})
	t.Logf("EXISTS before:          %s", quiet)
	t.Logf("EXISTS in a round:      %s", busy)
	if raceEnabled {
		eventually(t, "blocks move", func() bool {
			return persistInfo(t, c, "active_defrag_hits") != "0" &&
				persistInfo(t, c, "active_defrag_running") == "0"
		})
	} else {
		eventually(t, "the memory comes back", func() bool { return ratio() < 1.3 })
	}
	t.Logf("ratio %.2f after %s", ratio(), time.Since(start).Round(100*time.Millisecond))
	require.NotEqual(t, "0", persistInfo(t, c, "active_defrag_key_hits"))
	require.Equal(t, want, digest(t, c))
}
