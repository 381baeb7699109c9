// Package core is a node of a cluster as a deterministic state machine: membership, the log of the
// topology (go.etcd.io/raft/v3), leases, failure detection, promotion, moves of slots. It knows no
// goroutine, no clock, no file and no socket. Whoever drives it hands in the time, messages and
// facts, and carries out what it asks for:
//
//	Tick, Receive, Propose, Installed, Meet …        Output: messages to send,
//	        │                                        a state to install,
//	        ▼                                        the end of the lease,
//	   ┌─────────┐  Save: entries, snapshots         answers to proposals
//	   │  Node   │─────────────────────▶ Storage            ▲
//	   └─────────┘                                          │
//	        └───────────────────────────────────────────────┘
//
// All inputs but Storage's errors come as method calls, from one goroutine at a time. The same
// inputs give the same outputs if crypto/rand.Reader gives the same bytes (raft draws election
// timeouts from it).
//
// # Time
//
// A Time is nanoseconds of the machine's CLOCK_BOOTTIME, which runs on while the machine or the
// process sleeps and never jumps. Times of different nodes are never compared. Only spans of time
// are, with a margin for drift of a twentieth.
//
// # Leases
//
// A master may confirm writes as long as it holds a lease. It pings the leader with its own time
// t0. The leader answers once a round with a majority of voters, begun after the ping came, has
// shown that it still leads (raft's ReadIndex). The lease then ends at t0 + D - D/20 of the
// master's clock, D being half of the node timeout, and counts only once the master has installed
// the state of the index that the answer names. The leader counts it as ending D after the ping
// came. A new leader counts every lease as ending D + D/20 after its election. A master that has
// not reported a state with the last revocation gets none. So an executor that is busy for long
// costs its own shard the lease, and nobody else more than the time until it is over.
//
// # Revoke before grant
//
// Entries that grant something (slots, the role of a master) are proposed only when every node
// that may hold a lease has reported a state in which all revocations are applied, or its lease is
// over by the leader's count (duties.go).
//
// # Starts
//
// Each start of a node is an entry of its own (topology.Node.Boot). A node that has started anew
// may have lost what it had confirmed, so it leaves the in-sync set, and if it was a master it is
// one again only by a promotion.
package core
