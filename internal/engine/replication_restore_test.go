package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
	"godwit/internal/persist"
	"godwit/internal/propagation"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/vfs"
)

// TestRestoredMaster restarts a server that has replicas. It begins a new history where the saved
// one ends, and replicas hear of keys that have expired in the meantime.
func TestRestoredMaster(t *testing.T) {
	x := withDisk(t, nil)
	require.Equal(t, "+OK", x.do("save"))
	require.NotContains(t, dump(x), "repl-", "no replica has ever been there")
	propagationtest.AttachTo(&x.e.Feed, propagation.Replicas)
	for range 3 { // the seed of these engines is the same
		x.e.NewReplID()
	}
	x.do("select 3")
	x.do("set a 1")
	x.do("set due 1 px 10000")
	id, offset := x.e.ReplID(), x.e.ReplOffset()
	require.NotZero(t, offset)
	require.Equal(t, "+OK", x.do("save"))
	require.Contains(t, dump(x), id)
	x.do("set b 1")
	x.stop()

	y := onDisk(t, x.mem, nil)
	y.e.Enter()
	y.e.KS.SetNow(y.e.KS.Now() + 20_000)
	y.e.Leave()
	y.start(nil)
	id2, second := y.e.ReplID2()
	require.Equal(t, id, id2)
	require.Equal(t, offset+1, second)
	require.Equal(t, offset, y.e.ReplOffset())
	require.NotEqual(t, id, y.e.ReplID())
	heard := propagationtest.AttachTo(&y.e.Feed, propagation.Replicas)
	y.do("select 3")
	require.Equal(t, ":2", y.do("dbsize"))
	y.e.KS.SetNow(y.e.KS.Now() + 20_000)
	for y.e.KS.ExpireSlice(100) {
	}
	require.Equal(t, ":1", y.do("dbsize"))
	require.Equal(t, []string{"3 DEL due"}, heard.Units())
}

// TestRestoredReplica restarts a replica: it is where it was in its master's stream.
func TestRestoredReplica(t *testing.T) {
	x := withDisk(t, nil)
	x.e.BeReplicaOf("master", 7)
	x.e.Feed.SetOffset(1234)
	id := x.e.ReplID()
	require.NoError(t, x.e.SaveQuietly())
	x.stop()

	y := onDisk(t, x.mem, nil)
	y.e.BeReplicaOf("other", 0)
	y.start(nil)
	require.Equal(t, id, y.e.ReplID())
	require.Equal(t, int64(1234), y.e.ReplOffset())
	db, cached := y.e.MasterDB()
	require.True(t, cached)
	require.Equal(t, 7, db)
	b, err := y.sync(persist.SyncOptions{})
	require.NoError(t, err)
	require.Contains(t, b, "repl-stream-db\xc0\x07\xfa\x07repl-id("+id+
		"\xfa\x0brepl-offset\xc1\xd2\x04")
}

// TestRestoredFromLog restarts servers with logs: a replica knows its place whatever its end was, a
// master after an orderly one, or in a cluster whatever it was.
func TestRestoredFromLog(t *testing.T) {
	logged := func(c *config.Config) { c.AppendOnly, c.ReplicaReadOnly = true, false }
	for _, c := range []struct{ replica, cluster, killed, strayed, knows bool }{
		{replica: true, knows: true},
		{replica: true, killed: true, knows: true},
		{knows: true},
		{killed: true},
		{strayed: true},
		{cluster: true, killed: true, knows: true},
	} {
		logged := func(cfg *config.Config) { logged(cfg); cfg.Cluster.Enabled = c.cluster }
		x := withDisk(t, logged)
		x.e.NewReplID()
		if c.replica {
			x.e.BeReplicaOf("master", 0)
		}
		propagationtest.AttachTo(&x.e.Feed, propagation.Replicas)
		if c.cluster { // of which the node knows nothing yet, so it serves no keys
			x.e.Feed.Send(propagation.All, 0, [][]byte{[]byte("set"), []byte("a"), []byte("1")})
		} else {
			x.do("set a 1")
		}
		if c.strayed {
			x.c.W.Buf = x.c.W.Buf[:0]
			x.e.Exec(x.c, [][]byte{[]byte("eval"), []byte("redis.set_repl(redis.REPL_REPLICA) " +
				"redis.call('set', 'b', '1')"), []byte("0")})
			require.Equal(t, "$-1\r\n", string(x.c.W.Buf))
		}
		x.e.Commit()
		id, offset := x.e.ReplID(), x.e.ReplOffset()
		left := x.mem
		if c.killed {
			left = x.mem.Crash(vfs.KeepAll)
		} else {
			x.stop()
		}
		y := onDisk(t, left, logged)
		if c.replica {
			y.e.BeReplicaOf("master", 5)
		}
		y.start(nil)
		require.Equal(t, 1, y.e.KS.DB(0).Len())
		got, _ := y.e.ReplID2()
		if c.replica || c.cluster {
			got = y.e.ReplID()
		}
		require.Equal(t, c.knows, got == id, "%+v", c)
		if c.knows {
			require.Equal(t, offset, y.e.ReplOffset())
		}
	}
}

// TestReplicaKeepsLoggedKeys restarts a replica whose log has a key that is due by now. The master
// has perhaps made it last longer: it must stay until the master says.
func TestReplicaKeepsLoggedKeys(t *testing.T) {
	logged := func(c *config.Config) { c.AppendOnly = true }
	x := withDisk(t, logged)
	x.do("set due 1 px 10000")
	x.stop()
	y := onDisk(t, x.mem, logged)
	y.e.BeReplicaOf("master", 0)
	y.start(nil)
	y.e.KS.SetNow(y.e.KS.Now() + 20_000)
	y.e.Cron()
	require.True(t, y.e.KS.DB(0).Due([]byte("due")))
}

// dump returns the snapshot file.
func dump(x *disked) string {
	b, err := vfs.ReadFile(x.mem, x.dir+"/dump.rdb")
	require.NoError(x, err)
	return string(b)
}

// TestRestoredShard restarts a node of a cluster: it knows which shard and term its data is of,
// from a snapshot and from a log.
func TestRestoredShard(t *testing.T) {
	const shard, term = "ffffffffffffffffffffffffffffffffffffffff", 7
	for _, logged := range []bool{false, true} {
		edit := func(c *config.Config) { c.Cluster.Enabled, c.AppendOnly = true, logged }
		x := withDisk(t, edit)
		x.e.BeReplicaOf("master", 0)
		x.e.BeOfShard(shard, term)
		x.e.Feed.SetOffset(1234)
		require.NoError(t, x.e.SaveQuietly())
		x.stop()

		y := onDisk(t, x.mem, edit)
		y.start(nil)
		r := y.e.ClusterReport()
		require.EqualValues(t, shard, r.Shard, logged)
		require.EqualValues(t, term, r.Term, logged)
	}
}
