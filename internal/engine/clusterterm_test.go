package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/upstream"
)

// TestTermOfReplica follows the term that a replica reports. It is that of the master whose data it
// has: a master's term begins for it when it has all that the master had then.
func TestTermOfReplica(t *testing.T) {
	m := newMember(t, 2, nil)
	sh := m.shard().ID
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	at := m.e.ReplOffset()
	var link *engine.LinkAttempt
	m.e.LinkMaster = func(a *engine.LinkAttempt) { link = a }
	m.apply(topology.Vacate{Shard: sh, Term: 1})
	m.apply(topology.Promote{Shard: sh, Term: 1, Node: nodeID(1)})
	m.install()
	follow := func(term uint64, begin int64) {
		link.Connected(func() {})
		link.Answered(upstream.Answer{Kind: upstream.Continue, Term: term, Begin: begin})
		link.Attach(&quietConn{})
	}
	follow(2, at)
	require.EqualValues(t, 2, m.e.ClusterReport().Term)

	m.e.KillMasterLink()
	m.turn()
	m.pass(2000)
	follow(3, at+1)
	require.EqualValues(t, 2, m.e.ClusterReport().Term, "the third master has more")
	require.Equal(t, sh, m.e.ClusterReport().Shard)
	m.e.Feed.SetOffset(at + 1)
	require.EqualValues(t, 3, m.e.ClusterReport().Term)
}

// TestLinksEndWithTerm wants a master that is promoted again to end the links of its replicas,
// whose handshakes told its last term. A tool that copies the stream stays.
func TestLinksEndWithTerm(t *testing.T) {
	m := newMember(t, 2, func(c *config.Config) { c.MinReplicasToAck = 1 })
	replica, tool := m.join(1), m.client()
	require.Contains(t, m.do(tool, "psync "+m.e.ReplID()+" 1"), "+CONTINUE")
	m.apply(topology.Vacate{Shard: m.shard().ID, Term: 1})
	m.install()
	require.Zero(t, replica.Conn.(*quietConn).closed, "it catches up")
	m.apply(topology.Promote{Shard: m.shard().ID, Term: 1, Node: nodeID(0)})
	m.install()
	m.turn()
	require.NotZero(t, replica.Conn.(*quietConn).closed)
	require.Zero(t, tool.Conn.(*quietConn).closed)
	m.join(1)
}

func TestPeers(t *testing.T) {
	m := newMember(t, 2, nil)
	c := m.client()
	require.Contains(t, m.say(c, 5, 1), "-TRYAGAIN Node")
	p := engine.Peer{Cluster: string(nodeID(9)), Node: nodeID(1), Shard: m.shard().ID, Term: 1}
	require.Contains(t, m.exec(c, "replconf", "cluster-peer", p.String()), "of another cluster")
	require.Contains(t, m.exec(c, "replconf", "cluster-peer", "x"), "-ERR Invalid")
	m.boot = 1 // the log does not know of this start yet
	require.Contains(t, m.say(c, 1, 1), "-TRYAGAIN This node has started anew")
	m.boot = 0
	require.Equal(t, "+TERM 1 0", m.say(c, 1, 1))
	require.True(t, m.e.LeaseHeld())
	require.Contains(t, m.say(m.client(), 1, 2), "-TRYAGAIN This node knows the shard's term 1")
	require.False(t, m.e.LeaseHeld(), "there is a later master")
	m.turn()
	require.Contains(t, m.do(m.c, "set a 1"), "CLUSTERDOWN")
	m.say(m.client(), 1, 1<<60)
	require.False(t, m.e.LeaseHeld())
	m.pass(5100)
	require.True(t, m.e.LeaseHeld(), "nobody says so any more")
	m.say(m.client(), 1, 2)
	sh := m.shard().ID
	m.apply(topology.Vacate{Shard: sh, Term: 1})
	m.apply(topology.Promote{Shard: sh, Term: 1, Node: nodeID(0)})
	m.install()
	require.True(t, m.e.LeaseHeld())
	require.Contains(t, m.do(m.client(), "psync ? -1"), "", "a plain tool may copy the data")
}

func TestFailoverOfReplica(t *testing.T) {
	m := newMember(t, 2, nil)
	ask := func(mode engine.FailoverMode) (answer string) {
		m.e.ClusterFailover(m.c, mode, func(r string) { answer = r })
		return answer
	}
	require.Contains(t, ask(engine.FailoverGraceful), "to a replica")
	sh := m.shard().ID
	m.apply(topology.Vacate{Shard: sh, Term: 1})
	m.apply(topology.Promote{Shard: sh, Term: 1, Node: nodeID(1)})
	m.install()
	require.Contains(t, ask(engine.FailoverGraceful), "use CLUSTER FAILOVER FORCE")
	require.Empty(t, ask(engine.FailoverForce))
	require.Equal(t, []engine.FailoverMode{engine.FailoverForce}, m.failover)
}

