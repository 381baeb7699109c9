package core

import "godwit/internal/cluster/topology"

// Output is what a Node wants done. Node.Output returns what has gathered since the last call.
type Output struct {
	// Messages are to be sent, in order, each to one node. They may be lost, doubled or
	// overtaken.
	Messages []Message
	// State is the newest agreed state, nil if it is the one of the last Output. It must not be
	// changed. The server installs it, then calls Node.Installed.
	State *topology.State
	// Moved are members that are reached at another address than the state has, until it has the
	// new one.
	Moved []Moved
	// Answers are results of proposals and requests: call each one's Done, in order, after State
	// has been installed.
	Answers []Answer
}

// Message is a frame for another node.
type Message struct {
	// To is the node, "" if only the address is known: MEET.
	To topology.NodeID
	// At is where To listens as far as the node knows. A link from To that is open already may be
	// used as well, and must be if At is zero.
	At   topology.Address
	Data []byte
}

// Moved says where a member is reached.
type Moved struct {
	Node topology.NodeID
	At   topology.Address
	Told bool // by another member: nobody has been there to see
}

// Answer is the result of a proposal or of a request.
type Answer struct {
	Done    func(refusal string)
	Refusal string // the whole error reply, "" if it was applied
}

// Local is what the server knows of its own shard's data. The node tells it the leader.
type Local struct {
	// Role is the role that the server plays, by the state that it has installed.
	Role topology.Role
	// Shard and Term say from which master the data came: a replica takes them over from its
	// master once it has synchronized with it. They should be saved with the data. "" and 0 say
	// that nobody knows, after a restart. Offset is the replication offset within.
	Shard  topology.ShardID
	Term   uint64
	Offset uint64
	// Whole says that the data set is complete: no full synchronization is under way.
	Whole bool
	// Linked says that the replica's link to its master is up.
	Linked bool
	// Ends says that the server is about to end, however long its last save takes. It serves nobody
	// until it is back, so it must not be promoted. Its data count all the same: they will be
	// there again, and nobody with less may take their place.
	Ends bool
}
