package cluster

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// aheadOf is the most that a planned change of the master may take, in node timeouts. What is found
// out by silence takes one, less the tenth that may have passed since the master's last ping. A
// planned change takes a small part of that, unless the machine is very slow.
const aheadOf = 0.9

// TestStop stops one master after the other as their administrators do, and starts them again,
// under load and with clients that are blocked. Before that a replica is told to take over.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		o := testserver.ClusterOptions{Kind: k, Masters: 1, Replicas: 2, Timeout: 5 * time.Second}
		if promises(k) {
			o.Args = []string{"--min-replicas-to-ack", "1", "--min-replicas-ack-reads", "yes"}
		} else {
			takesLong(t)
		}
		c := testserver.RunCluster(t, o)
		tag := tagOf(t, c, 0)
		w := startWriters(t, c, tag)
		w.more(t, 20)
		first, moment := c.Master(0), time.Now()
		blocked := block(t, first, tag)
		eventually(t, func() bool { // the leader may have to hear first that the replica follows
			v, err := c.Replica(0).Do("CLUSTER", "FAILOVER")
			return err == nil && v.Text() == "OK"
		}, "the failover is taken up")
		eventually(t, func() bool {
			now := masterOf(c, tag, first)
			return now != nil && now != first
		}, "another takes over")
		blocked.redirected(t, k)
		w.more(t, 20)
		t.Logf("CLUSTER FAILOVER: writes have waited for %v", w.longest(moment))
		if !promises(k) {
			return // nobody is left who could vote
		}
		for _, end := range []func(n *testserver.Node){
			func(n *testserver.Node) { require.NoError(t, n.Signal(syscall.SIGTERM)) },
			func(n *testserver.Node) {
				n.Client(t).Do("SHUTDOWN") // it ends without a reply
			},
		} {
			require.NoError(t, c.WaitReady())
			old := masterOf(c, tag, c.Nodes...)
			blocked, moment := block(t, old, tag), time.Now()
			end(old)
			require.Zero(t, old.Exited(t))
			ended := time.Now()
			eventually(t, func() bool { _, ok := w.firstAfter(ended); return ok }, "it goes on")
			gap := w.longest(moment)
			t.Logf("end of a master: %v, writes have waited for %v", ended.Sub(moment), gap)
			blocked.redirected(t, k)
			require.Less(t, float64(gap)/float64(o.Timeout), aheadOf)
			require.NoError(t, old.WaitLog("Handed the shard over to node"))
			require.NoError(t, old.Revive())
		}
		require.NoError(t, c.WaitReady())
		w.end()
		require.Empty(t, w.lost(t))
	})
}

// masterOf returns the node that one of these takes for the master of the keys with the tag, nil if
// none does.
func masterOf(c *testserver.Cluster, tag string, by ...*testserver.Node) *testserver.Node {
	for _, n := range by {
		if owner, err := c.Owner(n, slotOf(tag)); err == nil && owner != nil {
			return owner
		}
	}
	return nil
}

// waiting are clients that are blocked, by what they wait for.
type waiting struct {
	keys []*client.Client
	acks *client.Client
}

// block has clients wait on a node.
func block(t *testing.T, n *testserver.Node, tag string) (w waiting) {
	t.Helper()
	before, err := n.InfoInt("clients", "blocked_clients")
	require.NoError(t, err)
	begin := func(argv ...any) *client.Client {
		c := n.Client(t)
		c.Queue(argv...)
		require.NoError(t, c.Flush())
		return c
	}
	key := "{" + tag + "}blocked"
	w.keys = append(w.keys, begin("BLPOP", key, 0),
		begin("BLMOVE", key, key+"to", "LEFT", "LEFT", 0),
		begin("XREAD", "BLOCK", 0, "STREAMS", key+"stream", "$"))
	w.acks = begin("WAIT", 9, 0)
	eventually(t, func() bool {
		now, err := n.InfoInt("clients", "blocked_clients")
		return err == nil && now >= before+4
	}, "they wait")
	return w
}

// redirected wants the clients to be told to go elsewhere. Those who wait for keys are told where;
// Redis has all of them connect anew.
func (w waiting) redirected(t *testing.T, k testserver.Kind) {
	t.Helper()
	for _, c := range w.keys {
		v, err := c.Receive()
		require.NoError(t, err)
		if promises(k) {
			require.Contains(t, v.Text(), "MOVED ")
		} else {
			require.Regexp(t, "^(MOVED|UNBLOCKED) ", v.Text())
		}
	}
	if k != testserver.Valkey9 { // there it goes on to wait
		v, err := w.acks.Receive()
		require.NoError(t, err)
		require.Contains(t, v.Text(), "UNBLOCKED force unblock")
	}
}

// TestStopAborted stops a master whose replica lags, and has it go on. Then it stops at once, and
// its replicas with it.
func TestStopAborted(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if !promises(k) {
			t.Skip("only Godwit hands over")
		}
		c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 1, Replicas: 1,
			Proxied: true, Timeout: 5 * time.Second,
			Args: []string{"--shutdown-timeout", "600", "--appendonly", "yes"}})
		old, next := c.Master(0), c.Replica(0)
		say := func(want string, argv ...any) {
			t.Helper()
			v, err := old.Do(argv...)
			require.NoError(t, err)
			require.Equal(t, want, v.Text())
		}
		old.Door.Stall(true)
		say("OK", "SET", "a", "1")
		asked := old.Client(t)
		asked.Queue("SHUTDOWN")
		require.NoError(t, asked.Flush())
		require.NoError(t, old.WaitLog("The shard has no master until another node takes over"))
		say("1", "GET", "a")
		say("OK", "SHUTDOWN", "ABORT")
		v, err := asked.Receive()
		require.NoError(t, err)
		require.Equal(t, "ERR Errors trying to SHUTDOWN. Check logs.", v.Text())
		say("OK", "SET", "a", "2")
		old.Door.Stall(false)
		require.NoError(t, old.WaitSame(next.Server))
		require.Same(t, old, masterOf(c, "a", old))

		var all sync.WaitGroup
		for _, n := range c.Nodes {
			all.Go(func() { _ = n.Stop() })
		}
		all.Wait()
		for _, n := range c.Nodes {
			require.Zero(t, n.ExitCode())
			require.NoError(t, n.Revive())
		}
		require.NoError(t, c.WaitReady())
		old = masterOf(c, "a", old)
		say("2", "GET", "a")
		_, err = old.Do("SHUTDOWN", "NOW")
		require.Error(t, err)
		require.Zero(t, old.Exited(t))
	})
}

// TestStoppingReplica has a replica save for long before it ends, when its master dies. The other
// replica takes over, though the first would have come first.
func TestStoppingReplica(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if !promises(k) {
			t.Skip("Redis's does not answer others while it saves")
		}
		c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 1, Replicas: 2,
			Timeout: 2 * time.Second})
		master, ends, next := c.Master(0), c.Replica(0), c.Replica(1)
		if next.ID < ends.ID { // among equals the lowest id takes over
			ends, next = next, ends
		}
		w := startWriters(t, c, tagOf(t, c, 0))
		w.more(t, 20)
		w.end()
		require.NoError(t, master.WaitSame(ends.Server, next.Server))
		v, err := ends.Do("CONFIG", "SET", "save", "3600 1", "rdb-key-save-delay", 10_000_000)
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		require.NoError(t, ends.Signal(syscall.SIGTERM))
		require.NoError(t, ends.WaitLog("Saving the final RDB snapshot before exiting"))
		master.Kill()
		require.NoError(t, c.WaitOwner(0, next, next))
		require.False(t, ends.Ended())
		ends.Kill()
	})
}
