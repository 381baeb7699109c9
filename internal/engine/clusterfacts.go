package engine

import "godwit/internal/cluster/topology"

// ClusterFacts returns what the runtime of the cluster knows beside the topology.
func (e *Engine) ClusterFacts() ClusterFacts {
	if e.Cluster == nil {
		return ClusterFacts{}
	}
	return e.Cluster.Facts()
}

// NodeOffset returns the place in the replication stream of its shard that a node has, as far as
// this one knows, 0 if it does not.
func (e *Engine) NodeOffset(n *topology.Node) int64 {
	switch {
	case n == e.cluster.self:
		return e.Feed.Offset()
	case e.cluster.role == topology.Master && n.Shard == e.cluster.shard.ID:
		if r := e.replicaAt(n.About.IP, n.About.Port); r != nil {
			return r.acked
		}
	}
	return e.ClusterFacts().Offsets[n.ID]
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
