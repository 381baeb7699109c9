package topology

import (
	"maps"
	"slices"
	"strconv"

	"godwit/internal/slot"
)

// What the state keeps of the past.
const (
	keepRequests   = 2 * Window
	keepForgotten  = 100 // nodes
	keepMigrations = 64  // that have ended
)

// Window is how many requests for entries a node sends, counted from its oldest open one. The state
// remembers at least as many, so that it knows what became of one that is sent again.
const Window = 32

// Refusals that Redis does not have.
const (
	errNotMember   = "ERR This node is not a member of the cluster"
	errOvertaken   = "ERR A later request was applied, it is not known whether this one was"
	errSyncChanged = "ERR The in-sync set has changed meanwhile"
	errNoMaster    = "ERR The shard has another master meanwhile, or none. Try again"
)

// entry is one that is being applied.
type entry struct {
	*State
	index uint64
	by    NodeID
}

// Apply applies the entry of the log at the index, and returns why it is refused: a whole error
// reply, "" if it is not. An index that was applied before changes nothing.
//
// What an action may assume is checked here and not by the proposer, since other entries may have
// come between.
func (s *State) Apply(index uint64, op Op) (refusal string) {
	if index <= s.Index {
		return ""
	}
	s.Index = index
	if r, known := s.applied(op); known {
		return r
	}
	refusal = op.Do.apply(&entry{State: s, index: index, by: op.By})
	if refusal == "" && op.Revokes() {
		s.Revoked = index
	}
	s.remember(op, refusal)
	return refusal
}

// Skip notes that the entry at the index is none of this package.
func (s *State) Skip(index uint64) { s.Index = max(s.Index, index) }

// applied reports whether the request was applied before, or can never be, and its outcome.
func (s *State) applied(op Op) (refusal string, known bool) {
	if op.By == "" {
		return "", false
	}
	n := s.Nodes[op.By]
	if n == nil {
		switch op.Do.(type) {
		case Init:
			return "", false
		case Leave:
			if s.Forgotten[op.By] > 0 {
				return "", true
			}
		}
		return errNotMember, true
	}
	if op.Req == 0 {
		return "", false
	}
	for _, r := range n.Requests {
		if r.Req == op.Req {
			return r.Refusal, true
		}
	}
	if op.Req <= n.Floor {
		return errOvertaken, true
	}
	return "", false
}

func (s *State) remember(op Op, refusal string) {
	n := s.Nodes[op.By]
	if n == nil || op.Req == 0 {
		return
	}
	n = s.editNode(op.By)
	n.Requests = append(slices.Clip(n.Requests), Request{op.Req, refusal})
	if extra := len(n.Requests) - keepRequests; extra > 0 {
		for _, r := range n.Requests[:extra] {
			n.Floor = max(n.Floor, r.Req)
		}
		n.Requests = slices.Clone(n.Requests[extra:])
	}
}

// Clone returns a copy that Apply may change without changing s. It shares what the maps point to:
// Apply replaces that.
func (s *State) Clone() *State {
	c := *s
	c.Nodes = maps.Clone(s.Nodes)
	c.Shards = maps.Clone(s.Shards)
	c.Marks = maps.Clone(s.Marks)
	c.Forgotten = maps.Clone(s.Forgotten)
	c.Migrations = slices.Clone(s.Migrations)
	return &c
}

// editNode returns a node that may be changed: a copy that has taken its place.
func (s *State) editNode(id NodeID) *Node {
	n := *s.Nodes[id]
	s.Nodes[id] = &n
	return &n
}

// editShard returns a shard that may be changed, as editNode. Its InSync is replaced, not changed.
func (s *State) editShard(id ShardID) *Shard {
	sh := *s.Shards[id]
	s.Shards[id] = &sh
	return &sh
}

// editMigration returns a migration that may be changed, as editNode.
func (s *State) editMigration(i int) *Migration {
	m := *s.Migrations[i]
	s.Migrations[i] = &m
	return &m
}

// Owner returns the shard that owns the slot, nil if there is none.
func (s *State) Owner(i int) *Shard {
	for _, sh := range s.Shards {
		if sh.Slots.Has(i) {
			return sh
		}
	}
	return nil
}

// ShardOf returns the shard of a node, nil if it is not a member.
func (s *State) ShardOf(id NodeID) *Shard {
	if n := s.Nodes[id]; n != nil {
		return s.Shards[n.Shard]
	}
	return nil
}

// Members returns the nodes of a shard in ascending order.
func (s *State) Members(id ShardID) (list []NodeID) {
	for k, n := range s.Nodes {
		if n.Shard == id {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

// mastered returns the shard of which the node is the master, nil if it is a replica, or unknown.
func (s *State) mastered(id NodeID) *Shard {
	if sh := s.ShardOf(id); sh != nil && sh.Master == id {
		return sh
	}
	return nil
}

// owned returns all slots that have an owner.
func (s *State) owned() (all slot.Set) {
	for _, sh := range s.Shards {
		all.Union(&sh.Slots)
	}
	return all
}

// first returns the lowest slot of a set that is not empty.
func first(set *slot.Set) (low int) {
	set.Each(func(i int) bool { low = i; return false })
	return low
}

// raise gives the shard an epoch above all others, if it has not the highest.
func (s *State) raise(sh *Shard) {
	if sh.Epoch == 0 || sh.Epoch != s.Epoch {
		s.Epoch++
		sh.Epoch = s.Epoch
	}
}

func unknownNode(id NodeID) string { return "ERR Unknown node " + string(id) }

func busySlot(i int) string { return "ERR Slot " + strconv.Itoa(i) + " is already busy" }
