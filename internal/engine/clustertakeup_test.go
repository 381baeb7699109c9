package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/upstream"
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

// TestConfirmedWhenTakenUp confirms nothing in a new term before the log says that the master
// leads, whatever its replicas have: until then its promotion may be taken back.
func TestConfirmedWhenTakenUp(t *testing.T) {
	m, _ := confirming(t, nil)
	m.failOver(0)
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
	m.boot = 1
	m.failOver(0)
	m.pass(300)
	require.Empty(t, m.proposed)
}

// TestFullSynchronizationOfMember gives none before the log knows that the master leads. After it
// has begun, what the replica had acknowledged counts no more. One that goes on where it is loses
// nothing.
func TestFullSynchronizationOfMember(t *testing.T) {
	ask := func(m *member, at int64) string {
		c := m.client()
		m.say(c, 1, m.shard().Term)
		m.do(c, "replconf capa eof capa psync2")
		return m.do(c, fmt.Sprintf("psync %s %d", m.e.ReplID(), at))
	}
	m, replica := confirming(t, nil)
	require.Equal(t, "(held)", m.do(m.c, "set a 1"))
	before, far := m.e.Stats.SyncFull, m.e.ReplOffset()+1000
	require.Empty(t, ask(m, far))
	require.Equal(t, before+1, m.e.Stats.SyncFull)
	require.NotZero(t, replica.Conn.(*quietConn).closed, "an older link of its")
	m.ack(replica)
	m.pass(100)
	require.Equal(t, "(held)", m.replies(m.c), "its data is about to go")
	require.Empty(t, m.proposed, "nobody else has all writes")

	m, _ = confirming(t, nil)
	m.failOver(0)
	require.Contains(t, ask(m, m.e.ReplOffset()+1), "+CONTINUE")
	for _, need := range []int{0, 1} {
		m := newMember(t, 2, func(c *config.Config) { c.MinReplicasToAck = need })
		m.settle()
		m.failOver(0)
		before = m.e.Stats.SyncFull
		require.Contains(t, ask(m, far), "-TRYAGAIN", "it may not be taken up")
		require.Equal(t, before, m.e.Stats.SyncFull)
		m.settle()
		require.Empty(t, ask(m, far))
		require.Equal(t, before+1, m.e.Stats.SyncFull)
	}
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

// TestRefusedByPeer asks a node that knows another topology again soon, but not for ever, and at
// once when there is a new topology here.
func TestRefusedByPeer(t *testing.T) {
	m := newMember(t, 3, nil)
	attempts := 0
	m.e.LinkMaster = func(a *engine.LinkAttempt) {
		attempts++
		a.Failed(upstream.ErrPeer)
	}
	m.promote(nodeID(1))
	m.pass(1000)
	require.Greater(t, attempts, 5)
	for range 4 {
		m.pass(1000)
	}
	before := attempts
	for range 100 {
		m.pass(100)
	}
	require.Less(t, attempts-before, 12)
	m.pass(100)
	before = attempts
	m.apply(topology.SetFailed{Node: nodeID(2), Failed: true})
	m.install()
	m.pass(100)
	m.pass(100)
	require.Greater(t, attempts, before)
}
