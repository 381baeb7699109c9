package core

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"godwit/internal/cluster/topology"
)

// meeting is a CLUSTER MEET under way. The node asks the other who it is, again and again, until
// both are in one cluster. In between it gets the other admitted, or asks the other to admit it.
type meeting struct {
	req   uint64
	at    topology.Address
	done  func(refusal string)
	since Time
	heard bool   // the other has answered
	why   string // there is no link to the other, "" if that is not known
	asked Time
	// admit says that the other was to be admitted here; node is the other.
	admit bool
	node  topology.NodeID
	// declined says that it has refused to join once. It may not have known yet that it was asked.
	declined bool
	// into is the cluster that this node wants to join.
	into string
}

// How long a meeting lasts at most, in node timeouts, while the other has not answered and when it
// has, and how long the offer to join the other's cluster does.
const (
	silentTimeouts = 2
	meetTimeouts   = 4
	offerTimeouts  = 8
	maxOffers      = 64
)

// meetPatience is for how long a node may not be reached that was perhaps started just now.
const meetPatience Time = 1e9

// Refusals of CLUSTER MEET.
const (
	errPopulated = "ERR Both nodes belong to clusters of more than one node. Clusters cannot be" +
		" merged"
	errTwin = "ERR Another node has the same id at another address." +
		" Use CLUSTER RESET HARD there"
	errSilent   = "ERR The node has not answered in time"
	errLate     = "ERR The node has answered, but has not joined in time. It may still come"
	errDeclined = "ERR The node has refused to join, its slots have changed meanwhile"
)

// meet begins a meeting. It is none with this node itself.
func (n *Node) meet(at topology.Address, done func(refusal string)) {
	if me := n.announced(); at.IP == me.IP && at.BusPort == me.BusPort {
		n.answer(done, "")
		return
	}
	n.meetings = append(n.meetings, &meeting{req: n.number(), at: at, done: done, asked: never,
		since: n.now})
}

// unreached ends meetings with a node that cannot be reached. If that may change, it waits for a
// moment.
func (n *Node) unreached(at topology.Address, why string, certain bool) {
	for _, m := range slices.Clone(n.meetings) {
		if m.heard || m.at.IP != at.IP || m.at.BusPort != at.BusPort {
			continue
		}
		m.why = why
		if certain || n.now-m.since >= max(n.timeout()/2, meetPatience) {
			n.met(m, m.late())
		}
	}
}

// late returns the refusal of a meeting that has come to nothing.
func (m *meeting) late() string {
	switch {
	case m.heard:
		return errLate
	case m.why != "":
		return "ERR Cannot meet " + m.at.IP + ", bus port " + strconv.Itoa(m.at.BusPort) + ": " +
			m.why
	}
	return errSilent
}

// over reports whether a meeting has lasted for too long.
func (m *meeting) over(n *Node) bool {
	limit := silentTimeouts * n.timeout()
	if m.heard {
		limit = meetTimeouts * n.timeout()
	}
	return n.now-m.since >= limit
}

// serveMeetings asks those that have not come yet.
func (n *Node) serveMeetings() {
	for _, m := range slices.Clone(n.meetings) {
		switch {
		case m.into != "" && m.into == n.state.Cluster && n.state.Nodes[n.meta.Node] != nil:
			n.met(m, "")
		case m.over(n):
			n.met(m, m.late())
		case n.now-m.asked >= n.timeout()/pingsPerTimeout:
			m.asked = n.now
			n.out.Messages = append(n.out.Messages, Message{At: m.at,
				Data: frame{kindWho, n.meta.Cluster, &whoBody{m.req}}.encode()})
		}
	}
}

// met ends a meeting.
func (n *Node) met(m *meeting, refusal string) {
	n.meetings = slices.DeleteFunc(n.meetings, func(o *meeting) bool { return o == m })
	n.answer(m.done, refusal)
}

func (n *Node) meeting(req uint64) *meeting {
	i, ok := slices.BinarySearchFunc(n.meetings, req, func(m *meeting, req uint64) int {
		return cmp.Compare(m.req, req)
	})
	if !ok {
		return nil
	}
	return n.meetings[i]
}

// self returns what the node says of itself.
func (n *Node) self() about {
	a := about{node: n.meta.Node, about: n.announced(), boot: n.meta.Boot,
		alone: len(n.state.Nodes) <= 1, applied: n.applied()}
	if sh := n.state.ShardOf(n.meta.Node); sh != nil {
		a.shard, a.slots, a.epoch = sh.ID, sh.Slots, sh.Epoch
	} else { // it joins, and has yet to hear of its cluster
		a.shard = topology.ShardID(n.cfg.NewID())
	}
	return a
}

// who answers a node that wants to know who this one is, and lets its cluster admit this one.
func (n *Node) who(from topology.NodeID, cluster string, b *whoBody) {
	self := n.self()
	if self.alone && cluster != n.meta.Cluster {
		n.offer(cluster)
	}
	n.post(from, kindFacts, &factsBody{b.req, self})
}

