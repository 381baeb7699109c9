package core

import (
	"slices"
	"time"

	"godwit/internal/cluster/topology"
)

// member sees to what the node's own entry in the state should say, and to that the node is alone
// once it is no member any more.
func (n *Node) member() {
	if n.applied() == 0 || n.down != nil {
		return // it joins, the state is yet to come
	}
	me := n.state.Nodes[n.meta.Node]
	if me != nil && me.Raft == n.meta.Raft {
		n.noteCopy(me)
	}
	switch {
	case me == nil || me.Raft != n.meta.Raft:
		if !n.inGroup(n.meta.Raft) {
			n.alone()
		}
	case me.Boot != n.meta.Boot && !n.cfg.Debug.ForgetsRestart:
		ask[topology.Started](n, topology.Started{Node: me.ID, Boot: n.meta.Boot})
	case me.About != n.announced():
		ask[topology.Tell](n, topology.Tell{Node: me.ID, About: n.announced()})
	}
}

// noteCopy notes, while the node is a member, whether its keys would be but a copy if it were
// removed now: it is a replica, and its master has not failed. A node that was removed before it
// started does not know that: what it has of the state is old.
func (n *Node) noteCopy(me *topology.Node) {
	sh := n.state.Shards[me.Shard]
	if master := n.state.Nodes[sh.Master]; master == me {
		n.copies = sh.Copy
	} else {
		n.copies = master != nil && !master.Failed && me.Boot == n.meta.Boot
	}
}

// announced returns what the node tells of itself. An IP address that it does not know stays what
// it was: after a restart it is yet to be learnt.
func (n *Node) announced() topology.About {
	a := n.cfg.About
	if me := n.state.Nodes[n.meta.Node]; a.IP == "" && me != nil {
		a.IP = me.About.IP
	}
	return a
}

// ask opens a request of the node's own, unless one of the kind is open, or there was one lately.
func ask[T topology.Action](n *Node, a T) {
	if n.now < n.askAfter || slices.ContainsFunc(n.requests.open, func(r *request) bool {
		_, ok := r.op.Do.(T)
		return ok && r.own
	}) {
		return
	}
	r := n.request(topology.Op{Do: a}, nil)
	r.own = true
	r.then = func(refusal string) {
		n.askAfter = n.now + n.timeout()/pingsPerTimeout
		if refusal != "" {
			n.askAfter = n.now + n.timeout()
			n.cfg.Log("The cluster has not taken what this node tells of itself: " + refusal)
		}
	}
}

// alone makes the node found a cluster of its own, after it was removed from the one it was in.
func (n *Node) alone() {
	text := "This node is not a member of the cluster any more, it is alone now"
	if n.copies && n.leaving == nil {
		text += ". What keys it has are a copy, which CLUSTER RESET deletes"
	}
	n.cfg.Log(text)
	m := meta{Node: n.meta.Node, Boot: n.meta.Boot}
	leaving := n.leaving
	n.cfg.Timeout = time.Duration(n.timeout())
	if leaving != nil && leaving.hard {
		m.Node = topology.NodeID(n.cfg.NewID())
	}
	if err := n.found(m); err != nil {
		n.halt(err)
		return
	}
	n.leaving = nil
	if leaving != nil {
		n.answer(leaving.done, "")
	}
	n.requests.fail(n, "ERR This node was removed from the cluster")
}

// leaving is a CLUSTER RESET under way.
type leaving struct {
	hard  bool
	done  func(refusal string)
	until Time
}

// leftBehind ends a reset of which the node does not hear that it has come true.
func (n *Node) leftBehind() {
	if l := n.leaving; l != nil && n.now >= l.until {
		n.leaving = nil
		n.answer(l.done, errNoLeader)
	}
}

// reset leaves the cluster. A node that is alone, or that was removed, needs nobody for that.
func (n *Node) reset(hard bool, done func(refusal string)) {
	if n.leaving != nil {
		n.answer(done, "ERR A reset is under way already")
		return
	}
	n.leaving = &leaving{hard, done, n.now + meetTimeouts*n.timeout()}
	if len(n.state.Nodes) <= 1 || n.state.Nodes[n.meta.Node] == nil {
		n.alone()
		return
	}
	r := n.request(topology.Op{Do: topology.Leave{Node: n.meta.Node}}, nil)
	r.then = func(refusal string) {
		if refusal != "" && n.leaving != nil {
			n.leaving = nil
			n.answer(done, refusal)
		}
	}
}

// stranger answers a node that is no member any more. It reports whether the node is one.
func (n *Node) stranger(from topology.NodeID, id uint64) bool {
	node := n.state.Nodes[from]
	if n.applied() == 0 || id >= n.state.NextID || node != nil && node.Raft == id || n.inGroup(id) {
		return false
	}
	n.post(from, kindStranger, &raftIDBody{id})
	return true
}

// anyone returns another member, in turn.
func (n *Node) anyone() topology.NodeID {
	ids := n.state.NodeIDs()
	for range ids {
		n.turn++
		if id := ids[n.turn%len(ids)]; id != n.meta.Node {
			return id
		}
	}
	return ""
}
