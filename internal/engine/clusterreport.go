package engine

import "godwit/internal/cluster/topology"

// shardRole is the part that this node plays in its shard: what the topology says, carried out.
//
//	shard's master   this node                 what it does
//	itself           master                    confirms writes while it holds a lease
//	another node     replica of that           follows its stream, in the shard's term
//	none             whatever it was before    confirms nothing; who was the master goes on
//	                                           streaming, so that replicas catch up
type shardRole struct {
	// data is the shard from whose master the data set came. It is saved with the data, as term is.
	// "": nobody knows, after a start from files that do not say it.
	data topology.ShardID
	// leads says that the node is the shard's master in the term, or was until it was revoked.
	leads bool
	term  uint64 // of the master from which the data came, 0: of none
	// synced says that the data set is one of the shard, and whole: see ClusterReport.Whole.
	synced bool
	// restored says that the data set was loaded before the node knew its role: history and place
	// are those of the files.
	restored bool
	db       int // that the stream had selected there
}

// ClusterReport is what this node tells the others about its data set.
type ClusterReport struct {
	// Role is the role that the server plays.
	Role topology.Role
	// Shard and Term say from which master the data came. A replica has its master's from the
	// moment on at which it has the stream. They are "" and 0 after a start from files that do not
	// say them.
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
}

// ClusterReport returns what this node tells the others about its data set.
func (e *Engine) ClusterReport() ClusterReport {
	r := ClusterReport{Role: topology.Master, Shard: e.shard.data, Term: e.shard.term,
		Offset: e.Feed.Offset(), Whole: e.shard.synced && !e.loading.on}
	if m := e.repl.master; m != nil && m.followed == nil {
		r.Role, r.Linked = topology.Replica, m.state == LinkConnected
		r.Whole = r.Whole && m.cached && !e.tooOld(m)
	}
	return r
}

// tooOld reports whether the replica has had no master for so long that it must not become one.
func (e *Engine) tooOld(m *Master) bool {
	factor := int64(e.Cfg.Cluster.ValidityFactor)
	if factor == 0 || m.state == LinkConnected || m.downSince == 0 || e.cluster.inSync() {
		return false
	}
	limit := e.Cfg.Cluster.NodeTimeout*factor + e.Cfg.ReplPingPeriod*1000
	return e.Steady()-m.downSince > limit
}

// inStep notes that the stream of the shard's master, in a term, goes on where the data set is.
func (e *Engine) inStep(term uint64) {
	if m := e.repl.master; e.cluster.on && m.followed == nil {
		e.shard.data, e.shard.term = e.cluster.shard.ID, term
		e.shard.synced, e.shard.restored = true, false
	}
}
