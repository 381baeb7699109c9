package topology

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"godwit/internal/slot"
)

// maxText is the length of texts of About.
const maxText = 255

// maxCount is above all numbers that grow, and far from an overflow.
const maxCount = 1<<63 + 1<<62

// ValidID reports whether id has 40 hexadecimal digits, in lower case.
func ValidID[T ~string](id T) bool {
	return len(id) == 40 && strings.Trim(string(id), "0123456789abcdef") == ""
}

// Refusal returns the error reply to what would not fit into CLUSTER NODES, or into the log, which
// is of JSON. It is "" if all is well.
func (a *About) Refusal() string {
	for _, text := range []string{a.IP, a.Hostname, a.Name, a.Zone, a.Version} {
		odd := strings.ContainsFunc(text, func(r rune) bool {
			return r <= ' ' || r == 0x7f || r == ',' || r == '=' || r == '@'
		})
		if odd || len(text) > maxText || !utf8.ValidString(text) {
			return fmt.Sprintf("ERR Invalid text %.40q about a node", text)
		}
	}
	for _, port := range []int{a.Port, a.TLSPort, a.BusPort} {
		if port < 0 || port > 65535 {
			return fmt.Sprintf("ERR Invalid port %d", port)
		}
	}
	if a.Barrier < 0 {
		return fmt.Sprintf("ERR Invalid migration barrier %d", a.Barrier)
	}
	if a.Databases < 0 {
		return fmt.Sprintf("ERR Invalid number of databases %d", a.Databases)
	}
	return ""
}

