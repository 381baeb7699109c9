package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
)

// confirming makes a member whose replies wait for a replica, which is in sync.
func confirming(t *testing.T, edit func(c *config.Config)) (m *member, replica *engine.Client) {
	m = newMember(t, 2, func(c *config.Config) {
		c.MinReplicasToAck, c.MinReplicasAckTimeout = 1, 60_000
		if edit != nil {
			edit(c)
		}
	})
	replica = m.join(1)
	m.ack(replica)
	m.pass(100)
	m.settle()
	return m, replica
}

// failOver makes a node the master of the shard, which is revoked unless it has been.
func (m *member) failOver(to int) {
	sh := m.shard()
	if sh.Master != "" {
		m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	}
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(to)})
	m.install()
	m.turn()
}

// TestLeaseOfErrors has clients told what a failover means for commands that were under way. Such
// replies confirm nothing, so they leave without a lease.
func TestLeaseOfErrors(t *testing.T) {
	m, _ := confirming(t, nil)
	popper, writer := m.client(), m.client()
	m.do(popper, "blpop l 0")
	require.False(t, popper.Leased)
	require.Equal(t, "(held)", m.do(writer, "set a 1"))
	m.failOver(1)
	require.Contains(t, m.replies(popper), "-MOVED")
	require.False(t, popper.Leased)
	require.Contains(t, m.replies(writer), "-UNCONFIRMED Applied here")
	require.False(t, writer.Leased)
}

// TestLeaseOfPops wants what a blocked client gets in the end to need a lease.
func TestLeaseOfPops(t *testing.T) {
	m := newMember(t, 2, nil)
	popper := m.client()
	m.do(popper, "blpop l 0")
	m.do(m.c, "rpush l x")
	require.Contains(t, m.replies(popper), "$1\r\nx")
	require.True(t, popper.Leased)
}

// TestLeaseOfConfirmed acknowledges a write after its master was revoked. All have it that may be
// promoted, so its client is told.
func TestLeaseOfConfirmed(t *testing.T) {
	m, replica := confirming(t, nil)
	require.Equal(t, "(held)", m.do(m.c, "set a 1"))
	m.apply(topology.Vacate{Shard: m.shard().ID, Term: 1})
	m.install()
	m.ack(replica)
	require.Equal(t, "+OK", m.replies(m.c))
	require.False(t, m.c.Leased)
}

// TestLeaseOfHeldReads holds a read that ran when the lease was over, behind one that ran before.
func TestLeaseOfHeldReads(t *testing.T) {
	m, replica := confirming(t, func(c *config.Config) { c.MinReplicasAckReads = true })
	early, late, other := m.client(), m.client(), m.client()
	m.do(m.c, "set a 1")
	m.do(other, "set b 1")
	require.Equal(t, "(held)", m.do(early, "get a"))
	m.lease = 0 // the process was stopped in the middle of a turn
	require.Equal(t, "(held)", m.do(late, "get a"))
	require.Equal(t, "(held)", m.do(other, "get c"), "behind a write")
	m.ack(replica)
	for c, leased := range map[*engine.Client]bool{early: false, late: true, other: true} {
		require.NotEqual(t, "(held)", m.replies(c))
		require.Equal(t, leased, c.Leased)
	}
}

// TestLeaseWithoutConfirm turns min-replicas-to-ack off while a reply waits: then it is worth what
// others are worth.
func TestLeaseWithoutConfirm(t *testing.T) {
	m, _ := confirming(t, nil)
	require.Equal(t, "(held)", m.do(m.c, "set a 1"))
	require.Equal(t, "+OK", m.do(m.client(), "config set min-replicas-to-ack 0"))
	require.Equal(t, "+OK", m.replies(m.c))
	require.True(t, m.c.Leased)
}
