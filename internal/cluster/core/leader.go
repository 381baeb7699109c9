package core

import (
	"encoding/binary"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
)

// leader is what a node knows and does while it leads. All of it is gone with the leadership. Its
// methods do nothing on nil.
type leader struct {
	since Time // its election
	term  uint64
	peers map[topology.NodeID]*peer
	// revoke is the index of the last revocation in the log, applied or not. confChange is that of
	// the last change of raft's members.
	revoke     uint64
	confChange uint64
	// revokes says that a revocation was added to the log and is not saved yet.
	revokes bool
	// queue are requests that wait until they may be proposed.
	queue  []topology.Op
	wishes map[topology.ShardID]*wish
	vacant map[topology.ShardID]Time // since when a shard has no master
	round  round
	next   Time            // when all duties are looked at again
	seen   *topology.State // when they were last
	tidied Time
	chose  *topology.State // for which voters were last chosen
	chosen Time            // when that was
	// tried says when a duty may propose the same again.
	tried map[string]Time
	open  map[topology.NodeID]map[uint64]Time // requests in the log, until when they may be there
	ajar  map[topology.ShardID]Time           // since when slots are closed for nothing
	alone map[topology.ShardID]Time           // since when a master has lost all its replicas
	// joined says when learners were added, by their raft ids.
	joined map[uint64]Time
	// timed is when the leader first saw the node timeout that is in force since timeoutAt.
	timed     Time
	timeoutAt uint64
}

// peer is what the leader knows of a node, itself included.
type peer struct {
	raft     uint64 // its id in the Raft group
	heard    Time   // when its last ping came
	reached  Time   // when it last heard this leader, by what its pings say, 0: it has not
	at       Time   // of that ping, by the node's clock
	leaseEnd Time   // by the leader's clock, 0: it has none of this leader
	applied  uint64 // that its server has installed
	boot     uint64
	local    Local
	welcomed Time   // when it was last told to join
	handed   uint64 // the number of its last HandOver or Keep
}

// round is a ReadIndex of raft: pings that came before it began are answered when it is through.
type round struct {
	id      uint64
	began   Time
	running map[topology.NodeID]*ping // that it answers
	waiting map[topology.NodeID]*ping // that the next one answers
	urgent  bool                      // a master among them has no lease
	through []passed
}

// passed are pings that may be answered once index is applied.
type passed struct {
	index uint64
	pings map[topology.NodeID]*ping
}

func newLeader(n *Node) *leader {
	l := &leader{since: n.now, term: n.raft.BasicStatus().GetTerm(),
		peers: map[topology.NodeID]*peer{}, wishes: map[topology.ShardID]*wish{},
		vacant: map[topology.ShardID]Time{}, tried: map[string]Time{},
		open: map[topology.NodeID]map[uint64]Time{}, ajar: map[topology.ShardID]Time{},
		alone:  map[topology.ShardID]Time{},
		joined: map[uint64]Time{}}
	l.round.waiting = map[topology.NodeID]*ping{}
	return l
}

// ready reports whether the leader has applied an entry of its own term, and so everything that was
// committed before. Before that it decides nothing.
func (l *leader) ready(n *Node) bool { return l != nil && n.appliedTerm == l.term }

// young reports whether leases of a former leader may not be over yet.
func (l *leader) young(n *Node) bool { return n.now < l.since+l.grace(n) }

// grace is how long a lease of a former leader may last after this one's election.
func (l *leader) grace(n *Node) Time {
	d := max(n.state.Longest*1e6, n.timeout()) / 2
	return d + d/marginParts
}

// peer returns what is known of a node. Of one that was admitted again nothing is, but that it may
// hold a lease from before.
func (l *leader) peer(id topology.NodeID, raft uint64) *peer {
	p := l.peers[id]
	if p == nil || p.raft != raft {
		old := p
		p = &peer{raft: raft}
		if old != nil {
			p.leaseEnd = old.leaseEnd
		}
		l.peers[id] = p
	}
	return p
}

// saw notes revocations and changes of members among entries that the log now has.
func (l *leader) saw(list []*raftpb.Entry) {
	if l == nil {
		return
	}
	l.revokes = false
	for _, e := range list {
		if e.GetType() != raftpb.EntryNormal {
			l.confChange = e.GetIndex()
		} else if op, err := topology.DecodeOp(e.GetData()); err == nil && op.Revokes() {
			l.revoke = e.GetIndex()
		}
	}
}

// propose puts an entry into the log. It reports whether the log has taken it.
func (l *leader) propose(n *Node, op topology.Op) bool {
	ok := l.add(n, op)
	n.drive()
	return ok
}

// add puts an entry into the log that the next drive saves.
func (l *leader) add(n *Node, op topology.Op) bool {
	l.revokes = l.revokes || op.Revokes()
	return n.guard(func() error { return n.raft.Propose(op.Encode()) }) == nil
}

