package engine

import "slices"

// replicationCron does what replicas need of time: pings, timeouts, delayed snapshots, the end of
// the backlog. It is called in every turn of the cron.
func (e *Engine) replicationCron() {
	s := &e.repl.replicas
	if s.backlog == nil && len(s.list) == 0 {
		return
	}
	if len(s.list) > 0 || s.files.held != nil {
		e.startFullSyncs()
	}
	if e.Cfg.MinReplicasAckFsync && e.confirm.waiting() {
		s.ask = true // Redis does not tell of its own accord that it has synced what it had
	}
	if e.Steady()-s.cronAt < 1000 {
		return
	}
	s.cronAt = e.Steady()
	e.forgetLostSyncs()
	if s.full != nil && !s.full.wanted() {
		e.cancelSync()
		s.full.end(errNoSnapshot)
		s.full, s.filed = nil, nil
	}
	if len(s.list) == 0 {
		e.expireBacklog()
		return
	}
	if e.repl.master == nil && !e.pause.active && e.Steady()-s.pinged >= e.Cfg.ReplPingPeriod*1000 {
		s.pinged = e.Steady()
		e.propagateAlive([]byte("PING"))
	}
	for _, r := range s.list {
		e.careForReplica(r)
	}
	e.countGood()
}

// careForReplica keeps a replica that waits awake, and closes one that is silent.
func (e *Engine) careForReplica(r *Replica) {
	if r.Client.CloseASAP {
		return
	}
	e.checkReplica(r)
	limit := e.Cfg.ReplTimeout * 1000
	_, silent := r.Acked(e)
	switch {
	case r.State == ReplicaWaits,
		e.repl.replicas.full.writes(r): // to a file: the replica is sent nothing yet
		e.say(r, "\n")
	case r.State == ReplicaPairs && (r.channel == nil || r.channel.State == ReplicaNone) &&
		e.Steady()-r.since > limit:
		e.Log.Warning("Disconnecting timedout replica (full sync): %s has not opened its RDB "+
			"channel for repl-timeout (%d s)", r.Name(), e.Cfg.ReplTimeout)
		r.Client.closeSoon()
	case r.State == ReplicaOnline && !r.legacy && silent > limit:
		e.Log.Warning("Disconnecting timedout replica (streaming sync): %s has sent no REPLCONF "+
			"ACK for %d s (repl-timeout %d)", r.Name(), silent/1000, e.Cfg.ReplTimeout)
		r.Client.closeSoon()
	case r.State == ReplicaLoaded && e.Steady()-r.since > limit:
		e.Log.Notice("Disconnecting replica %s: it asked for an RDB only, and has it", r.Name())
		r.Client.closeSoon()
	}
}

// expireBacklog forgets the stream when there have been no replicas for repl-backlog-ttl. What is
// changed from then on is in no stream, so a new history begins.
func (e *Engine) expireBacklog() {
	s := &e.repl.replicas
	ttl := e.Cfg.ReplBacklogTTL
	if ttl == 0 || s.backlog == nil || e.repl.master != nil || e.confirm.on ||
		e.Steady()-s.alone <= ttl*1000 {
		return
	}
	e.NewReplID()
	e.dropBacklog()
	e.Log.Notice("Replication backlog freed after %d seconds without connected replicas.", ttl)
}

// dropReplicas ends the connections of all replicas: what they have is not what this server has
// any more. Those that come back get a full sync, unless the new history has theirs.
func (e *Engine) dropReplicas() {
	for _, r := range slices.Clone(e.repl.replicas.list) {
		e.Kill(r.Client)
	}
}
