package replication

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// saving has servers save their data when they are told to end.
var saving = []string{"--save", "3600 1"}

// shutdown ends a server, which saves, and starts it again.
func shutdown(t *testing.T, s *testserver.Server, meanwhile func(), args ...string,
) *testserver.Server {
	t.Helper()
	require.NoError(t, s.Stop())
	meanwhile()
	return s.Again(t, args...)
}

// TestRestartedReplica stops a replica and starts it again. Its file says where it was, so it goes
// on from there.
func TestRestartedReplica(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {redis8, godwit}, {valkey9, godwit}, {godwit, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, append(bigBacklog, saving...)...)
		fill(t, master, seed, 500, p.master, p.replica)
		link(t, replica, master.Addr)
		writers := startLoad(t, master, seed+1, 2, p.master, p.replica)
		replica = shutdown(t, replica, func() {}, replicaOf(master)...)
		require.NoError(t, replica.WaitLink())
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
		require.EqualValues(t, 1, stat(t, master, "sync_partial_ok"))
	})
}

// replicaOf returns the arguments of a server that is a replica from its start.
func replicaOf(master *testserver.Server) []string {
	_, port := master.HostPort()
	return []string{"--replicaof", "127.0.0.1 " + port}
}

// TestRestartedMaster stops a master and starts it again: its replicas go on where they were.
func TestRestartedMaster(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {redis8, godwit}, {godwit, redis8}, {godwit, valkey9}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, append(bigBacklog, saving...)...)
		fill(t, master, seed, 500, p.master, p.replica)
		link(t, replica, master.Addr)
		fill(t, master, seed+1, 500, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		master = shutdown(t, master, func() { require.NoError(t, replica.WaitNoLink()) })
		require.NoError(t, replica.WaitLink())
		fill(t, master, seed+2, 500, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 0, stat(t, master, "sync_full"))
		require.EqualValues(t, 1, stat(t, master, "sync_partial_ok"))
	})
}

// TestKilledMaster ends a master as kill -9 does. Without a file it comes back empty, and its
// replica becomes so too.
func TestKilledMaster(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {redis8, godwit}, {godwit, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, bigBacklog...)
		fill(t, master, seed, 300, p.master, p.replica)
		link(t, replica, master.Addr)
		require.NoError(t, master.WaitSame(replica))
		master.Kill()
		require.NoError(t, replica.WaitNoLink())
		all, err := replica.Read()
		require.NoError(t, err)
		require.NotZero(t, all.Keys(), "old data answers while the master is away")
		master = master.Again(t)
		require.NoError(t, replica.WaitLink())
		do(t, master, "SET", "new", "life")
		require.NoError(t, master.WaitSame(replica))
		all, err = replica.Read()
		require.NoError(t, err)
		require.Equal(t, 1, all.Keys())
	})
}

// TestRestartedConfirmingMaster stops a master that confirms its writes and starts it again. The
// stream goes on where its file says, though its backlog is there before the first replica: the
// replica resumes, an RDB is sent to whoever asks for one, and writes are confirmed.
func TestRestartedConfirmingMaster(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, confirming[:2], func(t *testing.T, p pair) {
		args := append(append([]string{"--min-replicas-ack-timeout", "60000"}, bigBacklog...),
			saving...)
		master, replica := p.run(t, p.master, args...), p.run(t, p.replica)
		fill(t, master, seed, 300, p.master, p.replica)
		link(t, replica, master.Addr)
		require.NoError(t, master.WaitSame(replica))
		args = append(args, "--min-replicas-to-ack", "1")
		master = shutdown(t, master, func() { require.NoError(t, replica.WaitNoLink()) }, args...)
		rdb := rawReplicaOf(t, master.Addr, nil).full("rdb-only 1 capa eof")
		require.True(t, strings.HasPrefix(rdb, "REDIS"))
		require.NoError(t, replica.WaitLink())
		do(t, master, "SET", "confirmed", "yes")
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"), "the RDB")
		require.EqualValues(t, 1, stat(t, master, "sync_partial_ok"), "the replica")
	})
}
