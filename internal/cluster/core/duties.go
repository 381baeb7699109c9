package core

import (
	"maps"
	"strconv"

	"godwit/internal/cluster/topology"
)

// duties does what a leader has to do of itself. Each duty looks at the applied state and proposes
// an entry when something should change. Nothing depends on an entry having come through: as long
// as it has not, the duty proposes it again.
func (l *leader) duties(n *Node) {
	if l == nil {
		return
	}
	l.answerPings(n)
	if !l.ready(n) || n.lead != l {
		return
	}
	// Most is looked at when the state has changed, and from time to time. Promotions and requests
	// also wait for reports.
	duties := []func(*Node){l.requests}
	if n.now >= l.next || l.seen != n.state {
		l.next, l.seen = n.now+n.timeout()/ticksPerTimeout, n.state
		l.tidy(n)
		duties = []func(*Node){l.members, l.failures, l.shards, l.requests, l.loose, l.adopt,
			l.settle}
	} else if len(l.vacant)+len(l.wishes) > 0 {
		duties = []func(*Node){l.shards, l.requests}
	}
	for _, duty := range duties {
		duty(n)
		if n.lead != l || n.down != nil {
			return
		}
	}
}

// tidy forgets what was noted long ago.
func (l *leader) tidy(n *Node) {
	if n.now < l.tidied+n.timeout() {
		return
	}
	l.tidied = n.now
	maps.DeleteFunc(l.tried, func(_ string, t Time) bool { return t < n.now })
	for by, open := range l.open {
		maps.DeleteFunc(open, func(_ uint64, t Time) bool { return t < n.now })
		if len(open) == 0 {
			delete(l.open, by)
		}
	}
	maps.DeleteFunc(l.vacant, func(id topology.ShardID, _ Time) bool {
		return n.state.Shards[id] == nil
	})
	maps.DeleteFunc(l.alone, func(id topology.ShardID, _ Time) bool {
		return n.state.Shards[id] == nil
	})
	maps.DeleteFunc(l.wishes, func(id topology.ShardID, _ *wish) bool {
		return n.state.Shards[id] == nil
	})
}

// once reports whether a duty may propose: it has not done so, or what it proposed then has had
// time to be applied.
func (l *leader) once(n *Node, what string) bool {
	at, ok := l.tried[what]
	if ok && n.now < at {
		return false
	}
	l.tried[what] = n.now + n.timeout()/pingsPerTimeout
	return true
}

// failures notes which nodes the leader hears, and is heard by.
func (l *leader) failures(n *Node) {
	for _, id := range n.state.NodeIDs() {
		failed := l.silent(n, id) && id != n.meta.Node
		if failed == n.state.Nodes[id].Failed || !failed && !l.hears(n, id) {
			continue
		}
		if l.once(n, "failed "+string(id)) {
			if failed {
				n.cfg.Log("Marking node " + string(id) + " as failing (quorum reached).")
			} else {
				n.cfg.Log("Clear FAIL state for node " + string(id) + ": it is reachable again.")
			}
			l.propose(n, topology.Op{Do: topology.SetFailed{Node: id, Failed: failed}})
		}
	}
}

// silent reports whether a node has not been heard for too long, or has not heard the leader.
func (l *leader) silent(n *Node, id topology.NodeID) bool {
	if p := l.peers[id]; p != nil && p.reached > 0 {
		return n.now-p.reached > n.timeout()
	}
	since := l.since
	if node := n.state.Nodes[id]; node != nil {
		if t, ok := l.joined[node.Raft]; ok {
			since = max(since, t+n.timeout()) // it has yet to hear that it was admitted
		}
	}
	return n.now > since+l.grace(n)
}

// hears reports whether a node and the leader have heard each other lately.
func (l *leader) hears(n *Node, id topology.NodeID) bool {
	p := l.peers[id]
	return p != nil && p.reached > 0 && n.now-p.reached <= n.timeout()/2
}

// take takes an entry that a node wants into the queue.
func (l *leader) take(n *Node, op topology.Op) {
	if l == nil || !l.ready(n) {
		return
	}
	for _, q := range l.queue {
		if q.By == op.By && q.Req == op.Req {
			return
		}
	}
	if t, ok := l.open[op.By][op.Req]; ok && n.now < t {
		return // it is in the log, not applied yet
	}
	if len(l.queue) < maxQueue {
		l.queue = append(l.queue, op)
	}
}

// maxQueue bounds the requests that wait. Who sends more sends them again later.
const maxQueue = 4096

// requests proposes what may be proposed of the queue. All of it is saved at once: while it is
// saved entry by entry nobody would get a lease.
func (l *leader) requests(n *Node) {
	queue := l.queue
	l.queue = nil
	for i, op := range queue {
		if n.lead != l || n.down != nil {
			return
		}
		if !l.request(n, op) {
			l.queue = append(l.queue, queue[i])
		}
	}
	n.drive()
}

// request proposes an entry, or what must come before it. It reports whether the entry is done
// with.
func (l *leader) request(n *Node, op topology.Op) bool {
	if op.Grants() && l.revokes { // it is yet to be saved: see clear
		n.drive()
		if n.lead != l || n.down != nil {
			return false
		}
	}
	if before := n.state.Before(op); len(before) > 0 && !n.cfg.Debug.EarlyGrant {
		if l.once(n, "before "+string(op.By)+" "+strconv.FormatUint(op.Req, 10)) {
			for _, b := range before {
				l.propose(n, b)
			}
		}
		return false
	}
	if op.Grants() && !l.clear(n) {
		return false
	}
	if l.add(n, op) {
		if l.open[op.By] == nil {
			l.open[op.By] = map[uint64]Time{}
		}
		l.open[op.By][op.Req] = n.now + n.timeout()/pingsPerTimeout
	}
	return true
}

// loose opens slots that were closed for a Move that will not come.
func (l *leader) loose(n *Node) {
	for _, id := range n.state.ShardIDs() {
		slots := n.state.Loose(id)
		for _, op := range l.queue {
			if m, ok := op.Do.(topology.Move); ok {
				slots.Subtract(&m.Slots)
			}
		}
		if slots.Empty() {
			delete(l.ajar, id)
			continue
		}
		since, ok := l.ajar[id]
		if !ok {
			l.ajar[id] = n.now
		} else if n.now-since > n.timeout() && l.once(n, "open "+string(id)) {
			l.propose(n, topology.Op{Do: topology.Open{Shard: id, Slots: slots}})
		}
	}
}

// settle notes that no lease by an earlier, longer node timeout can last any more, so that later
// leaders need not wait for one. This leader has granted none since it applied the change, and
// those of former ones are over.
func (l *leader) settle(n *Node) {
	if l.timeoutAt != n.state.TimeoutAt || l.timed == 0 {
		l.timeoutAt, l.timed = n.state.TimeoutAt, n.now
	}
	if n.state.Longest > n.state.Timeout && n.now > l.timed+l.grace(n) && l.once(n, "settle") {
		l.propose(n, topology.Op{Do: topology.Settle{At: l.timeoutAt}})
	}
}

// allowed reports whether a node may ask for such an entry. The others are the leader's own.
func allowed(op topology.Op, from topology.NodeID) bool {
	if op.By != from || op.Req == 0 {
		return false
	}
	switch a := op.Do.(type) {
	case topology.Init, topology.SetFailed, topology.Vacate, topology.Promote,
		topology.Decline, topology.Settle:
		return false
	case topology.Leave:
		return a.Node == from
	case topology.Tell:
		return a.Node == from
	case topology.Started:
		return a.Node == from
	}
	return true
}
