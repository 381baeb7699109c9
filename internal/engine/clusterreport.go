package engine

import "godwit/internal/cluster/topology"

// ClusterReport is what this node tells the others about its data set.
type ClusterReport struct {
	// Role is the role that the server plays.
	Role topology.Role
	// Shard and Term say from which master the data came. A replica has its master's term once it
	// has everything that the master had when that began: of two replicas of one term, the one with
	// the higher offset has more, and any of an earlier term has less. They are "" and 0 after a
	// start from files that do not say them.
	Shard topology.ShardID
	Term  uint64
	// Offset is where the data set is in the shard's history.
	Offset int64
	// Whole says that the data set is one that the shard had. It is false until a new replica has
	// its first one, and while another one is being loaded, and of a replica that has had no
	// master for longer than cluster-replica-validity-factor allows, unless it is in sync.
	Whole bool
	// Linked says that a replica has the link to its master.
	Linked bool
	// Ends says that the server is about to end: it must not be promoted. A master that hands its
	// shard over may get it back.
	Ends bool
}

// ClusterReport returns what this node tells the others about its data set.
func (e *Engine) ClusterReport() ClusterReport {
	if sh := &e.shard; sh.coming != 0 && e.Feed.Offset() >= sh.begin {
		sh.term, sh.coming = sh.coming, 0
	}
	r := ClusterReport{Role: topology.Master, Shard: e.shard.data, Term: e.shard.term,
		Offset: e.Feed.Offset(), Whole: e.shard.synced && !e.loading.on}
	if m := e.repl.master; m != nil && m.followed == nil {
		r.Role, r.Linked = topology.Replica, m.state == LinkConnected
		r.Whole = e.hasWhole(m) && !e.tooOld(m) && !(e.cluster.leads() && e.declines())
	}
	r.Ends = e.ending.finishes || r.Role == topology.Replica && e.ending.on.Load()
	return r
}

// hasWhole reports whether a replica's data set is one that the shard had.
func (e *Engine) hasWhole(m *Master) bool { return e.shard.synced && !e.loading.on && m.cached }

// declines reports whether the node was promoted for data that it has no longer. It then stays what
// it is, and the leader sees from its reports that the shard needs another master.
// A full synchronization that ends later does not change that: the old master may have more.
func (e *Engine) declines() bool {
	m, c := e.repl.master, &e.cluster
	return m != nil && m.followed == nil && c.shard.Before != nil && !c.shard.Bare &&
		(c.declined == c.promotion() || !e.hasWhole(m))
}

// tooOld reports whether the replica has had no master for so long that it must not become one.
func (e *Engine) tooOld(m *Master) bool {
	factor := int64(e.Cfg.Cluster.ValidityFactor)
	if factor == 0 || m.state == LinkConnected || m.downSince == 0 || e.cluster.inSync() {
		return false
	}
	limit := e.cluster.nodeTimeout()*factor + e.Cfg.ReplPingPeriod*1000
	return e.Steady()-m.downSince > limit
}

// inStep notes that the stream of the shard's master, in a term that began at an offset, goes on
// where the data set is.
func (e *Engine) inStep(term uint64, begin int64) {
	if !e.cluster.on || e.repl.master.followed != nil {
		return
	}
	before := e.shard.term
	if e.shard.data != e.cluster.shard.ID {
		before = 0
	}
	e.shard = shardRole{data: e.cluster.shard.ID, term: before, begin: begin, coming: term,
		synced: true, db: e.shard.db}
}
