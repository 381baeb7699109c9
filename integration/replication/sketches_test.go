package replication

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForeignSketches checks that a replica which cannot hold sketches gets none: it is
// disconnected when the first one comes, and synchronized when there are none any more. A Godwit
// gets them all.
func TestForeignSketches(t *testing.T) {
	pairs := []pair{{godwit, redis7}, {godwit, redis8}, {godwit, valkey9}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t)
		second := p.run(t, godwit)
		link(t, replica, master.Addr)
		link(t, second, master.Addr)
		do(t, master, "SET", "before", 1)
		require.NoError(t, master.WaitCaughtUp(replica, second))
		do(t, master, "BF.ADD", "bloom", "a")
		do(t, master, "SET", "after", 1)
		require.NoError(t, replica.WaitNoLink())
		require.NoError(t, master.WaitSame(second))
		require.NoError(t, master.WaitLog("Disconnecting replica "))
		require.NoError(t, master.WaitLog("1 keys are sketches"))
		require.Equal(t, "0", do(t, replica, "EXISTS", "bloom", "after"))
		require.Equal(t, "1", do(t, replica, "EXISTS", "before"), "what it has stays")

		do(t, master, "DEL", "bloom")
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitCaughtUp(replica, second))
		require.Equal(t, "1", do(t, replica, "EXISTS", "after"))
		require.EqualValues(t, 3, stat(t, master, "sync_full"), "the stream had sketches")

		do(t, master, "EVAL", "redis.call('BF.ADD','b','x') redis.call('DEL','b') "+
			"return redis.call('SET','with it',1)", 0)
		require.NoError(t, master.WaitSame(second))
		require.NoError(t, replica.WaitInfo("replication", "what came with a sketch",
			func(info map[string]string) bool {
				v, err := replica.Do("EXISTS", "with it")
				return err == nil && v.Int == 1
			}))
		require.EqualValues(t, 4, stat(t, master, "sync_full"))
	})
}
