package engine

// Clients' writes wait for a moment, instead of being refused, while a shard changes its master:
//
//	old master  |--- writes ---| revoked: they wait |- a replica: they are sent to the new master
//	new master                                 promoted: they wait |- the first lease: they run

// leasePollMs is how often loops look for the first lease, in ms.
const leasePollMs = 2

// beRevoked is called while the shard of this node, which was its master, has none. Writes wait for
// the next master for a while. If there is none by then they are refused. After a failover that was
// asked for and has come to nothing this node is the master again, which takes a moment too.
func (e *Engine) beRevoked() {
	if e.shard.revoked || !e.shard.leads {
		return
	}
	e.shard.revoked = true
	e.Log.Notice("The shard has no master until another node takes over, or this one again. " +
		"Writes wait.")
	e.holdWrites(e.cluster.shard.Hold + e.cluster.nodeTimeout())
}

// awaitLease is called when the node has become the master. Its first lease is on the way.
func (e *Engine) awaitLease() {
	e.endHold()
	if e.readLease(); e.leaseLasts() {
		return
	}
	e.holdWrites(e.cluster.nodeTimeout())
	if e.Alarm != nil {
		e.Alarm()
	}
}

// holdWrites makes writes wait for ms at most.
func (e *Engine) holdWrites(ms int64) {
	e.lease.holds = e.Steady() + ms
	e.Pause(PauseFailover, e.lease.holds, e.confirm.written != nil)
}

// awaitsLease reports whether writes wait for the first lease.
func (e *Engine) awaitsLease() bool {
	return e.lease.holds != 0 && e.cluster.leads() && e.Steady() < e.lease.holds
}

// leaseCame lets writes run that have waited for the first lease, if it is there.
func (e *Engine) leaseCame() {
	if e.lease.holds != 0 && e.cluster.leads() && e.leaseLasts() {
		e.endHold()
	}
}

// endHold lets writes run here, or be sent to the new master.
func (e *Engine) endHold() {
	if e.lease.holds != 0 {
		e.lease.holds = 0
		e.Unpause(PauseFailover)
	}
}
