package core

import (
	"cmp"
	"slices"

	"godwit/internal/cluster/topology"
)

// wish is a failover that was asked for.
type wish struct {
	node  topology.NodeID
	mode  FailoverMode
	until Time // then it is given up, and the old master is promoted again
	limit Time // how long that was from the beginning
	given bool // by the master: see HandOver
}

// Refusals of CLUSTER FAILOVER.
const (
	errOnReplica  = "ERR You should send CLUSTER FAILOVER to a replica"
	errMasterDown = "ERR Master is down or failed, please use CLUSTER FAILOVER FORCE"
	errNoData     = "ERR The replica has no complete copy of the data"
	errEnds       = "ERR The replica is shutting down"
	errNotInSync  = "ERR The replica may lack writes that were acknowledged, only TAKEOVER" +
		" promotes it"
)

// failover takes the wish of a replica.
func (l *leader) failover(n *Node, from topology.NodeID, b *failoverBody) {
	if l == nil || !l.ready(n) {
		return
	}
	refusal := ""
	switch b.mode {
	case HandOver, Keep:
		refusal = l.hand(n, from, b)
	default:
		refusal = l.wish(n, from, b)
	}
	if from == n.meta.Node {
		n.requests.finish(n, from, b.req, refusal)
	} else {
		n.post(from, kindResult, &resultBody{b.req, refusal})
	}
}

func (l *leader) wish(n *Node, from topology.NodeID, b *failoverBody) string {
	sh, mode := n.state.ShardOf(from), b.mode
	switch {
	case sh == nil || sh.Master == from:
		return errOnReplica
	case l.wishes[sh.ID] != nil && l.wishes[sh.ID].node == from:
		return ""
	case mode == Graceful && (sh.Master == "" || !l.hears(n, sh.Master)):
		return errMasterDown
	case !l.hears(n, from) || !l.peers[from].local.Whole || !l.related(n, sh, from):
		return errNoData
	case l.peers[from].local.Ends:
		return errEnds
	case mode == Force && sh.Confirm > 0 && !slices.Contains(sh.InSync, from):
		return errNotInSync
	}
	l.wishes[sh.ID] = &wish{node: from, mode: mode, until: n.now + b.limit, limit: b.limit}
	return ""
}

// shards sees to it that each shard has a master that is alive.
func (l *leader) shards(n *Node) {
	for _, id := range n.state.ShardIDs() {
		sh := n.state.Shards[id]
		w := l.wishes[id]
		if w != nil && !l.possible(n, sh, w) {
			delete(l.wishes, id)
			w = nil
		}
		if sh.Master == "" {
			l.promote(n, sh, w)
			continue
		}
		delete(l.vacant, id)
		if l.declines(n, sh) {
			if l.once(n, "decline "+string(id)) {
				l.propose(n, topology.Op{Do: topology.Decline{Shard: id, Term: sh.Term}})
			}
		} else if (due(sh, w) || l.broken(n, sh)) && l.once(n, "vacate "+string(id)) {
			do := topology.Vacate{Shard: id, Term: sh.Term}
			if w != nil {
				do.Hold = int64(w.limit / 1e6)
			}
			l.propose(n, topology.Op{Do: do})
		}
		if n.lead != l || n.down != nil {
			return
		}
	}
}

// due reports whether the shard is to be taken from its master for a wish. A graceful one waits
// until the master has taken its own promotion up: until then it would not count as the last one.
func due(sh *topology.Shard, w *wish) bool {
	return w != nil && (w.mode != Graceful || sh.Before == nil)
}

