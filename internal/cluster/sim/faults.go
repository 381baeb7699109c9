package sim

import (
	"time"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// faults makes faults all the time.
func (w *World) faults() {
	w.after(w.between(20*time.Millisecond, 1500*time.Millisecond), func() {
		if w.calm {
			return
		}
		w.fault()
		w.faults()
	})
}

func (w *World) fault() {
	h := w.any()
	switch w.rng.IntN(12) {
	case 0, 1:
		w.note("the network is cut")
		w.partition()
		w.after(w.between(Timeout/10, 3*Timeout), func() {
			w.note("the network is mended")
			w.net.mend()
		})
	case 2:
		w.note("the network is bad")
		w.net.bad()
		w.after(w.between(Timeout/2, 4*Timeout), w.net.goodDelays)
	case 3, 4:
		h.crash()
		w.restart(h, w.between(Timeout/50, 3*Timeout))
	case 5:
		h.disk.crash = true
		w.restart(h, w.between(Timeout/2, 3*Timeout))
	case 6, 7, 8:
		h.pause(w.between(Timeout/50, 2*Timeout))
	case 9:
		if w.chance(0.3) {
			w.note("the disk of %v is full", h)
			h.disk.full = true
		}
	case 10:
		if w.chance(0.1) {
			w.note("power failure")
			for _, h := range w.hosts {
				h.crash()
				w.restart(h, w.between(Timeout/50, Timeout))
			}
		}
	case 11:
		w.stopLeader()
	}
}

// stopLeader does something to the node that leads.
func (w *World) stopLeader() {
	for _, h := range w.hosts {
		if h.node == nil || h.node.Status().Role != "leader" || len(h.node.State().Nodes) < 2 {
			continue
		}
		if w.chance(0.5) {
			h.crash()
			w.restart(h, w.between(Timeout/50, 3*Timeout))
		} else {
			h.pause(w.between(Timeout/20, 2*Timeout))
		}
		return
	}
}

// restart starts a machine again after a while, if it does not run then.
func (w *World) restart(h *host, d int64) {
	w.after(d, func() {
		if h.node == nil {
			h.disk.full = false
			h.start()
		}
	})
}

// goodDelays ends a bad time, but for partitions.
func (n *network) goodDelays() {
	cut := n.cut
	n.cut = nil
	n.good()
	n.cut = cut
}

// partition cuts the network: in two parts, or one machine off, in both directions or in one.
func (w *World) partition() {
	n := len(w.hosts)
	oneWay := w.chance(0.3)
	side := make([]bool, n)
	if w.chance(0.4) {
		side[w.rng.IntN(n)] = true
	} else {
		for i := range side {
			side[i] = w.chance(0.5)
		}
	}
	for a := range n {
		for b := range n {
			if side[a] != side[b] && (!oneWay || side[a]) {
				w.net.cut[a][b] = true
			}
		}
	}
}

// heal ends all faults.
func (w *World) heal() {
	w.note("all faults end")
	w.calm = true
	w.net.good()
	for _, h := range w.hosts {
		h.disk.full, h.disk.crash = false, false
		if h.node != nil && h.node.Down() != nil {
			h.crash()
		}
		if h.node == nil {
			h.start()
		}
		if h.stopped {
			h.stopped = false
			box := h.box
			h.box = nil
			for _, do := range box {
				h.inbox(do)
			}
		}
	}
}

// recovers looks whether the slots are served again within three node timeouts.
func (w *World) recovers() {
	if w.runUntil(3*Timeout, w.served) || w.failure != "" {
		return
	}
	for _, s := range w.check.newest {
		if w.lives(s) && !w.serves(s) {
			w.note("cluster %.4s is not served at index %d", s.Cluster, s.Index)
		}
	}
	for _, h := range w.hosts {
		if h.node != nil {
			s := h.node.Status()
			w.note("%v: cluster %.4s raft %d, %s in term %d, follows %s, applied %d, voters %v,"+
				" lease %d ms, %+v", h, s.Cluster, s.Raft, s.Role, s.Term, w.name(s.Leader),
				s.Applied, w.nameAll(s.Voters), (h.node.Lease()-h.clock())/1e6, h.server.local())
		}
	}
	w.fail("not all slots are served three node timeouts after all faults ended")
}

// obeys looks whether a replica becomes the master on request, now that all is well.
func (w *World) obeys() {
	for range 4 {
		h := w.successor()
		if h == nil {
			w.runFor(Timeout)
			continue
		}
		refusal, _ := w.do(h, 3*Timeout, func(done func(string)) {
			h.node.Failover(h.clock(), core.Graceful, 2*int64(Timeout), done)
		})
		w.note("failover on %v: %q", h, refusal)
		if w.runUntil(3*Timeout, func() bool { return h.server.shard() != nil }) {
			return
		}
	}
	if h := w.successor(); h != nil && w.failure == "" {
		w.fail("%v is well, and does not become the master on request", h)
	}
}

// successor returns a replica that is well, nil if there is none.
func (w *World) successor() *host {
	for _, h := range w.hosts {
		sh := h.node.State().ShardOf(h.id)
		if l := h.server.local(); sh != nil && sh.Master != h.id && sh.Master != "" && l.Whole &&
			l.Linked && !sh.Slots.Empty() {
			return h
		}
	}
	return nil
}

// served reports whether all slots that have an owner are served, in all clusters.
func (w *World) served() bool {
	for _, s := range w.check.newest {
		if w.lives(s) && !w.serves(s) {
			return false
		}
	}
	return true
}

// lives reports whether a majority of the cluster's nodes are still in it.
func (w *World) lives(s *topology.State) bool {
	n := 0
	for _, h := range w.hosts {
		if h.node != nil && h.node.State().Cluster == s.Cluster && s.Nodes[h.id] != nil {
			n++
		}
	}
	return n > 0
}

// serves reports whether each slot of the cluster that has an owner is served.
func (w *World) serves(s *topology.State) bool {
	for r := range ranges {
		if s.Owner(r*rangeSize) == nil {
			continue
		}
		found := false
		for _, h := range w.hosts {
			found = found || h.server.able(r) && h.server.state.Cluster == s.Cluster
		}
		if !found {
			return false
		}
	}
	return true
}
