package core

import "godwit/internal/cluster/topology"

// Storage keeps what a node must not forget. The node calls it from within its own methods, one
// call at a time. An error of Save makes the node stop taking part for good: it cannot know what
// is on the disk any more.
type Storage interface {
	// Load returns what was saved. A Saved whose Meta is nil says that nothing ever was. An error
	// says that the file is there but cannot be used.
	Load() (Saved, error)
	// Save makes the whole batch durable, or nothing of it, before it returns.
	Save(Batch) error
}

// Record is one entry of the log, encoded. Its bytes mean nothing to a Storage.
type Record struct {
	Index uint64
	Data  []byte
}

// Saved is everything that Storage keeps. The slices of bytes are opaque.
type Saved struct {
	Meta     []byte   // who the node is; nil: a new node
	Hard     []byte   // raft's hard state; nil: none yet
	Snapshot []byte   // the state that the log begins with; nil: none yet
	Log      []Record // ascending, without gaps
}

// Batch is a change of what is saved. Its parts take effect in the order of its fields.
type Batch struct {
	// Reset drops everything: the node begins a log of its own, or joins another.
	Reset bool
	// Meta, Hard and Snapshot replace what was saved, if they are not nil.
	Meta, Hard, Snapshot []byte
	// Drop drops the records up to this index. DropAll drops all of them.
	Drop uint64
	// Log are records to append, ascending and without gaps. Those that were saved at the index
	// of the first or behind it are dropped.
	Log []Record
}

// DropAll as Batch.Drop drops all records.
const DropAll = ^uint64(0)

// Empty reports whether the batch changes nothing.
func (b *Batch) Empty() bool {
	return !b.Reset && b.Meta == nil && b.Hard == nil && b.Snapshot == nil && b.Drop == 0 &&
		len(b.Log) == 0
}

// meta is who the node is. It is saved as JSON.
type meta struct {
	Node    topology.NodeID `json:"node"`
	Cluster string          `json:"cluster"` // whose log this is
	Raft    uint64          `json:"raft"`    // its own id in the log's group
	Boot    uint64          `json:"boot"`    // counts its starts
}
