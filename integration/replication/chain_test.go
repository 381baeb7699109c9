package replication

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestChain has a replica of a replica. Both have the master's history, and keep it when the link
// in the middle is cut, when the replica in the middle is promoted, and when the lowest one moves
// to the top.
func TestChain(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {redis8, godwit}, {godwit, redis8}, {valkey9, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		args := append(bigBacklog, "--repl-ping-replica-period", "3600")
		master, middle := p.start(t, args...)
		low := p.run(t, p.master, args...)
		fill(t, master, seed, 300, p.master, p.replica)
		proxy := testserver.RunProxy(t, master, seed)
		link(t, middle, proxy.Addr)
		link(t, low, middle.Addr)
		fill(t, master, seed+1, 300, p.master, p.replica)
		require.NoError(t, master.WaitSame(middle, low))
		top, err := master.Info("replication")
		require.NoError(t, err)
		bottom, err := low.Info("replication")
		require.NoError(t, err)
		require.Equal(t, top["master_replid"], bottom["master_replid"])

		writers := startLoad(t, master, seed+2, 1, p.master, p.replica)
		proxy.Cut()
		require.NoError(t, middle.WaitLink())
		writers.stop(t)
		require.NoError(t, master.WaitSame(middle, low))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
		require.EqualValues(t, 1, stat(t, middle, "sync_full"))

		swap(t, master, middle) // the low one keeps its link, or makes it again
		require.NoError(t, low.WaitLink())
		fill(t, middle, seed+3, 300, p.master, p.replica)
		require.NoError(t, middle.WaitSame(master, low))
		require.EqualValues(t, 1, stat(t, middle, "sync_full"))

		link(t, low, master.Addr)
		fill(t, middle, seed+4, 300, p.master, p.replica)
		require.NoError(t, middle.WaitSame(master, low))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
	})
}
