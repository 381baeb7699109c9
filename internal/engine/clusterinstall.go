package engine

import (
	"strings"

	"godwit/internal/cluster/topology"
)

// InstallTopology makes s the topology that this node, self, acts on. s must not change any more.
// The executor is held, and no script runs. What follows from the change has happened when it
// returns: the runtime then tells the others that this node has applied it, which may let another
// one confirm writes.
func (e *Engine) InstallTopology(s *topology.State, self topology.NodeID) {
	c := &e.cluster
	lost, before := c.ownSlots(), c.view
	e.leaveHalf(s, self)
	c.state = s
	c.compute(s, self)
	own := c.ownSlots()
	lost.Subtract(&own)
	e.forgetSlotStats(&lost)
	e.slotsChanged(&lost) // clients that wait for keys of others are sent to them
	e.tellMasters(before)
	e.followShard()
	e.dropLone()
	e.serveGained()
	e.readLease()
	e.followImports()
	e.followExports()
	e.findStrays(&lost)
	e.hideSlots()
	e.migrationCron()
	e.leaveData()
}

// LeavingShard returns start for a request by which this node, a replica, leaves its shard for one
// of its own. The data set stays with the shard: it goes when that has come true, whoever is there
// to hear of it. It is likewise for a node that was a replica until it was removed from its cluster
// (topology.Shard.Copy).
func (e *Engine) LeavingShard(start func(done func(refusal string))) func(func(string)) {
	return func(done func(refusal string)) {
		e.cluster.leaving = leftShard
		if sh := e.cluster.shard; sh != nil {
			e.cluster.leaving = sh.ID
		}
		start(func(refusal string) {
			if strings.HasPrefix(refusal, "ERR") { // otherwise it may still come true
				e.cluster.leaving = ""
			}
			done(refusal)
		})
	}
}

// leftShard stands for the shard of a node that was removed from it and is in no other one yet.
const leftShard topology.ShardID = "-"

// leaveData deletes all keys, as FLUSHALL does, if this node has left its shard.
func (e *Engine) leaveData() {
	c := &e.cluster
	if c.leaving == "" || c.shard == nil || c.shard.ID == c.leaving {
		return
	}
	c.leaving = ""
	if !c.leads() || !c.shard.Slots.Empty() {
		return
	}
	for i := range e.KS.Databases() {
		e.FlushDB(e.KS.DB(i), e.KS.P.LazyUserFlush)
	}
	e.InvalidateAll()
	e.propagate(0, [][]byte{[]byte("FLUSHALL")})
	e.Flushed()
}
