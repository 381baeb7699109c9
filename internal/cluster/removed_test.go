package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
)

// forget has the cluster of m remove another node.
func (m *member) forget(t *testing.T, other *member) {
	t.Helper()
	id := other.Status().ID
	require.Empty(t, await(t, func(done func(string)) {
		m.Propose(topology.Op{Do: topology.Forget{Node: id}}, done)
	}))
}

// alone waits until the node is alone, and reports whether its keys are a copy.
func (m *member) alone(t *testing.T) bool {
	t.Helper()
	eventually(t, "it is alone", func() bool {
		s := m.installed()
		return s != nil && len(s.Nodes) == 1
	})
	s := m.installed()
	return s.Shards[s.ShardIDs()[0]].Copy
}

// follow makes the node a replica of another one.
func (m *member) follow(t *testing.T, master *member) {
	t.Helper()
	id := m.Status().ID
	require.Empty(t, await(t, func(done func(string)) {
		m.Propose(topology.Op{Do: topology.Replicate{Node: id, Master: master.Status().ID}}, done)
	}))
	eventually(t, "it is a replica", func() bool {
		return m.installed().ShardOf(id).Master != id
	})
}

// TestRemovedCopy removes a replica, which knows then, also after a restart, that its keys are a
// copy. A master does not, nor does a replica that was removed while it was down.
func TestRemovedCopy(t *testing.T) {
	t.Parallel()
	list := form(t, 4)
	i := leader(t, list)
	at, rest := list[i], without(list, i)
	replica, master, down := rest[0], rest[1], rest[2]
	replica.follow(t, at)
	down.follow(t, at)

	at.forget(t, replica)
	require.True(t, replica.alone(t))
	replica.Close()
	replica.Install(nil, "")
	replica.start(t)
	require.True(t, replica.alone(t))

	down.Close()
	at.forget(t, down)
	down.start(t)
	require.False(t, down.alone(t))

	at.forget(t, master)
	require.False(t, master.alone(t))
}
