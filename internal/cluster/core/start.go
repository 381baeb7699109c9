package core

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
	"google.golang.org/protobuf/proto"
)

// found begins a cluster of this node alone. Its log begins with a snapshot: the state after the
// entry Init.
func (n *Node) found(m meta) error {
	m.Cluster, m.Raft = n.cfg.NewID(), 1
	state := new(topology.State)
	refusal := state.Apply(1, topology.Op{Do: topology.Init{Cluster: m.Cluster, Node: m.Node,
		Shard: topology.ShardID(n.cfg.NewID()), About: n.cfg.About, Boot: m.Boot,
		Timeout: n.cfg.Timeout.Milliseconds(), Copy: n.copies}})
	if refusal != "" {
		return fmt.Errorf("cluster: cannot found one: %s", strings.TrimPrefix(refusal, "ERR "))
	}
	hard := &raftpb.HardState{Term: new(uint64(1)), Vote: new(uint64(1)), Commit: new(uint64(1))}
	conf := raftpb.EnsureConfState(&raftpb.ConfState{Voters: []uint64{1}})
	snapshot := newSnapshot(state, 1, conf)
	err := n.cfg.Storage.Save(Batch{Reset: true, Meta: m.encode(), Hard: marshal(hard),
		Snapshot: marshal(snapshot)})
	if err != nil {
		return fmt.Errorf("cluster: cannot save: %w", err)
	}
	n.meta = m
	return n.open(state, hard, snapshot, nil)
}

// enter gives the log up and joins a cluster that has admitted this node. The state comes with the
// leader's first message.
func (n *Node) enter(cluster string, id uint64) error {
	m := n.meta
	m.Cluster, m.Raft = cluster, id
	if err := n.cfg.Storage.Save(Batch{Reset: true, Meta: m.encode()}); err != nil {
		return fmt.Errorf("cluster: cannot save: %w", err)
	}
	n.meta = m
	return n.open(new(topology.State), nil, nil, nil)
}

// restore goes on from what was saved.
func (n *Node) restore(saved Saved) error {
	if err := unmarshal(saved.Meta, &n.meta); err != nil || n.meta.Node == "" || n.meta.Raft == 0 {
		return fmt.Errorf("%w: it does not say who this node is", ErrCorrupt)
	}
	n.meta.Boot++
	if err := n.cfg.Storage.Save(Batch{Meta: n.meta.encode()}); err != nil {
		return fmt.Errorf("cluster: cannot save: %w", err)
	}
	var hard *raftpb.HardState
	if saved.Hard != nil {
		hard = new(raftpb.HardState)
		if err := proto.Unmarshal(saved.Hard, hard); err != nil {
			return fmt.Errorf("%w: hard state: %w", ErrCorrupt, err)
		}
	}
	state := new(topology.State)
	var snapshot *raftpb.Snapshot
	if saved.Snapshot != nil {
		snapshot = new(raftpb.Snapshot)
		if err := proto.Unmarshal(saved.Snapshot, snapshot); err != nil {
			return fmt.Errorf("%w: snapshot: %w", ErrCorrupt, err)
		}
		var err error
		if state, err = topology.Decode(snapshot.GetData()); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	entries, err := decodeLog(saved.Log, hard, snapshot)
	if err != nil {
		return err
	}
	return n.open(state, hard, snapshot, entries)
}

// decodeLog reads the entries and checks that they go on from the snapshot.
func decodeLog(records []Record, hard *raftpb.HardState, snapshot *raftpb.Snapshot) (
	list []*raftpb.Entry, err error) {
	index, term := snapshot.GetMetadata().GetIndex(), snapshot.GetMetadata().GetTerm()
	for _, r := range records {
		e := new(raftpb.Entry)
		if err := proto.Unmarshal(r.Data, e); err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ErrCorrupt, r.Index, err)
		}
		if r.Index != index+1 || e.GetIndex() != r.Index || e.GetTerm() < term {
			return nil, fmt.Errorf("%w: entry %d stands where %d should", ErrCorrupt, r.Index,
				index+1)
		}
		index, term = index+1, e.GetTerm()
		list = append(list, e)
	}
	if hard.GetCommit() > index || hard.GetTerm() < term {
		return nil, fmt.Errorf("%w: entries up to %d were committed, the last is %d", ErrCorrupt,
			hard.GetCommit(), index)
	}
	return list, nil
}

// open starts raft with a log.
func (n *Node) open(state *topology.State, hard *raftpb.HardState, snapshot *raftpb.Snapshot,
	entries []*raftpb.Entry) error {
	n.log, n.hard = raft.NewMemoryStorage(), nil
	n.conf = raftpb.EnsureConfState(nil)
	if snapshot != nil {
		n.conf = raftpb.EnsureConfState(snapshot.GetMetadata().GetConfState())
		if err := n.log.ApplySnapshot(snapshot); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	if hard != nil {
		if err := n.log.SetHardState(hard); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	if err := n.log.Append(entries); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	node, err := raft.NewRawNode(&raft.Config{
		ID: n.meta.Raft, ElectionTick: electionTicks, HeartbeatTick: heartbeatTicks,
		Storage: memory{n.log, n}, Applied: snapshot.GetMetadata().GetIndex(),
		MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 64, MaxCommittedSizePerReady: 4 << 20,
		MaxUncommittedEntriesSize: 16 << 20,
		CheckQuorum:               true, PreVote: true, DisableProposalForwarding: true,
		StepDownOnRemoval: true, Logger: silent{},
	})
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	n.raft, n.state, n.ticked, n.snapped = node, state, n.now, snapshot.GetMetadata().GetIndex()
	n.names, n.lead, n.lease, n.install = map[uint64]topology.NodeID{}, nil, lease{}, 0
	n.learnNames()
	n.appliedTerm = snapshot.GetMetadata().GetTerm()
	n.campaigned, n.leads = false, 0
	return nil
}

// memory is raft's view of the log: the entries in memory, and a snapshot made when it wants one. A
// node that was admitted later than the last saved snapshot needs a newer one.
type memory struct {
	*raft.MemoryStorage
	n *Node
}

// Snapshot implements raft.Storage.
func (m memory) Snapshot() (*raftpb.Snapshot, error) {
	term, err := m.Term(m.n.applied())
	if err != nil {
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	return newSnapshot(m.n.state, term, m.n.conf), nil
}

func (m *meta) encode() []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("core: %v", err)) // texts and numbers
	}
	return b
}

// newSnapshot returns the state as a snapshot of the log up to its index.
func newSnapshot(s *topology.State, term uint64, conf *raftpb.ConfState) *raftpb.Snapshot {
	return &raftpb.Snapshot{Data: s.Encode(), Metadata: &raftpb.SnapshotMetadata{
		Index: new(s.Index), Term: new(term), ConfState: conf}}
}

// marshal encodes a message of raft. It never fails: none has a field that it needs or that must
// be UTF-8.
func marshal(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("core: %v", err))
	}
	return b
}
