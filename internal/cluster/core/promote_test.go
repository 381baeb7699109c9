package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
)

// TestStartedAnew has a node start again. What its former life has heard does not count, but it has
// time to hear the leader before it counts as failed.
func TestStartedAnew(t *testing.T) {
	n, l := crowded(t, 1)
	id := testNode(1)
	raft := n.state.Nodes[id].Raft
	l.term, l.peers[id].raft, l.peers[id].boot = 7, raft, 1
	require.True(t, l.hears(n, id))
	l.pinged(n, id, &ping{raft: raft, boot: 2, at: 1})
	require.False(t, l.hears(n, id))
	require.False(t, l.silent(n, id))
	l.pinged(n, id, &ping{raft: raft, boot: 2, at: 2, term: 7, silence: 1})
	require.True(t, l.hears(n, id))
}

// TestBest asks who takes over a shard whose master, node 0, and replica, node 1, both started
// anew: by whose files the data is.
func TestBest(t *testing.T) {
	own, other, unnamed := testShard(0), testShard(1), topology.ShardID("")
	none := Local{} // no data at all
	for _, c := range []struct {
		what            string
		master, replica Local
		gone            bool // the replica is not heard
		left            bool // the master has left the cluster
		want            topology.NodeID
	}{
		{"the later term", Local{Shard: own, Term: 1, Offset: 9, Whole: true},
			Local{Shard: own, Term: 2, Offset: 1, Whole: true}, false, false, testNode(1)},
		{"the higher offset", Local{Shard: own, Term: 2, Offset: 1, Whole: true},
			Local{Shard: own, Term: 2, Offset: 2, Whole: true}, false, false, testNode(1)},
		{"the last master among equals", Local{Shard: own, Term: 2, Offset: 2, Whole: true},
			Local{Shard: own, Term: 2, Offset: 2, Whole: true}, false, false, testNode(0)},
		{"this shard's data", Local{Shard: other, Term: 7, Offset: 9, Whole: true},
			Local{Shard: own, Term: 1, Offset: 1, Whole: true}, false, false, testNode(1)},
		{"data that may be this shard's", Local{Shard: other, Term: 7, Offset: 9, Whole: true},
			Local{Shard: unnamed, Whole: true}, false, false, testNode(1)},
		{"the last master when there is no data", Local{Shard: other, Term: 7, Whole: true},
			none, false, false, testNode(0)},
		{"nobody while the replica may have some", Local{Shard: other, Term: 7, Whole: true},
			none, true, false, ""},
		{"the last master without names", Local{Shard: unnamed, Whole: true}, none, false,
			false, testNode(0)},
		{"nobody with another shard's data only", none,
			Local{Shard: other, Term: 7, Whole: true}, false, false, testNode(0)},
		{"another shard's data when the last master is gone for good", none,
			Local{Shard: other, Term: 7, Whole: true}, false, true, testNode(1)},
	} {
		n, l := crowded(t, 1)
		require.Empty(t, n.state.Apply(n.state.Index+1,
			topology.Op{Do: topology.Vacate{Shard: own, Term: 1}}))
		l.peers[testNode(0)].local, l.peers[testNode(1)].local = c.master, c.replica
		if c.left {
			require.Empty(t, n.state.Apply(n.state.Index+1,
				topology.Op{Do: topology.Leave{Node: testNode(0)}}))
		}
		if c.gone {
			l.peers[testNode(1)].reached = 0
		}
		require.Equal(t, c.want, l.best(n, n.state.Shards[own]), c.what)
	}
}

