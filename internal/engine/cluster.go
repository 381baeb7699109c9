package engine

import (
	"slices"
	"time"

	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// ClusterNode is this server as a member of its cluster. All methods are called with the executor
// held, and done is called on it, later.
type ClusterNode interface {
	// Propose hands an entry to the log that all nodes share. refusal is the error reply, "" once
	// the entry has been applied here.
	Propose(op topology.Op, done func(refusal string))
	// Meet joins this node's cluster with that of another node, which listens for clients at port
	// and for nodes at bus (CLUSTER MEET).
	Meet(host string, port, bus int, done func(refusal string))
	// Reset makes this node leave its cluster and begin one of its own, with hard under a new id
	// (CLUSTER RESET).
	Reset(hard bool, done func(refusal string))
	// Failover wants this node, a replica, to become the master of its shard (CLUSTER FAILOVER).
	// done is called when that is taken up; the promotion comes later, or does not.
	Failover(mode FailoverMode, done func(refusal string))
	// HandOver wants another node to become the master of the shard that this one is the master of,
	// within a time. done is called when that is taken up, or with the error reply.
	HandOver(limit time.Duration, done func(refusal string))
	// Keep takes HandOver back. It may be too late.
	Keep()
	// Report tells the other nodes at once what ClusterReport says now.
	Report()
	// Lease returns the time by CLOCK_BOOTTIME, in ns, until which this node may confirm writes. It
	// costs an atomic read.
	Lease() int64
	// Boot counts the starts of this node, as topology.Node.Boot does. The node's own topology may
	// not know of the last one yet.
	Boot() uint64
	// Hears reports whether this node hears of a majority: it has a leader that has spoken to it
	// within the node timeout. It costs an atomic read.
	Hears() bool
	// Broadcast sends a message of pub/sub to other nodes: to all of them, or for a shard channel
	// to those of the shard. They deliver it with DeliverMessage.
	Broadcast(kind MessageKind, channel, message []byte)
	// Facts returns what CLUSTER INFO and LINKS tell beside the topology.
	Facts() ClusterFacts
}

// FailoverMode is the option of CLUSTER FAILOVER.
type FailoverMode uint8

// The modes: without one the master holds its clients until the replica has everything. Force is
// for a master that cannot be reached. Takeover also promotes a replica that is not in sync.
const (
	FailoverGraceful FailoverMode = iota
	FailoverForce
	FailoverTakeover
)

// MessageKind says to whom a message of pub/sub goes.
type MessageKind uint8

// The kinds: PUBLISH and SPUBLISH.
const (
	MessageToAll MessageKind = iota
	MessageToShard
)

// ClusterFacts is what the runtime of the cluster knows beside the topology.
type ClusterFacts struct {
	Raft  RaftFacts
	Links []LinkFacts
	// Sent and Received count messages between nodes by their kind, as "ping".
	Sent, Received map[string]int64
	// LimitExceeded counts links that were closed for cluster-link-sendbuf-limit.
	LimitExceeded int64
}

// RaftFacts is where the node is in the Raft group.
type RaftFacts struct {
	Role            string // leader, follower, candidate or learner
	Term            uint64
	Leader          topology.NodeID // "" if none is known
	Commit, Applied uint64          // indexes of entries
	Voters          []topology.NodeID
	LogEntries      int64
}

// LinkFacts is one connection between this node and another.
type LinkFacts struct {
	To       bool // this node has opened it
	Node     topology.NodeID
	Created  int64 // unix ms
	Heard    int64 // unix ms when the other node was last heard on any link, 0: never
	Readable bool
	Writable bool
	Queued   int64 // bytes that wait to be sent
	Buffer   int64 // bytes allocated for them
}

// clustering is the state of a node of a cluster. on never changes after the start.
type clustering struct {
	on    bool
	state *topology.State // nil until the first is installed
	cut   bool            // the node does not hear of a majority
	down  bool            // as CLUSTER INFO says
	refs  []spec.KeyRef   // scratch
	// declined is the last promotion of this node that it has declined.
	declined promotion
	// leaving is the shard whose replica this node does not want to be any more.
	leaving topology.ShardID
	// lone are slots of half imports that this node has taken with it out of its cluster: no log
	// knows of them any more. They are hidden until the node, alone now, has deleted them.
	lone slot.Set
	held postponed // clients whose commands the gate holds back
	// refuseAt is the steady ms at which the first of them has waited for too long; 0: none waits.
	refuseAt int64
	sentinel
	clusterView
}

// promotion is one of a shard's.
type promotion struct {
	shard topology.ShardID
	term  uint64
}

// promotion returns the one by which the shard has its master.
func (c *clustering) promotion() promotion { return promotion{c.shard.ID, c.shard.Term} }

// clusterView is what a topology is to this node.
type clusterView struct {
	view  *topology.View  // nil like the state
	self  *topology.Node  // nil while the node is no member of the state
	shard *topology.Shard // of self
	role  topology.Role   // of self; a replica while the shard has no master
	// plain holds the slots of which this node serves everything without a second look.
	plain slot.Set
	// closing says that some slots of the shard are about to move.
	closing bool
	// halfOwn holds the slots of the shard that must not be served yet, because half an import is
	// in them.
	halfOwn slot.Set
}

// sentinel is what this node has told its subscribers, and since when it knows what it answers.
type sentinel struct {
	told map[string]endpoint // where a master was last, by its name
	seen map[topology.NodeID]seen
}

// endpoint is where clients reach a node.
type endpoint struct {
	host string
	port int
}

// seen is since when a node is what it is, in ms of the steady clock.
type seen struct {
	role             topology.Role
	roleAt, failedAt int64 // failedAt is 0 of a node that has not failed
}

// ClusterEnabled reports whether the server is a node of a cluster.
func (e *Engine) ClusterEnabled() bool { return e.cluster.on }

// Topology returns the installed topology, nil if there is none yet. It must not be changed.
func (e *Engine) Topology() *topology.State { return e.cluster.state }

// ClusterView returns the view of the installed topology, nil if there is none yet.
func (e *Engine) ClusterView() *topology.View { return e.cluster.view }

// Self returns this node as the installed topology knows it, nil if it does not.
func (e *Engine) Self() *topology.Node { return e.cluster.self }

// SelfShard returns the shard of this node, nil if there is none.
func (e *Engine) SelfShard() *topology.Shard { return e.cluster.shard }

// SlotOwner returns the shard that owns a slot, nil if none does.
func (e *Engine) SlotOwner(i int) *topology.Shard {
	if p := e.cluster.part(i); p != nil {
		return p.Shard
	}
	return nil
}

// emptySlot reports whether this node has no key of a slot.
func (e *Engine) emptySlot(i int) bool {
	for d := range e.KS.Databases() {
		if e.KS.DB(d).SlotLen(i) > 0 {
			return false
		}
	}
	return true
}

// leads reports whether the node is the master of its shard.
func (v *clusterView) leads() bool { return v.role == topology.Master }

// inSync reports whether this node is in its shard's in-sync set.
func (v *clusterView) inSync() bool {
	return v.self != nil && v.shard != nil && v.shard.Confirm > 0 &&
		slices.Contains(v.shard.InSync, v.self.ID)
}

// idle reports whether the node is the only one of its cluster and owns no slots. Then replies need
// no replicas to confirm them: no client has keys here, and nobody can take the node's place. Tools
// write to such nodes before they join a cluster (FUNCTION RESTORE, FLUSHALL).
func (v *clustering) idle() bool {
	return v.shard != nil && v.shard.Slots.Empty() && len(v.state.Nodes) == 1
}

// nodeTimeout returns the node timeout of the cluster in ms.
func (v *clustering) nodeTimeout() int64 { return v.state.Timeout }

// ownSlots returns the slots of the node's shard.
func (v *clusterView) ownSlots() slot.Set {
	if v.shard == nil {
		return slot.Set{}
	}
	return v.shard.Slots
}

// part returns the shard that owns a slot, with its nodes, nil if none does.
func (v *clusterView) part(i int) *topology.Part {
	if v.view == nil {
		return nil
	}
	return v.view.Part(i)
}

// compute makes the view of a state for a node.
func (v *clusterView) compute(s *topology.State, self topology.NodeID) {
	*v = clusterView{view: topology.NewView(s), self: s.Nodes[self], role: topology.Replica}
	if v.self == nil {
		return
	}
	if v.shard = s.Shards[v.self.Shard]; v.shard.Master == self {
		v.role = topology.Master
	}
	v.closing = !v.shard.Closing.Empty()
	v.halfOwn = v.shard.Half.Common(&v.shard.Slots)
}
