package engine

import "fmt"

// The RDB channel (repl-rdb-channel)
//
// A replica that can take two things at once gets the snapshot over a second connection, and the
// stream over its first one from the snapshot's moment on:
//
//	replica                              master
//	PSYNC ? -1                      ─→                 first connection
//	                                ←─   +RDBCHANNELSYNC <client id>
//	REPLCONF main-ch-client-id <id> ─→                 second connection
//	PSYNC ? -1                      ─→
//	                                ←─   +FULLRESYNC id offset, the snapshot
//	                                ←─   the stream                     first connection
//
// So the stream is kept by the replica meanwhile, and not here. The second connection is a Replica
// too, which wants an RDB only (Replica.main). If one of the two is lost before the snapshot has
// arrived, the other one ends as well.

// offersChannel reports whether the replica, which needs a full synchronization, is to open a
// second connection for it.
func (e *Engine) offersChannel(r *Replica) bool {
	return e.Cfg.ReplRDBChannel && e.Cfg.ReplDisklessSync && r.CapRDBChannel && r.CapEOF &&
		r.main == nil && !r.RDBOnly
}

// offerChannel asks the replica for its RDB channel.
func (e *Engine) offerChannel(r *Replica) {
	e.Log.Notice("Replica %s is capable of rdb channel synchronization, and partial sync isn't "+
		"possible. Full sync will continue with a second connection.", r.Name())
	e.enterState(r, ReplicaPairs)
	e.say(r, fmt.Sprintf("+RDBCHANNELSYNC %d\r\n", r.Client.ID))
}

// PairChannel makes the client the RDB channel of the replica with that client ID. It reports false
// if there is none that waits for one.
func (e *Engine) PairChannel(r *Replica, id uint64) bool {
	for _, m := range e.repl.replicas.list {
		if m.Client.ID == id && m.State == ReplicaPairs && m.channel == nil && m != r &&
			r.main == nil && r.State == ReplicaNone {
			m.channel, r.main, r.RDBOnly = r, m, true
			return true
		}
	}
	return false
}

// pin makes a place in the stream the replica's own. It reports false if the backlog does not have
// it.
func (e *Engine) pin(r *Replica, at int64) bool {
	reader, ok := e.repl.replicas.backlog.Open(at)
	if !ok {
		return false
	}
	r.reader = reader
	r.acked, r.from = 0, at // it has nothing until it says so
	return true
}

// beginBoth begins the stream of a replica whose snapshot goes over the RDB channel.
func (e *Engine) beginBoth(r *Replica) {
	e.enterState(r, ReplicaBoth)
	e.stream(r)
}

// channelDone follows the end of a snapshot on the RDB channel.
func (e *Engine) channelDone(r *Replica, err error) {
	m := r.main
	switch {
	case m.Client.replica != m || m.Client.CloseASAP:
	case err != nil:
		e.Log.Warning("The RDB channel of replica %s is lost: its main channel ends too", m.Name())
		m.Client.closeSoon()
	case m.State == ReplicaBoth:
		e.enterState(m, ReplicaOnline)
	}
}
