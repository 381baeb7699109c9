package core

import (
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
	"google.golang.org/protobuf/proto"
)

// begin notes the time and lets raft's clock go on. It reports whether the node takes part.
func (n *Node) begin(now Time) bool {
	n.now = max(n.now, now)
	if n.down != nil {
		return false
	}
	tick := n.timeout() / ticksPerTimeout
	gap := n.now - n.ticked
	if gap > n.timeout()/4 {
		n.slept(gap)
	}
	if n.ticked+tick <= n.now {
		n.saveCommit()
	}
	for i := 0; n.ticked+tick <= n.now && i < 2*electionTicks; i++ {
		n.ticked += tick
		n.guard(func() error { n.raft.Tick(); return nil })
		n.drive() // a leader that was away must step down before it does anything else
	}
	n.ticked = max(n.ticked, n.now-tick)
	return n.down == nil
}

// timeout returns the node timeout of the cluster, in nanoseconds.
func (n *Node) timeout() Time {
	if ms := n.state.Timeout; ms > 0 {
		return ms * 1e6
	}
	return int64(n.cfg.Timeout)
}

// applied returns the index of the last entry that was applied.
func (n *Node) applied() uint64 { return n.state.Index }

// settle does what an input has made necessary.
func (n *Node) settle() {
	for i := 0; n.down == nil && i < 8; i++ {
		n.drive()
		n.campaign()
		n.member()
		n.keepInTouch()
		n.serveMeetings()
		n.serveRequests() // before the duties, which propose what this node itself wants
		n.lead.duties(n)
		n.leftBehind()
		if n.down != nil || !n.raft.HasReady() {
			break
		}
	}
}

// campaign makes the only voter lead at once after its start: there is nobody to wait for.
func (n *Node) campaign() {
	if n.campaigned || n.down != nil {
		return
	}
	n.campaigned = true
	if v := n.conf.GetVoters(); len(v) == 1 && v[0] == n.meta.Raft {
		n.guard(n.raft.Campaign)
		n.drive()
	}
}

// guard calls raft. It panics when its log cannot be right; then the node takes part no more.
func (n *Node) guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("raft: %v", p)
			n.halt(err)
		}
	}()
	return call()
}

// drive carries out what raft wants: save, send, apply, in this order.
func (n *Node) drive() {
	for n.down == nil && n.raft.HasReady() {
		n.guard(func() error {
			rd := n.raft.Ready()
			if err := n.save(&rd); err != nil {
				n.halt(fmt.Errorf("cannot save: %w", err))
				return nil
			}
			n.lead.saw(rd.Entries)
			snapshots := n.send(rd.Messages)
			if rd.SoftState != nil {
				n.follow(rd.SoftState)
			}
			if !raft.IsEmptySnap(rd.Snapshot) {
				n.receiveSnapshot(rd.Snapshot)
			}
			n.apply(rd.CommittedEntries)
			n.lead.read(n, rd.ReadStates)
			if n.down != nil {
				return nil
			}
			n.raft.Advance(rd)
			for _, id := range snapshots {
				// If it gets lost, a probe will find out.
				n.raft.ReportSnapshot(id, raft.SnapshotFinish)
			}
			return nil
		})
	}
	n.compact()
}

// save makes durable what raft says, before anything acts by it. How far the log is committed is
// nothing that others rely on: it is saved with what comes next, or by the next tick (saveCommit).
// A change of members must be committed on disk before this node acts by it: after a restart it
// would go by the members before it, and could be a majority of these by itself.
func (n *Node) save(rd *raft.Ready) error {
	var b Batch
	if !raft.IsEmptyHardState(rd.HardState) {
		n.hard = rd.HardState
	}
	later := !rd.MustSync && raft.IsEmptySnap(rd.Snapshot) && !changesMembers(rd.CommittedEntries)
	if n.hard != nil && !later {
		b.Hard = marshal(n.hard)
	}
	if !raft.IsEmptySnap(rd.Snapshot) {
		if _, err := topology.Decode(rd.Snapshot.GetData()); err != nil {
			return err
		}
		b.Snapshot, b.Drop = marshal(rd.Snapshot), DropAll
	}
	for _, e := range rd.Entries {
		b.Log = append(b.Log, Record{e.GetIndex(), marshal(e)})
	}
	if !b.Empty() {
		if err := n.cfg.Storage.Save(b); err != nil {
			return err
		}
		n.hard = nil
	}
	if !raft.IsEmptySnap(rd.Snapshot) {
		if err := n.log.ApplySnapshot(rd.Snapshot); err != nil {
			return err
		}
	}
	if !raft.IsEmptyHardState(rd.HardState) {
		if err := n.log.SetHardState(rd.HardState); err != nil {
			return err
		}
	}
	return n.log.Append(rd.Entries)
}

// changesMembers reports whether one of the entries changes raft's members.
func changesMembers(list []*raftpb.Entry) bool {
	return slices.ContainsFunc(list, func(e *raftpb.Entry) bool {
		return e.GetType() != raftpb.EntryNormal
	})
}

// saveCommit saves how far the log is committed, if that has yet to be done. What a node knew is
// not lost with its process then, also if no majority is there when it starts again.
func (n *Node) saveCommit() {
	if n.hard == nil || n.down != nil {
		return
	}
	if err := n.cfg.Storage.Save(Batch{Hard: marshal(n.hard)}); err != nil {
		n.halt(fmt.Errorf("cannot save: %w", err))
		return
	}
	n.hard = nil
}

