package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// TestWindow opens more requests for entries than a node sends. The others wait until the oldest
// one is done with: sent again, it would not be known any more.
func TestWindow(t *testing.T) {
	n, _ := crowded(t, 1)
	n.meta.Node, n.meta.Boot = testNode(1), 3
	n.names, n.leads = map[uint64]topology.NodeID{7: testNode(0)}, 7
	var refusals []string
	for range topology.Window + 8 {
		n.request(topology.Op{Do: topology.Bump{Node: testNode(1)}}, nil).then = func(r string) {
			refusals = append(refusals, r)
		}
	}
	sent := func() int { n.serveRequests(); return len(n.out.Messages) }
	require.Equal(t, topology.Window, sent())
	require.Equal(t, topology.Window, sent())
	for i := range 2 * topology.Window { // of another kind, which are not remembered
		n.failover(Graceful, 0, func(string) {})
		require.Equal(t, topology.Window+1, sent())
		n.out.Messages = n.out.Messages[:topology.Window]
		n.requests.finish(n, testNode(1), n.requests.last|3<<32, "")
		require.Len(t, n.requests.open, topology.Window+8, i)
	}
	finish := func(i int) { n.requests.finish(n, testNode(1), n.requests.open[i].req, "") }
	finish(1)
	require.Equal(t, topology.Window, sent())
	finish(0)
	require.Equal(t, topology.Window+2, sent())
	require.Len(t, refusals, 2)

	n.now += 2*n.timeout() - 1 // those that wait have time as long as others are answered
	for range topology.Window {
		finish(0)
	}
	n.now += n.timeout()
	n.serveRequests()
	require.NotContains(t, refusals, errNoLeader)
	n.now += 2 * n.timeout()
	n.serveRequests()
	require.Empty(t, n.requests.open)
	require.Contains(t, refusals, errNoLeader)

	n.leads = 0
	n.request(topology.Op{Do: topology.Bump{Node: testNode(1)}}, nil).then = func(r string) {
		refusals = append(refusals, r)
	}
	n.now += 2 * n.timeout()
	n.serveRequests()
	require.Equal(t, errNotSent, refusals[len(refusals)-1])
}

// countingDisk counts how often something is saved.
type countingDisk struct {
	memDisk
	saves int
}

func (d *countingDisk) Save(b Batch) error {
	d.saves++
	return d.memDisk.Save(b)
}

// TestBurst has many requests wait for the leader. It saves them at once.
func TestBurst(t *testing.T) {
	d := &countingDisk{}
	s := single(t, d)
	s.Node.cfg.SnapshotEvery = 1000
	before, applied := d.saves, s.State().Index
	for i := range 100 {
		var do topology.Action = topology.Bump{Node: s.ID()}
		if i%2 == 0 { // a grant
			do = topology.AddSlots{Node: s.ID(), Slots: slot.SetOf(slot.Range{First: i, Last: i})}
		}
		op := topology.Op{By: s.ID(), Do: do}
		s.lead.queue = append(s.lead.queue, op)
	}
	s.lead.requests(s.Node)
	require.EqualValues(t, applied+100, s.applied())
	require.LessOrEqual(t, d.saves-before, 2)
}
