package core

import (
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
	"google.golang.org/protobuf/proto"
)

// dispatch takes a frame. It returns an error for what no honest node sends.
func (n *Node) dispatch(from topology.NodeID, f frame) error {
	switch b := f.body.(type) {
	case *whoBody:
		n.who(from, f.cluster, b)
		return nil
	case *factsBody:
		if f.kind == kindFacts {
			n.facts(from, f.cluster, b)
		} else {
			n.join(from, f.cluster, b)
		}
		return nil
	case *welcomeBody:
		n.welcomed(from, f.cluster, b)
		return nil
	}
	if b, ok := f.body.(*resultBody); ok && f.kind == kindJoined {
		n.joined(b)
		return nil
	}
	if f.cluster != n.meta.Cluster || from == n.meta.Node {
		return nil // of a cluster that this node has left, or it has left this one
	}
	switch b := f.body.(type) {
	case *raftBody:
		return n.step(from, b)
	case *ping:
		switch {
		case n.stranger(from, b.raft):
		case n.lead != nil:
			n.lead.pinged(n, from, b)
		default:
			n.direct(from)
		}
	case *leadsBody:
		n.directed(b)
	case *pong:
		n.ponged(b)
	case *proposeBody:
		return n.proposed(from, b)
	case *resultBody:
		n.requests.finish(n, n.meta.Node, b.req, b.refusal)
	case *failoverBody:
		n.lead.failover(n, from, b)
	case *raftIDBody:
		n.raftID(from, f.kind, b)
	}
	return nil
}

// step hands a message to raft.
func (n *Node) step(from topology.NodeID, b *raftBody) error {
	m := new(raftpb.Message)
	if err := proto.Unmarshal(b.data, m); err != nil || m.GetFrom() != b.from ||
		m.GetTo() != b.to || !sound(m) {
		return errFrame
	}
	if b.to != n.meta.Raft || b.from == b.to || n.stranger(from, b.from) {
		return nil
	}
	switch name := n.names[b.from]; {
	case name == "":
		n.names[b.from] = from
	case name != from:
		return errFrame
	}
	n.guard(func() error {
		_ = n.raft.Step(m) // it drops what it does not want
		n.heed(m)
		return nil
	})
	return nil
}

// sound reports whether a message is one that raft sends to others, with the parts that it reads.
func sound(m *raftpb.Message) bool {
	switch m.GetType() {
	case raftpb.MsgApp:
		index, term := m.GetIndex(), m.GetLogTerm()
		for _, e := range m.GetEntries() {
			index++
			if e == nil || e.GetIndex() != index || e.GetTerm() < term ||
				e.GetTerm() > m.GetTerm() {
				return false
			}
			term = e.GetTerm()
		}
	case raftpb.MsgSnap:
		s := m.GetSnapshot()
		if s.GetMetadata().GetConfState() == nil || s.GetMetadata().GetIndex() == 0 ||
			s.GetMetadata().GetTerm() == 0 || s.GetMetadata().GetTerm() > m.GetTerm() {
			return false
		}
		if _, err := topology.Decode(s.GetData()); err != nil {
			return false
		}
	case raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp:
		if len(m.GetContext()) != 0 && len(m.GetContext()) != 8 {
			return false
		}
	case raftpb.MsgAppResp, raftpb.MsgVote, raftpb.MsgVoteResp, raftpb.MsgTimeoutNow,
		raftpb.MsgPreVote, raftpb.MsgPreVoteResp:
	default:
		return false
	}
	return m.GetTerm() > 0 && len(m.GetResponses()) == 0
}

// proposed takes an entry that another node wants.
func (n *Node) proposed(from topology.NodeID, b *proposeBody) error {
	op, err := topology.DecodeOp(b.op)
	if err != nil {
		return nil // of a later version
	}
	if !allowed(op, from) {
		return errFrame
	}
	n.lead.take(n, op)
	return nil
}

// raftID takes kindDecline and kindStranger.
func (n *Node) raftID(from topology.NodeID, k kind, b *raftIDBody) {
	if k == kindStranger {
		if b.raft == n.meta.Raft {
			n.alone()
		}
		return
	}
	n.lead.declined(n, from, b)
}
