package core

import (
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"godwit/internal/cluster/topology"
)

// goneTimeouts is for how many node timeouts a voter may be silent before it is replaced.
const goneTimeouts = 10

// catchUp is how many entries a learner may lack when it becomes a voter.
const catchUp = 16

// members makes raft's members those of the state: one change at a time, each to the log's
// configuration, the next when it has been applied.
func (l *leader) members(n *Node) {
	progress := map[uint64]tracker.Progress{}
	n.raft.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
		progress[id] = p
	})
	l.welcome(n, progress)
	if l.confChange > n.applied() || len(n.conf.GetVotersOutgoing()) > 0 {
		return
	}
	for _, id := range n.state.NodeIDs() {
		node := n.state.Nodes[id]
		if !n.inGroup(node.Raft) {
			l.joined[node.Raft] = n.now
			l.change(n, memberChange(raftpb.ConfChangeAddLearnerNode, node.Raft))
			return
		}
	}
	for _, id := range slices.Concat(n.conf.GetVoters(), n.conf.GetLearners()) {
		if name := n.names[id]; name != "" && n.state.Nodes[name] != nil &&
			n.state.Nodes[name].Raft == id {
			continue
		}
		if id == n.meta.Raft {
			l.leave(n, progress)
		} else {
			l.change(n, memberChange(raftpb.ConfChangeRemoveNode, id))
		}
		return
	}
	l.voters(n, progress)
}

// leave hands the leadership over, since this node is no member any more. If there is no other
// voter yet, one is made.
func (l *leader) leave(n *Node, progress map[uint64]tracker.Progress) {
	if len(n.conf.GetVoters()) > 1 {
		n.resign()
		return
	}
	for _, id := range n.conf.GetLearners() {
		if l.ripe(n, progress[id]) {
			l.change(n, memberChange(raftpb.ConfChangeAddNode, id))
			return
		}
	}
}

// voters makes voters of learners, or learners of voters, as the state wants.
func (l *leader) voters(n *Node, progress map[uint64]tracker.Progress) {
	// To choose is the dearest of the duties.
	if l.chose == n.state && n.now < l.chosen+n.timeout()/pingsPerTimeout {
		return
	}
	l.chose, l.chosen = n.state, n.now
	var current []topology.NodeID
	for _, id := range n.conf.GetVoters() {
		current = append(current, n.names[id])
	}
	slices.Sort(current)
	want := n.state.Voters(current, func(id topology.NodeID) bool { return l.gone(n, id) })
	add, drop := l.exchange(n, progress, current, want)
	var list []*raftpb.ConfChangeSingle
	for _, id := range add {
		list = append(list, memberChange(raftpb.ConfChangeAddNode, n.state.Nodes[id].Raft))
	}
	for _, id := range drop {
		if id == n.meta.Node {
			n.resign() // the next leader makes a learner of it
			continue
		}
		list = append(list, memberChange(raftpb.ConfChangeAddLearnerNode, n.state.Nodes[id].Raft))
	}
	if len(list) > 0 {
		l.change(n, list...)
	}
}

// exchange returns which nodes become voters and which are voters no more, in one change. Their
// number stays odd if it can: of two voters none may fail, so one alone is better.
func (l *leader) exchange(n *Node, progress map[uint64]tracker.Progress,
	current, want []topology.NodeID) (add, drop []topology.NodeID) {
	waits := false
	for _, id := range want {
		switch {
		case slices.Contains(current, id):
		case l.ripe(n, progress[n.state.Nodes[id].Raft]):
			add = append(add, id)
		default:
			waits = true
		}
	}
	for _, id := range current {
		if !slices.Contains(want, id) && (!waits || l.gone(n, id)) {
			drop = append(drop, id)
		}
	}
	switch even := (len(current)+len(add)-len(drop))%2 == 0; {
	case !even || len(want)%2 == 0:
	case len(add) > 0:
		add = add[:len(add)-1]
	case len(drop) > 0:
		drop = drop[:len(drop)-1]
	}
	return add, drop
}

