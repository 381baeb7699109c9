package engine

import (
	"slices"

	"godwit/internal/cluster/topology"
)

const (
	syncRetryMs = 100  // between two attempts to change the in-sync set
	syncGap     = 1000 // ms between two turns of the cron that tell of a long command, or a stop
)

// keepInSync asks for the change of the in-sync set that is due. The first entry of a term changes
// nothing perhaps: it says that this node has taken its promotion up (topology.Shard.Before).
func (e *Engine) keepInSync() {
	s, sh := &e.inSync, e.cluster.shard
	if !e.cluster.leads() || e.shard.term != sh.Term || sh.Boot != e.Cluster.Boot() ||
		s.asking || e.Steady() < s.retryAt {
		return
	}
	need := int(e.Cfg.MinReplicasToAck)
	next := s.plan(syncPlan{set: sh.InSync, belongs: e.cluster.replicates, need: need,
		now: e.Steady(), patience: e.cluster.nodeTimeout() / 2})
	same := sh.Confirm == need && slices.Equal(sh.InSync, next)
	if same && !s.failed && sh.Before == nil {
		return
	}
	s.ask(next)
	e.noteConfirmed() // those that are new count from now on
	op := topology.Op{By: e.cluster.self.ID, Do: topology.SetInSync{Shard: sh.ID, Term: sh.Term,
		Boot: sh.Boot, Confirm: need, InSync: next, Seen: e.cluster.state.Index}}
	term := sh.Term
	e.Cluster.Propose(op, func(refusal string) {
		if e.shard.term != term {
			return
		}
		s.answered(refusal == "")
		if refusal != "" {
			s.retryAt = e.Steady() + syncRetryMs
			e.Log.Verbose("The in-sync set is not changed: %s", refusal)
			return
		}
		if !same {
			e.Log.Notice("In sync with this master: %d replicas, of which %d confirm each write",
				len(next), need)
		}
		e.noteConfirmed()
		e.releaseConfirmed()
	})
}

// inSyncCron is called several times a second.
func (e *Engine) inSyncCron() {
	s := &e.inSync
	now := e.Steady()
	if s.cronAt != 0 && now-s.cronAt > syncGap {
		s.resume(now)
	}
	s.cronAt = now
	sh := e.cluster.shard
	if e.repl.master != nil {
		if e.repl.master.followed != nil && sh != nil && sh.Before != nil {
			e.keepInSync()
		}
		return // also while it follows another cluster's shard: nothing is confirmed
	}
	if !e.confirm.on && len(s.members) == 0 &&
		(sh == nil || sh.Confirm == 0 && sh.Before == nil) {
		return
	}
	e.noteInSync()
	e.keepInSync()
	last := int64(0)
	if f := &e.confirm; f.waiting() {
		last = f.queue[len(f.queue)-1].offset
	}
	if s.await(last) {
		e.repl.replicas.ask = true
	}
}
