package sim

import (
	"time"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// Ambushes are faults that follow each other as chance rarely has it: each aims at one rule.

// victim returns the machine that serves a range, and the one that leads. ok is false if there is
// none, or if they are the same.
func (w *World) victim(r int) (master, leader *host, ok bool) {
	leader = w.leader()
	for _, h := range w.hosts {
		if h.server.able(r) {
			master = h
		}
	}
	return master, leader, master != nil && leader != nil && master != leader
}

// ambushRound aims at leases by an old state. A master is out of touch for longer than its lease
// lasts. When it is back, its executor is busy, and within its first round of ReadIndex, of which
// heartbeats get lost, its slots are given to another.
func (w *World) ambushRound(r int) {
	m, l, ok := w.victim(r)
	if !ok || w.opt.Confirm > 0 { // slots move without their data
		return
	}
	s := l.node.State()
	var to *host
	for _, h := range w.hosts {
		if h != m && masters(s, h) {
			to = h
		}
	}
	if to == nil {
		return
	}
	w.note("ambush of %v: a round that lasts", m)
	for i := range w.hosts {
		w.net.cut[m.index][i] = i != m.index
	}
	w.after(w.between(7*Timeout/10, 9*Timeout/10), func() {
		m.busy(w.between(Timeout/5, Timeout/2))
		w.net.mend()
		w.after(w.between(0, Timeout/8), func() {
			w.net.deaf = w.now + w.between(Timeout/50, Timeout/20)
			l.inbox(func() {
				op := topology.Op{Do: topology.Move{Slots: rangeOf(r), To: to.id}}
				l.node.Propose(l.clock(), op, func(string) {})
			})
		})
	})
}

// ambushDisk aims at leases that are counted from too early a time. The disk of the leader stalls.
// A master asks for its lease meanwhile, is cut off, and a replica wants to be promoted.
func (w *World) ambushDisk(r int) {
	m, l, ok := w.victim(r)
	if !ok {
		return
	}
	sh := l.node.State().ShardOf(m.id)
	var replica *host
	for _, h := range w.hosts {
		if sh != nil && h != m && h != l && l.node.State().ShardOf(h.id) == sh {
			replica = h
		}
	}
	if replica == nil {
		return
	}
	w.note("ambush of %v: the disk of %v stalls", m, l)
	l.disk.stall = w.between(Timeout/10, Timeout/4)
	wait := time.Duration(l.disk.stall)
	l.inbox(func() {
		l.node.Propose(l.clock(), topology.Op{Do: topology.Bump{Node: l.id}}, func(string) {})
	})
	w.after(w.between(wait+Timeout/200, wait+Timeout/50), func() {
		for i := range w.hosts {
			if i != m.index {
				w.net.cut[i][m.index], w.net.cut[m.index][i] = true, true
			}
		}
		replica.inbox(func() {
			replica.node.Failover(replica.clock(), core.Force, int64(Timeout), func(string) {})
		})
		w.after(w.between(Timeout, 2*Timeout), w.net.mend)
	})
}

// ambushData aims at data of nobody knows which shard. All nodes of a shard crash. The replicas
// come back from files that do not say whose data it is, the master later.
func (w *World) ambushData(r int) {
	m, _, ok := w.victim(r)
	if !ok {
		return
	}
	w.note("ambush of %v: old files on its replicas", m)
	ids := m.server.state.Members(m.server.own.ID)
	m.crash()
	for _, id := range ids {
		h := w.net.find(id, topology.Address{})
		if h == nil || h == m {
			continue
		}
		h.crash()
		h.server.saved.shard, h.server.saved.term = "", 0
		w.restart(h, w.between(Timeout/50, Timeout/5))
	}
	w.restart(m, w.between(2*Timeout, 3*Timeout))
}
