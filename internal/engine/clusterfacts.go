package engine

import (
	"slices"

	"godwit/internal/cluster/topology"
)

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

// HasLink reports whether a replica has the link to its master. This node knows of itself and, as
// the master, of its replicas; others have it as long as they and the master have not failed. down
// is for how long this node has had no link, in ms, -1000 if it never had one.
func (e *Engine) HasLink(n *topology.Node) (up bool, down int64) {
	m := e.repl.master
	switch {
	case n == e.cluster.self && m != nil:
		if m.state == LinkConnected {
			return true, 0
		}
		if m.downSince == 0 {
			return false, -1000
		}
		return false, e.Steady() - m.downSince
	case n.Failed:
		return false, 0
	case e.cluster.role == topology.Master && n.Shard == e.cluster.shard.ID:
		return slices.ContainsFunc(e.repl.replicas.list, func(r *Replica) bool {
			return r.node == n.ID && r.State == ReplicaOnline
		}), 0
	}
	head := e.cluster.state.Nodes[e.cluster.state.ShardOf(n.ID).Last]
	return head != nil && !head.Failed, 0
}
