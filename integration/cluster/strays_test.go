package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// count returns how many keys of the slot a node has.
func (p *place) count(t *testing.T, n *testserver.Node) int64 {
	t.Helper()
	return ask(t, p.cluster, p.index(n), "CLUSTER", "COUNTKEYSINSLOT", p.slot).Int
}

func (p *place) index(n *testserver.Node) int {
	for i, o := range p.cluster.Nodes {
		if o == n {
			return i
		}
	}
	return -1
}

// TestStrays gives an import up after a key has come, and restarts the master that has it: the key
// stays. Then it takes the slot from its owner as it is: the keys that are left go, there and on
// the replica.
func TestStrays(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		if k == testserver.Valkey9 {
			t.Skip("it drops the key with a failover; Redis 8 keeps it")
		}
		c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 2, Replicas: 1,
			Args: []string{"--appendonly", "yes"}})
		p := placeOf(t, c, "stray")
		p.say(t, p.owner, "OK", "MSET", "{stray}1", "one", "{stray}2", "two", "{stray}3", "three")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
		p.migrate(t, "{stray}1")
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "STABLE")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "STABLE")
		require.EqualValues(t, 1, p.count(t, p.b))
		require.NoError(t, p.b.Stop())
		require.NoError(t, p.b.Revive())
		require.NoError(t, c.WaitReady())
		for range 2 { // with a node that leads the shard anew
			p.resume(t)
			require.EqualValues(t, 1, p.count(t, p.b))
			replica := replicaOf(t, c, p.b)
			v, err := replica.Do("CLUSTER", "FAILOVER")
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
			promoted := func(v testserver.View) bool { return v.Find(replica.ID).Has("master") }
			require.NoError(t, c.WaitView("of the mind that it is promoted", promoted, c.Nodes...))
			require.NoError(t, c.WaitReady())
		}
		p.resume(t)
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.asking(t, "one", "GET", "{stray}1")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "NODE", p.b.ID)
		require.NoError(t, c.WaitOwner(p.slot, p.b, c.Nodes...))
		for _, n := range []*testserver.Node{p.a, replicaOf(t, c, p.a)} {
			eventually(t, func() bool { return p.count(t, n) == 0 }, "what was left goes")
		}
		p.say(t, p.other, "one", "GET", "{stray}1")
		p.say(t, p.other, "null", "GET", "{stray}2")
	})
}

// resume connects to the masters that there are now. The owner is still the first one.
func (p *place) resume(t *testing.T) {
	t.Helper()
	var err error
	p.a, err = p.cluster.Owner(p.cluster.Nodes[0], p.slot)
	require.NoError(t, err)
	view, err := p.a.View()
	require.NoError(t, err)
	for _, l := range view.Masters() {
		if l.ID != p.a.ID {
			p.b = p.cluster.Node(l.ID)
		}
	}
	p.owner, p.other = p.a.Client(t), p.b.Client(t)
}

// replicaOf returns a replica of a master.
func replicaOf(t *testing.T, c *testserver.Cluster, master *testserver.Node) *testserver.Node {
	t.Helper()
	view, err := master.View()
	require.NoError(t, err)
	for _, l := range view {
		if l.Master == master.ID {
			return c.Node(l.ID)
		}
	}
	t.Fatal("no replica of " + master.Addr)
	return nil
}
