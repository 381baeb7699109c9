package core

import (
	"slices"

	"godwit/internal/cluster/topology"
)

// orphanTime is how long a master must have been without its replicas before it gets one of another
// shard, in nanoseconds: what Redis has. A replica that starts anew is back sooner.
const orphanTime Time = 5e9

// adopt gives a master that has lost all its replicas one of the shard that has most (replica
// migration). A shard that never had any is left alone.
func (l *leader) adopt(n *Node) {
	for _, id := range n.state.ShardIDs() {
		sh := n.state.Shards[id]
		if !l.orphan(n, sh) {
			delete(l.alone, id)
			continue
		}
		since, ok := l.alone[id]
		if !ok {
			since, l.alone[id] = n.now, n.now
		}
		if n.now-since < orphanTime {
			continue
		}
		// One at a time: the next is chosen when this one counts.
		if r := l.spare(n); r != "" && l.once(n, "adopt") {
			n.cfg.Log("Migrating replica " + string(r) + " to orphaned master " + string(sh.Master))
			l.propose(n, topology.Op{Do: topology.Replicate{Node: r, Master: sh.Master,
				Spared: true}})
			return
		}
	}
}

// orphan reports whether the shard has a master that works and none of the replicas that it had.
func (l *leader) orphan(n *Node, sh *topology.Shard) bool {
	if !sh.Replicated || sh.Slots.Empty() || sh.Master == "" || !l.hears(n, sh.Master) {
		return false
	}
	return !slices.ContainsFunc(n.state.Members(sh.ID), func(id topology.NodeID) bool {
		return id != sh.Master && !n.state.Nodes[id].Failed
	})
}

// spare returns the replica that may go to another shard: one of the shard that has most with all
// data and a link to their master. It returns "" if no shard can spare one.
func (l *leader) spare(n *Node) (spare topology.NodeID) {
	most := 1 // one must stay
	for _, id := range n.state.ShardIDs() {
		sh := n.state.Shards[id]
		if sh.Master == "" || !l.hears(n, sh.Master) || l.wishes[id] != nil {
			continue
		}
		var list []topology.NodeID
		for _, o := range n.state.Members(id) {
			if o == sh.Master || n.state.Nodes[o].Failed || !l.hears(n, o) {
				continue
			}
			if p := &l.peers[o].local; p.Whole && p.Linked && !p.Ends && p.Shard == id {
				list = append(list, o)
			}
		}
		if len(list) <= max(most, sh.Confirm) {
			continue
		}
		if o := l.sparedOf(n, sh, list); o != "" {
			most, spare = len(list), o
		}
	}
	return spare
}

// sparedOf returns the replica of a list that its shard misses least: one outside the in-sync set
// if there is one, else one without which as many of the list confirm writes as must. Among equals
// the lowest id comes first. It returns "" if none may go.
func (l *leader) sparedOf(
	n *Node, sh *topology.Shard, list []topology.NodeID,
) (spare topology.NodeID) {
	confirm := 0
	for _, o := range list {
		if slices.Contains(sh.InSync, o) {
			confirm++
		}
	}
	for _, o := range list {
		about := &n.state.Nodes[o].About
		switch inSync := slices.Contains(sh.InSync, o); {
		case about.Settled, about.Barrier >= len(list), !sh.Spares(o):
		case sh.Confirm == 0, !inSync && confirm >= sh.Confirm:
			return o
		case spare == "" && inSync && confirm > sh.Confirm:
			spare = o
		}
	}
	return spare
}
