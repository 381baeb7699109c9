package sim

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// halfDrop is what a master does for slots that are half imported, as the server does.
type halfDrop struct {
	slots slot.Set // what has been deleted
	of    uint64   // topology.Shard.HalfAt, of that
	at    int      // length of the history with the deletion
}

// migrate does a master's part of the migrations of its shard.
func (s *server) migrate(sh *topology.Shard) {
	h, state := s.h, s.state
	s.dropHalf(sh)
	for _, m := range state.Migrations {
		switch {
		case s.state == nil: // what was proposed has let it stop
			return
		case sh.Boot != h.boot: // it may lack what its replicas have
		case m.Phase == topology.Copying && m.Target == h.id && !m.Ready:
			s.drop(&m.Slots, false) // what it had before
			s.h.propose(topology.Op{Do: topology.Receive{ID: m.ID}}, func(string) {})
		case m.Phase == topology.Copying && m.Source == h.id && m.Ready:
			if s.sendSlots(m); h.w.chance(0.1) {
				s.advance(m.ID, topology.Closed)
			}
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

// sendSlots sends the data of slots that move to their next owner: some of it as long as the slots
// are not closed, all of it then.
func (s *server) sendSlots(m *topology.Migration) {
	var list []entry
	for r := range ranges {
		if m.Slots.Has(r * rangeSize) {
			list = append(list, s.data.of(r)...)
		}
	}
	whole := m.Phase == topology.Closed
	if !whole {
		list = list[:s.h.w.rng.IntN(len(list)+1)]
	}
	to := s.h.w.net.find(m.Target, topology.Address{})
	if to != nil {
		s.h.w.net.send(s.h, to, func() {
			to.run(func() { to.server.importSlots(m.ID, list, whole) })
		})
	}
}

// importSlots takes the data of slots that are about to be this shard's, or the first part of it.
func (s *server) importSlots(id string, list []entry, whole bool) {
	if s.shard() == nil {
		return
	}
	m := s.state.Migration(id)
	if _, ok := s.imported[id]; ok || m == nil || m.Target != s.h.id || m.TargetTerm != s.term ||
		!m.Ready || whole != (m.Phase == topology.Closed) || !whole && (m.Over() || s.parts[id]) {
		return
	}
	for _, e := range list {
		s.append(entry{write: e.write, slots: e.slots, via: id})
	}
	if s.parts[id] = true; whole {
		s.imported[id] = len(s.data.log)
	}
}

// drop deletes the data of slots: of all of them, or of those in which there is any.
func (s *server) drop(slots *slot.Set, all bool) {
	for r := range ranges {
		if slots.Has(r*rangeSize) && (all || len(s.data.of(r)) > 0) {
			s.append(entry{slots: r, drop: true})
		}
	}
}

// dropHalf deletes what migrations have left that came to nothing, and has the log say so.
func (s *server) dropHalf(sh *topology.Shard) {
	h := s.h
	half, coming := sh.Half, s.state.Coming(sh.ID)
	if half.Subtract(&coming); half.Empty() || h.clock() >= h.lease {
		s.half = halfDrop{}
		return
	}
	if s.half.slots != half || s.half.of != sh.HalfAt {
		if !h.w.chance(0.1) {
			return // clients are paused, for example
		}
		if !h.w.opt.KeepsHalf {
			s.drop(&half, true)
		}
		s.half = halfDrop{half, sh.HalfAt, len(s.data.log)}
	}
	if s.acked(sh) < s.half.at || !h.w.chance(0.1) {
		return
	}
	s.confirmed = max(s.confirmed, s.half.at) // who gets in sync has the deletion
	h.propose(topology.Op{Do: topology.Dropped{Shard: sh.ID, Term: sh.Term, Slots: half,
		Seen: s.state.Index}}, func(string) {})
}
