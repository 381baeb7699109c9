package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// eachTool runs a test with each kind of server and each of the programs that manage clusters.
func eachTool(t *testing.T, test func(t *testing.T, k testserver.Kind, l tool)) {
	each(t, func(t *testing.T, k testserver.Kind) {
		for _, l := range tools(t) {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				test(t, k, l)
			})
		}
	})
}

// stage starts a cluster for the tool.
func stage(t *testing.T, l tool, o testserver.ClusterOptions) *scene {
	o.Timeout = 5 * time.Second // a lease that ends on a busy machine is an error for writers
	s := &scene{tool: l, Cluster: testserver.RunCluster(t, o)}
	s.at = s.Nodes[0].Addr
	return s
}

// addReplica has the tool make a spare server a replica of the first master, and waits for it.
func (s *scene) addReplica(t *testing.T, n *testserver.Node) {
	t.Helper()
	s.run(t, "add-node", n.Addr, s.at, "--cluster-"+s.word("slave", "replica"),
		"--cluster-"+s.word("master", "primary")+"-id", s.Nodes[0].ID)
	require.NoError(t, s.WaitView("joined", func(v testserver.View) bool {
		l := v.Find(n.ID)
		return l != nil && l.Master == s.Nodes[0].ID
	}, append(s.members(), n)...))
	require.NoError(t, n.WaitLink())
}

// members returns the nodes that are no spares.
func (s *scene) members() []*testserver.Node {
	return slices.Clone(s.Nodes[:len(s.Nodes)-s.Options.Spares])
}

// TestAddNodeConfirming adds nodes to a cluster whose replies wait for replicas. The tools write to
// the new node before it joins, when nobody can confirm that.
func TestAddNodeConfirming(t *testing.T) {
	eachTool(t, func(t *testing.T, k testserver.Kind, l tool) {
		if k != testserver.Godwit {
			t.Skip("replies wait for nobody")
		}
		s := stage(t, l, testserver.ClusterOptions{Kind: k, Masters: 1, Replicas: 1, Spares: 2,
			Args: []string{"--min-replicas-to-ack", "1"}})
		v, err := s.Nodes[0].Do("FUNCTION", "LOAD",
			"#!lua name=lib\nredis.register_function('f', function() return 1 end)")
		require.NoError(t, err)
		require.Equal(t, "lib", v.Text())
		s.run(t, "add-node", s.Nodes[2].Addr, s.at)
		s.addReplica(t, s.Nodes[3])
		v, err = s.Nodes[2].Do("FCALL", "f", 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, v.Int)
	})
}

// TestDelReplica takes a replica with keys out of the cluster and adds it again. What it has is a
// copy, so the tool may empty it, and does.
func TestDelReplica(t *testing.T) {
	eachTool(t, func(t *testing.T, k testserver.Kind, l tool) {
		s := stage(t, l, testserver.ClusterOptions{Kind: k, Masters: 3, Spares: 1})
		replica := s.Nodes[3]
		client := connect(t, s.Cluster, nil)
		rounds := 2
		if k != testserver.Godwit {
			rounds = 1 // what was forgotten may not come back for a minute
		}
		for range rounds {
			s.addReplica(t, replica)
			for i := range 30 {
				require.NoError(t, client.Set(t.Context(), fmt.Sprint("key", i), i, 0).Err())
			}
			require.NoError(t, s.Nodes[0].WaitSame(replica.Server))
			s.run(t, "del-node", s.at, replica.ID)
			v, err := replica.Do("DBSIZE")
			require.NoError(t, err)
			require.Zero(t, v.Int)
			v, err = s.Nodes[0].Do("DBSIZE")
			require.NoError(t, err)
			require.NotZero(t, v.Int)
		}
	})
}