// send hands out raft's messages. It returns the receivers of snapshots.
func (n *Node) send(list []*raftpb.Message) (snapshots []uint64) {
	for _, m := range list {
		if m.GetType() == raftpb.MsgSnap {
			snapshots = append(snapshots, m.GetTo())
		}
		to := n.name(m.GetTo())
		if to == "" {
			continue
		}
		n.post(to, kindRaft, &raftBody{from: n.meta.Raft, to: m.GetTo(), data: marshal(m)})
	}
	return snapshots
}

// post sends a frame to a node.
func (n *Node) post(to topology.NodeID, k kind, b body) {
	var at topology.Address
	if node := n.state.Nodes[to]; node != nil {
		at = node.About.Address
	}
	n.out.Messages = append(n.out.Messages,
		Message{To: to, At: at, Data: frame{k, n.meta.Cluster, b}.encode()})
}

// name returns the node with a raft id, "" if it is unknown.
func (n *Node) name(id uint64) topology.NodeID { return n.names[id] }

// learnNames notes the raft ids of the state's nodes.
func (n *Node) learnNames() {
	for id, node := range n.state.Nodes {
		n.names[node.Raft] = id
	}
}

// receiveSnapshot takes over the state that the leader has sent.
func (n *Node) receiveSnapshot(s *raftpb.Snapshot) {
	state, err := topology.Decode(s.GetData())
	if err != nil {
		n.halt(err)
		return
	}
	state.Skip(s.GetMetadata().GetIndex())
	n.state, n.snapped = state, s.GetMetadata().GetIndex()
	n.appliedTerm = s.GetMetadata().GetTerm()
	n.conf = raftpb.EnsureConfState(s.GetMetadata().GetConfState())
	n.learnNames()
	n.requests.overtaken(n)
}

// apply applies committed entries.
func (n *Node) apply(list []*raftpb.Entry) {
	if len(list) == 0 {
		return
	}
	state := n.state.Clone()
	for _, e := range list {
		if e.GetType() == raftpb.EntryConfChangeV2 {
			n.state = state // raft may want a snapshot in between
			state = state.Clone()
		}
		if err := n.applyEntry(state, e); err != nil {
			n.halt(fmt.Errorf("entry %d: %w", e.GetIndex(), err))
			return
		}
	}
	n.state = state
	n.learnNames()
}

func (n *Node) applyEntry(state *topology.State, e *raftpb.Entry) error {
	switch e.GetType() {
	case raftpb.EntryConfChangeV2:
		cc := new(raftpb.ConfChangeV2)
		if err := proto.Unmarshal(e.GetData(), cc); err != nil {
			return err
		}
		conf := raftpb.EnsureConfState(n.raft.ApplyConfChange(cc))
		n.conf, n.state = conf, state
		state.Skip(e.GetIndex())
		n.appliedTerm = e.GetTerm()
		return nil
	case raftpb.EntryNormal:
		if len(e.GetData()) == 0 {
			break // a new leader's first
		}
		op, err := topology.DecodeOp(e.GetData())
		if err != nil {
			return err
		}
		refusal := state.Apply(e.GetIndex(), op)
		n.requests.finish(n, op.By, op.Req, refusal)
	default:
		return topology.ErrUnknownOp
	}
	state.Skip(e.GetIndex())
	n.appliedTerm = e.GetTerm()
	return nil
}

// compact makes a snapshot when the log has grown. Half of the entries stay in memory, for nodes
// that lag.
func (n *Node) compact() {
	if n.down != nil || n.applied() < n.snapped+n.cfg.SnapshotEvery {
		return
	}
	index := n.applied()
	snapshot, err := n.log.CreateSnapshot(index, n.conf, n.state.Encode())
	if err != nil {
		n.halt(fmt.Errorf("snapshot: %w", err))
		return
	}
	b := Batch{Snapshot: marshal(snapshot), Drop: index}
	if n.hard != nil { // the snapshot must not be ahead of what is committed
		b.Hard = marshal(n.hard)
	}
	if err := n.cfg.Storage.Save(b); err != nil {
		n.halt(fmt.Errorf("cannot save: %w", err))
		return
	}
	n.snapped, n.hard = index, nil
	if keep := n.cfg.SnapshotEvery / 2; index > keep {
		err = n.log.Compact(index - keep)
		if err != nil && err != raft.ErrCompacted {
			n.halt(fmt.Errorf("log: %w", err))
		}
	}
}

// halt makes the node stop taking part. If it leads, it tells the voter that is furthest to take
// over at once.
func (n *Node) halt(err error) {
	if n.down != nil {
		return
	}
	n.down = err
	n.cfg.Log("This node takes part in the cluster no more: " + err.Error())
	if n.lead != nil {
		if to, term := n.heir(); to != 0 {
			n.send([]*raftpb.Message{{Type: raftpb.MsgTimeoutNow.Enum(), To: new(to),
				From: new(n.meta.Raft), Term: new(term)}})
		}
	}
	n.lead, n.lease = nil, lease{}
	n.requests.fail(n, n.downText())
	for _, m := range n.meetings {
		n.answer(m.done, n.downText())
	}
	if n.leaving != nil {
		n.answer(n.leaving.done, n.downText())
	}
	n.meetings, n.leaving = nil, nil
}

// downText is the error reply to whoever wants something of a node that is down.
func (n *Node) downText() string {
	return "CLUSTERDOWN This node takes part in the cluster no more: " + n.down.Error()
}

// follow notes who leads.
func (n *Node) follow(soft *raft.SoftState) {
	n.leads = soft.Lead
	switch {
	case soft.RaftState != raft.StateLeader:
		n.lead = nil
	case n.lead == nil:
		n.lead = newLeader(n)
	}
}

// never is before all times, forever behind them.
const (
	never   Time = -1 << 60
	forever Time = 1 << 60
)
