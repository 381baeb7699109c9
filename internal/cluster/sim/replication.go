package sim

import (
	"cmp"
	"slices"

	"godwit/internal/cluster/topology"
)

// pull is a replica's request to its master, an acknowledgement at the same time.
type pull struct {
	from  topology.NodeID
	life  int
	shard topology.ShardID
	term  uint64
	whole bool
	n     int
	uid   uint32
	data  uint64 // the term of the data
}

// chunk is the master's answer.
type chunk struct {
	term uint64
	from int // where it begins
	uid  uint32
	part []entry
	full bool // the replica must begin anew
}

// pull asks the master for more.
func (s *server) pull(sh *topology.Shard) {
	h := s.h
	to := h.w.net.find(sh.Last, topology.Address{})
	if to == nil || to == h {
		return
	}
	n, uid := s.data.last()
	p := pull{h.id, h.life, sh.ID, sh.Term, s.whole, n, uid, s.data.term}
	h.w.net.send(h, to, func() { to.run(func() { to.server.serve(h, p) }) })
}

// serve answers a replica. A request of another term is refused: one of both has yet to learn who
// the master is.
func (s *server) serve(to *host, p pull) {
	sh := s.source()
	if sh == nil || sh.ID != p.shard || sh.Term != p.term ||
		!slices.Contains(s.state.Members(sh.ID), p.from) {
		return
	}
	c := chunk{term: sh.Term}
	switch {
	case p.whole && s.data.extends(p.n, p.uid):
		if p.data == sh.Term {
			if a := s.acks[p.from]; a.life < p.life || a.life == p.life && a.n <= p.n {
				s.acks[p.from] = ack{p.n, s.h.w.now, p.life}
			}
			s.confirm()
		}
		c.from, c.uid = p.n, p.uid
		c.part = slices.Clone(s.data.log[p.n:min(len(s.data.log), p.n+50)])
	case slices.Contains(s.mustAck(sh), p.from):
		// It must leave the set before its data goes.
		delete(s.acks, p.from)
		return
	default:
		c.full, c.part = true, slices.Clone(s.data.log)
	}
	s.h.w.net.send(s.h, to, func() { to.run(func() { to.server.take(s.h.id, p, c) }) })
}

// source returns the shard whose replicas the server feeds: that of which it is the master, or was
// the last one.
func (s *server) source() *topology.Shard {
	if s.state == nil || s.h.node == nil {
		return nil
	}
	sh := s.state.ShardOf(s.h.id)
	if sh == nil || sh.Last != s.h.id || s.data.shard != sh.ID || s.data.term != sh.Term ||
		!s.whole || sh.Boot != s.h.boot {
		return nil
	}
	return sh
}

// take applies what the master has sent.
func (s *server) take(from topology.NodeID, p pull, c chunk) {
	if s.state == nil || s.term > 0 || p.life != s.h.life {
		return
	}
	sh := s.state.ShardOf(s.h.id)
	if sh == nil || sh.ID != p.shard || sh.Last != from || sh.Term != c.term {
		return
	}
	s.linked = s.h.w.now
	switch {
	case !c.full:
		if n, uid := s.data.last(); n != c.from || uid != c.uid {
			return
		}
		s.data.log = append(s.data.log, c.part...)
		s.data.shard, s.data.term = sh.ID, c.term
	case s.whole:
		s.whole = false // the old data is gone, the new one comes
		s.data = data{shard: sh.ID}
	case s.h.w.chance(0.3):
		s.whole = true
		s.data = data{sh.ID, c.term, c.part}
	}
}

// migrate does a master's part of the migrations of its shard.
func (s *server) migrate(sh *topology.Shard) {
	h := s.h
	for _, m := range s.state.Migrations {
		switch {
		case m.Phase == topology.Copying && m.Source == h.id && h.w.chance(0.1):
			s.advance(m.ID, topology.Closed)
		case m.Phase == topology.Closed && m.Source == h.id && sh.Term == m.SourceTerm:
			if s.closed[m.ID] == 0 {
				s.closed[m.ID] = h.w.now
			} else if h.w.now-s.closed[m.ID] > int64(Timeout) {
				s.advance(m.ID, topology.Failed) // the pause is over
			}
			s.sendSlots(m)
		case m.Phase == topology.Closed && m.Target == h.id && sh.Term == m.TargetTerm:
			if n, ok := s.imported[m.ID]; ok && s.acked(sh) >= n {
				s.advance(m.ID, topology.Done)
			}
		}
	}
}

func (s *server) advance(id string, phase topology.Phase) {
	s.h.propose(topology.Op{Do: topology.Advance{ID: id, Phase: phase}}, func(string) {})
}

// sendSlots sends the data of closed slots to their next owner.
func (s *server) sendSlots(m *topology.Migration) {
	var list []entry
	for _, e := range s.data.log {
		if m.Slots.Has(e.slots * rangeSize) {
			list = append(list, e)
		}
	}
	to := s.h.w.net.find(m.Target, topology.Address{})
	if to != nil {
		s.h.w.net.send(s.h, to, func() {
			to.run(func() { to.server.importSlots(m.ID, list) })
		})
	}
}

// importSlots takes the data of slots that are about to be this shard's.
func (s *server) importSlots(id string, list []entry) {
	if s.shard() == nil {
		return
	}
	m := s.state.Migration(id)
	if _, ok := s.imported[id]; ok || m == nil || m.Phase != topology.Closed ||
		m.Target != s.h.id || m.TargetTerm != s.term {
		return
	}
	for _, e := range list {
		s.append(e.write, e.slots)
	}
	s.imported[id] = len(s.data.log)
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// nameAll returns short names.
func (w *World) nameAll(list []topology.NodeID) (names []string) {
	for _, id := range list {
		names = append(names, w.name(id))
	}
	return names
}
