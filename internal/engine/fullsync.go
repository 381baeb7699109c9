package engine

import (
	"errors"
	"fmt"

	"godwit/internal/backlog"
	"godwit/internal/invariant"
	"godwit/internal/persist"
	"godwit/internal/persist/rdb"
)

// Full synchronization
//
// One snapshot serves all replicas that wait and can read the same. Its moment is their place in
// the stream: from it on, each has a reader that pins what it will need. Those that want nothing
// but the RDB (redis-cli --rdb) have none.
//
//	snapshot ─→ Pipe ─┬─ transfer ─→ socket      $EOF:<mark>  RDB  <mark>
//	                  └─ transfer ─→ socket      then the stream, after the first ACK
//
//	snapshot ─→ file ─┬─ transfer ─→ socket      $<length>  RDB
//	                  └─ transfer ─→ socket      then the stream
//
//	snapshot ─→ Pipe ─── transfer ─→ second socket      $EOF:<mark>  RDB  <mark>
//	                                 first socket       the stream, at once
//
// Replicas that do not know the first form, or all under repl-diskless-sync no, get the second. The
// third is for replicas with an RDB channel (see rdbchannel.go). A transfer runs beside the
// executor, and the snapshot is not held up by a replica until the pipe is full. Then the slowest
// one decides for all, as in Redis, for as long as repl-timeout. A file that was written before may
// do instead of a snapshot (see syncfiles.go).

const (
	// pipeLimit is how far in bytes the slowest replica may be behind the snapshot.
	pipeLimit = 8 << 20
	// stallShare divides repl-timeout. For that long the slowest replica may take nothing while
	// others wait for more, because it may be emptying its old data set. Then it is cut.
	stallShare = 4
)

// startFullSyncs begins a snapshot for replicas that have waited long enough, if none runs.
func (e *Engine) startFullSyncs() {
	s := &e.repl.replicas
	if e.loading.on || e.loading.aside || e.Feed.InUnit() || e.ended {
		return
	}
	if e.serveFromFiles(); s.full != nil || !e.mayStartJob() || e.filesComing() {
		return
	}
	var first *Replica
	for _, r := range s.list {
		if r.due(e) && (first == nil || r.since < first.since) {
			first = r
		}
	}
	if first == nil {
		return
	}
	need := e.needOf(first)
	var members []*Replica
	for _, r := range s.list {
		if r.due(e) && e.needOf(r) == need {
			members = append(members, r)
		}
	}
	if limit := e.Cfg.ReplDisklessSyncMaxReplicas; need.diskless &&
		e.Steady()-first.since < e.syncDelay() &&
		(limit == 0 || int64(len(members)) < limit) {
		return
	}
	e.fullSync(need, members)
}

// clusterSyncParts divides the node timeout: for that long a snapshot in a cluster waits for more
// replicas at most.
const clusterSyncParts = 20

// syncDelay returns for how many ms a snapshot waits for more replicas. In a cluster that is not
// long, for a shard that lacks replicas is in danger. When writes wait for a replica
// (min-replicas-to-ack) and none is in sync, the snapshot begins at once.
func (e *Engine) syncDelay() int64 {
	delay := e.Cfg.ReplDisklessSyncDelay * 1000
	sh := e.cluster.shard
	switch {
	case sh == nil:
		return delay
	case e.Cfg.MinReplicasToAck > 0 && len(sh.InSync) == 0:
		return 0
	}
	return min(delay, e.cluster.state.Timeout/clusterSyncParts)
}

// fullSync begins a snapshot for replicas.
func (e *Engine) fullSync(need syncNeed, members []*Replica) {
	s := &e.repl.replicas
	f := &fullSync{members: members, began: e.Steady(), need: need,
		id: e.repl.id, at: e.Feed.Offset()}
	dest, err := e.openSync(f, need.diskless)
	if err == nil {
		s.full = f
		err = e.startSync(need.o, dest, func(err error) { e.snapshotMade(f, err) })
	}
	if err != nil {
		s.full = nil
		e.Log.Warning("Can't begin a snapshot for replicas: %s", err)
		f.end(err)
		for _, r := range members {
			e.failSync(r, err)
		}
		return
	}
	how := "disk"
	if need.diskless {
		how = "replicas sockets"
	}
	e.Log.Notice("Starting BGSAVE for SYNC with target: %s (%d replicas, RDB for %s)", how,
		len(members), targetName(need.o.Target))
	s.backlog.Reselect()
	if f.file != nil {
		s.filed, f.names = f, map[string]bool{}
	}
	for i, r := range members {
		if f.names != nil {
			f.names[r.Name()] = true
		}
		pinned := e.beginLoading(r, f.at)
		invariant.Check(pinned, "the stream ends at another offset than the history: %d", f.at)
		if f.pipe != nil {
			// The transfer closes its reader, unless it never begins.
			e.transfer(r, pipeTransfer(f.pipe, i, e.hexID(40), e.replTimeout()),
				f.pipe.Reader(i).Close)
			r.onACK = r.main == nil
		}
	}
}

// targetName returns what the log calls a version of RDB files.
func targetName(t rdb.Target) string {
	if t == rdb.Auto {
		return "the lowest version that holds the data"
	}
	return fmt.Sprintf("version %d", t.Version())
}

// openSync opens what the snapshot is written to.
func (e *Engine) openSync(f *fullSync, diskless bool) (persist.SyncDest, error) {
	if diskless {
		f.pipe = backlog.NewPipe(e.Buffers, pipeLimit, e.replTimeout()/stallShare, len(f.members))
		if f.pipe == nil {
			return nil, errors.New("the system has no memory for it")
		}
		return pipeDest{f.pipe}, nil
	}
	file, err := newSyncFile(len(f.members))
	f.file = file
	return file, err
}

// snapshotMade follows the end of a snapshot: all bytes are in the pipe, or in the file.
func (e *Engine) snapshotMade(f *fullSync, err error) {
	s := &e.repl.replicas
	if s.full = nil; f.pipe != nil {
		s.made = append(s.made, f.pipe)
	}
	if f.made = true; err != nil && s.filed == f {
		s.filed = nil
	}
	switch {
	case err != nil && !f.wanted():
		e.Log.Notice("Snapshot for replicas ended: no replica is left that waits for it")
	case err != nil:
		e.Log.Warning("Snapshot for replicas failed: %s", err)
	default:
		e.Log.Notice("Snapshot for %d replicas made in %d ms", len(f.members), e.Steady()-f.began)
	}
	if err != nil {
		f.end(err)
	}
	for _, r := range f.members {
		switch {
		case r == nil && f.file != nil && err == nil:
			e.releaseSyncFile(f)
		case r == nil || f.pipe != nil: // its transfer ends by itself
		case err != nil:
			e.failSync(r, err)
		default:
			e.sendSyncFile(f, r)
		}
	}
}