// TestEnding has a replica be about to end. It is not promoted, but its data count: nobody may be
// promoted who would not be if it were away for a moment.
func TestEnding(t *testing.T) {
	for _, c := range []struct {
		what   string
		inSync []topology.NodeID // nil: no replica must confirm anything
		bare   bool              // the other replica has no data
		want   topology.NodeID
	}{
		{"the other one has less", nil, false, testNode(2)},
		{"the other one has no data", nil, true, ""},
		{"both have all confirmed writes", []topology.NodeID{testNode(1), testNode(2)}, false,
			testNode(2)},
		{"the other one may lack some", []topology.NodeID{testNode(1)}, false, ""},
	} {
		n, l := crowded(t, 2)
		sh := func() *topology.Shard { return n.state.Shards[testShard(0)] }
		if c.inSync != nil {
			require.Empty(t, n.state.Apply(n.state.Index+1, topology.Op{Do: topology.SetInSync{
				Shard: testShard(0), Term: 1, Confirm: 1, InSync: c.inSync, Seen: n.state.Index}}))
		}
		first := l.peers[testNode(1)]
		first.local.Offset = 9
		require.Equal(t, testNode(1), l.successor(n, sh()), c.what)
		require.NotEmpty(t, l.spare(n), c.what)
		first.local.Ends = true
		require.Empty(t, l.spare(n), "%s: only one stays", c.what)
		l.peers[testNode(2)].local.Whole = !c.bare
		if next := l.successor(n, sh()); c.bare {
			require.Empty(t, next, c.what)
		} else {
			require.Equal(t, testNode(2), next, c.what)
		}
		require.Equal(t, errEnds, l.wish(n, testNode(1), &failoverBody{1, Takeover, 5}), c.what)
		l.peers[testNode(0)].reached = 0
		require.Empty(t, n.state.Apply(n.state.Index+1,
			topology.Op{Do: topology.Vacate{Shard: testShard(0), Term: 1}}))
		require.Equal(t, c.want, l.best(n, sh()), c.what)
		first.local.Ends = false
		require.Equal(t, testNode(1), l.best(n, sh()), c.what)
	}
}

// TestKeep wants a HandOver that was taken back not to be sent any more, by whoever leads next.
func TestKeep(t *testing.T) {
	n, _ := crowded(t, 1)
	refusal := ""
	n.failover(HandOver, 1, func(text string) { refusal = text })
	n.request(topology.Op{Do: topology.Leave{Node: testNode(1)}}, nil)
	n.failover(Keep, 0, nil)
	for _, a := range n.out.Answers {
		a.Done(a.Refusal)
	}
	require.Equal(t, errKept, refusal)
	require.Len(t, n.requests.open, 2)
	require.Equal(t, Keep, n.requests.open[1].mode)
	n.failover(HandOver, 1, nil)
	require.Len(t, n.requests.open, 3, "it stops after all")
}

// TestLastLeftAndBack has the last master leave its shard and come back, while another one was
// promoted that dies before it takes that up. What it has is another shard's, so nobody waits for
// it.
func TestLastLeftAndBack(t *testing.T) {
	n, l := crowded(t, 1)
	own := testShard(0)
	for _, a := range []topology.Action{
		topology.SetInSync{Shard: own, Term: 1, Confirm: 1, InSync: []topology.NodeID{testNode(1)},
			Seen: n.state.Index},
		topology.Vacate{Shard: own, Term: 1},
		topology.Promote{Shard: own, Term: 1, Node: testNode(1)},
		topology.Replicate{Node: testNode(0), Shard: testShard(5)},
		topology.Replicate{Node: testNode(0), Master: testNode(1)},
		topology.Started{Node: testNode(1), Boot: 9},
	} {
		require.Empty(t, n.state.Apply(n.state.Index+1, topology.Op{Do: a}))
	}
	l.peers[testNode(0)].local = Local{Whole: true, Shard: testShard(5), Term: 1}
	l.peers[testNode(1)].boot = 9
	l.peers[testNode(1)].local = Local{Whole: true, Shard: own, Term: 1, Offset: 100}
	require.Equal(t, testNode(1), l.best(n, n.state.Shards[own]))
}

// TestHeardButFailed waits for a node that is back and still counts as failed: it may be the one
// with the data.
func TestHeardButFailed(t *testing.T) {
	n, l := crowded(t, 1)
	do := func(a topology.Action) {
		require.Empty(t, n.state.Apply(n.state.Index+1, topology.Op{Do: a}))
	}
	do(topology.Vacate{Shard: testShard(0), Term: 1})
	heard := func() bool { return l.heardAll(n, n.state.Shards[testShard(0)]) }
	require.True(t, heard())
	do(topology.SetFailed{Node: testNode(1), Failed: true})
	require.False(t, heard())
	l.peers[testNode(1)].reached = 0
	require.True(t, heard())
	do(topology.SetFailed{Node: testNode(1)})
	require.False(t, heard())
}
