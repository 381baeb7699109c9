package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
)

// replaced makes another node the master of the shard, which starts anew before it has taken that
// up: node 0 is the last master again.
func (m *member) replaced(by int) {
	m.Helper()
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(by)})
	m.install()
	m.apply(topology.Started{Node: nodeID(by), Boot: 1})
	require.Equal(m, nodeID(0), m.shard().Last)
}

// promoteAgain revokes node 0 and makes it the master again.
func (m *member) promoteAgain() {
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(0)})
	m.install()
	m.turn()
}

// TestConfirmedWhenTakenUp confirms nothing in a new term before the log says that the master
// leads, whatever its replicas have: until then its promotion may be taken back.
func TestConfirmedWhenTakenUp(t *testing.T) {
	m, _ := confirming(t, nil)
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(0)})
	m.install()
	m.turn()
	require.Len(t, m.proposed, 1, "it is said at once")
	replica := m.join(1)
	require.Equal(t, "(held)", m.do(m.c, "set a 1"))
	m.ack(replica)
	require.Equal(t, "(held)", m.replies(m.c))
	m.settle()
	require.Nil(t, m.shard().Before)
	require.Equal(t, "+OK", m.replies(m.c))
}

// TestFormerLifeTakesNothingUp has a new process learn of a promotion of the former one. It does
// not lead by that: the log is about to hear that it has started anew.
func TestFormerLifeTakesNothingUp(t *testing.T) {
	m, _ := confirming(t, nil)
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(0)})
	m.boot = 1
	m.install()
	m.turn()
	m.pass(300)
	require.Empty(t, m.proposed)
}

// TestFullSynchronizationOfMember gives none to a replica whose data the log counts on: it leaves
// the in-sync set first, and the log knows that the master leads. One that goes on where it is
// loses nothing.
func TestFullSynchronizationOfMember(t *testing.T) {
	m, replica := confirming(t, nil)
	ask := func(at int64) string {
		c := m.client()
		m.say(c, 1, m.shard().Term)
		m.do(c, "replconf capa eof capa psync2")
		return m.do(c, fmt.Sprintf("psync %s %d", m.e.ReplID(), at))
	}
	const refused = "-TRYAGAIN The cluster still counts on the data of this replica"
	before, far := m.e.Stats.SyncFull, m.e.ReplOffset()+1000
	require.Equal(t, refused, ask(far))
	require.NotZero(t, replica.Conn.(*quietConn).closed, "an older link of its")
	require.Equal(t, refused, ask(far))
	m.settle()
	require.Empty(t, m.shard().InSync)
	require.Equal(t, before, m.e.Stats.SyncFull)
	require.Empty(t, ask(far))
	require.Equal(t, before+1, m.e.Stats.SyncFull)

	m, _ = confirming(t, nil)
	m.promoteAgain()
	require.Contains(t, ask(m.e.ReplOffset()+1), "+CONTINUE")
	require.Equal(t, []topology.NodeID{nodeID(1)}, m.shard().InSync)
	m = newMember(t, 2, nil)
	m.promoteAgain()
	before = m.e.Stats.SyncFull
	require.Equal(t, refused, ask(far), "it may not be taken up")
	m.settle()
	require.Empty(t, ask(far))
	require.Equal(t, before+1, m.e.Stats.SyncFull)
}

// TestLastMasterOfEarlierTerm has a master be the last one again. It neither confirms by what
// replicas had, which may have gone over to the other one, nor offers a stream as of that term.
func TestLastMasterOfEarlierTerm(t *testing.T) {
	m := newMember(t, 3, func(c *config.Config) {
		c.MinReplicasToAck, c.MinReplicasAckTimeout = 1, 60_000
	})
	b, c := m.join(1), m.join(2)
	m.ack(b)
	m.ack(c)
	m.pass(100)
	m.settle()
	require.Equal(t, []topology.NodeID{nodeID(1), nodeID(2)}, m.shard().InSync)
	require.Equal(t, "(held)", m.do(m.c, "set a 1"))
	m.ack(c)
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(1)})
	m.apply(topology.Started{Node: nodeID(1), Boot: 1})
	m.install()
	m.turn()
	m.pass(300)
	require.Equal(t, []topology.NodeID{nodeID(2)}, m.shard().InSync)
	require.Equal(t, "(held)", m.replies(m.c))
	p := engine.Peer{Cluster: m.log.Cluster, Node: nodeID(2), Shard: sh.ID, Term: m.shard().Term}
	require.Contains(t, m.exec(m.client(), "replconf", "cluster-peer", p.String()), "-TRYAGAIN")
	m.apply(topology.Promote{Shard: sh.ID, Term: m.shard().Term, Node: nodeID(2)})
	m.install()
	m.turn()
	require.Contains(t, m.replies(m.c), "UNCONFIRMED")
}

// TestSentinelsMasterWhileVacant tells clients of no master that is the last one again.
func TestSentinelsMasterWhileVacant(t *testing.T) {
	m := newMember(t, 3, nil)
	listens := m.listener()
	m.replaced(2)
	require.Contains(t, m.told(listens), "+switch-master mymaster 127.0.0.1 7000 127.0.0.1 7002")
	m.install()
	for _, line := range m.told(listens) {
		require.NotContains(t, line, "+switch-master")
	}
	m.apply(topology.Promote{Shard: m.shard().ID, Term: m.shard().Term, Node: nodeID(1)})
	m.install()
	require.Contains(t, m.told(listens), "+switch-master mymaster 127.0.0.1 7002 127.0.0.1 7001")
}