// Check returns an error if the state breaks a rule that holds after each entry.
func (s *State) Check() error {
	if len(s.Nodes) == 0 {
		if len(s.Shards)+len(s.Marks)+len(s.Migrations) > 0 {
			return fmt.Errorf("there are shards, marks or migrations, but no nodes")
		}
		return nil
	}
	if !ValidID(s.Cluster) {
		return fmt.Errorf("invalid id of the cluster: %.50q", s.Cluster)
	}
	if max(s.Index, s.Epoch, s.NextID) > maxCount {
		return fmt.Errorf("index, epoch or next Raft id are above %d", uint64(maxCount))
	}
	if s.TimeoutAt > s.Index || s.Longest < s.Timeout {
		return fmt.Errorf("timeout %d since %d, the longest is %d", s.Timeout, s.TimeoutAt,
			s.Longest)
	}
	if s.Revoked > s.Index {
		return fmt.Errorf("revoked at %d, but the index is %d", s.Revoked, s.Index)
	}
	for _, check := range []func() error{
		s.checkNodes, s.checkShards, s.checkSlots, s.checkMarks, s.checkMigrations,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, id := range sortedKeys(s.Forgotten) {
		if s.Nodes[id] != nil || !ValidID(id) || s.Forgotten[id] > s.Index {
			return fmt.Errorf("forgotten node %.50q: a member, or no id", id)
		}
	}
	return nil
}

func (s *State) checkNodes() error {
	rafts := map[uint64]NodeID{}
	for _, id := range s.NodeIDs() {
		n := s.Nodes[id]
		switch {
		case n == nil || n.ID != id || !ValidID(id):
			return fmt.Errorf("node %.50q: invalid id", id)
		case n.Raft == 0 || n.Raft >= s.NextID || rafts[n.Raft] != "":
			return fmt.Errorf("node %s: Raft id %d is not below %d, or is used twice", id, n.Raft,
				s.NextID)
		case s.Shards[n.Shard] == nil:
			return fmt.Errorf("node %s: no shard %.50q", id, n.Shard)
		case n.Joined > s.Index:
			return fmt.Errorf("node %s: joined at %d, after %d", id, n.Joined, s.Index)
		case n.Vote != VoteAuto && n.Vote != VoteAlways && n.Vote != VoteNever:
			return fmt.Errorf("node %s: vote %.50q", id, n.Vote)
		case len(n.Requests) > keepRequests:
			return fmt.Errorf("node %s: %d requests are kept", id, len(n.Requests))
		}
		if r := n.About.Refusal(); r != "" {
			return fmt.Errorf("node %s: %s", id, r)
		}
		rafts[n.Raft] = id
	}
	return nil
}

func (s *State) checkShards() error {
	epochs := map[uint64]ShardID{}
	for _, id := range s.ShardIDs() {
		sh := s.Shards[id]
		if sh == nil || sh.ID != id || !ValidID(id) {
			return fmt.Errorf("shard %.50q: invalid id", id)
		}
		members := s.Members(id)
		switch {
		case len(members) == 0:
			return fmt.Errorf("shard %s: no nodes", id)
		case sh.Master != "" && !slices.Contains(members, sh.Master):
			return fmt.Errorf("shard %s: the master %.50q is not in it", id, sh.Master)
		case sh.Master != "" && sh.Master != sh.Last || !ValidID(sh.Last):
			return fmt.Errorf("shard %s: the last master is %.50q", id, sh.Last)
		case sh.Epoch > s.Epoch || sh.Epoch > 0 && epochs[sh.Epoch] != "":
			return fmt.Errorf("shard %s: epoch %d is above %d, or is used twice", id, sh.Epoch,
				s.Epoch)
		case sh.Term == 0 || sh.Term > maxCount:
			return fmt.Errorf("shard %s: term %d", id, sh.Term)
		case sh.Confirm < 0 || !slices.IsSorted(sh.InSync):
			return fmt.Errorf("shard %s: confirm is negative, or the set in sync not sorted", id)
		case sh.Master == "" && !sh.Closing.Empty():
			return fmt.Errorf("shard %s: slots are closing without a master", id)
		case sh.Copy && (len(s.Nodes) > 1 || !sh.Slots.Empty()):
			return fmt.Errorf("shard %s: a copy that is not alone, or has slots", id)
		}
		epochs[sh.Epoch] = id
		for i, r := range sh.InSync {
			if r == sh.Master || !slices.Contains(members, r) || i > 0 && r == sh.InSync[i-1] {
				return fmt.Errorf("shard %s: %.50q is in sync, but no replica", id, r)
			}
		}
	}
	return nil
}

func (s *State) checkSlots() error {
	var all slot.Set
	for _, id := range s.ShardIDs() {
		sh := s.Shards[id]
		if twice := all.Common(&sh.Slots); !twice.Empty() {
			return fmt.Errorf("shard %s: slots %v have another owner", id, twice)
		}
		all.Union(&sh.Slots)
		closing := sh.Closing
		if closing.Subtract(&sh.Slots); !closing.Empty() {
			return fmt.Errorf("shard %s: slots %v are closing, but not its own", id, closing)
		}
		if kept := sh.Kept.Common(&sh.Slots); !kept.Empty() {
			return fmt.Errorf("shard %s: keys of slots %v are kept, but they are its own", id,
				kept)
		}
		if half := sh.Kept.Common(&sh.Half); !half.Empty() || sh.HalfAt > s.Index {
			return fmt.Errorf("shard %s: keys of slots %v are kept and will go, or they came at "+
				"%d", id, half, sh.HalfAt)
		}
	}
	return nil
}

func (s *State) checkMarks() error {
	for i, m := range s.Marks {
		switch {
		case m == nil || m.Slot != i || i < 0 || i >= slot.Count:
			return fmt.Errorf("mark of slot %d: invalid", i)
		case m.Migrating == "" && m.To == "" || (m.To == "") != (m.Importing == ""):
			return fmt.Errorf("mark of slot %d: says nothing, or half of it", i)
		}
		owner := s.Owner(i)
		if m.Migrating != "" &&
			(s.Shards[m.Migrating] == nil || owner == nil || owner.ID == m.Migrating) {
			return fmt.Errorf("mark of slot %d: migrates to %.50q", i, m.Migrating)
		}
		if m.To != "" && (s.Shards[m.To] == nil || s.Shards[m.Importing] == nil ||
			owner != nil && owner.ID == m.To) {
			return fmt.Errorf("mark of slot %d: %.50q imports it", i, m.To)
		}
	}
	return nil
}

func (s *State) checkMigrations() error {
	var busy slot.Set
	ids := map[string]bool{}
	for _, m := range s.Migrations {
		switch {
		case m == nil || !ValidID(m.ID) || ids[m.ID]:
			return fmt.Errorf("a migration without id, or with one that is used twice")
		case !slices.Contains([]Phase{Copying, Closed, Done, Failed, Cancelled}, m.Phase):
			return fmt.Errorf("migration %s: phase %.50q", m.ID, m.Phase)
		case !ValidID(m.From) || !ValidID(m.To) || m.From == m.To:
			return fmt.Errorf("migration %s: from %.50q to %.50q", m.ID, m.From, m.To)
		}
		ids[m.ID] = true
		if m.Over() {
			continue
		}
		if err := s.checkRunning(m); err != nil {
			return err
		}
		if common := busy.Common(&m.Slots); !common.Empty() {
			return fmt.Errorf("migration %s: slots %v are in another", m.ID, common)
		}
		busy.Union(&m.Slots)
	}
	return nil
}

// checkRunning checks a migration that has not ended.
func (s *State) checkRunning(m *Migration) error {
	from, to := s.Shards[m.From], s.Shards[m.To]
	if from == nil || to == nil {
		return fmt.Errorf("migration %s: a shard does not exist", m.ID)
	}
	if from.Master != m.Source || to.Master != m.Target || from.Term != m.SourceTerm ||
		to.Term != m.TargetTerm || m.Source == "" || m.Target == "" {
		return fmt.Errorf("migration %s: a master has changed", m.ID)
	}
	foreign, closed := m.Slots, m.Slots
	if foreign.Subtract(&from.Slots); !foreign.Empty() || m.Slots.Empty() {
		return fmt.Errorf("migration %s: slots %v are not the source's", m.ID, foreign)
	}
	hidden := m.Slots
	if hidden.Subtract(&to.Half); m.Ready && !hidden.Empty() || m.Phase == Closed && !m.Ready {
		return fmt.Errorf("migration %s: slots %v come, and are not hidden", m.ID, hidden)
	}
	if closed.Subtract(&from.Closing); m.Phase == Closed && !closed.Empty() {
		return fmt.Errorf("migration %s: slots %v are not closed", m.ID, closed)
	}
	return nil
}
