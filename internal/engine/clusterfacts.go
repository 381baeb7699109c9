package engine

import "godwit/internal/cluster/topology"

// ClusterFacts returns what the runtime of the cluster knows beside the topology.
func (e *Engine) ClusterFacts() ClusterFacts {
	if e.Cluster == nil {
		return ClusterFacts{}
	}
	return e.Cluster.Facts()
}

// NodeOffset returns the place in the replication stream of its shard that a node has: of this one,
// of its replicas as they have told, and of its master as the stream tells. Of others it returns 0,
// since nodes tell nobody but the leader of the log where they are.
func (e *Engine) NodeOffset(n *topology.Node) int64 {
	m := e.repl.master
	switch {
	case n == e.cluster.self, m != nil && m.state == LinkConnected && e.cluster.shard != nil &&
		n.ID == e.cluster.shard.Last:
		return e.Feed.Offset()
	case m == nil:
		for _, r := range e.repl.replicas.list {
			if r.node == n.ID {
				return r.acked
			}
		}
	}
	return 0
}

// NodeHealth returns the word of CLUSTER SHARDS for a node: online, loading or fail.
func (e *Engine) NodeHealth(n *topology.Node) string {
	m := e.repl.master
	switch {
	case n.Failed:
		return "fail"
	case n == e.cluster.self && (e.loading.on || m != nil && m.client == nil):
		return "loading"
	}
	return "online"
}
