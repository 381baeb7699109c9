package engine

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// A migration that comes to nothing leaves half of the keys at its destination. They are no copy,
// so nobody may see them. The log knows the slots (topology.Shard.Half), whatever happens to the
// master that they have come to: the shard's nodes hide them, and commands for them wait, until the
// master has deleted what is there and the log says so.

// halfImports is what the master does for slots that are half imported.
type halfImports struct {
	dropped slot.Set // what has been deleted, and the log is to say so
	of      uint64   // topology.Shard.HalfAt, of that
	at      int64    // offset of this node's stream behind the deletion
	asking  bool
	retryAt int64 // steady ms
	askedAt int64 // steady ms at which replicas were last asked what they have
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

// dropHalf deletes half imports as soon as that is allowed. When the replicas that must confirm
// have done the same, it has the log say so. It is called with each new topology and several times
// a second.
func (e *Engine) dropHalf() {
	h, v := &e.half, &e.cluster
	half := v.half(v.state)
	if half.Empty() || !e.mayDrop() || e.Cluster == nil {
		h.dropped = slot.Set{}
		return
	}
	if h.dropped != half || h.of != v.shard.HalfAt {
		e.dropSlots(&half)
		h.dropped, h.of, h.at = half, v.shard.HalfAt, e.Feed.Offset()
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

// confirmedHalf reports whether the replicas that must confirm writes have deleted the half
// imports. Else it asks them.
func (e *Engine) confirmedHalf(now int64) bool {
	if !e.confirm.on {
		return true
	}
	if e.noteConfirmed(); e.confirm.upto >= e.half.at {
		return true
	}
	if now-e.half.askedAt >= markMs {
		e.half.askedAt, e.repl.replicas.ask = now, true
	}
	return false
}
