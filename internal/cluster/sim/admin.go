package sim

import (
	"time"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// do runs a request on a machine and waits for its outcome.
func (w *World) do(h *host, limit time.Duration, ask func(done func(string))) (string, bool) {
	var result *string
	h.inbox(func() { ask(func(refusal string) { result = &refusal }) })
	w.runUntil(limit, func() bool { return result != nil })
	if result == nil {
		return "", false
	}
	return *result, true
}

// must runs a request that has to succeed, since all is well.
func (w *World) must(what string, h *host, ask func(done func(string))) {
	if w.failure != "" {
		return
	}
	refusal, ok := w.do(h, 8*Timeout, ask)
	w.note("%s on %v: %q", what, h, refusal)
	if w.failure == "" && (!ok || refusal != "") {
		w.fail("%s on %v: answered %v: %q", what, h, ok, refusal)
	}
}

// propose proposes an action on a machine and waits.
func (w *World) propose(h *host, a topology.Action) {
	w.must(topology.Op{Do: a}.Name(), h, func(done func(string)) {
		h.node.Propose(h.clock(), topology.Op{Do: a}, done)
	})
}

// build makes the machines one cluster: two or three masters with slots, the others replicas. The
// steps are those of redis-cli --cluster create.
func (w *World) build() {
	masters := min(len(w.hosts), 1+w.rng.IntN(3))
	for i, h := range w.hosts[:masters] {
		var set slot.Set
		for r := range ranges {
			if r%masters == i {
				part := rangeOf(r)
				set.Union(&part)
			}
		}
		w.propose(h, topology.AddSlots{Node: h.id, Slots: set})
	}
	for _, h := range w.hosts[1:] {
		a, b := w.hosts[0], h
		if w.chance(0.3) {
			a, b = b, a
		}
		w.must("meet", a, func(done func(string)) {
			a.node.Meet(a.clock(), b.about().Address, done)
		})
	}
	for i, h := range w.hosts[masters:] {
		to := w.hosts[i%masters]
		if w.failure == "" && !w.runUntil(4*Timeout, func() bool { return knows(h, to) }) {
			w.fail("%v does not get to know %v", h, to)
		}
		w.propose(h, topology.Replicate{Node: h.id, Master: to.id})
	}
	if w.failure == "" && !w.runUntil(3*Timeout, w.served) {
		w.fail("a cluster that was just built does not serve all slots")
	}
}

func knows(h, other *host) bool { return h.node.State().Nodes[other.id] != nil }

// clients write all the time.
func (w *World) clients() {
	w.after(w.between(time.Millisecond, 20*time.Millisecond), func() {
		h, r := w.any(), w.rng.IntN(ranges)
		for range w.rng.IntN(4) {
			h.run(func() { h.server.write(r) })
		}
		for _, h := range w.hosts {
			if h.server.able(r) {
				h.run(func() { h.server.write(r) })
			}
		}
		w.clients()
	})
}

// insist has a client write to a range all the time, wherever it may be served.
func (w *World) insist(r int) {
	w.after(int64(Timeout/100), func() {
		for _, h := range w.hosts {
			h.run(func() { h.server.write(r) })
		}
		w.insist(r)
	})
}

// any returns a random machine.
func (w *World) any() *host { return w.hosts[w.rng.IntN(len(w.hosts))] }

// admins give commands all the time. Most are refused, or lose their way.
func (w *World) admins() {
	w.after(w.between(50*time.Millisecond, 800*time.Millisecond), func() {
		if w.calm {
			return
		}
		if h := w.any(); h.node != nil && !h.stopped {
			h.inbox(func() { w.command(h) })
		}
		w.admins()
	})
}

// command gives one command.
func (w *World) command(h *host) {
	s := h.node.State()
	other := w.any()
	var name string
	done := func(refusal string) { w.note("%s on %v: %q", name, h, refusal) }
	now := h.clock()
	switch k := w.rng.IntN(20); k {
	case 0, 1, 2, 3, 4:
		name = "failover"
		mode := core.FailoverMode(max(0, w.rng.IntN(6)-3))
		if mode == core.Takeover && w.opt.Confirm > 0 {
			mode = core.Force // it may lose writes, that is its purpose
		}
		h.node.Failover(now, mode, w.between(Timeout/2, 3*Timeout), done)
	case 5:
		name = "meet"
		h.node.Meet(now, other.about().Address, done)
	case 6:
		if w.chance(0.2) {
			name = "reset"
			w.reset(h, done)
		} else if w.chance(0.5) {
			name = "stop"
			w.stop(h, stopPlan{within: w.between(Timeout/10, 3*Timeout),
				saves: w.between(0, Timeout), fails: w.chance(0.1), abort: w.chance(0.3)})
			w.restart(h, w.between(Timeout/2, 4*Timeout))
		}
	default:
		a := w.action(s, h, other)
		if a == nil {
			return
		}
		name = topology.Op{Do: a}.Name()
		h.node.Propose(now, topology.Op{Do: a}, done)
	}
	w.note("%s on %v begins", name, h)
}

// reset resets a node without data that matters, as CLUSTER RESET requires.
func (w *World) reset(h *host, done func(string)) {
	if sh := h.node.State().ShardOf(h.id); sh != nil && (sh.Master == h.id || sh.Last == h.id) {
		return
	}
	h.node.Reset(h.clock(), w.chance(0.5), done)
}

// masters reports whether the machine's node is a master.
func masters(s *topology.State, h *host) bool {
	sh := s.ShardOf(h.id)
	return sh != nil && sh.Master == h.id
}

// action returns an action to propose, nil for none.
func (w *World) action(s *topology.State, h, other *host) topology.Action {
	r := w.rng.IntN(ranges)
	for i := 0; i < 4 && w.chance(0.8) && !masters(s, other); i++ {
		other = w.any()
	}
	sh := s.ShardOf(other.id)
	for i := 0; i < ranges && w.chance(0.9) && s.Owner(r*rangeSize) == sh; i++ {
		r = (r + 1) % ranges
	}
	switch w.rng.IntN(17) {
	case 0, 1, 2:
		return topology.Replicate{Node: h.id, Master: other.id}
	case 3:
		return topology.Replicate{Node: h.id, Shard: topology.ShardID(w.newID())}
	case 4:
		if w.chance(0.3) {
			return topology.Forget{Node: other.id}
		}
	case 5:
		return topology.SetVote{Node: other.id,
			Vote: []topology.Vote{"", topology.VoteAlways, topology.VoteNever}[w.rng.IntN(3)]}
	case 6, 7:
		return topology.AddSlots{Node: other.id, Slots: rangeOf(r)}
	case 8:
		if w.opt.Confirm == 0 && w.chance(0.3) {
			return topology.DelSlots{Node: other.id, Slots: rangeOf(r)}
		}
	case 9, 10:
		if w.opt.Confirm == 0 { // without its data
			return topology.Move{Slots: rangeOf(r), To: other.id}
		}
	case 11, 12, 14, 15:
		if from := s.Owner(r * rangeSize); from != nil && sh != nil {
			return topology.Begin{ID: w.newID(), Slots: rangeOf(r), From: from.ID, To: sh.ID}
		}
	case 16:
		return topology.SetTimeout{Timeout: []int64{500, 1000, 2000}[w.rng.IntN(3)]}
	case 13:
		for _, m := range s.Migrations {
			if !m.Over() {
				return topology.Advance{ID: m.ID, Phase: topology.Cancelled}
			}
		}
	}
	return nil
}
