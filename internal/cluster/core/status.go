package core

import (
	"slices"

	"go.etcd.io/raft/v3"
	"godwit/internal/cluster/topology"
)

// Status is what INFO and CLUSTER INFO show of the log.
type Status struct {
	ID      topology.NodeID
	Raft    uint64 // its own id in the Raft group
	Cluster string
	Boot    uint64 // counts its starts
	Role    string // leader, follower, candidate or learner; down when it takes part no more
	Term    uint64
	Leader  topology.NodeID // "" if none is known
	Commit  uint64
	Applied uint64
	Entries uint64            // in the log behind its snapshot
	Voters  []topology.NodeID // ascending; the old ones as long as their majority is needed
	Down    string            // why it takes part no more, "" if it does
}

// Leads reports whether the node leads the Raft group.
func (n *Node) Leads() bool { return n.lead != nil }

// Status returns what there is to show of the log.
func (n *Node) Status() Status {
	b := n.raft.BasicStatus()
	s := Status{ID: n.meta.Node, Raft: n.meta.Raft, Cluster: n.meta.Cluster, Boot: n.meta.Boot,
		Role: "follower", Term: b.GetTerm(), Commit: b.GetCommit(), Applied: n.applied()}
	voters := n.conf.GetVoters()
	if old := n.conf.GetVotersOutgoing(); len(old) > 0 {
		voters = old
	}
	for _, id := range voters {
		s.Voters = append(s.Voters, n.names[id])
	}
	slices.Sort(s.Voters)
	if last, err := n.log.LastIndex(); err == nil {
		s.Entries = last - min(last, n.snapped)
	}
	switch {
	case n.down != nil:
		s.Role, s.Down = "down", n.down.Error()
		return s
	case b.RaftState == raft.StateLeader:
		s.Role = "leader"
	case !slices.Contains(n.conf.GetVoters(), n.meta.Raft):
		s.Role = "learner"
	case b.RaftState == raft.StateCandidate || b.RaftState == raft.StatePreCandidate:
		s.Role = "candidate"
	}
	s.Leader = n.leader()
	return s
}
