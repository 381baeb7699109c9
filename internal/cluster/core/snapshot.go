package core

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// freshLog is the log as raft reads it. A snapshot for another node is made when it is wanted: that
// of the last compaction may be older than the receiver's membership, and raft accepts no snapshot
// in which it is no member.
type freshLog struct {
	*raft.MemoryStorage
	n *Node
}

// Snapshot implements raft.Storage.
func (l freshLog) Snapshot() (*raftpb.Snapshot, error) {
	s, err := l.MemoryStorage.Snapshot()
	if err != nil || l.n.applied() <= s.GetMetadata().GetIndex() {
		return s, err
	}
	return l.CreateSnapshot(l.n.applied(), l.n.conf, l.n.state.Encode())
}
