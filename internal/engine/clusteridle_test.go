package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/slot"
)

// TestConfirmIdle has replies wait for replicas unless the node is alone and owns no slots.
func TestConfirmIdle(t *testing.T) {
	confirm := func(c *config.Config) { c.MinReplicasToAck, c.MinReplicasAckTimeout = 1, 60_000 }
	for _, c := range []struct {
		name  string
		nodes int
		slots bool
		want  string
	}{
		{"alone", 1, false, "+OK"},
		{"alone with slots", 1, true, "(held)"},
		{"its replica is gone", 2, true, "(held)"},
		{"its replica is gone, no slots", 2, false, "(held)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMember(t, c.nodes, confirm)
			if !c.slots {
				m.apply(topology.DelSlots{Node: m.self, All: true})
				m.install()
			}
			require.Equal(t, c.want, m.do(m.client(), "function flush"))
		})
	}
	t.Run("gets a slot", func(t *testing.T) {
		m := newMember(t, 1, confirm)
		m.apply(topology.DelSlots{Node: m.self, All: true})
		m.install()
		require.Equal(t, "+OK", m.do(m.client(), "function flush"))
		var one slot.Set
		one.Add(0)
		m.apply(topology.AddSlots{Node: m.self, Slots: one})
		m.install()
		require.Equal(t, "(held)", m.do(m.client(), "function flush"))
	})
}
