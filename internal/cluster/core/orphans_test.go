package core

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

func testNode(i int) topology.NodeID { return topology.NodeID(fmt.Sprintf("%040d", i)) }

func testShard(i int) topology.ShardID { return topology.ShardID(fmt.Sprintf("%040d", 100+i)) }

// crowded returns the leader of a cluster with a shard of a master, node 0, and replicas, the nodes
// from 1 on, which all have all data and a link.
func crowded(t *testing.T, replicas int) (*Node, *leader) {
	s := &topology.State{}
	do := func(a topology.Action) {
		require.Empty(t, s.Apply(s.Index+1, topology.Op{Do: a}))
	}
	about := func(i int) topology.About {
		return topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7000 + i}}
	}
	do(topology.Init{Cluster: string(testNode(99)), Node: testNode(0), Shard: testShard(0),
		About: about(0), Timeout: 5000})
	do(topology.AddSlots{Node: testNode(0), Slots: slot.SetOf(slot.Range{First: 0, Last: 99})})
	n := &Node{now: 1e12, state: s}
	l := &leader{peers: map[topology.NodeID]*peer{}, wishes: map[topology.ShardID]*wish{}}
	for i := range replicas + 1 {
		if i > 0 {
			do(topology.Admit{Node: testNode(i), Shard: testShard(i), About: about(i)})
			do(topology.Replicate{Node: testNode(i), Master: testNode(0)})
		}
		l.peers[testNode(i)] = &peer{reached: n.now, local: Local{Whole: true, Linked: true,
			Shard: testShard(0), Term: 1}}
	}
	return n, l
}

// TestSpare asks which replica a shard can spare: none that it needs to confirm writes, and rather
// one that confirms none.
func TestSpare(t *testing.T) {
	for _, c := range []struct {
		replicas, confirm int
		inSync, cut       []int
		settled, want     int // 0: none
	}{
		{1, 0, nil, nil, 0, 0},
		{2, 0, nil, nil, 0, 1},
		{2, 0, nil, []int{2}, 0, 0},
		{3, 0, nil, []int{1}, 0, 2},
		{2, 1, []int{1, 2}, nil, 0, 1},
		{2, 1, []int{1}, nil, 0, 2},
		{2, 1, []int{2}, nil, 0, 1},
		{2, 1, []int{1}, []int{2}, 0, 0},
		{2, 1, nil, nil, 0, 0},
		{3, 1, []int{1}, []int{2}, 0, 3},
		{3, 1, []int{1, 2}, []int{2}, 3, 0},
		{3, 1, []int{1, 2}, nil, 3, 1},
		{3, 1, []int{2}, []int{2}, 0, 0},
		{3, 2, []int{1, 2}, nil, 0, 3},
		{3, 2, []int{1, 2}, []int{3}, 0, 0},
		{3, 2, []int{1}, nil, 0, 0},
		{3, 2, []int{1, 2, 3}, nil, 0, 1},
	} {
		n, l := crowded(t, c.replicas)
		var inSync []topology.NodeID
		for _, i := range c.inSync {
			inSync = append(inSync, testNode(i))
		}
		require.Empty(t, n.state.Apply(n.state.Index+1, topology.Op{Do: topology.SetInSync{
			Shard: testShard(0), Term: 1, Confirm: c.confirm, InSync: inSync,
			Seen: n.state.Index}}))
		for _, i := range c.cut {
			l.peers[testNode(i)].local.Linked = false
		}
		if c.settled > 0 {
			n.state.Nodes[testNode(c.settled)].About.Settled = true
		}
		want := topology.NodeID("")
		if c.want > 0 {
			want = testNode(c.want)
		}
		require.Equal(t, want, l.spare(n), "%+v", c)
	}
}