// pinged takes a node's report.
func (l *leader) pinged(n *Node, from topology.NodeID, p *ping) {
	node := n.state.Nodes[from]
	if l == nil || node == nil || node.Raft != p.raft {
		return
	}
	peer := l.peer(from, p.raft)
	if p.boot < peer.boot || p.boot == peer.boot && p.at < peer.at {
		return // from an earlier life, or overtaken
	}
	if p.boot != peer.boot { // its former life is over, and what that held and had installed
		peer.applied, peer.leaseEnd = 0, 0
		if peer.reached > 0 { // it has yet to hear this leader, and has a while for that
			peer.reached = max(1, min(peer.reached, n.now-n.timeout()/2-1))
		}
	}
	peer.heard, peer.at, peer.boot, peer.local = n.now, p.at, p.boot, p.local
	peer.applied = max(peer.applied, min(p.applied, n.applied()))
	if p.term == l.term {
		peer.reached = max(peer.reached, n.now-p.silence)
	}
	if !p.wants {
		return
	}
	if l.round.waiting[from] == nil || l.round.waiting[from].at < p.at {
		p.came = n.now
		l.round.waiting[from] = p
	}
	// One that was a master before may still have a lease of that time, which soon ends.
	l.round.urgent = l.round.urgent || peer.leaseEnd-n.now <= n.leaseLength()/2
	if n.cfg.Debug.NoReadIndex {
		l.answer(n, passed{n.applied(), l.round.waiting})
		clear(l.round.waiting)
	}
	l.ask(n)
}

// ask begins a round if pings wait and none is under way. A round costs a message to each node and
// back, so they are apart, unless a master is without a lease.
func (l *leader) ask(n *Node) {
	r := &l.round
	due := n.now-r.began >= n.timeout()/pingsPerTimeout
	if len(r.waiting) == 0 || !due && (r.running != nil || !r.urgent) {
		return
	}
	if r.running != nil { // it is stuck
		for id, p := range r.running {
			if r.waiting[id] == nil {
				r.waiting[id] = p
			}
		}
	}
	r.id, r.began, r.running, r.urgent = r.id+1, n.now, r.waiting, false
	r.waiting = map[topology.NodeID]*ping{}
	ctx := binary.LittleEndian.AppendUint64(nil, r.id)
	n.guard(func() error { n.raft.ReadIndex(ctx); return nil })
}

// read takes the rounds that are through.
func (l *leader) read(n *Node, list []raft.ReadState) {
	if l == nil {
		return
	}
	for _, s := range list {
		if len(s.RequestCtx) == 8 && binary.LittleEndian.Uint64(s.RequestCtx) == l.round.id &&
			l.round.running != nil {
			l.round.through = append(l.round.through, passed{s.Index, l.round.running})
			l.round.running = nil
		}
	}
}

// answerPings answers the pings of rounds that are through, and begins the next.
func (l *leader) answerPings(n *Node) {
	for len(l.round.through) > 0 && l.round.through[0].index <= n.applied() {
		l.answer(n, l.round.through[0])
		l.round.through = l.round.through[1:]
	}
	l.ask(n)
}

func (l *leader) answer(n *Node, through passed) {
	ids := make([]topology.NodeID, 0, len(through.pings))
	for id := range through.pings {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		p := through.pings[id]
		answer := &pong{to: p.raft, boot: p.boot, at: p.at}
		if l.grants(n, id, p) {
			answer.granted, answer.length, answer.index = true, n.leaseLength(), through.index
			peer := l.peer(id, p.raft)
			peer.leaseEnd = max(peer.leaseEnd, p.came+n.leaseLength())
		}
		if id == n.meta.Node {
			n.ponged(answer)
		} else {
			n.post(id, kindPong, answer)
		}
	}
}

// grants reports whether the node that sent the ping gets a lease. One whose server does not act by
// the last revocation yet gets none: if its executor is busy, the lease that it has runs out, and
// nobody waits for it any longer. The round may have begun before that revocation, so its index
// does not tell. Nor does one get a lease that does not hear this leader: it would only have to be
// waited for.
func (l *leader) grants(n *Node, id topology.NodeID, p *ping) bool {
	if !p.wants || !l.ready(n) || l.revoke > n.applied() {
		return false
	}
	node, sh := n.state.Nodes[id], n.state.ShardOf(id)
	if node == nil || node.Raft != p.raft || !l.hears(n, id) {
		return false
	}
	if l.peer(id, p.raft).applied < n.state.Revoked && !n.cfg.Debug.BlindLease {
		return false
	}
	return sh.Master == id &&
		(p.local.Whole || l.forlorn(n, sh, id)) &&
		(node.Boot == p.boot || n.cfg.Debug.ForgetsRestart)
}

// clear reports whether no node can hold a lease under which it does not yet obey the last
// revocation.
func (l *leader) clear(n *Node) bool {
	if n.cfg.Debug.EarlyGrant {
		return true
	}
	if l.revoke > n.applied() {
		return false
	}
	if n.cfg.Debug.NoLeaseWait {
		return true
	}
	young := l.young(n)
	for id := range n.state.Nodes {
		if l.mayBreak(n, id, young) {
			return false
		}
	}
	for id := range n.state.Forgotten {
		if l.mayBreak(n, id, young) {
			return false
		}
	}
	for id := range l.peers {
		if l.mayBreak(n, id, false) {
			return false
		}
	}
	return true
}

// mayBreak reports whether a node may act under a lease by a state before the last revocation.
func (l *leader) mayBreak(n *Node, id topology.NodeID, young bool) bool {
	p := l.peers[id]
	if p == nil {
		return young
	}
	return (young || n.now < p.leaseEnd) && p.applied < n.state.Revoked
}
