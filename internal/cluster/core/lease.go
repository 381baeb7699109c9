package core

import (
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
)

// lease is what a master has been given, by its own clock.
type lease struct {
	end  Time // 0: none
	next Time // of one that counts once index is installed
	at   uint64
	// asked is when the node last asked the leader, wanted whether it wanted a lease then, ends
	// whether its server was about to end, and leader who that was.
	asked        Time
	wanted, ends bool
	leader       topology.NodeID
}

// leaseEnd returns the end of the lease that the node holds.
func (n *Node) leaseEnd() Time {
	if n.down != nil {
		return 0
	}
	if n.cfg.Debug.EndlessLease && n.lease.end > 0 {
		return forever
	}
	return n.lease.end
}

// leaseLength returns D.
func (n *Node) leaseLength() Time { return n.timeout() / 2 }

// ponged takes the leader's answer to a ping.
func (n *Node) ponged(p *pong) {
	if p.to != n.meta.Raft || p.boot != n.meta.Boot || p.at > n.now || !p.granted {
		return
	}
	end := p.at + p.length - p.length/marginParts
	if p.index <= n.install {
		n.lease.end = max(n.lease.end, end)
		return
	}
	n.lease.next, n.lease.at = max(n.lease.next, end), max(n.lease.at, p.index)
}

// installed notes that the server acts by the state of an index.
func (n *Node) installed(s uint64) {
	if s <= n.install {
		return
	}
	before := n.install
	n.install = s
	if n.lease.next > 0 && n.lease.at <= s {
		n.lease.end, n.lease.next = max(n.lease.end, n.lease.next), 0
	}
	if before < n.state.Revoked && s >= n.state.Revoked {
		n.ping() // grants wait for this
	}
}

// heardLeader notes when a leader has spoken. A leader relies on a node only as long as the node
// hears it: one that can send and not receive is as good as gone.
type heardLeader struct {
	term uint64 // 0: none has
	at   Time
}

// heed notes that a message of raft has come, which the leader may have sent.
func (n *Node) heed(m *raftpb.Message) {
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if m.GetTerm() == n.raft.BasicStatus().GetTerm() {
			n.led = heardLeader{m.GetTerm(), n.now}
		}
	}
}

// keepInTouch pings the leader from time to time, and someone who may know it while there is none.
// A new leader hears of the node at once, and so does the leader of a new master. While the shard
// has no master, reports of who has what come often. The leader also hears at once that
// the server is about to end, or is not any more.
func (n *Node) keepInTouch() {
	every := n.timeout() / pingsPerTimeout
	if n.Waits() {
		every = min(every, vacantPings)
	}
	if n.now-n.lease.asked >= every || n.wantsLease() && !n.lease.wanted ||
		n.local.Ends != n.lease.ends || n.leader() != n.lease.leader && n.leader() != "" {
		n.ping()
	}
}

// vacantPings is the time between reports while a shard waits for a master.
const vacantPings Time = 20e6

// ping reports to the leader and asks for a lease.
func (n *Node) ping() {
	if !n.told {
		return
	}
	n.lease.asked, n.lease.wanted, n.lease.leader = n.now, n.wantsLease(), n.leader()
	n.lease.ends = n.local.Ends
	p := &ping{raft: n.meta.Raft, boot: n.meta.Boot, at: n.now, applied: n.install,
		wants: n.wantsLease(), term: n.led.term, silence: n.now - n.led.at, local: n.local}
	switch leader := n.leader(); leader {
	case n.meta.Node:
		if n.lead != nil {
			p.term, p.silence = n.lead.term, 0
		}
		n.lead.pinged(n, n.meta.Node, p)
	case "":
		if to := n.anyone(); to != "" {
			n.post(to, kindPing, p)
		}
	default:
		n.post(leader, kindPing, p)
	}
}

// direct tells a member that does not know the leader where it is. One that was away may look for
// it where it no longer is.
func (n *Node) direct(from topology.NodeID) {
	l := n.state.Nodes[n.leader()]
	if l != nil && l.ID != from && l.About.IP != "" {
		n.post(from, kindLeads,
			&leadsBody{n.state.Index, l.ID, l.About.IP, uint64(l.About.BusPort)})
	}
}

// directed goes where another member says that the leader is, if there is no link to it. A member
// that knows less than this node may not know yet that the leader has moved.
func (n *Node) directed(b *leadsBody) {
	known := n.state.Nodes[b.leader]
	if known == nil || n.leader() != "" || b.leader == n.meta.Node || b.index < n.state.Index {
		return
	}
	at := known.About.Address
	at.IP, at.BusPort = b.ip, int(b.port)
	if _, linked := n.cfg.Linked(b.leader); !linked && at != known.About.Address {
		n.out.Moved = append(n.out.Moved, Moved{Node: b.leader, At: at, Told: true})
	}
}

// wantsLease reports whether the node is a master by the newest state that it knows.
func (n *Node) wantsLease() bool {
	sh := n.state.ShardOf(n.meta.Node)
	return sh != nil && sh.Master == n.meta.Node
}
