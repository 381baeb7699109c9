package replication

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestSwapDB has a replica get its master's data beside its own. Its clients see the old data until
// the new is whole, also after a link that was cut in the middle.
func TestSwapDB(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{redis8, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master, bigBacklog...)
		replica := p.run(t, p.replica, "--repl-diskless-load", "swapdb", "--appendonly", "yes")
		fill(t, master, seed, 300, p.master, p.replica)
		noise(t, master, rand.New(rand.NewPCG(seed, 3)), 3000)
		do(t, replica, "SET", "old", "data")
		proxy := testserver.RunProxy(t, master, seed)
		proxy.Throttle(10 << 20)
		proxy.CutWithin(1_000_000)
		require.NoError(t, replica.FollowAddr(proxy.Addr))
		require.Eventually(t, func() bool { return proxy.Cuts() > 0 }, testserver.Patience,
			time.Millisecond)
		require.NoError(t, replica.WaitInfo("persistence", "loading",
			func(info map[string]string) bool { return info["async_loading"] == "1" }))
		require.Equal(t, "data", do(t, replica, "GET", "old"))
		v, err := replica.Do("REPLICAOF", "NO", "ONE")
		require.NoError(t, err)
		require.Regexp(t, "^(OK$|LOADING )", v.Text())
		proxy.Throttle(0)
		if v.Text() == "OK" { // the load was over
			require.NoError(t, replica.FollowAddr(proxy.Addr))
		}
		require.NoError(t, replica.WaitLink())
		fill(t, master, seed+1, 300, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		waitBase(t, replica)
		replica = shutdown(t, replica, func() {}, replicaOf(master)...)
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitSame(replica))
		require.LessOrEqual(t, stat(t, master, "sync_full"), int64(4))
	})
}

// TestLogOfReplica has a replica with an append-only file, which after the synchronization has the
// master's data, and what has come since.
func TestLogOfReplica(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{redis7, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master, bigBacklog...)
		replica := p.run(t, p.replica, "--repl-diskless-load", "on-empty-db", "--appendonly", "yes",
			"--appendfsync", "always")
		fill(t, master, seed, 300, p.master, p.replica)
		link(t, replica, master.Addr)
		fill(t, master, seed+1, 500, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		waitBase(t, replica)
		replica.Kill()
		replica = replica.Again(t)          // as a master
		require.Eventually(t, func() bool { // a deadline may pass while they are compared
			diff, err := testserver.Differences(master, replica)
			return err == nil && diff == ""
		}, testserver.Patience, 50*time.Millisecond)
	})
}

// waitBase waits until a log is whole again.
func waitBase(t *testing.T, s *testserver.Server) {
	t.Helper()
	require.NoError(t, s.WaitInfo("persistence", "with a base",
		func(info map[string]string) bool { return info["aof_rewrite_in_progress"] == "0" }))
}
