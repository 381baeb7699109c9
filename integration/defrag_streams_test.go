package integration

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// flushed sends what is queued, of which nothing may be refused.
func flushed(t *testing.T, c *client.Client) {
	t.Helper()
	vs, err := c.Pipeline()
	require.NoError(t, err)
	for _, v := range vs {
		require.False(t, v.IsError(), v)
	}
}

// queueStream queues commands that make stream number i, with up to two groups: some of the entries
// are pending, some acknowledged, NACKed or deleted.
func queueStream(c *client.Client, r *rand.Rand, i int) {
	key, n := "key:"+strconv.Itoa(i), 1+r.IntN(300)
	id := func() string { return strconv.Itoa(1+r.IntN(n)) + "-1" }
	for j := range n {
		c.Queue("XADD", key, strconv.Itoa(j+1)+"-1", "kind", strconv.Itoa(r.IntN(9)), "job",
			strings.Repeat("x", r.IntN(400)))
	}
	for g := range r.IntN(3) {
		group := "group" + strconv.Itoa(g)
		c.Queue("XGROUP", "CREATE", key, group, "0")
		for range 3 {
			c.Queue("XREADGROUP", "GROUP", group, "consumer"+strconv.Itoa(r.IntN(3)), "COUNT",
				strconv.Itoa(1+n/3), "STREAMS", key, ">")
		}
		c.Queue("XACK", key, group, id(), id(), id())
		c.Queue("XNACK", key, group, "FAIL", "IDS", "2", id(), id())
	}
	c.Queue("XDEL", key, id(), id())
}

// TestDefragmentationOfStreams deletes 70 % of many streams at random. With active defragmentation
// the memory comes back, and no entry and nothing that is pending changes. The streams are not
// small: a kilobyte or so of a stream with groups lies in Go's heap, where nothing can be moved.
func TestDefragmentationOfStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("fills 300 MB")
	}
	t.Parallel()
	godwitOnly(t)
	n := 8_000
	if raceEnabled {
		n = 1_000 // the ratio has the race detector's memory in it
	}
	r := testseed.Rand(t)
	s := startServer(t, with("--save", "", "--activedefrag", "no")...)
	c := s.dial(t)
	for i := range n {
		if queueStream(c, r, i); i%20 == 19 {
			flushed(t, c)
		}
	}
	order := r.Perm(n)
	gone, left := order[:n/10*7], order[n/10*7:]
	for i, k := range gone {
		if c.Queue("DEL", "key:"+strconv.Itoa(k)); i%1000 == 999 {
			flushed(t, c)
		}
	}
	flushed(t, c)
	dumps := func() (all []string) { // DEBUG DIGEST leaves out groups
		for _, k := range left[:min(len(left), 1000)] {
			all = append(all, do(t, c, "DUMP", "key:"+strconv.Itoa(k)).Text())
		}
		return all
	}
	ratio := func() float64 {
		f, err := strconv.ParseFloat(persistInfo(t, c, "mem_fragmentation_ratio"), 64)
		require.NoError(t, err)
		return f
	}
	want, payloads, before := digest(t, c), dumps(), ratio()
	require.Equal(t, "0", persistInfo(t, c, "active_defrag_hits"))
	do(t, c, "CONFIG", "SET", "activedefrag", "yes")
	if raceEnabled {
		eventually(t, "blocks move", func() bool {
			return persistInfo(t, c, "active_defrag_hits") != "0" &&
				persistInfo(t, c, "active_defrag_running") == "0"
		})
	} else {
		require.Greater(t, before, 2.0, "there is nothing to defragment")
		eventually(t, "the memory comes back", func() bool { return ratio() < 1.5 })
	}
	t.Logf("ratio %.2f, then %.2f", before, ratio())
	require.NotEqual(t, "0", persistInfo(t, c, "active_defrag_key_hits"))
	require.Equal(t, want, digest(t, c))
	require.Equal(t, payloads, dumps())
}
