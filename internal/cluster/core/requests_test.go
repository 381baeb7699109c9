package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
)

// TestWindow opens more requests than the state remembers. Those beyond that wait until the oldest
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
	for range 100 {
		op := topology.Op{By: s.ID(), Do: topology.Bump{Node: s.ID()}}
		s.lead.queue = append(s.lead.queue, op)
	}
	s.lead.requests(s.Node)
	require.EqualValues(t, applied+100, s.applied())
	require.LessOrEqual(t, d.saves-before, 2)
}
