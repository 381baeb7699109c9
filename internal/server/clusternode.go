package server

import (
	"time"

	"godwit/internal/cluster"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
)

// clusterNode implements engine.ClusterNode for a server. Its methods are called with the executor
// held.
type clusterNode struct {
	*Server
	node *cluster.Runtime
}

// Propose implements engine.ClusterNode.
func (n clusterNode) Propose(op topology.Op, done func(refusal string)) { n.node.Propose(op, done) }

// Meet implements engine.ClusterNode.
func (n clusterNode) Meet(host string, port, bus int, done func(refusal string)) {
	n.node.Meet(topology.Address{IP: host, Port: port, BusPort: bus}, done)
}

// Failover implements engine.ClusterNode.
func (n clusterNode) Failover(mode engine.FailoverMode, done func(refusal string)) {
	limit := time.Duration(n.eng.Cfg.Cluster.FailoverTimeout) * time.Millisecond
	n.node.Failover(map[engine.FailoverMode]core.FailoverMode{
		engine.FailoverGraceful: core.Graceful, engine.FailoverForce: core.Force,
		engine.FailoverTakeover: core.Takeover}[mode], limit, done)
}

// HandOver implements engine.ClusterNode.
func (n clusterNode) HandOver(limit time.Duration, done func(refusal string)) {
	n.node.Failover(core.HandOver, limit, done)
}

// Keep implements engine.ClusterNode.
func (n clusterNode) Keep() { n.node.Failover(core.Keep, 0, nil) }

// Report implements engine.ClusterNode.
func (n clusterNode) Report() { n.node.Report() }

// Reset makes the node leave its cluster (CLUSTER RESET), and with hard forget its id.
func (n clusterNode) Reset(hard bool, done func(refusal string)) { n.node.Reset(hard, done) }

// Lease implements engine.ClusterNode.
func (n clusterNode) Lease() int64 { return n.node.Lease() }

// Boot implements engine.ClusterNode.
func (n clusterNode) Boot() uint64 { return n.node.Status().Boot }

// Hears implements engine.ClusterNode.
func (n clusterNode) Hears() bool { return n.node.Hears() }

// Broadcast implements engine.ClusterNode.
func (n clusterNode) Broadcast(kind engine.MessageKind, channel, message []byte) {
	to := cluster.Everyone
	if kind == engine.MessageToShard {
		to = cluster.Shard
	}
	n.node.Broadcast(to, channel, message)
}

// Facts implements engine.ClusterNode.
func (n clusterNode) Facts() engine.ClusterFacts {
	s, stats := n.node.Status(), n.node.Stats()
	f := engine.ClusterFacts{Raft: engine.RaftFacts{Role: s.Role, Term: s.Term, Leader: s.Leader,
		Commit: s.Commit, Applied: s.Applied, Voters: s.Voters, LogEntries: int64(s.Entries)},
		Sent: map[string]int64{}, Received: map[string]int64{},
		LimitExceeded: int64(stats.Bus.Full)}
	for name, count := range stats.Sent {
		f.Sent[name] = int64(count)
	}
	for name, count := range stats.Received {
		f.Received[name] = int64(count)
	}
	links := n.node.Links()
	heard := map[string]int64{} // by node, on any link, unix ns
	for _, l := range links {
		heard[l.Node] = max(heard[l.Node], l.Heard)
	}
	for _, l := range links {
		f.Links = append(f.Links, engine.LinkFacts{To: l.Outgoing,
			Node: topology.NodeID(l.Node), Created: l.Created.UnixMilli(),
			Heard: heard[l.Node] / 1e6, Readable: true, Writable: l.Outgoing && l.Queued > 0,
			Queued: l.Queued, Buffer: l.Allocated})
	}
	return f
}
