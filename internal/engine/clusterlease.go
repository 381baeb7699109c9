package engine

import (
	"time"

	"godwit/internal/boottime"
	"godwit/internal/cluster/topology"
	"godwit/internal/spec"
)

// # The lease
//
// A master of a cluster confirms writes only while it holds a lease (ClusterNode.Lease), because
// when that is over another node may be the master. The lease is looked at twice:
//
//	turn  ├─ Enter ─ commands ─ Commit ─ LeaseHeld ─ replies leave ─┤
//	           └ may the writes of this turn run?  └ may they be confirmed?
//
// The first look spares clients writes that nobody will keep: they are refused. It goes by clocks
// that the turn has read anyway. The second one is what counts: the process may have been stopped
// in between. What ran before a moment at which the lease held, ran while nobody else was a master,
// however late the reply arrives. If the lease does not hold, the connections that have such
// replies are closed, since nobody knows what will become of the writes.
//
// With min-replicas-ack-reads, reads are held to the same.
type lease struct {
	until int64 // by the boot clock, as of Enter; 0: the node is no master
	ahead int64 // the boot clock's reading minus the engine's monotonic clock
	wall  int64 // the system's wall clock minus the same, when ahead was read
	known bool  // these two have been read
	// stale is the term of a master of the shard staleOf that a replica knows and this node does
	// not: it holds no lease until it has caught up. After a while in which no replica says so it
	// counts no more, because the leader's word is what decides.
	stale      uint64
	staleOf    topology.ShardID
	staleUntil int64 // steady ms
	// holds is the steady ms until which writes wait instead of being refused; 0: they do not.
	holds int64
}

// wallSlack is the difference in ns between two readings of wall minus monotonic clock that needs
// no explanation.
const wallSlack = int64(time.Millisecond)

// bootNow returns the boot clock's reading in ns. The boot clock and the monotonic one differ by
// the time that the machine has slept. That moves the wall clock against the monotonic one too, and
// both of these are read without a system call.
func (e *Engine) bootNow() int64 {
	l := &e.lease
	t := time.Now()
	ns := int64(t.Sub(e.base))
	wall := t.UnixNano() - ns
	if d := wall - l.wall; !l.known || d > wallSlack || d < -wallSlack {
		l.ahead = boottime.Now() - ns
		l.wall, ns = wall, int64(time.Since(e.base))
		// If the process was stopped in between, ahead is too much, which is safe, and read again.
		l.known = ns-int64(t.Sub(e.base)) < wallSlack
	}
	return ns + l.ahead
}

// leaseEnd returns until when this node may confirm writes, by the boot clock. It is 0 if the node
// is no master.
func (e *Engine) leaseEnd() int64 {
	sh := e.cluster.shard
	if e.Cluster == nil || e.repl.master != nil || !e.cluster.leads() ||
		e.lease.stale > sh.Term && e.lease.staleOf == sh.ID && e.Steady() < e.lease.staleUntil {
		return 0
	}
	return e.Cluster.Lease()
}

// readLease is called when the executor is taken, in cluster mode.
func (e *Engine) readLease() {
	if !e.lease.known {
		e.bootNow()
	}
	e.lease.until = e.leaseEnd()
}

// leaseLasts reports whether the lease still lasts, by the clock and the lease of the turn.
func (e *Engine) leaseLasts() bool { return e.lastNs+e.lease.ahead < e.lease.until }

// LeaseHeld reports whether the node holds its lease at this moment. Replies to writes leave only
// if it says so after the writes have run. The executor must be held.
func (e *Engine) LeaseHeld() bool { return e.bootNow() < e.leaseEnd() }

// needsLease reports whether only a master with a lease may answer a client's command with these
// flags.
func (e *Engine) needsLease(flags spec.Flag) bool {
	leased := spec.Write
	if e.confirm.written != nil {
		leased |= spec.ReadOnly
	}
	return e.cluster.on && e.repl.master == nil && flags&leased != 0
}

// leaseRefuses reports whether the client's command must not run for want of a lease. If it may
// run, its reply needs one too.
func (e *Engine) leaseRefuses(cl *Client, flags spec.Flag) bool {
	if !e.needsLease(flags) {
		return false
	}
	if e.leaseLasts() {
		cl.leasing = true
		return false
	}
	return e.Steady() >= e.lease.holds // before that, the pause holds it
}

// noteLeased marks the reply of the client's command, which has run: what it has added to W.Buf
// behind at. A command that waits has none yet, and a reply that is held is looked at when it goes.
func (c *Client) noteLeased(at int) {
	c.leasing = false
	c.Leased = c.Leased || len(c.W.Buf) > at || c.W.Staged > 0
}
