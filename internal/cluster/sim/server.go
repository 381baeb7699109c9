package sim

import (
	"slices"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// server is the model of a shard's server. It keeps these promises:
//
//   - It accepts a write if by the state that it has installed it is the master of the slot's
//     shard, the slot is not closing, and the lease is not over; and it looks at the lease again
//     before it confirms.
//   - With Confirm it confirms a write when all replicas of the in-sync set have it, both of the
//     set of the installed state and of those that it has proposed, when the former has enough
//     members, and when the state says that it has taken its promotion up.
//   - The links of its replicas are of one term, which their handshake tells.
//   - It feeds replicas only if it was promoted since it started: a master that has started anew
//     may lack writes that they have.
//   - It proposes a replica for the set only when that has all confirmed writes. It gives none a
//     full synchronization before it has taken its promotion up, and what one that begins with
//     that has acknowledged counts no more.
//   - It deletes what it has of slots before it says that it receives them by a migration, and what
//     had come when the migration came to nothing. It says that this is deleted when those have
//     deleted it that must confirm writes.
type server struct {
	h     *host
	state *topology.State // installed, nil: none yet
	data  data
	saved data // survives a crash
	whole bool
	// As a master:
	term      uint64                     // in which it is the master, 0: it is none
	own       *topology.Shard            // that of the state, then
	begin     int                        // length of the history when that began
	conns     map[topology.NodeID]uint64 // links of replicas
	acks      map[topology.NodeID]ack
	confirmed int // length of the history that is confirmed
	pending   []pending
	proposed  map[uint64][]topology.NodeID // in-sync sets that may yet be committed
	proposals uint64
	imported  map[string]int  // migrations: length of the history that has them
	parts     map[string]bool // migrations of which something has come
	half      halfDrop
	closed    map[string]int64 // since when slots of migrations are closed
	// As a replica:
	linked int64 // when it last heard of its master
	lags   bool  // it asks its master for nothing, for a test
	link   link
	// declined is the last term in which it was promoted and did not lead.
	declined uint64
	// stopping is nil unless the server was told to stop.
	stopping *stopping
}

type ack struct {
	n    int
	at   int64
	life int
}

// pending is a write that waits to be confirmed.
type pending struct {
	n     int // the history's length with it
	entry entry
}

func (s *server) init(h *host) { s.h = h }

// start begins a life.
func (s *server) start() {
	*s = server{h: s.h, saved: s.saved, whole: true}
	s.data = data{s.saved.shard, s.saved.term, slices.Clone(s.saved.log)}
	s.loop(s.h.life)
}

// crash keeps a part of the data.
func (s *server) crash() {
	keep := len(s.data.log)
	if s.h.w.chance(0.5) {
		keep -= min(keep, s.h.w.rng.IntN(20))
	}
	if s.h.w.chance(0.1) {
		keep = 0
	}
	s.saved = data{s.data.shard, s.data.term, slices.Clone(s.data.log[:keep])}
	if !s.whole {
		s.saved = data{shard: s.data.shard}
	}
	if s.h.w.chance(0.1) { // the files do not say whose data it is
		s.saved.shard, s.saved.term = "", 0
	}
	s.state, s.term, s.stopping = nil, 0, nil
}

// local is what the server tells the node.
func (s *server) local() core.Local {
	l := core.Local{Role: topology.Replica, Shard: s.data.shard, Term: s.data.term,
		Offset: uint64(len(s.data.log)), Whole: s.whole,
		Linked: s.h.w.now-s.linked < int64(Timeout)/2, Ends: s.stopping != nil && s.stopping.ends}
	if s.term > 0 {
		l.Role = topology.Master
	}
	if s.state != nil {
		if sh := s.state.ShardOf(s.h.id); sh != nil && sh.Master == s.h.id && s.declines(sh) {
			l.Whole = false
		}
	}
	return l
}

// install makes the server act by a state.
func (s *server) install(t *topology.State) {
	h := s.h
	if s.state != nil && s.state.Cluster == t.Cluster && t.Index <= s.state.Index {
		return
	}
	if s.state != nil && s.state.Cluster != t.Cluster && t.Cluster != h.node.State().Cluster {
		return
	}
	s.state, s.own = t, nil
	sh := t.ShardOf(h.id)
	switch {
	case sh == nil || sh.Master != h.id:
		s.term = 0
		s.pending = nil
		if sh == nil || sh.Last != h.id {
			s.conns = nil
		}
	case s.term == sh.Term && s.data.shard == sh.ID:
	case s.declines(sh):
		h.w.note("%v has no data any more, and does not lead in term %d", h, sh.Term)
		s.term, s.pending, s.declined = 0, nil, sh.Term
	default:
		s.master(sh)
	}
	if s.term > 0 {
		s.own = sh
	}
	h.report()
	h.inbox(func() { h.node.Installed(h.clock(), t) })
}

// declines reports whether the server was promoted for data that had gone when it heard of that.
func (s *server) declines(sh *topology.Shard) bool {
	return sh.Before != nil && !sh.Bare && s.term != sh.Term && (s.declined == sh.Term || !s.whole)
}

// master begins to be the master of a shard.
func (s *server) master(sh *topology.Shard) {
	s.h.w.note("%v is the master of term %d with %d writes", s.h, sh.Term, len(s.data.log))
	s.h.w.stats.Promotions++
	s.h.w.check.heir(s.h, sh)
	s.term, s.acks, s.pending = sh.Term, map[topology.NodeID]ack{}, nil
	s.begin, s.link = len(s.data.log), link{}
	if !s.h.w.opt.LastingLinks {
		s.conns = nil
	}
	s.proposed, s.imported = map[uint64][]topology.NodeID{}, map[string]int{}
	s.closed, s.parts, s.half = map[string]int64{}, map[string]bool{}, halfDrop{}
	s.data.shard, s.data.term = sh.ID, sh.Term
	s.confirmed = len(s.data.log) // nobody knows how much of it was
	s.h.w.check.inherits(s.h, sh)
}

// shard returns the shard that the server is the master of by its state, nil if it is none.
func (s *server) shard() *topology.Shard {
	if s.term == 0 || s.state == nil {
		return nil
	}
	return s.own
}

// able reports whether the server may confirm a write to a range now.
func (s *server) able(r int) bool {
	if s.h.node == nil {
		return false
	}
	sh := s.shard()
	return sh != nil && sh.Slots.Has(r*rangeSize) && !sh.Closing.Has(r*rangeSize) &&
		(!sh.Half.Has(r*rangeSize) || s.h.w.opt.ServesHalf) && s.h.clock() < s.h.lease
}

// write is a client's write. It returns false if it was refused.
func (s *server) write(r int) bool {
	if !s.able(r) || s.stopping != nil {
		return false
	}
	w := s.h.w
	w.writes++
	s.append(entry{write: w.writes, slots: r})
	s.pending = append(s.pending, pending{len(s.data.log), s.data.log[len(s.data.log)-1]})
	// The reply leaves later.
	s.h.later(w.between(0, Timeout/500), s.confirm)
	return true
}

func (s *server) append(e entry) {
	s.h.w.uids++
	e.uid = s.h.w.uids
	s.data.log = append(s.data.log, e)
}

// confirm sends the replies that may leave.
func (s *server) confirm() {
	sh := s.shard()
	if sh == nil {
		return
	}
	w := s.h.w
	have := s.acked(sh)
	for len(s.pending) > 0 && s.pending[0].n <= have {
		p := s.pending[0]
		s.pending = s.pending[1:]
		if !s.able(p.entry.slots) {
			continue // the connection is closed
		}
		s.confirmed = max(s.confirmed, p.n)
		w.stats.Confirmed++
		w.check.confirm(s.h, sh, p.entry)
	}
}

// acked returns the length of the history that all have that must.
func (s *server) acked(sh *topology.Shard) int {
	have := len(s.data.log)
	if s.h.w.opt.Confirm == 0 {
		return have
	}
	if sh.Before != nil || sh.Confirm < s.h.w.opt.Confirm || len(sh.InSync) < sh.Confirm {
		return 0
	}
	for _, id := range s.mustAck(sh) {
		have = min(have, s.acks[id].n)
	}
	return have
}

// mustAck returns the in-sync set with all that may yet be in it.
func (s *server) mustAck(sh *topology.Shard) []topology.NodeID {
	list := slices.Clone(sh.InSync)
	for _, k := range sortedKeys(s.proposed) {
		list = append(list, s.proposed[k]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// loop does what the server does from time to time.
func (s *server) loop(life int) {
	w := s.h.w
	d := w.between(Timeout/100, Timeout/40)
	if w.opt.Calm {
		d *= 20
	}
	w.after(d, func() {
		if s.h.life != life || s.h.node == nil {
			return
		}
		if s.h.w.now >= s.h.script && !s.h.stopped {
			s.work()
		}
		s.loop(life)
	})
}

func (s *server) work() {
	if s.state == nil {
		return
	}
	if sh := s.shard(); sh != nil {
		s.confirm()
		s.tendInSync(sh)
		if s.state != nil { // else the disk has failed under what was proposed
			s.migrate(sh)
		}
		return
	}
	if sh := s.state.ShardOf(s.h.id); sh != nil && sh.Last != s.h.id {
		s.pull(sh)
	}
}

// tendInSync sees to it that the in-sync set is the replicas that keep up.
func (s *server) tendInSync(sh *topology.Shard) {
	w := s.h.w
	if len(s.proposed) > 0 || sh.Boot != s.h.boot || w.opt.Confirm == 0 && sh.Before == nil {
		return
	}
	var list []topology.NodeID
	for _, id := range s.state.Members(sh.ID) {
		a := s.acks[id]
		if w.opt.Confirm == 0 || id == s.h.id || a.at == 0 || w.now-a.at > int64(Timeout)/4 {
			continue
		}
		if slices.Contains(sh.InSync, id) || a.n >= s.confirmed {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	if sh.Before != nil || sh.Confirm != w.opt.Confirm || !slices.Equal(list, sh.InSync) {
		s.propose(sh, list)
	}
}

// propose proposes an in-sync set. Until its outcome is known all its members count.
func (s *server) propose(sh *topology.Shard, list []topology.NodeID) {
	h := s.h
	s.proposals++
	k, proposed, term := s.proposals, s.proposed, s.term
	proposed[k] = list
	op := topology.Op{Do: topology.SetInSync{Shard: sh.ID, Term: sh.Term, Boot: h.boot,
		Confirm: h.w.opt.Confirm, InSync: list, Seen: s.state.Index}}
	h.propose(op, func(refusal string) {
		h.w.note("%v: in-sync set %v of term %d: %q", h, h.w.nameAll(list), term, refusal)
		if refusal == "" || refusal[:3] == "ERR" {
			delete(proposed, k)
			return
		}
		// Nobody knows. A later set that comes through makes this one impossible.
		h.later(int64(Timeout)/10, func() {
			if s.term == term && s.shard() != nil {
				s.retry(k, list)
			}
		})
	})
}

// retry proposes the same set again, after one whose outcome is not known.
func (s *server) retry(k uint64, list []topology.NodeID) {
	sh := s.shard()
	h, proposed := s.h, s.proposed
	op := topology.Op{Do: topology.SetInSync{Shard: sh.ID, Term: sh.Term, Boot: h.boot,
		Confirm: h.w.opt.Confirm, InSync: list, Seen: s.state.Index}}
	term := s.term
	h.propose(op, func(refusal string) {
		if refusal == "" {
			delete(proposed, k)
			return
		}
		h.later(int64(Timeout)/10, func() {
			if s.term == term && s.shard() != nil {
				s.retry(k, list)
			}
		})
	})
}
