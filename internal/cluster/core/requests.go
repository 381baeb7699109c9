package core

import (
	"cmp"
	"slices"

	"godwit/internal/cluster/topology"
)

// requests are what this node wants of the leader and has no answer to yet. A request is sent again
// and again, to whoever leads: its number makes that harmless.
type requests struct {
	last     uint64
	entries  uint64     // how many were for entries
	open     []*request // ascending by number
	answered Time       // when one was, 0: never
}

type request struct {
	req   uint64
	op    topology.Op
	entry uint64               // its number among those for entries, 0: it is for none
	mode  FailoverMode         // of a failover, which has no op
	limit Time                 // likewise
	done  func(refusal string) // for whoever drives the node
	then  func(refusal string) // called at once
	own   bool                 // the node wants it of itself
	sent  Time
	to    topology.NodeID // the leader that it was sent to
	until Time
}

// resendParts is how often within a node timeout a request is sent again.
const resendParts = 5

// errNoLeader is the reply when a request was not answered in time.
const errNoLeader = "CLUSTERDOWN No leader of the cluster has answered. The request may still" +
	" come true"

// errNotSent is the same for a request that has not left this node.
const errNotSent = "CLUSTERDOWN No leader of the cluster has answered. The request was not sent"

// number returns the number of a new request. Numbers rise, also over restarts.
func (n *Node) number() uint64 {
	n.requests.last++
	return n.meta.Boot<<32 | n.requests.last
}

// request opens a request for an entry. done may be nil.
func (n *Node) request(op topology.Op, done func(refusal string)) *request {
	op.By, op.Req = n.meta.Node, n.number()
	n.requests.entries++
	return n.enqueue(&request{req: op.Req, op: op, entry: n.requests.entries, done: done})
}

// enqueue opens a request.
func (n *Node) enqueue(r *request) *request {
	r.until, r.sent = n.now+2*n.timeout(), never
	n.requests.open = append(n.requests.open, r)
	return r
}

// errKept is the reply to a HandOver that Keep takes back before a leader has answered it.
const errKept = "ERR The node goes on as a master"

// failover opens a request to be promoted. Keep ends those that it takes back: sent again, they
// would be news to another leader.
func (n *Node) failover(mode FailoverMode, limit Time, done func(refusal string)) {
	if mode == Keep {
		for _, r := range slices.Clone(n.requests.open) {
			if r.op.Do == nil && r.mode == HandOver {
				n.requests.finish(n, n.meta.Node, r.req, errKept)
			}
		}
	}
	n.enqueue(&request{req: n.number(), mode: mode, limit: limit, done: done})
}

// serveRequests sends what has to be sent, and gives up what was not answered in time.
func (n *Node) serveRequests() {
	if len(n.requests.open) == 0 {
		return
	}
	leader, end := n.leader(), n.requests.windowEnd()
	for _, r := range slices.Clone(n.requests.open) {
		if why := r.late(n); why != "" {
			n.requests.finish(n, n.meta.Node, r.req, why)
			continue
		}
		if leader == "" || r.entry >= end ||
			r.to == leader && n.now-r.sent < n.timeout()/resendParts {
			continue
		}
		r.sent, r.to = n.now, leader
		if r.op.Do == nil {
			n.ping() // the leader may not have heard yet that the data is whole
		}
		switch {
		case leader == n.meta.Node && r.op.Do == nil:
			n.lead.failover(n, n.meta.Node, &failoverBody{r.req, r.mode, r.limit})
		case leader == n.meta.Node:
			n.lead.take(n, r.op)
		case r.op.Do == nil:
			n.post(leader, kindFailover, &failoverBody{r.req, r.mode, r.limit})
		default:
			n.post(leader, kindPropose, &proposeBody{r.op.Encode()})
		}
	}
}

// leader returns the node that leads, as far as this one knows, "" if none does.
func (n *Node) leader() topology.NodeID {
	if n.lead != nil {
		return n.meta.Node
	}
	return n.name(n.leads)
}

// windowEnd returns the first request.entry that is not sent yet: see topology.Window.
func (rs *requests) windowEnd() uint64 {
	for _, r := range rs.open {
		if r.entry > 0 {
			return r.entry + topology.Window
		}
	}
	return 1
}

// late returns why a request is given up, "" if it is not. One that waits for others, which are
// answered, is not.
func (r *request) late(n *Node) string {
	at := n.requests.answered
	switch waits := r.sent == never && at > 0 && n.now < at+2*n.timeout(); {
	case n.now < r.until || waits:
		return ""
	case r.sent == never:
		return errNotSent
	}
	return errNoLeader
}

// finish answers a request of this node. Others are ignored.
func (rs *requests) finish(n *Node, by topology.NodeID, req uint64, refusal string) {
	if by != n.meta.Node {
		return
	}
	i, ok := slices.BinarySearchFunc(rs.open, req, func(r *request, req uint64) int {
		return cmp.Compare(r.req, req)
	})
	if !ok {
		return
	}
	r := rs.open[i]
	rs.open = slices.Delete(rs.open, i, i+1)
	if refusal != errNoLeader && refusal != errNotSent {
		rs.answered = n.now
	}
	n.answer(r.done, refusal)
	if r.then != nil {
		r.then(refusal)
	}
}

// overtaken answers requests that a snapshot says were applied.
func (rs *requests) overtaken(n *Node) {
	me := n.state.Nodes[n.meta.Node]
	if me == nil {
		return
	}
	for _, r := range me.Requests {
		rs.finish(n, me.ID, r.Req, r.Refusal)
	}
}

// fail answers all requests with one refusal.
func (rs *requests) fail(n *Node, refusal string) {
	for len(rs.open) > 0 {
		rs.finish(n, n.meta.Node, rs.open[0].req, refusal)
	}
}

// answer hands a result to whoever waits for it.
func (n *Node) answer(done func(string), refusal string) {
	if done != nil {
		n.out.Answers = append(n.out.Answers, Answer{done, refusal})
	}
}

// refuse answers at once if the node is down.
func (n *Node) refuse(now Time, done func(string)) bool {
	if n.begin(now) {
		return false
	}
	n.answer(done, n.downText())
	return true
}
