package core

import (
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
)

// FailoverMode is the option of CLUSTER FAILOVER.
type FailoverMode int

// The modes. Graceful waits until the replica has everything that the master confirmed. Force does
// not: it is for a master that cannot be reached. Takeover is Force that does not ask for the
// replica to be in the in-sync set.
//
// A master that is about to stop asks with HandOver: the leader chooses the replica, and waits for
// it as Graceful does. Keep takes that back: the master goes on, unless another one was promoted.
const (
	Graceful FailoverMode = iota
	Force
	Takeover
	HandOver
	Keep
)

// Node is one node. Its methods must not be called from more than one goroutine at a time. Time
// must not run backwards from one call to the next, and must have been read after there was
// something to call for: after a frame came, for Receive. Leases rely on that.
type Node struct {
	cfg   Config
	meta  meta
	now   Time
	down  error // why it takes part no more
	local Local // what the server last said
	told  bool  // it has said something

	raft        *raft.RawNode
	log         *raft.MemoryStorage // the entries behind the last snapshot
	hard        *raftpb.HardState   // that has yet to be saved, nil if none has
	conf        *raftpb.ConfState   // raft's members
	snapped     uint64              // the index of the last snapshot
	leads       uint64              // the raft id of the leader, 0: none is known
	appliedTerm uint64              // of the last applied entry
	state       *topology.State     // after it; handed out, so never changed
	shown       *topology.State     // of the last Output
	ticked      Time                // up to where raft's ticks are done
	install     uint64              // the index that the server has installed
	names       map[uint64]topology.NodeID

	out      Output
	lead     *leader // nil unless it leads
	lease    lease
	led      heardLeader
	requests requests
	meetings []*meeting      // ascending by number
	offers   map[string]Time // clusters that may welcome this node, until when
	leaving  *leaving
	copies   bool // see noteCopy
	askAfter Time // when the node may want something of itself again
	// campaigned says that the node has looked, after its start, whether it is the only voter.
	campaigned bool
	turn       int // of anyone
}

// New starts a node from what storage has. A node of which nothing is saved founds a cluster of
// its own. Errors say why it must not start.
func New(now Time, cfg Config) (*Node, error) {
	cfg.defaults()
	n := &Node{cfg: cfg, now: now, offers: map[string]Time{}}
	n.lease.asked = never
	saved, err := cfg.Storage.Load()
	if err != nil {
		return nil, fmt.Errorf("cluster: cannot read the saved log: %w", err)
	}
	if saved.Meta == nil {
		err = n.found(meta{Node: topology.NodeID(cfg.NewID()), Boot: 1})
	} else {
		err = n.restore(saved)
	}
	if err != nil {
		return nil, err
	}
	n.settle()
	return n, nil
}

// ID returns the node's id. Only Reset changes it.
func (n *Node) ID() topology.NodeID { return n.meta.Node }

// Tick lets time pass. It is to be called at least every eightieth of the node timeout, and every
// 20 ms while the node's shard has no master.
func (n *Node) Tick(now Time) {
	if n.begin(now) {
		n.settle()
	}
}

// Receive takes a frame that came from a node. If the bytes are no frame it returns an error: the
// link to whoever sent them should be cut. Frames that come late or twice do no harm. now must have
// been read after the frame came. An older one may be from before the frame was sent, and the lease
// that a ping asks for would count as over too early.
func (n *Node) Receive(now Time, from topology.NodeID, data []byte) error {
	f, err := decode(data)
	if err != nil || !n.begin(now) {
		return err
	}
	err = n.dispatch(from, f)
	n.settle()
	return err
}

// Propose wants an entry to be applied. By and Req of op are set here. done is called later, from
// an Answer, with "" when the entry has been applied on this node, or with the error reply. When
// no leader answers for two node timeouts, the reply says so; the entry may still come true.
func (n *Node) Propose(now Time, op topology.Op, done func(refusal string)) {
	if n.refuse(now, done) {
		return
	}
	n.request(op, done)
	n.settle()
}

// Installed tells that the server acts by a state from now on, on all of its
// connections. Leases, and promotions of others, rely on that.
func (n *Node) Installed(now Time, s *topology.State) {
	if n.begin(now) && s.Cluster == n.state.Cluster {
		n.installed(s.Index)
		n.settle()
	}
}

// SetLocal tells what the server's data is. The runtime calls it before each Installed, with what
// the server has after it acts by the new state: a promotion relies on it that the offset of a
// master that was revoked does not grow any more. It calls it some times within a ping interval
// too, and often while Waits. Before the first time the node pings nobody: others would take it
// that it has no data.
func (n *Node) SetLocal(l Local) { n.local, n.told = l, true }

// SetAbout tells what the node announces of itself.
func (n *Node) SetAbout(now Time, a topology.About) {
	n.cfg.About = a
	if n.begin(now) {
		n.settle()
	}
}

// Meet makes the cluster of the node at an address and this one one cluster (CLUSTER MEET).
func (n *Node) Meet(now Time, at topology.Address, done func(refusal string)) {
	if !n.refuse(now, done) {
		n.meet(at, done)
		n.settle()
	}
}

// Unreached tells why there is no link to the IP and bus port of an address that Meet was given.
// certain says that it would be no use to try again.
func (n *Node) Unreached(now Time, at topology.Address, why string, certain bool) {
	if n.begin(now) {
		n.unreached(at, why, certain)
		n.settle()
	}
}

// Failover wants this replica to be promoted within a time, in ns, or with HandOver and Keep wants
// what these say of this master. done is called when the leader has taken the wish or refused it;
// the promotion comes later, or does not.
func (n *Node) Failover(now Time, mode FailoverMode, limit Time, done func(refusal string)) {
	if !n.refuse(now, done) {
		n.failover(mode, limit, done)
		n.settle()
	}
}

// Reset makes the node leave its cluster and found one of its own (CLUSTER RESET). With hard it
// gets a new id too.
func (n *Node) Reset(now Time, hard bool, done func(refusal string)) {
	if !n.refuse(now, done) {
		n.reset(hard, done)
		n.settle()
	}
}

// Resign hands the leadership to another voter, before the process ends. Call Output and Tick for
// some ticks more until Status says that it leads no longer.
func (n *Node) Resign(now Time) {
	if n.begin(now) {
		n.resign()
		n.settle()
	}
}

// Flush saves what may wait for the next tick, before the process ends.
func (n *Node) Flush() { n.saveCommit() }

// Waits reports whether the node's shard waits for a master. What SetLocal tells then decides when
// there is one, and which.
func (n *Node) Waits() bool {
	sh := n.state.ShardOf(n.meta.Node)
	return sh != nil && sh.Master == ""
}

// Lease returns the time until which the node may confirm writes as a master of the shard that
// its installed state says. It is 0 if it may not.
func (n *Node) Lease() Time { return n.leaseEnd() }

// Down returns why the node takes part no more, nil while it does. It takes part no more after an
// error of Storage, and when an entry makes no sense to it.
func (n *Node) Down() error { return n.down }

// Output returns what is to be done now. Its slices are the caller's.
func (n *Node) Output() Output {
	o := n.out
	n.out = Output{}
	if n.state != n.shown && n.applied() > 0 {
		n.shown, o.State = n.state, n.state
	}
	return o
}

// State returns the newest agreed state. It must not be changed.
func (n *Node) State() *topology.State { return n.state }
