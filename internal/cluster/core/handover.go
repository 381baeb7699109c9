package core

import "godwit/internal/cluster/topology"

// A master that is about to stop hands its shard over, so that nobody waits for a node timeout:
//
//	master     HandOver ──┐              applied: confirms nothing │ replica: stops
//	leader                ├─ chooses ─ Vacate ─────────┐     ┌─ Promote
//	replica                                            └ has everything ┘
//
// From Vacate on it is a failover as CLUSTER FAILOVER asks for it. The wish is the leader's, and
// gone with the leadership: the master asks again as long as it wants to stop. Keep comes from one
// that was told to go on. Messages may overtake each other, so only the last request counts.

// Refusals of HandOver.
const (
	errNoMaster    = "ERR The node is not the master of slots"
	errNoSuccessor = "ERR No replica follows the master with a complete copy of the data"
)

// hand takes HandOver and Keep of a master. It returns why it does not, "" if it does.
func (l *leader) hand(n *Node, from topology.NodeID, b *failoverBody) string {
	sh := n.state.ShardOf(from)
	if sh == nil || sh.Last != from || sh.Slots.Empty() {
		return errNoMaster
	}
	p := l.peer(from, n.state.Nodes[from].Raft)
	if b.req < p.handed {
		return ""
	}
	p.handed = b.req
	w := l.wishes[sh.ID]
	switch {
	case b.mode == Keep:
		if w != nil && w.given {
			delete(l.wishes, sh.ID)
		}
		return ""
	case w != nil && l.possible(n, sh, w):
		return ""
	}
	node := l.successor(n, sh)
	if node == "" {
		return errNoSuccessor
	}
	l.wishes[sh.ID] = &wish{node: node, mode: Graceful, until: n.now + b.limit, limit: b.limit,
		given: true}
	return ""
}

// successor returns the replica that takes over from a master that hands its shard over: of those
// that follow it, the one with the most data. It returns "" if there is none. The in-sync set does
// not matter, because the replica gets all that the master has.
func (l *leader) successor(n *Node, sh *topology.Shard) (best topology.NodeID) {
	for _, id := range n.state.Members(sh.ID) {
		if id == sh.Last || !l.candidate(n, sh, id, true) {
			continue
		}
		p := l.peers[id].local
		if !p.Whole || !p.Linked || p.Shard != sh.ID {
			continue
		}
		if best == "" || l.ahead(sh, id, best) {
			best = id
		}
	}
	return best
}
