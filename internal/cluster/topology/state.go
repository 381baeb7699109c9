// Package topology is what the nodes of a cluster agree on: nodes, shards, owners of slots, epochs,
// promotions and migrations. It is a deterministic state machine. Entries of one log (Op) change
// the state, and nothing else does; who has the same entries has the same state. The package knows
// no network, no clock and no disk.
//
// # Revoke before grant
//
// What lets a node confirm writes (a grant: slots that get an owner, a node that becomes a master)
// and what takes that away (a revocation) are different entries. A revocation notes its index
// (State.Revoked). The leader proposes a grant only when every node that may act on an older state
// has applied that index, or has no lease any more. So of two nodes that believe that they own a
// slot, at most one may confirm writes.
package topology

import "godwit/internal/slot"

// NodeID names a node: 40 hexadecimal digits that it chose itself.
type NodeID string

// ShardID names a shard, a master with its replicas, likewise.
type ShardID string

// Role is what a node is in its shard.
type Role string

// The roles.
const (
	Master  Role = "master"
	Replica Role = "replica"
)

// Vote says who decides whether a node is a voter of the Raft group.
type Vote string

// The wishes. Under VoteAuto the leader chooses.
const (
	VoteAuto   Vote = ""
	VoteAlways Vote = "always" // CLUSTER ADDVOTER
	VoteNever  Vote = "never"  // CLUSTER DELVOTER
)

