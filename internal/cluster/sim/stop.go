package sim

import (
	"slices"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// stopping is a server that was told to stop. It takes no writes any more, and ends when it has
// handed its shard over, or when that has come to nothing.
type stopping struct {
	until int64 // true time
	asked int64 // when it last asked the leader
	// began says that it had a shard to hand over.
	began, refused bool
}

// stop tells the server of a machine to stop, within a time. With abort it goes on after a moment
// as if nothing had been said.
func (w *World) stop(h *host, within int64, abort bool) {
	h.run(func() {
		s := &h.server
		if s.state == nil || s.stopping != nil || w.calm { // all is to be well by now
			return
		}
		w.note("%v is told to stop", h)
		s.stopping = &stopping{until: w.now + within, asked: -int64(Timeout)}
		s.goOnStopping()
		if abort {
			h.later(w.between(0, Timeout/20), s.abortStop)
		}
	})
}

// goOnStopping is called often while the server stops.
func (s *server) goOnStopping() {
	h, w, e := s.h, s.h.w, s.stopping
	if e == nil {
		return
	}
	sh := s.state.ShardOf(h.id)
	mine := sh != nil && !sh.Slots.Empty() && (sh.Master == h.id ||
		sh.Master == "" && sh.Last == h.id)
	if mine && w.now < e.until && !e.refused {
		e.began = true
		if w.now-e.asked >= int64(Timeout)/2 {
			e.asked = w.now
			h.inbox(func() {
				h.node.Failover(h.clock(), core.HandOver, e.until-w.now, func(refusal string) {
					w.note("handing over on %v: %q", h, refusal)
					e.refused = e.refused || refusal != ""
				})
			})
		}
		h.later(int64(Timeout/100), s.goOnStopping)
		return
	}
	if e.began && !mine {
		w.stats.Handovers++
	}
	h.inbox(func() { h.node.Resign(h.clock()) })
	h.later(int64(Timeout/20), s.endStop)
}

// endStop ends the process. All of the data is saved.
func (s *server) endStop() {
	h := s.h
	if s.stopping == nil || h.dying {
		return
	}
	h.w.note("%v ends, with %d writes", h, len(s.data.log))
	h.node = nil
	h.reset()
	s.saved = data{s.data.shard, s.data.term, slices.Clone(s.data.log)}
	if !s.whole {
		s.saved = data{shard: s.data.shard}
	}
	s.state, s.term, s.stopping = nil, 0, nil
	h.w.check.crashed(h)
}

// abortStop has the server go on (SHUTDOWN ABORT).
func (s *server) abortStop() {
	h := s.h
	if s.stopping == nil {
		return
	}
	h.w.note("%v goes on after all", h)
	s.stopping = nil
	h.inbox(func() {
		h.node.Failover(h.clock(), core.Keep, 0, func(string) {})
	})
}

// masterOf returns the machine that is the master of a range by the newest state, nil if none is.
func (w *World) masterOf(r int) *host {
	for _, h := range w.hosts {
		if h.node == nil {
			continue
		}
		s := w.check.newest[h.node.State().Cluster]
		if owner := s.Owner(r * rangeSize); owner != nil && owner.Master != "" {
			return w.net.find(owner.Master, topology.Address{})
		}
	}
	return nil
}
