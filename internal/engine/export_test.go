package engine

import (
	"time"

	"godwit/internal/backlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/persist"
)

// PassTime moves the steady clock by d, as if so much time had passed. The wall clock stays.
func (e *Engine) PassTime(d time.Duration) {
	e.base = e.base.Add(-d)
	e.syncClock()
}

// ClientsMemory returns the memory of all clients as last counted.
func (e *Engine) ClientsMemory() int64 { return e.clientMem.total }

// PausedUntil returns until when commands are held back, 0 if they are not. all reports whether
// reads are held back too.
func (e *Engine) PausedUntil() (ms int64, all bool) {
	if !e.pause.active {
		return 0, false
	}
	return e.pause.until, e.pause.all
}

// HugeRests returns how long huge pages rest after batches that took as long, with trouble or not.
func HugeRests(spent time.Duration, trouble ...bool) (rests []time.Duration) {
	var h hugePages
	for _, h.trouble = range trouble {
		h.spent = spent
		rests = append(rests, h.rest())
	}
	return rests
}

// HugeRefused reports whether the system has refused the last huge page, or all of them.
func (e *Engine) HugeRefused() bool {
	h := &e.huge
	return !h.running.Load() && (h.off || h.trouble && len(h.done) > 0 && !h.done[len(h.done)-1])
}

// SnapshotMemory returns the bytes of snapshots that are on their way to replicas.
func (e *Engine) SnapshotMemory() int64 { return e.replicationMemory().Snapshot }

// StirredClients returns how many clients the cron goes round.
func (e *Engine) StirredClients() int { return e.clientMem.stirred.Len() }

// StartSync begins a snapshot for replicas.
func (e *Engine) StartSync(o persist.SyncOptions, dest persist.SyncDest, done func(error)) error {
	return e.startSync(o, dest, done)
}

// CancelSync ends it.
func (e *Engine) CancelSync() { e.cancelSync() }

// BeReplicaOf makes the server a replica that is at its own place in its history.
func (e *Engine) BeReplicaOf(host string, db int) {
	e.repl.master = &Master{Host: host, cached: true, db: db}
}

// MasterDB returns the database that the master's stream has selected, and whether the replica can
// go on in it.
func (e *Engine) MasterDB() (db int, cached bool) { return e.repl.master.db, e.repl.master.cached }

// LoseData makes a replica one whose data has gone for its master's, which has yet to come.
func (e *Engine) LoseData() { e.repl.master.cached = false }

// RegainData ends that.
func (e *Engine) RegainData() { e.repl.master.cached = true }

// BeginAside begins a load beside the data that is served.
func (e *Engine) BeginAside(total int64) AsideLoad { return AsideLoad{e.beginAside(total)} }

// AsideLoad is such a load.
type AsideLoad struct{ *asideLoad }

// Adopt puts what is loaded in the place of what is served.
func (a AsideLoad) Adopt() bool { return a.adopt() }

// Drop throws it away.
func (a AsideLoad) Drop() { a.e.dropAside() }

// LimitedMemory returns the part of used memory that is held against maxmemory.
func (e *Engine) LimitedMemory() int64 { return e.limitedMemory() }

// FollowStream begins to keep the stream, and returns a reader of it, as each replica has one.
func (e *Engine) FollowStream() *backlog.Reader {
	e.ensureBacklog()
	r, _ := e.repl.replicas.backlog.Open(e.Feed.Offset())
	return r
}

// SyncDelay returns for how many ms a snapshot waits for more replicas.
func (e *Engine) SyncDelay() int64 { return e.syncDelay() }

// KillMasterLink ends the link to the master.
func (e *Engine) KillMasterLink() { e.Kill(e.repl.master.client) }

// BeOfShard makes the data set one of a shard's master.
func (e *Engine) BeOfShard(id topology.ShardID, term uint64) {
	e.shard.data, e.shard.term = id, term
}

// NewTestClient makes a client of a database that no gate holds.
func NewTestClient(e *Engine, db int) *Client {
	c := e.LogClient()
	c.db = e.KS.DB(db)
	return c
}

// JobRuns reports whether a snapshot is being made.
func JobRuns(e *Engine) bool { return e.persist.busy() }

// SentinelNames returns the names of masters whose addresses subscribers have been told.
func (e *Engine) SentinelNames() (names []string) {
	for name := range e.cluster.sentinel.told {
		names = append(names, name)
	}
	return names
}