// TestPromotedWithoutData promotes a replica that has begun a full synchronization meanwhile. It
// must not lead with what it has, unless nobody has more.
func TestPromotedWithoutData(t *testing.T) {
	m := newMember(t, 2, nil)
	sh := m.shard().ID
	promote := func(term uint64, node int, bare bool) {
		m.apply(topology.Vacate{Shard: sh, Term: term})
		m.apply(topology.Promote{Shard: sh, Term: term, Node: nodeID(node), Bare: bare})
		m.install()
		m.turn()
	}
	promote(1, 1, false)
	m.takeUp()
	promote(2, 0, false)
	require.Equal(t, topology.Master, m.e.ClusterReport().Role)
	m.takeUp()
	promote(3, 1, false)
	m.takeUp()
	m.e.LoseData()
	promote(4, 0, false)
	require.True(t, m.e.IsReplica())
	require.False(t, m.e.ClusterReport().Whole)
	require.False(t, m.e.LeaseHeld())
	for _, command := range []string{"get a", "set a 1"} {
		got := m.do(m.client(), command)
		require.Equal(t, "(postponed)", got, "there may be another master: %s", command)
	}
	m.e.RegainData() // as of some moment, from the old master
	m.install()
	require.True(t, m.e.IsReplica())
	require.False(t, m.e.ClusterReport().Whole)
	m.apply(topology.Decline{Shard: sh, Term: 5})
	m.install()
	require.True(t, m.e.IsReplica())
	require.True(t, m.e.ClusterReport().Whole)
	require.Equal(t, nodeID(1), m.shard().Last)
	m.apply(topology.Promote{Shard: sh, Term: 5, Node: nodeID(0), Bare: true})
	m.install()
	require.False(t, m.e.IsReplica())
	require.True(t, m.e.ClusterReport().Whole)
}

// TestHeldWhileVacant has a master that was revoked hold its clients: for CLUSTER FAILOVER as long
// as that may take, and each time anew.
func TestHeldWhileVacant(t *testing.T) {
	m := newMember(t, 2, nil)
	revoke := func(hold int64) *engine.Client {
		c, sh := m.client(), m.shard()
		m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term, Hold: hold})
		m.install()
		m.turn()
		require.Equal(t, "(postponed)", m.do(c, "set a 1"))
		return c
	}
	c := revoke(20_000)
	m.pass(20_000)
	m.install()
	require.Equal(t, "(postponed)", m.do(c, "set a 1"))
	m.pass(6000)
	require.Equal(t, "-CLUSTERDOWN The cluster is down", m.do(c, "set a 1"))
	m.install()
	require.Equal(t, "-CLUSTERDOWN The cluster is down", m.do(c, "set a 1"))

	m.lease = 0
	m.apply(topology.Promote{Shard: m.shard().ID, Term: 1, Node: nodeID(0)})
	m.install()
	m.pass(6000)
	require.Contains(t, m.do(c, "set a 1"), "CLUSTERDOWN", "the first lease has not come")
	c = revoke(0)
	m.pass(5100)
	require.Contains(t, m.do(c, "set a 1"), "CLUSTERDOWN")
}

// TestLeavingWithoutClient has a replica leave its shard when the client that wants it is gone. The
// keys stay with the shard all the same.
func TestLeavingWithoutClient(t *testing.T) {
	m := newMember(t, 2, nil)
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	sh := m.shard().ID
	m.apply(topology.Vacate{Shard: sh, Term: 1})
	m.apply(topology.Promote{Shard: sh, Term: 1, Node: nodeID(1)})
	m.install()
	c := m.client()
	m.do(c, "cluster replicate no one")
	m.proposed[0].done("ERR no")
	m.proposed = nil
	m.do(c, "cluster replicate no one")
	m.e.Kill(c)
	m.turn()
	require.Equal(t, 1, m.e.KS.DB(0).Len())
	m.settle()
	require.False(t, m.e.IsReplica())
	require.Zero(t, m.e.KS.DB(0).Len())
}

// TestFirstSyncs wants a snapshot to begin at once when writes wait for a replica and none is in
// sync, and soon in other cases.
func TestFirstSyncs(t *testing.T) {
	m := newMember(t, 3, func(c *config.Config) { c.MinReplicasToAck = 1 })
	require.Zero(t, m.e.SyncDelay())
	m.apply(topology.SetInSync{Shard: m.shard().ID, Term: 1, Confirm: 1,
		InSync: []topology.NodeID{nodeID(2)}, Seen: m.log.Index})
	m.install()
	require.EqualValues(t, 250, m.e.SyncDelay())

	m = newMember(t, 3, nil)
	require.EqualValues(t, 250, m.e.SyncDelay())
	m.e.Cfg.ReplDisklessSyncDelay = 0
	require.Zero(t, m.e.SyncDelay())
}