// Address is where a node is reached, as it announces it.
type Address struct {
	IP       string `json:"ip,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	Port     int    `json:"port,omitempty"`     // for clients, plain; 0: none
	TLSPort  int    `json:"tls_port,omitempty"` // for clients, TLS; 0: none
	BusPort  int    `json:"bus_port,omitempty"`
}

// About is what a node tells of itself. It has a new entry whenever that changes.
type About struct {
	Address
	Name    string `json:"name,omitempty"` // cluster-announce-human-nodename
	Zone    string `json:"zone,omitempty"` // availability-zone
	Version string `json:"version,omitempty"`
	// NoFailover says that it must not be promoted by itself (cluster-replica-no-failover).
	NoFailover bool `json:"no_failover,omitempty"`
	// Barrier is how many replicas the node's master must keep when the node moves to a master that
	// has none (cluster-migration-barrier). Settled says that it does not move
	// (cluster-allow-replica-migration).
	Barrier int  `json:"barrier,omitempty"`
	Settled bool `json:"settled,omitempty"`
	// Databases is how many the node has (cluster-databases), 0 if it has not told. Migrations go
	// between nodes with the same number only.
	Databases int `json:"databases,omitempty"`
}

// Node is a member of the cluster.
type Node struct {
	ID    NodeID  `json:"id"`
	Raft  uint64  `json:"raft"` // its id in the Raft group; none is used twice
	Shard ShardID `json:"shard"`
	About About   `json:"about"`
	Vote  Vote    `json:"vote,omitempty"`
	// Failed says that the leader has not heard of it for the node timeout.
	Failed bool `json:"failed,omitempty"`
	// Boot counts the starts of its process. It has none of the data that it had confirmed in an
	// earlier life for sure.
	Boot uint64 `json:"boot"`
	// Joined is the index of the entry that admitted it.
	Joined uint64 `json:"joined"`
	// Requests are the last requests of this node that were applied, in that order. Those up to
	// Floor may have been applied too, but nobody knows any more.
	Requests []Request `json:"requests,omitempty"`
	Floor    uint64    `json:"floor,omitempty"`
}

// Request is one that was applied, with its outcome. It makes entries that come twice harmless.
type Request struct {
	Req     uint64 `json:"req"`
	Refusal string `json:"refusal,omitempty"`
}

// Shard is a master with its replicas.
type Shard struct {
	ID ShardID `json:"id"`
	// Master is the node that may confirm writes with a lease. It is "" while the shard has none:
	// the old one has been revoked, no other was promoted yet.
	Master NodeID `json:"master,omitempty"`
	// Last is the last master that has taken its promotion up, or the one that there is.
	Last NodeID `json:"last,omitempty"`
	// Hold is for how long, in ms, the last master holds its clients while there is no other: until
	// then CLUSTER FAILOVER may take. 0: the master was not revoked for that.
	Hold int64 `json:"hold,omitempty"`
	// Epoch rises with each change of the master, and with each change of the slots that Redis
	// gives a new configuration epoch. It is unique among shards, but for 0.
	Epoch uint64 `json:"epoch"`
	// Term rises with each change of the master, and with nothing else. Streams of replication
	// carry it.
	Term uint64 `json:"term"`
	// Boot is that of the master, or the last one, when it became the master. When the node has
	// another by now, it may have lost what it confirmed.
	Boot uint64 `json:"boot"`
	// Confirm is min-replicas-to-ack as the master last told it. While it is above 0, only nodes of
	// InSync may be promoted.
	Confirm int      `json:"confirm,omitempty"`
	InSync  []NodeID `json:"in_sync,omitempty"` // replicas that have every confirmed write
	// SyncAt is the index of the last entry that changed the master or InSync, by SetInSync or
	// because a member has left or started anew.
	SyncAt uint64 `json:"sync_at,omitempty"`
	// Bare says that the master was promoted though it was known not to have all data: nobody had.
	Bare bool `json:"bare,omitempty"`
	// Before is who had what before the master was promoted. It is nil once the master has taken
	// that up, by saying which replicas are in sync, and while there is no master. Until then the
	// master counts no write as confirmed by replicas: if it is revoked, Before holds again.
	Before *Before `json:"before,omitempty"`
	// Replicated says that the shard has had replicas.
	Replicated bool `json:"replicated,omitempty"`
	// Copy says that nobody needs the keys of the shard's node, which is alone: it was a replica
	// when it was removed from another cluster, and its master has them. It is false again as soon
	// as the node gets slots or company, because clients may write then.
	Copy  bool     `json:"copy,omitempty"`
	Slots slot.Set `json:"slots"`
	// Closing are those of Slots that the master must not serve: they are about to move. They
	// come from a revocation, and go with the entry that moves them or gives them back.
	Closing slot.Set `json:"closing"`
	// Kept are slots of others whose import key by key was given up. The keys that had come may be
	// the only ones of their names, so this shard keeps them until it owns the slots.
	Kept slot.Set `json:"kept"`
	// Half are slots whose keys a migration brings, or has brought in part before it came to
	// nothing. The shard shows none of these keys, and serves none of the slots, even if they are
	// its own by now, until its master has deleted what had come (Dropped). HalfAt is the index of
	// the last entry that added slots.
	Half   slot.Set `json:"half"`
	HalfAt uint64   `json:"half_at,omitempty"`
}

// Before is what a Shard said before a promotion. It is not changed.
type Before struct {
	Last   NodeID   `json:"last"`
	Boot   uint64   `json:"boot"`
	InSync []NodeID `json:"in_sync,omitempty"`
}

// Mark is what CLUSTER SETSLOT says of a slot that is moved key by key.
type Mark struct {
	Slot      int     `json:"slot"`
	Migrating ShardID `json:"migrating,omitempty"` // set by the source: to this shard
	Importing ShardID `json:"importing,omitempty"` // set by the destination: from this shard
	To        ShardID `json:"to,omitempty"`        // the shard that imports
}

// Phase is how far a migration is.
type Phase string

// The phases. Done, Failed and Cancelled end it.
const (
	Copying   Phase = "copying" // snapshot and stream flow to the destination
	Closed    Phase = "closed"  // the source serves the slots no more, the rest is on its way
	Done      Phase = "done"    // the destination owns the slots
	Failed    Phase = "failed"
	Cancelled Phase = "cancelled"
)

// Migration moves slots from one shard to another as a whole.
type Migration struct {
	ID    string   `json:"id"` // 40 hexadecimal digits
	Slots slot.Set `json:"slots"`
	// Asked is Slots as ranges in the words of who began it, if these differ from Ranges. Tools
	// look for their own words.
	Asked string  `json:"asked,omitempty"`
	From  ShardID `json:"from"`
	To    ShardID `json:"to"`
	// SourceTerm and TargetTerm are those of the shards at its beginning: it fails with either
	// master.
	SourceTerm uint64 `json:"source_term"`
	TargetTerm uint64 `json:"target_term"`
	// Source and Target are the masters of that time.
	Source NodeID `json:"source"`
	Target NodeID `json:"target"`
	Phase  Phase  `json:"phase"`
	// Ready says that the destination had no keys in the slots. What it has of them has come by
	// the migration (Receive).
	Ready   bool   `json:"ready,omitempty"`
	Message string `json:"message,omitempty"` // why it has ended
	Created int64  `json:"created"`           // unix ms, by the proposer's clock
	Paused  int64  `json:"paused,omitempty"`  // unix ms when it closed, by the source's clock
	Ended   int64  `json:"ended,omitempty"`   // unix ms, by that of who ended it; 0: by Apply
}

// State is the agreed state. Apply changes it; everyone else only reads. What its maps and slices
// point to is never changed but replaced, so copies (Clone) may share it.
type State struct {
	Cluster string             `json:"cluster"` // 40 hexadecimal digits, of its first node
	Index   uint64             `json:"index"`   // of the last entry that was applied
	Epoch   uint64             `json:"epoch"`   // the highest of all
	NextID  uint64             `json:"next_id"` // Raft id for the next node
	Nodes   map[NodeID]*Node   `json:"nodes"`
	Shards  map[ShardID]*Shard `json:"shards"`
	Marks   map[int]*Mark      `json:"marks,omitempty"`
	// Migrations are those under way and the last that have ended, oldest first.
	Migrations []*Migration `json:"migrations,omitempty"`
	// Timeout is cluster-node-timeout in ms, the same for all nodes: leases are half of it. It was
	// changed last at the index TimeoutAt. Longest is the longest by which a lease may still last.
	Timeout   int64  `json:"timeout"`
	TimeoutAt uint64 `json:"timeout_at,omitempty"`
	Longest   int64  `json:"longest"`
	// Revoked is the index of the last entry that took anything from a node.
	Revoked uint64 `json:"revoked"`
	// Forgotten are the last nodes that were removed, with the index of that: they are told.
	Forgotten map[NodeID]uint64 `json:"forgotten,omitempty"`
}
