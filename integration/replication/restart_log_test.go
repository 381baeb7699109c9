package replication

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// logging has servers keep a log and no snapshots.
var logging = []string{"--appendonly", "yes", "--save", ""}

// TestKilledReplicaWithLog ends a replica as kill -9 does, again and again, while its master is
// written to. Its log says where it was, so it goes on from there.
func TestKilledReplicaWithLog(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, []pair{{godwit, godwit}, {redis8, godwit}}, func(t *testing.T, p pair) {
		master := p.run(t, p.master, bigBacklog...)
		replica := p.run(t, p.replica, logging...)
		fill(t, master, seed, 500, p.master, p.replica)
		link(t, replica, master.Addr)
		require.Eventually(t, func() bool { // until the first base is complete, nothing is kept
			n, err := replica.InfoInt("persistence", "aof_rewrite_in_progress")
			return err == nil && n == 0
		}, testserver.Patience, 10*time.Millisecond)
		const kills = 3
		for i := range kills {
			writers := startLoad(t, master, seed+uint64(i)+1, 2, p.master, p.replica)
			replica.Kill()
			replica = replica.Again(t, replicaOf(master)...)
			require.NoError(t, replica.WaitLink())
			writers.stop(t)
			require.NoError(t, master.WaitSame(replica))
		}
		// kill -9 can cut a write short before the place at its end, though not each time
		require.EqualValues(t, kills+1, syncs(t, master))
		require.LessOrEqual(t, stat(t, master, "sync_full"), int64(2))
	})
}

// TestRestartedMasterWithLog stops a master that has a log, and no snapshots, and starts it again:
// its replicas go on where they were.
func TestRestartedMasterWithLog(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, []pair{{godwit, godwit}, {godwit, redis8}}, func(t *testing.T, p pair) {
		master := p.run(t, p.master, append(bigBacklog, logging...)...)
		replica := p.run(t, p.replica)
		fill(t, master, seed, 300, p.master, p.replica)
		link(t, replica, master.Addr)
		fill(t, master, seed+1, 300, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		master = shutdown(t, master, func() { require.NoError(t, replica.WaitNoLink()) })
		require.NoError(t, replica.WaitLink())
		fill(t, master, seed+2, 300, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 0, stat(t, master, "sync_full"))
		require.EqualValues(t, 1, stat(t, master, "sync_partial_ok"))
	})
}
