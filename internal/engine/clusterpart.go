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
	// revoked says that writes have begun to wait because the shard has no master.
	revoked bool
	term    uint64 // of the master from which the data came, 0: of none
	// begin is the offset at which that master's term began. A replica that is not there yet has
	// what the master of an earlier term had: the term is coming, the data is of the one before.
	begin  int64
	coming uint64 // 0: none
	// synced says that the data set is one of the shard, and whole: see ClusterReport.Whole.
	synced bool
	// restored says that the data set was loaded before the node knew its role: history and place
	// are those of the files.
	restored bool
	// resumed says that the history of the files is the one before the node's own: it is the master
	// of the shard whose data it has restored, or the last one. Right after a start that is perhaps
	// so by its own copy of the log only.
	resumed bool
	db      int // that the stream had selected there
}
