package cluster

import (
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
	"godwit/internal/logging"
)

// news writes to the log what has changed in the cluster, in Redis's words where it has some.
type news struct {
	log    *logging.Logger
	last   *topology.State
	leader topology.NodeID
	since  int64 // since when the node hears of no majority; 0: it does
	quiet  bool  // the node has said so
	down   bool
	begun  bool // it has heard of one
}

// describe returns how to speak of a node.
func describe(n *topology.Node) string {
	a := busAddr(n.About.Address)
	if n.About.Name != "" {
		a = n.About.Name
	}
	return string(n.ID) + " (" + a + ")"
}

// state compares a new state with the last one.
func (n *news) state(s *topology.State, self topology.NodeID) {
	old := n.last
	n.last = s
	switch {
	case old == nil:
		return
	case old.Cluster != s.Cluster:
		n.log.Notice("This node is in the cluster %s now, of %d nodes", s.Cluster, len(s.Nodes))
		return
	}
	for id, node := range s.Nodes {
		before := old.Nodes[id]
		switch {
		case before == nil:
			n.log.Notice("Node %s has joined the cluster", describe(node))
		case node.Failed && !before.Failed:
			n.log.Notice("Marking node %s as failing: the leader has not heard of it",
				describe(node))
		case before.Failed && !node.Failed:
			n.log.Notice("Clear FAIL state for node %s: it is reachable again", describe(node))
		}
	}
	for id, node := range old.Nodes {
		if s.Nodes[id] == nil {
			n.log.Notice("Node %s has left the cluster", describe(node))
		}
	}
	for id, shard := range s.Shards {
		if before := old.Shards[id]; before != nil {
			n.shard(s, before, shard)
		}
	}
}

// shard compares a shard with what it was.
func (n *news) shard(s *topology.State, before, shard *topology.Shard) {
	switch {
	case shard.Master == before.Master:
	case shard.Master == "":
		n.log.Notice("Shard %s has no master until one is chosen; it was node %s", shard.ID,
			before.Master)
	case s.Nodes[shard.Master] != nil:
		n.log.Notice("Node %s is the master of shard %s now (term %d, epoch %d, slots %s)",
			describe(s.Nodes[shard.Master]), shard.ID, shard.Term, shard.Epoch,
			shard.Slots.String())
	}
}

// deafParts is how long a node hears of no majority before it says so, as a part of the node
// timeout: elections are shorter.
const deafParts = 2

// status compares where the node is in the Raft group with where it was. hears says that it hears
// of a majority, at the time now, in ns as timeout.
func (n *news) status(s *core.Status, hears bool, now, timeout int64) {
	if s.Role == "down" {
		if !n.down {
			n.down = true
			n.log.Warning("This node takes part in the cluster no more, and confirms no writes: "+
				"%s. Restart it when the cause is gone", s.Down)
		}
		return
	}
	switch {
	case hears:
		n.since = 0
		if n.quiet {
			n.quiet = false
			n.log.Notice("This node hears of a majority of the cluster's voters again")
		}
	case n.since == 0:
		n.since = now
	case n.begun && !n.quiet && now-n.since > timeout/deafParts:
		n.quiet = true
		n.log.Warning("This node does not hear of a majority of the cluster's voters: it " +
			"confirms no writes once its lease is over")
	}
	n.begun = n.begun || hears
	if s.Leader == n.leader || s.Leader == "" {
		return
	}
	n.leader = s.Leader
	if s.Leader == s.ID {
		n.log.Notice("This node leads the cluster's log now (term %d)", s.Term)
	} else {
		n.log.Notice("Node %s leads the cluster's log now (term %d)", s.Leader, s.Term)
	}
}
