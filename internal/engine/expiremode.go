package engine

import "godwit/internal/keyspace"

// configureExpire chooses what time may do to keys and fields that are due. While another server
// says when they go (import-mode), or the data has to stand still (CLIENT PAUSE), they are hidden
// and stay. A load, or a timeless command, comes first: the choice holds when that is over.
func (e *Engine) configureExpire() {
	mode := keyspace.ExpireDelete
	if e.keepsKeys() || e.IsReplica() {
		mode = keyspace.ExpireHide
	}
	switch {
	case e.loading.on:
		e.loading.before = mode
	case !e.inTimeless:
		e.KS.SetExpireMode(mode)
	}
}

// keepsKeys reports whether the server must not delete keys of its own accord: neither what is due
// nor what exceeds maxmemory. That holds while a replica receives data for the place of all keys.
// It holds for a node of a cluster that nobody calls a master or a replica: of a shard without a
// master, offsets decide who becomes it, and they must not grow by what no client has written.
func (e *Engine) keepsKeys() bool {
	return e.Cfg.ImportMode || e.pause.active || e.loading.aside ||
		e.cluster.on && e.repl.master == nil && !e.cluster.leads()
}
