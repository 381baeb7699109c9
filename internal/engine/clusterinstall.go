package engine

import "godwit/internal/cluster/topology"

// InstallTopology makes s the topology that this node, self, acts on. s must not change any more.
// The executor is held, and no script runs. What follows from the change has happened when it
// returns: the runtime then tells the others that this node has applied it, which may let another
// one confirm writes.
func (e *Engine) InstallTopology(s *topology.State, self topology.NodeID) {
	c := &e.cluster
	lost, before := c.ownSlots(), c.view
	c.state = s
	c.compute(s, self)
	own := c.ownSlots()
	lost.Subtract(&own)
	e.forgetSlotStats(&lost)
	e.slotsChanged(&lost) // clients that wait for keys of others are sent to them
	e.tellMasters(before)
	e.followShard()
	e.readLease()
	ended := e.followImports()
	e.followExports()
	lost.Union(&ended)
	e.findStrays(&lost)
	e.hideSlots()
	e.migrationCron()
}

// EmptyData deletes all keys, as FLUSHALL does, when this node has left its shard for one of its
// own.
func (e *Engine) EmptyData() {
	for i := range e.KS.Databases() {
		e.FlushDB(e.KS.DB(i), e.KS.P.LazyUserFlush)
	}
	e.InvalidateAll()
	e.propagate(0, [][]byte{[]byte("FLUSHALL")})
	e.Flushed()
}
