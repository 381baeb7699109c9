package topology

import "godwit/internal/slot"

// Init makes the state that of a cluster of one node. It is the first entry of each log.
type Init struct {
	Cluster string  `json:"cluster"` // 40 hexadecimal digits
	Node    NodeID  `json:"node"`
	Shard   ShardID `json:"shard"`
	About   About   `json:"about"`
	Epoch   uint64  `json:"epoch,omitempty"`
	Boot    uint64  `json:"boot,omitempty"`    // see Node.Boot
	Timeout int64   `json:"timeout,omitempty"` // see State.Timeout
	Copy    bool    `json:"copy,omitempty"`    // see Shard.Copy
}

// Admit lets a node join, as the master of a shard of its own. It brings its slots along: nobody
// may own them. Its Raft id is State.NextID. If it is a member at the same address, nothing is
// changed.
type Admit struct {
	Node  NodeID   `json:"node"`
	Shard ShardID  `json:"shard"` // a new one
	About About    `json:"about"`
	Slots slot.Set `json:"slots"`
	Epoch uint64   `json:"epoch,omitempty"` // another is chosen if a shard has that one
	Boot  uint64   `json:"boot,omitempty"`  // see Node.Boot
}

// Forget removes another node (CLUSTER FORGET). It must not be the master of slots. Of a node that
// was removed before, nothing is changed.
type Forget struct {
	Node NodeID `json:"node"`
}

// Leave removes the node that wants it (CLUSTER RESET). The slots of a master go to its replicas,
// of which one will be promoted; if it has none, they belong to nobody.
type Leave struct {
	Node NodeID `json:"node"`
}

// Tell says what a node tells of itself.
type Tell struct {
	Node  NodeID `json:"node"`
	About About  `json:"about"`
}

// SetFailed says whether the leader hears a node.
type SetFailed struct {
	Node   NodeID `json:"node"`
	Failed bool   `json:"failed"`
}

// SetVote is CLUSTER ADDVOTER and DELVOTER.
type SetVote struct {
	Node NodeID `json:"node"`
	Vote Vote   `json:"vote"`
}

// Replicate moves a node to the shard of a master, as its replica. The replicas of a master that
// becomes one follow it. With Master "" (CLUSTER REPLICATE NO ONE) the node becomes the master of
// a new shard without slots.
type Replicate struct {
	Node   NodeID  `json:"node"`
	Master NodeID  `json:"master,omitempty"`
	Shard  ShardID `json:"shard,omitempty"` // the new one
	// Spared says that nobody has asked for that: it is refused if the node's shard needs it (see
	// Shard.Spares).
	Spared bool `json:"spared,omitempty"`
}

// Vacate takes the shard from its master. It is a revocation. Migrations of the shard fail.
type Vacate struct {
	Shard ShardID `json:"shard"`
	Term  uint64  `json:"term"`           // of the shard, or it is refused
	Hold  int64   `json:"hold,omitempty"` // see Shard.Hold
}

// Promote makes a node the master of its shard, which has none. Term and epoch rise. It may be the
// last master again.
type Promote struct {
	Shard ShardID `json:"shard"`
	Term  uint64  `json:"term"` // as before
	Node  NodeID  `json:"node"`
	Boot  uint64  `json:"boot,omitempty"`  // of the node, or it is refused
	Force bool    `json:"force,omitempty"` // whatever the in-sync set says
	Bare  bool    `json:"bare,omitempty"`  // see Shard.Bare
}

// Decline takes the shard from a master that has heard of its promotion and does not lead: its data
// has gone meanwhile, for a full synchronization with the old master had begun. Who had what counts
// as before the promotion. It is a revocation.
type Decline struct {
	Shard ShardID `json:"shard"`
	Term  uint64  `json:"term"` // of the shard, or it is refused
}

// SetInSync is what a master says of its replicas. It is refused when the master has been revoked,
// when it was promoted in another life, and when the set has changed since the master saw it: what
// the master knew then of the replicas may be wrong.
type SetInSync struct {
	Shard   ShardID  `json:"shard"`
	Term    uint64   `json:"term"`
	Boot    uint64   `json:"boot,omitempty"`    // of the master
	Confirm int      `json:"confirm,omitempty"` // see Shard.Confirm
	InSync  []NodeID `json:"in_sync,omitempty"`
	Seen    uint64   `json:"seen"` // State.Index that the master goes by
}

