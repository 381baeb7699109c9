package topology

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// cluster returns a state of so many nodes; edit changes each.
func cluster(t *testing.T, count int, edit func(i int, n *Node)) *State {
	s := start(t)
	for i := range count {
		if i > 0 {
			op := Op{Do: Admit{Node: nodeID(i), Shard: shardID(i)}}
			require.Empty(t, s.Apply(s.Index+1, op))
		}
		edit(i, s.editNode(nodeID(i)))
	}
	return s
}

func none(NodeID) bool { return false }

// TestVoters holds the policy against what operators would expect.
func TestVoters(t *testing.T) {
	for nodes, want := range map[int]int{1: 1, 2: 1, 3: 3, 4: 3, 6: 5, 7: 7, 30: 7} {
		s := cluster(t, nodes, func(int, *Node) {})
		require.Len(t, s.Voters(nil, none), want)
	}
	t.Run("spread", func(t *testing.T) {
		s := cluster(t, 9, func(i int, n *Node) {
			n.About.Zone = string(rune('a' + i/3))
			n.About.IP = fmt.Sprint("10.0.0.", i/2)
		})
		zones := map[string]int{}
		for _, id := range s.Voters(nil, none) {
			zones[s.Nodes[id].About.Zone]++
		}
		require.Len(t, zones, 3)
		for _, n := range zones {
			require.GreaterOrEqual(t, n, 2)
		}
	})
	t.Run("gone", func(t *testing.T) {
		s := cluster(t, 4, func(int, *Node) {})
		now := s.Voters(nil, none)
		gone := func(id NodeID) bool { return id == now[0] }
		require.NotContains(t, s.Voters(now, gone), now[0])
		s = cluster(t, 3, func(int, *Node) {}) // nobody can take its place
		require.Equal(t, now, s.Voters(now, gone))
	})
	t.Run("wishes", func(t *testing.T) {
		s := cluster(t, 9, func(i int, n *Node) {
			if i < 2 {
				n.Vote = VoteNever
			} else if i == 8 {
				n.Vote = VoteAlways
			}
		})
		now := s.Voters([]NodeID{nodeID(0), nodeID(1), nodeID(2)}, none)
		require.Len(t, now, 7)
		require.Contains(t, now, nodeID(8))
		require.NotContains(t, now, nodeID(0))
	})
}

// TestVotersSettle changes clusters at random. The choice neither goes on when nothing changes, nor
// depends on anything but its arguments, and is worse than no other set that differs in one node.
func TestVotersSettle(t *testing.T) {
	rng := testseed.Rand(t)
	for range 60 {
		down := map[NodeID]bool{}
		s := cluster(t, 1+rng.IntN(12), func(i int, n *Node) {
			n.About.Zone = string(rune('a' + rng.IntN(3)))
			n.About.IP = fmt.Sprint("10.0.0.", rng.IntN(4))
			n.Vote = []Vote{VoteAuto, VoteAuto, VoteAuto, VoteAlways, VoteNever}[rng.IntN(5)]
			down[n.ID] = rng.IntN(4) == 0
		})
		gone := func(id NodeID) bool { return down[id] }
		var old []NodeID
		for _, id := range s.NodeIDs() {
			if rng.IntN(2) == 0 {
				old = append(old, id)
			}
		}
		now := s.Voters(old, gone)
		require.Equal(t, now, s.Voters(old, gone))
		require.Equal(t, now, s.Voters(now, gone))
	}
}
