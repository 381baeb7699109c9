package sim

import (
	"slices"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// stopping is a server that was told to stop. It takes no writes any more, and ends when it has
// handed its shard over, or when that has come to nothing. It saves its data then, and the executor
// does nothing else for that long.
type stopping struct {
	plan  stopPlan
	until int64 // true time
	ends  bool  // it saves
	asked int64 // when it last asked the leader
	// began says that it had a shard to hand over.
	began, refused bool
}

// stopPlan is what becomes of a server that is told to stop.
type stopPlan struct {
	within int64 // for which it may hand over
	saves  int64 // for so long it saves
	fails  bool  // that fails, and it goes on
	abort  bool  // it goes on after a moment as if nothing had been said, unless it saves by then
}

// stop tells the server of a machine to stop.
func (w *World) stop(h *host, plan stopPlan) {
	h.run(func() {
		s := &h.server
		if s.state == nil || s.stopping != nil || w.calm { // all is to be well by now
			return
		}
		w.note("%v is told to stop", h)
		s.stopping = &stopping{plan: plan, until: w.now + plan.within, asked: -int64(Timeout)}
		s.goOnStopping()
		if plan.abort {
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
	h.later(int64(Timeout/20), s.finish)
}

// finish saves the data, then ends the process, or has it go on because that has failed.
func (s *server) finish() {
	h, e := s.h, s.stopping
	if e == nil {
		return
	}
	h.w.note("%v saves for %.0f ms", h, float64(e.plan.saves)/1e6)
	e.ends = true
	h.report()
	h.w.after(e.plan.saves, func() { s.finished(e) })
	h.busy(e.plan.saves)
}

func (s *server) finished(e *stopping) {
	switch {
	case s.stopping != e:
	case s.h.stopped:
		s.h.w.after(int64(Timeout/50), func() { s.finished(e) })
	case e.plan.fails:
		s.abortStop()
	default:
		s.endStop()
	}
}

// endStop ends the process. All of the data is saved.
func (s *server) endStop() {
	h := s.h
	if h.node == nil || h.dying {
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
