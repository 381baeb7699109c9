package replication

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// rounds returns how often to cut each link, of a test that cuts that often by itself.
func rounds(usual int) int {
	if *cuts > 0 {
		return *cuts
	}
	return usual
}

// TestCuts cuts the link between a master with writers and its replica again and again: within
// commands, after a stall, on a slow line. Nothing is lost, and as the backlog has everything,
// there is one full sync only.
func TestCuts(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {godwit, redis8}, {redis8, godwit}}
	if *cuts > 0 {
		pairs = ours()
	}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, bigBacklog...)
		fill(t, master, seed, 300, p.master, p.replica)
		proxy := testserver.RunProxy(t, master, seed)
		link(t, replica, proxy.Addr)
		require.NoError(t, master.WaitSame(replica))
		denied := stat(t, master, "sync_partial_err")
		rnd := rand.New(rand.NewPCG(seed, 77))
		writers := startLoad(t, master, seed+1, 3, p.master, p.replica)
		for range rounds(4) {
			before := syncs(t, master)
			harm(t, proxy, rnd)
			require.Eventually(t, func() bool { return syncs(t, master) > before },
				testserver.Patience, time.Millisecond)
			require.NoError(t, replica.WaitLink())
		}
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
		require.Equal(t, denied, stat(t, master, "sync_partial_err"))
		if p.replica != redis8 { // which now and then forgets where it was when a link is reset
			require.EqualValues(t, 1, stat(t, master, "sync_full"))
		}
	})
}

// syncs returns how often a server has synchronised replicas.
func syncs(t *testing.T, s *testserver.Server) int64 {
	t.Helper()
	return stat(t, s, "sync_full") + stat(t, s, "sync_partial_ok")
}

// harm harms the connections of a proxy in one of several ways and cuts them in the end.
func harm(t *testing.T, proxy *testserver.Proxy, rnd *rand.Rand) {
	t.Helper()
	before := proxy.Cuts()
	switch rnd.IntN(5) {
	case 0:
		proxy.Stall(true)
		time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
		proxy.Cut()
		proxy.Stall(false)
	case 1:
		proxy.Delay(time.Duration(rnd.IntN(5)) * time.Millisecond)
		proxy.CutWithin(20_000)
	case 2:
		proxy.Throttle(200_000 + rnd.IntN(1_000_000))
		proxy.CutWithin(30_000)
	default:
		proxy.CutWithin(100_000)
	}
	require.Eventually(t, func() bool { return proxy.Cuts() > before }, testserver.Patience,
		time.Millisecond)
	proxy.Delay(0)
	proxy.Throttle(0)
}

// TestCutsDuringFullSync cuts links while the data itself is on its way. What has arrived of it is
// of no use, and no client of the replica sees it: they are answered from the old data.
func TestCutsDuringFullSync(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {godwit, valkey9}, {redis8, godwit}, {redis7, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, bigBacklog...)
		noiseIn(t, master, apart, rand.New(rand.NewPCG(seed, 3)), 2000)
		fill(t, master, seed, 300, p.master, p.replica)
		proxy := testserver.RunProxy(t, master, seed)
		writers := startLoad(t, master, seed+1, 1, p.master, p.replica)
		do(t, replica, "SET", "old", "data")
		proxy.Throttle(20 << 20)
		proxy.CutEvery(1_000_000) // the data is longer
		require.NoError(t, replica.FollowAddr(proxy.Addr))
		for deadline := time.Now().Add(testserver.Patience); proxy.Cuts() < 2; {
			require.Equal(t, "data", do(t, replica, "GET", "old"))
			require.EqualValues(t, 1, must(t, replica, "DBSIZE").Int)
			require.True(t, time.Now().Before(deadline), "%d cuts", proxy.Cuts())
			time.Sleep(time.Millisecond)
		}
		proxy.Keep()
		proxy.Throttle(0)
		require.NoError(t, replica.WaitLink())
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
	})
}

// TestSlowFullSync has a replica on a line that is too slow for what is written while it syncs. The
// stream waits for it: one sync is enough.
func TestSlowFullSync(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {godwit, redis7}, {redis8, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		// a backlog that the stream of the sync does not fit in
		master, replica := p.start(t, "--repl-backlog-size", "16kb")
		noiseIn(t, master, apart, rand.New(rand.NewPCG(seed, 3)), 3000)
		proxy := testserver.RunProxy(t, master, seed)
		proxy.Throttle(4 << 20)
		require.NoError(t, replica.FollowAddr(proxy.Addr))
		writers := startLoad(t, master, seed+1, 2, p.master, p.replica)
		require.NoError(t, replica.WaitLink())
		writers.stop(t)
		proxy.Throttle(0)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
	})
}

// apart is a database that random writes do not flush.
const apart = 3

// noise writes kilobytes that cannot be compressed, one under each key.
func noise(t *testing.T, s *testserver.Server, rnd *rand.Rand, keys int) {
	t.Helper()
	noiseIn(t, s, 0, rnd, keys)
}

func noiseIn(t *testing.T, s *testserver.Server, db int, rnd *rand.Rand, keys int) {
	t.Helper()
	c := s.Client(t)
	c.Queue("SELECT", db)
	value := make([]byte, 1000)
	for i := range keys {
		for j := range value {
			value[j] = byte(rnd.Uint32())
		}
		c.Queue("SET", "noise:"+strconv.Itoa(i), value)
	}
	_, err := c.Pipeline()
	require.NoError(t, err)
}