// possible reports whether a wish can still come true. A graceful one needs the old master in the
// life in which it was the master, with its data: after a restart it may have less than it had
// confirmed.
func (l *leader) possible(n *Node, sh *topology.Shard, w *wish) bool {
	node, p, last := n.state.Nodes[w.node], l.peers[w.node], l.peers[sh.Last]
	if n.now > w.until || sh.Master == w.node || node == nil || node.Shard != sh.ID ||
		!l.hears(n, w.node) || !p.local.Whole || p.local.Ends || !l.related(n, sh, w.node) ||
		p.boot != node.Boot {
		return false
	}
	switch w.mode {
	case Graceful:
		// A master that was revoked before it began has nothing that others could catch up with.
		idle := sh.Master == "" && last != nil && last.applied >= n.state.Revoked &&
			last.local.Term < sh.Term
		return l.hears(n, sh.Last) && last.boot == sh.Boot && last.local.Whole && !idle
	case Force:
		return sh.Confirm == 0 || l.orphaned(n, sh) || l.complete(n, sh, w.node)
	}
	return true
}

// declines reports whether the shard's master knows of its promotion and does not lead: it has no
// data any more.
func (l *leader) declines(n *Node, sh *topology.Shard) bool {
	p := l.peers[sh.Master]
	return sh.Before != nil && p != nil && l.hears(n, sh.Master) && p.boot == sh.Boot &&
		p.applied >= sh.SyncAt && p.local.Role == topology.Replica && !p.local.Whole
}

// broken reports whether the shard needs another master than the one that it has, and has one.
func (l *leader) broken(n *Node, sh *topology.Shard) bool {
	p := l.peers[sh.Master]
	lost := p != nil && p.heard > 0 && !p.local.Whole && n.now-p.heard <= n.timeout()/2
	if !lost && (!n.state.Nodes[sh.Master].Failed || !l.silent(n, sh.Master)) {
		return false
	}
	if sh.Slots.Empty() {
		return false
	}
	any := l.orphaned(n, sh)
	return slices.ContainsFunc(n.state.Members(sh.ID), func(id topology.NodeID) bool {
		return id != sh.Master && l.candidate(n, sh, id, any)
	})
}

// promote chooses a master for a shard that has none.
func (l *leader) promote(n *Node, sh *topology.Shard, w *wish) {
	since, ok := l.vacant[sh.ID]
	if !ok {
		since, l.vacant[sh.ID] = n.now, n.now
	}
	if !l.clear(n) {
		return
	}
	var choice topology.NodeID
	if w != nil {
		if !l.caughtUp(n, sh, w) {
			return
		}
		choice = w.node
	} else if l.heardAll(n, sh) || n.now-since > n.timeout()/4 {
		choice = l.best(n, sh)
	}
	if choice == "" || !l.once(n, "promote "+string(sh.ID)) {
		return
	}
	n.cfg.Log("Failover election won: promoting " + string(choice) + " in shard " + string(sh.ID))
	l.propose(n, topology.Op{Do: topology.Promote{Shard: sh.ID, Term: sh.Term, Node: choice,
		Boot: n.state.Nodes[choice].Boot, Force: w != nil && w.mode != Force || l.orphaned(n, sh),
		Bare: !l.peers[choice].local.Whole}})
}

// forlorn reports whether no other node of the shard has any data, nor may have when it comes back.
// A node whose own data is not complete then serves what it has.
func (l *leader) forlorn(n *Node, sh *topology.Shard, id topology.NodeID) bool {
	for _, o := range n.state.Members(sh.ID) {
		p := l.peers[o]
		if o != id && (!l.hears(n, o) || p.local.Whole && (p.local.Shard == sh.ID ||
			p.local.Shard == "" && o == sh.Last)) {
			return false
		}
	}
	return sh.Confirm == 0 || l.orphaned(n, sh)
}

// heardAll reports whether all nodes of the shard but failed ones have told what they have. One
// that is heard and still counts as failed does not for long.
func (l *leader) heardAll(n *Node, sh *topology.Shard) bool {
	for _, id := range n.state.Members(sh.ID) {
		if n.state.Nodes[id].Failed == l.hears(n, id) {
			return false
		}
	}
	return true
}

// caughtUp reports whether the replica that wants to be promoted has everything that the old master
// had.
func (l *leader) caughtUp(n *Node, sh *topology.Shard, w *wish) bool {
	p, last := l.peers[w.node], l.peers[sh.Last]
	if w.mode != Graceful {
		return true
	}
	return last.applied >= n.state.Revoked && p.local.Shard == sh.ID &&
		p.local.Term == last.local.Term &&
		p.local.Offset >= last.local.Offset && last.local.Term == sh.Term
}

