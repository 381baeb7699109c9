package sim

import (
	"slices"
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
	switch w.rng.IntN(20) {
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
	case 12, 13:
		w.slowDisk(h)
	case 14, 15:
		h.busy(w.between(Timeout/50, 3*Timeout))
	case 16:
		w.note("heartbeats are lost")
		w.net.deaf = w.now + w.between(Timeout/50, Timeout/5)
	case 17:
		w.ambushRound(w.rng.IntN(ranges))
	case 18:
		w.ambushDisk(w.rng.IntN(ranges))
	case 19:
		if w.chance(0.3) {
			w.ambushData(w.rng.IntN(ranges))
		}
	}
}

// slowDisk makes a disk slow, often that of the leader: for once, or for a while.
func (w *World) slowDisk(h *host) {
	if l := w.leader(); l != nil && w.chance(0.5) {
		h = l
	}
	if w.chance(0.7) {
		h.disk.stall = w.between(Timeout/50, Timeout/2)
		w.note("the disk of %v stalls for %.0f ms", h, float64(h.disk.stall)/1e6)
	} else {
		h.disk.slow = w.now + w.between(Timeout/10, 3*Timeout)
		w.note("the disk of %v is slow", h)
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
		h.disk.full, h.disk.crash, h.disk.stall, h.disk.slow = false, false, 0, 0
		h.script, h.server.stopping = 0, nil
		if h.node != nil && h.node.Down() != nil {
			h.crash()
		}
		if h.node == nil {
			h.start()
		}
		if h.stopped {
			h.goOn()
		}
		h.wake()
	}
}

// recovers looks whether the slots are served again within three node timeouts.
func (w *World) recovers() {
	timeout := Timeout
	for _, s := range w.check.newest {
		timeout = max(timeout, time.Duration(s.Longest)*time.Millisecond)
	}
	if w.runUntil(3*timeout, w.served) || w.failure != "" {
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
				s.Applied, w.nameAll(s.Voters), (h.lease-h.clock())/1e6, h.server.local())
		}
	}
	w.fail("not all slots are served three node timeouts after all faults ended")
}

// obeys looks whether a replica becomes the master on request, now that all is well.
func (w *World) obeys() {
	asked := map[*host]int{}
	for range 4 {
		h := w.successor()
		if h == nil {
			w.runFor(Timeout)
			continue
		}
		asked[h]++
		refusal, _ := w.do(h, 3*Timeout, func(done func(string)) {
			h.node.Failover(h.clock(), core.Graceful, 2*int64(Timeout), done)
		})
		w.note("failover on %v: %q", h, refusal)
		if w.runUntil(3*Timeout, func() bool { return h.server.shard() != nil }) {
			return
		}
	}
	if h := w.successor(); asked[h] > 1 && w.failure == "" {
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

// lives reports whether a node is still in the cluster.
func (w *World) lives(s *topology.State) bool {
	return slices.ContainsFunc(w.hosts, func(h *host) bool {
		return h.node != nil && h.node.State().Cluster == s.Cluster && s.Nodes[h.id] != nil
	})
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
