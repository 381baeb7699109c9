package engine

import (
	"math"
	"slices"

	"godwit/internal/cluster/topology"
)

// # The in-sync set
//
// In a cluster, min-replicas-to-ack N means more than elsewhere: what was confirmed is there after
// a failover too. The topology has a set of replicas for each shard (topology.Shard.InSync), and
// only these may be promoted. So a reply waits until all of them have what it wrote, and they must
// be at least N.
//
//	joins    a replica that has the stream up to the mark: an entry of the log says so
//	counts   from the moment on at which that entry is proposed, for it may be applied any time
//	leaves   by another entry, when it does not move on or is gone, if N remain without it;
//	         it counts until the entry is applied here
//
// An entry whose outcome is not known may still be applied. Its replicas count until another one
// has been applied, because the log refuses entries that were made before that.
type inSync struct {
	members map[topology.NodeID]*syncMember
	asked   []topology.NodeID // of entries that may still be applied
	asking  bool              // the outcome of one is awaited
	failed  bool              // the outcome of one is not known
	retryAt int64             // steady ms of the next entry, at the earliest
	mark    int64             // the offset that a replica must have to join
	cronAt  int64             // steady ms
}

// syncMember is a replica of the shard, as its connection tells.
type syncMember struct {
	acked  int64 // offset that it has
	moved  int64 // steady ms when it last got on, or had all that is waited for
	online bool
	gone   bool // it was online
}

// syncPlan is what a change of the set depends on.
type syncPlan struct {
	set      []topology.NodeID          // as the topology has it
	belongs  func(topology.NodeID) bool // is a replica of the shard
	need     int                        // min-replicas-to-ack
	now      int64                      // steady ms
	patience int64                      // ms that a member may stand still while it is waited for
}

// note says where a replica is.
func (s *inSync) note(id topology.NodeID, acked, now int64) {
	m := s.members[id]
	if m == nil {
		if s.members == nil {
			s.members = map[topology.NodeID]*syncMember{}
		}
		m = &syncMember{moved: now}
		s.members[id] = m
	}
	if acked > m.acked || acked >= s.mark || !m.online {
		m.moved = now
	}
	m.acked, m.online, m.gone = acked, true, false
}

// renew says that a replica's data is about to be replaced. What it had counts no more: nothing is
// confirmed by that until it is online again.
func (s *inSync) renew(id topology.NodeID) {
	if m := s.members[id]; m != nil {
		*m = syncMember{gone: true}
	}
}

// lost says that a replica's connection is gone. What it had counts on: it does not become less.
func (s *inSync) lost(id topology.NodeID) {
	if m := s.members[id]; m != nil {
		m.online, m.gone = false, true
	}
}

// upto returns the offset up to which all replicas have the stream that may be promoted now or by
// an entry that is under way; 0 if fewer than need are known to the log.
func (s *inSync) upto(set []topology.NodeID, need int) int64 {
	if need < 1 || len(set) < need {
		return 0
	}
	low := int64(math.MaxInt64)
	for _, list := range [...][]topology.NodeID{set, s.asked} {
		for _, id := range list {
			m := s.members[id]
			if m == nil {
				return 0
			}
			low = min(low, m.acked)
		}
	}
	s.mark = max(s.mark, low) // who joins later must have it
	return low
}

// plan returns what the set should be.
func (s *inSync) plan(p syncPlan) (next []topology.NodeID) {
	if p.need == 0 {
		return nil
	}
	for _, id := range p.set {
		if p.belongs(id) {
			next = append(next, id)
		}
	}
	for id, m := range s.members {
		if m.online && m.acked >= s.mark && p.belongs(id) && !slices.Contains(next, id) {
			next = append(next, id)
		}
	}
	// First those that are gone: the others may still get on.
	left := len(next)
	for _, gone := range [...]bool{true, false} {
		next = slices.DeleteFunc(next, func(id topology.NodeID) bool {
			if left <= p.need || !s.members[id].leaves(gone, s.mark, p) {
				return false
			}
			left--
			return true
		})
	}
	slices.Sort(next)
	return next
}

// leaves reports whether the set is to go on without a member: because its connection is gone, or
// because it stands still although it is waited for.
func (m *syncMember) leaves(gone bool, mark int64, p syncPlan) bool {
	switch {
	case m == nil:
		return !gone
	case gone:
		return m.gone
	}
	return m.acked < mark && p.now-m.moved >= p.patience
}

// begin begins a term of this node as the master, at an offset of its history. Whatever was
// confirmed before lies before it. The members of the set are given time to come.
func (s *inSync) begin(set []topology.NodeID, offset, now int64) {
	*s = inSync{mark: offset, members: map[topology.NodeID]*syncMember{}}
	for _, id := range set {
		s.members[id] = &syncMember{moved: now}
	}
}

// await makes an offset the one that replicas must have, and reports whether some are to be asked
// for it.
func (s *inSync) await(offset int64) (ask bool) {
	s.mark = max(s.mark, offset)
	for _, m := range s.members {
		ask = ask || m.online && m.acked < s.mark
	}
	return ask
}

// resume gives all members time anew, when nobody has read for a while what they say.
func (s *inSync) resume(now int64) {
	for _, m := range s.members {
		m.moved = now
	}
}

// ask notes that an entry with the set is on its way.
func (s *inSync) ask(set []topology.NodeID) {
	s.asking = true
	for _, id := range set {
		if !slices.Contains(s.asked, id) {
			s.asked = append(s.asked, id)
		}
	}
}

// answered notes what has become of it.
func (s *inSync) answered(applied bool) {
	s.asking, s.failed = false, !applied
	if applied {
		s.asked = nil
	}
}

// mastersShard returns the shard if this node is its master, or was the last one while it has none.
// A master that has been revoked still hears its replicas: what they have is confirmed. But if a
// promotion of another node since then was taken back, they may have gone over to that one.
func (e *Engine) mastersShard() *topology.Shard {
	v := &e.cluster
	if v.self == nil || v.shard == nil {
		return nil
	}
	sh := v.shard
	if id := v.self.ID; sh.Master == id ||
		sh.Master == "" && sh.Last == id && sh.Term == e.shard.term {
		return sh
	}
	return nil
}

// replicates reports whether a node is a replica of this node's shard.
func (v *clustering) replicates(id topology.NodeID) bool {
	n := v.state.Nodes[id]
	return n != nil && v.self != nil && n.Shard == v.self.Shard && id != v.self.ID
}

// noteInSync notes up to where the in-sync set has the stream. Nothing is confirmed before the log
// knows that only its members may be promoted, and that this node has taken its promotion up.
func (e *Engine) noteInSync() {
	sh := e.mastersShard()
	if sh == nil || e.repl.master != nil {
		return
	}
	s := &e.inSync
	for _, r := range e.repl.replicas.list {
		switch {
		case r.node == "" || r.State != ReplicaOnline:
		case e.Cfg.MinReplicasAckFsync:
			s.note(r.node, r.synced, e.Steady())
		default:
			s.note(r.node, r.acked, e.Steady())
		}
	}
	if sh.Confirm > 0 && sh.Before == nil {
		e.confirm.upto = max(e.confirm.upto, s.upto(sh.InSync, e.Cfg.MinReplicasToAck))
	}
}

// nodeGone notes that the connection of a replica is gone.
func (e *Engine) nodeGone(r *Replica) {
	for _, o := range e.repl.replicas.list {
		if o.node == r.node {
			return // it has another one
		}
	}
	e.inSync.lost(r.node)
}
