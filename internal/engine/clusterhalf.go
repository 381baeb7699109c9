package engine

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/slot"
)

// A migration that comes to nothing leaves half of the keys at its destination. They are no copy,
// so nobody may see them. The log knows the slots (topology.Shard.Half), whatever happens to the
// master that they have come to: the shard's nodes hide them, and commands for them wait, until the
// master has deleted what is there and the log says so. If the slots are the shard's own by now,
// the master answers readers as soon as it has deleted that. Writes wait for the log: the next
// master deletes all that is there.

// halfImports is what the master does for slots that are half imported.
type halfImports struct {
	dropped slot.Set // what has been deleted, and the log is to say so
	of      uint64   // topology.Shard.HalfAt, of that
	at      int64    // offset of this node's stream behind the deletion
	logged  int64    // offset in the log behind it, 0 if nothing is synced
	since   int64    // steady ms, of the deletion
	asking  bool
	retryAt int64    // steady ms
	askedAt int64    // steady ms at which replicas were last asked what they have
	warned  slot.Set // that replicas keep clients waiting for
}

// half returns the slots in which half an import may be, without those that still come.
func (v *clusterView) half(s *topology.State) slot.Set {
	if v.shard == nil || v.shard.Half.Empty() {
		return slot.Set{}
	}
	half, coming := v.shard.Half, s.Coming(v.shard.ID)
	half.Subtract(&coming)
	return half
}

// dropHalf deletes half imports as soon as that is allowed. When that is on disk and replicas have
// done the same, it has the log say so. It is called with each new topology and several times a
// second.
func (e *Engine) dropHalf() {
	h, v := &e.half, &e.cluster
	half := v.half(v.state)
	if half.Empty() || !e.mayDrop() || e.Cluster == nil {
		h.dropped = slot.Set{}
		return
	}
	if h.dropped != half || h.of != v.shard.HalfAt {
		e.dropImported(&half)
		if h.of != v.shard.HalfAt {
			h.warned = slot.Set{}
		}
		h.dropped, h.of, h.at = half, v.shard.HalfAt, e.Feed.Offset()
		h.logged, h.since = 0, e.Steady()
		if e.LogOn() && e.Cfg.AppendFsync != config.FsyncNo {
			h.logged = e.persist.aof.Offset()
		}
		e.resumeHeld() // readers may go on
	}
	now := e.Steady()
	if h.asking || now < h.retryAt || !e.confirmedHalf(now) {
		return
	}
	h.asking = true
	op := topology.Dropped{Shard: v.shard.ID, Term: v.shard.Term, Slots: half, Seen: v.state.Index}
	e.Cluster.Propose(topology.Op{Do: op}, func(refusal string) {
		h.asking, h.retryAt = false, e.Steady()+phaseRetryMs
		if refusal != "" {
			e.Log.Verbose("The log does not say that slots %s are empty: %s", half.String(),
				refusal)
		}
	})
}

// leaveHalf is called with a topology that is yet to be installed. If the node is no member of its
// cluster by it, after CLUSTER FORGET for example, it notes what the node has half imported. An
// import that has closed may have come as a whole, and be the only copy: that one stays.
func (e *Engine) leaveHalf(s *topology.State, self topology.NodeID) {
	c := &e.cluster
	if c.shard == nil || s.Cluster == c.state.Cluster && s.Nodes[self] != nil {
		return
	}
	half := c.shard.Half
	for _, m := range c.state.Migrations {
		if m.To != c.shard.ID || m.Over() {
			continue
		}
		im := e.migrations.imported(m.ID)
		applies := im != nil && im.step == importApplies
		if m.Phase == topology.Closed && !applies || im != nil && im.step == importHas {
			half.Subtract(&m.Slots)
		}
	}
	c.lone = half
}

// dropLone deletes what leaveHalf has noted, now that the node has a shard of its own. Nobody else
// has part in that, so it waits for nothing but a data set that is being loaded.
func (e *Engine) dropLone() {
	lone := &e.cluster.lone
	if lone.Empty() || e.cluster.shard == nil || e.loading.on {
		return
	}
	if e.cluster.leads() { // else its data is that of another one by now
		e.dropImported(lone)
	}
	*lone = slot.Set{}
	e.hideSlots()
}

// dropImported deletes half imports.
func (e *Engine) dropImported(half *slot.Set) {
	if n := e.dropSlots(half); n > 0 {
		e.Log.Notice("Deleted %d keys in slots %s that had come by a migration which failed or "+
			"was cancelled", n, half.String())
	}
}

// confirmedHalf reports whether what is deleted here does not come back with the next master of the
// shard, or with this one's files: the replicas that must confirm writes have deleted it, or those
// that follow unless they are slow, and so has the disk. It asks replicas that have not.
func (e *Engine) confirmedHalf(now int64) bool {
	h := &e.half
	late := now-h.since > replicaWaitMs
	synced := late || h.logged == 0 || !e.LogOn() || e.persist.aof.Synced() >= h.logged
	gone := late || e.onlineHave(h.at)
	if e.confirm.on {
		e.noteConfirmed()
		gone = e.confirm.upto >= h.at
	}
	if !gone && now-h.askedAt >= markMs {
		h.askedAt, e.repl.replicas.ask = now, true
	}
	if !gone && late {
		e.warnOfHalf()
	}
	return gone && synced
}

// warnOfHalf says in the log, once, why nobody may write to slots of this node.
func (e *Engine) warnOfHalf() {
	h, v := &e.half, &e.cluster
	slots := h.dropped.Common(&v.halfOwn)
	more := slots
	if more.Subtract(&h.warned); more.Empty() {
		return
	}
	h.warned = slots
	e.Log.Warning("Writes to slots %s wait, and get CLUSTERDOWN after a while: the keys that a "+
		"failed migration has left there are deleted, and %d replicas (min-replicas-to-ack) have "+
		"yet to confirm that", slots.String(), e.Cfg.MinReplicasToAck)
}