// facts goes on with a meeting, now that the other is known.
func (n *Node) facts(from topology.NodeID, cluster string, b *factsBody) {
	m := n.meeting(b.req)
	if m == nil || b.node != from {
		return
	}
	m.heard = true
	known := n.state.Nodes[b.node]
	switch {
	case b.node == n.meta.Node:
		if cluster == n.meta.Cluster && b.about.about.Address == n.announced().Address {
			n.met(m, "")
		} else {
			n.met(m, errTwin)
		}
	case known != nil && cluster == n.meta.Cluster && n.moved(m.at, known, &b.about):
		n.out.Moved = append(n.out.Moved, Moved{Node: b.node, At: m.at})
		n.met(m, "")
	case known != nil && known.About.Address != b.about.about.Address:
		if cluster == n.meta.Cluster && n.linkedAt(b.node, m.at) { // it was met there before
			n.met(m, "")
		} else {
			n.met(m, errTwin)
		}
	case cluster == n.meta.Cluster && (known != nil || n.applied() > 0 && b.applied > 0):
		if known != nil && b.applied >= known.Joined {
			n.met(m, "")
		}
	case known != nil: // the leader tells it to come
	case m.admit && m.node == b.node && m.declined:
		n.met(m, errDeclined)
	case m.admit && m.node == b.node: // it had no state of ours yet when it was asked first
		m.admit, m.node, m.declined = false, "", true
		n.bring(m, from, cluster, &b.about)
	default:
		n.bring(m, from, cluster, &b.about)
	}
}

// moved reports whether a member that has answered at an address was started anew there: the state
// has another address, and nobody answers at that. One that is older than the member is known to
// be runs on a copy of its files.
func (n *Node) moved(at topology.Address, known *topology.Node, a *about) bool {
	old := &known.About.Address
	_, linked := n.cfg.Linked(known.ID)
	return (*old != a.about.Address || at.IP != old.IP || at.BusPort != old.BusPort) &&
		a.boot >= known.Boot && !linked
}

// linkedAt reports whether the link to a member is open at that address.
func (n *Node) linkedAt(node topology.NodeID, at topology.Address) bool {
	a, ok := n.cfg.Linked(node)
	return ok && a.IP == at.IP && a.BusPort == at.BusPort
}

// bring decides who joins whose cluster.
func (n *Node) bring(m *meeting, from topology.NodeID, cluster string, other *about) {
	self := n.self()
	switch {
	case !self.alone && !other.alone:
		n.met(m, errPopulated)
	case other.alone && (!self.alone || n.host(cluster, &self, other)):
		n.admit(m, other)
	default:
		m.into = cluster
		n.offer(cluster)
		n.out.Messages = append(n.out.Messages, Message{To: from, At: m.at,
			Data: frame{kindJoin, cluster, &joinBody{m.req, self}}.encode()})
	}
}

// offer lets a cluster admit this node for some time.
func (n *Node) offer(cluster string) {
	maps.DeleteFunc(n.offers, func(_ string, until Time) bool { return until <= n.now })
	if len(n.offers) < maxOffers {
		n.offers[cluster] = n.now + offerTimeouts*n.timeout()
	}
}

// host reports which of two nodes that are alone stays: the one with slots, else the one that was
// told to meet. If both were told at once, it is the one with the lower id.
func (n *Node) host(cluster string, self, other *about) bool {
	if self.slots.Empty() != other.slots.Empty() {
		return other.slots.Empty()
	}
	if n.offers[cluster] > n.now {
		return self.node < other.node
	}
	return true
}

// admit gets another node admitted to this one's cluster.
func (n *Node) admit(m *meeting, other *about) {
	if m.admit {
		return
	}
	m.admit = true
	n.request(topology.Op{Do: admission(other)}, nil).then = func(refusal string) {
		switch {
		case refusal == "":
			m.node = other.node
		case n.meeting(m.req) != nil:
			n.met(m, refusal)
		}
	}
}

// admission returns the entry that lets a node join.
func admission(a *about) topology.Admit {
	return topology.Admit{Node: a.node, Shard: a.shard, About: a.about, Slots: a.slots,
		Epoch: a.epoch, Boot: a.boot}
}

// join gets a node admitted that has asked for it.
func (n *Node) join(from topology.NodeID, cluster string, b *joinBody) {
	if cluster != n.meta.Cluster || b.node != from || !b.alone {
		return
	}
	if n.state.Nodes[from] != nil {
		return // the leader tells it to come
	}
	n.request(topology.Op{Do: admission(&b.about)}, nil).then = func(refusal string) {
		if refusal != "" {
			n.post(from, kindJoined, &resultBody{b.req, refusal})
		}
	}
}

// joined ends a meeting in which the other could not admit this node.
func (n *Node) joined(b *resultBody) {
	if m := n.meeting(b.req); m != nil && b.refusal != "" {
		n.met(m, b.refusal)
	}
}

// welcomed gives this node's log up for that of a cluster that has admitted it, if that is still
// wanted.
func (n *Node) welcomed(from topology.NodeID, cluster string, b *welcomeBody) {
	// A node that was removed before it had the first state, and is admitted again, has no other
	// way to learn that.
	again := cluster == n.meta.Cluster && n.applied() == 0 && b.raft > n.meta.Raft
	if cluster == n.meta.Cluster && !again {
		return
	}
	self := n.self()
	lost := self.slots
	lost.Subtract(&b.slots)
	if !again && (!self.alone || n.offers[cluster] <= n.now || !lost.Empty()) {
		n.out.Messages = append(n.out.Messages, Message{To: from,
			Data: frame{kindDecline, cluster, &raftIDBody{b.raft}}.encode()})
		return
	}
	n.cfg.Log("Joining the cluster of node " + string(from))
	delete(n.offers, cluster)
	if err := n.enter(cluster, b.raft); err != nil {
		n.halt(err)
		return
	}
	n.names[b.sends] = from
	n.requests.fail(n, "ERR This node has joined another cluster")
}
