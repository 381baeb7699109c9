package core

import (
	"errors"
	"time"

	"godwit/internal/cluster/topology"
)

// Time is a reading of CLOCK_BOOTTIME in nanoseconds.
type Time = int64

// Config is what a node is made of.
type Config struct {
	// About is what the node tells of itself. SetAbout changes it. Without an IP address the one
	// that the state has stays.
	About topology.About
	// Timeout is cluster-node-timeout, for a cluster that this node founds. A cluster's timeout is
	// part of its state.
	Timeout time.Duration
	// SnapshotEvery is the number of entries after which the log is compacted. 0 means 1000.
	SnapshotEvery uint64
	// Storage keeps what must survive a restart.
	Storage Storage
	// NewID returns 40 random hexadecimal digits.
	NewID func() string
	// Linked returns the IP and bus port at which a link to a member is open: those that the state
	// has, or those of Output.Moved. ok is false if there is no link. nil stands for none.
	Linked func(node topology.NodeID) (at topology.Address, ok bool)
	// Log receives lines for the log. It may be nil.
	Log func(text string)
	// Debug switches off a rule of the protocol. It is for the simulator, which must notice.
	Debug Debug
}

// Debug breaks rules of the protocol, each for a test that shows that the simulator notices.
type Debug struct {
	EndlessLease   bool // a lease, once given, does not end
	NoReadIndex    bool // the leader grants leases without asking a majority whether it leads
	NoLeaseWait    bool // grants do not wait for the leases of others
	EarlyGrant     bool // a grant is proposed before the revocation has been applied
	IgnoreConfirm  bool // promotions look at no in-sync set
	ForgetsRestart bool // a start of a node is no entry
	TrustsUnknown  bool // data of which nobody knows the shard counts as the shard's
	BlindLease     bool // leases are granted to nodes that have not installed the last revocation
}

// ErrCorrupt reports saved state that cannot be right. The node must not start.
var ErrCorrupt = errors.New("cluster: the saved log is corrupt")

// The protocol's spans, as parts of the node timeout.
const (
	ticksPerTimeout = 40
	heartbeatTicks  = 2
	electionTicks   = 10
	pingsPerTimeout = 10
	marginParts     = 20 // of D
)

// defaults fills in what the caller left out.
func (c *Config) defaults() {
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = 1000
	}
	if c.Linked == nil {
		c.Linked = func(topology.NodeID) (at topology.Address, ok bool) { return at, false }
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
}