// gone reports whether a node has been silent for so long that it should be no voter.
func (l *leader) gone(n *Node, id topology.NodeID) bool {
	heard := l.since
	if p := l.peers[id]; p != nil {
		heard = max(heard, p.reached)
	}
	return id != n.meta.Node && n.now-heard > goneTimeouts*n.timeout()
}

// ripe reports whether a learner may become a voter: it answers and lacks little.
func (l *leader) ripe(n *Node, p tracker.Progress) bool {
	return p.RecentActive && p.Match+catchUp >= n.applied()
}

// change proposes a change of raft's members.
func (l *leader) change(n *Node, list ...*raftpb.ConfChangeSingle) {
	if !l.once(n, fmt.Sprint("members ", list)) {
		return
	}
	cc := &raftpb.ConfChangeV2{Changes: list}
	n.guard(func() error { return n.raft.ProposeConfChange(cc) })
	n.drive()
}

func memberChange(what raftpb.ConfChangeType, id uint64) *raftpb.ConfChangeSingle {
	return &raftpb.ConfChangeSingle{Type: what.Enum(), NodeId: new(id)}
}

// welcome tells nodes that were admitted to come.
func (l *leader) welcome(n *Node, progress map[uint64]tracker.Progress) {
	for _, id := range n.state.NodeIDs() {
		node := n.state.Nodes[id]
		peer := l.peer(id, node.Raft)
		p, ok := progress[node.Raft]
		if !ok || p.Match > 0 || id == n.meta.Node {
			continue
		}
		if peer.heard > 0 || n.now < peer.welcomed+n.timeout()/pingsPerTimeout {
			continue
		}
		peer.welcomed = n.now
		n.post(id, kindWelcome, &welcomeBody{raft: node.Raft,
			slots: n.state.Shards[node.Shard].Slots, sends: n.meta.Raft})
	}
}

// inGroup reports whether raft knows the id as a voter or learner.
func (n *Node) inGroup(id uint64) bool {
	return slices.Contains(n.conf.GetVoters(), id) || slices.Contains(n.conf.GetLearners(), id) ||
		slices.Contains(n.conf.GetVotersOutgoing(), id) ||
		slices.Contains(n.conf.GetLearnersNext(), id)
}

// heir returns the voter that should lead next, and the term of this leader: one that was heard
// lately, with most of the log. It returns 0 if there is no other voter.
func (n *Node) heir() (best, term uint64) {
	var match uint64
	var heard bool
	n.raft.WithProgress(func(id uint64, t raft.ProgressType, p tracker.Progress) {
		if t != raft.ProgressTypePeer || id == n.meta.Raft {
			return
		}
		alive := n.lead != nil && n.lead.hears(n, n.names[id])
		if best == 0 || alive && !heard || alive == heard && p.Match > match {
			best, match, heard = id, p.Match, alive
		}
	})
	return best, n.raft.BasicStatus().GetTerm()
}

// resign hands the leadership to another voter, if it leads and there is one.
func (n *Node) resign() {
	if n.lead == nil || !n.lead.once(n, "resign") {
		return
	}
	if to, _ := n.heir(); to != 0 {
		n.guard(func() error { n.raft.TransferLeader(to); return nil })
	}
}

// slept is called when no time was let pass for a good part of the node timeout: the process was
// stopped. Others were not silent meanwhile, only not heard.
func (n *Node) slept(gap Time) {
	if n.lead == nil {
		return
	}
	for _, p := range n.lead.peers {
		if p.heard > 0 {
			p.heard += gap
		}
		if p.reached > 0 {
			p.reached += gap
		}
	}
}

// declined removes a node that was admitted but does not come.
func (l *leader) declined(n *Node, from topology.NodeID, b *raftIDBody) {
	node := n.state.Nodes[from]
	if !l.ready(n) || node == nil || node.Raft != b.raft || l.peer(from, b.raft).heard > 0 {
		return
	}
	if l.once(n, "declined "+string(from)) {
		l.propose(n, topology.Op{Do: topology.Leave{Node: from}})
	}
}