// SetEpoch is CLUSTER SET-CONFIG-EPOCH.
type SetEpoch struct {
	Node  NodeID `json:"node"`
	Epoch uint64 `json:"epoch"`
}

// Bump gives the node's shard an epoch above all others (CLUSTER BUMPEPOCH). If it has the highest,
// nothing is changed.
type Bump struct {
	Node NodeID `json:"node"`
}

// AddSlots gives slots that nobody owns to a master.
type AddSlots struct {
	Node  NodeID   `json:"node"`
	Slots slot.Set `json:"slots"`
}

// DelSlots takes slots from the node's shard, from shards without a master, or from shards whose
// nodes have all failed. Nobody owns them then. It is a revocation, so nobody gets them before a
// failed master has no lease any more. All is CLUSTER FLUSHSLOTS, and Slots is ignored then.
type DelSlots struct {
	Node  NodeID   `json:"node"`
	Slots slot.Set `json:"slots"`
	All   bool     `json:"all,omitempty"`
}

// SetMark is CLUSTER SETSLOT MIGRATING and IMPORTING, sent to Node. One of both is set: the other
// node.
type SetMark struct {
	Node      NodeID `json:"node"`
	Slot      int    `json:"slot"`
	Migrating NodeID `json:"migrating,omitempty"` // to that one
	Importing NodeID `json:"importing,omitempty"` // from that one
}

// Unmark is CLUSTER SETSLOT STABLE, sent to Node: what its shard has said of the slot is gone.
type Unmark struct {
	Node NodeID `json:"node"`
	Slot int    `json:"slot"`
}

// Close stops the owner of slots from serving them, since they are about to move. It is a
// revocation. Only the leader and the owner may ask for it, and for Open.
type Close struct {
	Shard ShardID  `json:"shard"`
	Term  uint64   `json:"term"`
	Slots slot.Set `json:"slots"`
}

// Move gives slots to a master (CLUSTER SETSLOT NODE). Those that another shard with a master owns
// must have been closed (State.Before). Marks of the slots are gone. The epoch of a shard that has
// imported the slot, or that takes it from another, rises.
type Move struct {
	Slots slot.Set `json:"slots"`
	To    NodeID   `json:"to"`
	// Closed says that the owner has closed the slots itself and found no keys in them. If they are
	// open again, keys may have come: then they are not closed once more.
	Closed bool `json:"closed,omitempty"`
	// Keep says that those who lose the slots keep their keys (Shard.Kept): they are to be moved
	// one by one.
	Keep bool `json:"keep,omitempty"`
}

// Open gives closed slots back to their owner. It may be proposed at any time.
type Open struct {
	Shard ShardID  `json:"shard"`
	Slots slot.Set `json:"slots"`
}

// Begin starts a migration.
type Begin struct {
	ID      string   `json:"id"` // 40 hexadecimal digits
	Slots   slot.Set `json:"slots"`
	Asked   string   `json:"asked,omitempty"` // see Migration.Asked
	From    ShardID  `json:"from"`
	To      ShardID  `json:"to"`
	Created int64    `json:"created"` // unix ms
}

// BeginAll starts several migrations, or none of them if one is refused.
type BeginAll struct {
	List []Begin `json:"list"`
}

// Receive says that the destination of a migration, which asks for it, has no keys in the slots.
// From now on keys come, and the shard hides them (Shard.Half). If it was said before, nothing is
// changed.
type Receive struct {
	ID string `json:"id"`
}

// Dropped says that a master has deleted what migrations had brought that came to nothing. It is
// refused when the keys of another one may have come since the master looked.
type Dropped struct {
	Shard ShardID  `json:"shard"`
	Term  uint64   `json:"term"`
	Slots slot.Set `json:"slots"`
	Seen  uint64   `json:"seen"` // State.Index that the master goes by
}

// Advance brings a migration to its next phase: Copying to Closed (a revocation: the slots close),
// Closed to Done (a grant: the destination owns them), and either to Failed or Cancelled (the
// source serves the slots as before). Only the destination may ask for Done: it alone knows that it
// has all keys. If the migration has that phase, nothing is changed.
type Advance struct {
	ID      string `json:"id"`
	Phase   Phase  `json:"phase"`
	Message string `json:"message,omitempty"`
	At      int64  `json:"at,omitempty"` // unix ms
}
