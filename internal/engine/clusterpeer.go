package engine

import (
	"fmt"
	"slices"
)

// errPeerLater begins refusals of peers that will pass: the two nodes know different topologies.
const errPeerLater = "TRYAGAIN "

// PeerSays holds what a replica says of itself against the topology (REPLCONF cluster-peer). It
// returns this node's term of the shard and the offset at which that began, or an error reply.
//
// One that knows a later master of the shard has news: this node is none any more, and confirms
// nothing until it has learned that too.
func (e *Engine) PeerSays(r *Replica, p Peer) (term uint64, begin int64, refusal string) {
	v := &e.cluster
	if !v.on {
		return 0, 0, ErrClusterDisabled
	}
	sh := e.mastersShard()
	switch {
	case v.self == nil || v.shard == nil:
		return 0, 0, errPeerLater + "This node is no member of a cluster yet"
	case p.Cluster != v.state.Cluster:
		return 0, 0, fmt.Sprintf("ERR This node is of another cluster than %.40s", p.Cluster)
	case p.Shard != v.shard.ID:
		return 0, 0, fmt.Sprintf("%sThis node is of another shard: %.40s, not %.40s", errPeerLater,
			v.shard.ID, p.Shard)
	case !v.replicates(p.Node):
		return 0, 0, fmt.Sprintf("%sNode %.40s is not known here as one of the shard", errPeerLater,
			p.Node)
	case p.Term > v.shard.Term:
		e.outdated(p)
		return 0, 0, fmt.Sprintf("%sThis node knows the shard's term %d, not %d", errPeerLater,
			v.shard.Term, p.Term)
	case sh == nil || e.copiesMember():
		return 0, 0, errPeerLater + "This node is not the master of the shard"
	case sh.Boot != e.Cluster.Boot():
		return 0, 0, errPeerLater + "This node has started anew and may lack what its replicas have"
	}
	r.node = p.Node
	// What is copied from another cluster may have begun the history anew.
	return v.shard.Term, min(e.shard.begin, e.Feed.Offset()), ""
}

// refusesFull returns why a replica of the shard gets no full synchronization yet, "" if it may
// have one. As long as this node's promotion may be taken back nobody's data is replaced by this
// node's: the log counts on what they had before. Later what is confirmed is in both.
func (e *Engine) refusesFull(r *Replica) string {
	sh := e.cluster.shard
	if r.node == "" || sh == nil {
		return ""
	}
	if sh.Before != nil {
		e.keepInSync()
		return errPeerLater + "The cluster does not know yet that this node leads"
	}
	for _, o := range slices.Clone(e.repl.replicas.list) {
		if o.node == r.node {
			e.Kill(o.Client) // it would not begin anew if it still had this link
		}
	}
	e.inSync.renew(r.node)
	return ""
}

// outdated notes that there is a later master of the shard than this node knows, as a replica says.
// One that waits for this node to learn of it comes back and says so again.
func (e *Engine) outdated(p Peer) {
	l := &e.lease
	known := l.staleOf == p.Shard && l.stale >= p.Term && e.Steady() < l.staleUntil
	if !known && e.cluster.leads() {
		e.Log.Warning("Replica %.40s knows a later master of the shard (term %d, here %d): "+
			"nothing is confirmed until this node knows it too", p.Node, p.Term,
			e.cluster.shard.Term)
	}
	if l.staleOf != p.Shard || e.Steady() >= l.staleUntil {
		l.stale, l.staleOf = 0, p.Shard
	}
	l.stale, l.staleUntil = max(l.stale, p.Term), e.Steady()+e.cluster.nodeTimeout()
}

// peerLeft returns why a replica that has named itself cannot have the stream any more, "" if it
// can: the topology may have changed since.
func (e *Engine) peerLeft(r *Replica) string {
	if r.node == "" || !e.copiesMember() && e.mastersShard() != nil &&
		e.cluster.replicates(r.node) {
		return ""
	}
	return errPeerLater + "The shard has changed"
}
