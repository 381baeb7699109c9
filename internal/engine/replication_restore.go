package engine

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/persist"
	"godwit/internal/propagation"
)

// replPoint returns the place in the history that the data set is at. ok is false if nobody could
// go on from there: within a unit, and as long as the history is nobody else's.
func (e *Engine) replPoint() (p persist.ReplPoint, ok bool) {
	p = persist.ReplPoint{ID: e.repl.id, Offset: e.Feed.Offset(), Shard: string(e.shard.data),
		Term: e.shard.term}
	if e.Feed.InUnit() {
		return p, false
	}
	if m := e.repl.master; m != nil {
		p.DB = m.db
		if m.client != nil {
			p.DB = m.client.db.ID()
		}
		return p, m.cached
	}
	p.DB = max(e.Feed.Selected(), 0)
	return p, e.Feed.Attached()&propagation.Replicas != 0
}

// restorePoint goes on in the history of a data set that was loaded at the start. A replica asks
// its master for what follows. A master begins a history of its own, with the old one as its
// beginning: replicas that were at its end go on. Others may have more than was saved.
func (e *Engine) restorePoint(p persist.ReplPoint) {
	if p.DB >= e.KS.Databases() {
		return
	}
	e.dropBacklog() // of a history that nobody has joined
	e.shard.synced = true
	if e.cluster.on && !e.cluster.leads() {
		e.shard.data, e.shard.term = topology.ShardID(p.Shard), p.Term
	}
	if e.cluster.on && e.repl.master == nil && !e.cluster.leads() {
		e.joinHistory(p.ID, p.Offset) // lead and follow go on from there
		e.shard.restored, e.shard.db = true, p.DB
		e.ensureBacklog()
		return
	}
	if m := e.repl.master; m != nil {
		e.joinHistory(p.ID, p.Offset)
		m.cached, m.db = true, p.DB
		e.Log.Notice("Before turning into a replica, using my own master parameters to " +
			"synthesize a cached master: I may be able to synchronize with the new master with " +
			"just a partial transfer.")
		e.ensureBacklog()
		return
	}
	e.Feed.SetOffset(p.Offset)
	e.ensureBacklog() // begins a history, whose beginning is now said
	e.repl.id2, e.repl.second = p.ID, p.Offset+1
}

// leaveRestored begins a history of this server's own behind that of its files, if that is the one
// that it is in. Others may be further in the old one, so no byte that this server sends may count
// as a part of it. It may go back: see rejoin.
func (e *Engine) leaveRestored() {
	if e.shard.restored {
		e.shiftReplID()
		e.shard.restored, e.shard.resumed = false, e.shard.data == e.cluster.shard.ID
	}
}

// rejoin goes back to the history of the files, before the server becomes a replica. It was the
// shard's master by all that it knew when it started, or the last one, and so began a history of
// its own. As long as nothing is in that, the data set is what it was in the old one, which the new
// master knows.
func (e *Engine) rejoin() {
	e.flushUnit()
	if e.shard.resumed && e.repl.master == nil && e.Feed.Offset()+1 == e.repl.second &&
		!e.persist.strayed && len(e.repl.replicas.list) == 0 {
		e.joinHistory(e.repl.id2, e.Feed.Offset())
		e.shard.restored = true
	}
	e.shard.resumed = false
}
