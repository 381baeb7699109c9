package replication

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestMatrix joins each kind of replica to each kind of master, promotes it under way, and has the
// old master follow it: how one moves to another server and back.
func TestMatrix(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, ours(), func(t *testing.T, p pair) {
		master, replica := p.start(t, append(bigBacklog, "--repl-ping-replica-period", "3600")...)
		fill(t, master, seed, 1000, p.master, p.replica)
		do(t, master, "SET", "long", strings.Repeat("0123456789", 300_000))
		do(t, replica, "SET", "of its own", "gone after the sync")

		writers := startLoad(t, master, seed+1, 2, p.master, p.replica)
		link(t, replica, master.Addr)
		writers.stop(t)
		fill(t, master, seed+2, 1000, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
		v, err := replica.Do("SET", "x", "y")
		require.NoError(t, err)
		require.Regexp(t, "^READONLY ", v.Text())

		if !readsBack(p) {
			return
		}
		swap(t, master, replica)
		require.NoError(t, replica.WaitSame(master))
		fill(t, replica, seed+4, 500, p.master, p.replica)
		require.NoError(t, replica.WaitSame(master))
		require.EqualValues(t, 0, stat(t, replica, "sync_full"), "the new history has the old one")
		require.EqualValues(t, 1, stat(t, replica, "sync_partial_ok"))
	})
}

// swap makes a replica the master of its master, which has no writers meanwhile. The new history
// has the old one to its end, so that the old master can go on in it: its expired keys must stay,
// because each would be a command that the new master does not know.
func swap(t *testing.T, master, replica *testserver.Server) {
	t.Helper()
	do(t, master, "DEBUG", "SET-ACTIVE-EXPIRE", 0)
	require.NoError(t, master.WaitCaughtUp(replica))
	require.NoError(t, replica.Promote())
	link(t, master, replica.Addr)
}

// readsBack reports whether a master can follow its replica. Redis 7 cannot read what newer ones
// send; Godwit sends what its replica can read.
func readsBack(p pair) bool {
	age := map[testserver.Kind]int{redis7: 1, valkey9: 2, redis8: 2}
	return p.master == godwit || p.replica == godwit || age[p.replica] <= age[p.master]
}