// candidate reports whether a node of the shard may be promoted. Unless any is set, it must have
// all confirmed writes if the shard's master waits for replicas.
func (l *leader) candidate(n *Node, sh *topology.Shard, id topology.NodeID, any bool) bool {
	node, p := n.state.Nodes[id], l.peers[id]
	if node.Failed || !l.hears(n, id) || p.local.Ends || !p.local.Whole && !l.forlorn(n, sh, id) {
		return false
	}
	if p.boot != node.Boot && !n.cfg.Debug.ForgetsRestart {
		return false
	}
	if node.About.NoFailover && id != sh.Last {
		return false
	}
	if !l.related(n, sh, id) {
		return false
	}
	if sh.Confirm == 0 || any || n.cfg.Debug.IgnoreConfirm {
		return true
	}
	return l.complete(n, sh, id)
}

// related reports whether the data of a node that is heard is the shard's. Files that do not say
// where their data is from may be of any shard: the last master's are of this one, and another
// node's will do only if nobody has better ones.
func (l *leader) related(n *Node, sh *topology.Shard, id topology.NodeID) bool {
	switch l.peers[id].local.Shard {
	case sh.ID:
		return true
	case "":
		return id == sh.Last || n.cfg.Debug.TrustsUnknown || l.forlorn(n, sh, id)
	}
	// It has yet to synchronize with a master of this shard. If it was the last master itself, it
	// has not saved since it was of another one, and nobody else has anything: the shard goes on.
	// Likewise if the last master has left the shard for good.
	return (id == sh.Last || !slices.Contains(n.state.Members(sh.ID), sh.Last)) &&
		l.forlorn(n, sh, id)
}

// complete reports whether a node has all confirmed writes, by what the log says. One that has
// begun a full synchronization has nothing any more.
func (l *leader) complete(n *Node, sh *topology.Shard, id topology.NodeID) bool {
	if p := l.peers[id]; p != nil && p.heard > 0 && !p.local.Whole {
		return false
	}
	if id == sh.Last {
		return n.state.Nodes[id].Boot == sh.Boot
	}
	return slices.Contains(sh.InSync, id)
}

// orphaned reports whether no node is left that has all confirmed writes. Then the best of those
// that are there must do.
func (l *leader) orphaned(n *Node, sh *topology.Shard) bool {
	return n.cfg.Debug.IgnoreConfirm ||
		!slices.ContainsFunc(n.state.Members(sh.ID), func(id topology.NodeID) bool {
			return l.complete(n, sh, id)
		})
}

// trust says how surely data is a shard's: 2 if it says so itself, 1 if it names no shard, 0 if it
// names another one, or if there is none.
func trust(data Local, shard topology.ShardID) int {
	switch {
	case data.Shard == shard:
		return 2
	case data.Shard == "" && data.Whole:
		return 1
	}
	return 0
}

// ahead reports whether node a should lead rather than b: it has more data of this shard, of the
// latest term, with the highest offset. Among equals the last master comes first.
func (l *leader) ahead(sh *topology.Shard, a, b topology.NodeID) bool {
	x, y := l.peers[a].local, l.peers[b].local
	s, t := trust(x, sh.ID), trust(y, sh.ID)
	order := cmp.Compare(s, t)
	if s == 2 && t == 2 { // terms of two shards have nothing to do with each other
		order = cmp.Or(cmp.Compare(x.Term, y.Term), cmp.Compare(x.Offset, y.Offset))
	}
	return order > 0 || order == 0 && a == sh.Last
}

// best returns the candidate that is ahead of all others, with the lowest id among equals. It
// returns "" if there is none.
func (l *leader) best(n *Node, sh *topology.Shard) (best topology.NodeID) {
	any := l.orphaned(n, sh)
	for _, id := range n.state.Members(sh.ID) {
		if l.candidate(n, sh, id, any) && (best == "" || l.ahead(sh, id, best)) {
			best = id
		}
	}
	return best
}
