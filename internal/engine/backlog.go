package engine

import (
	"fmt"
	"slices"

	"godwit/internal/backlog"
	"godwit/internal/propagation"
)

// ensureBacklog begins to keep the stream, if that is not done yet. It reports false if the system
// has no memory for it.
func (e *Engine) ensureBacklog() bool {
	s := &e.repl.replicas
	if s.backlog != nil {
		return true
	}
	s.backlog = backlog.New(e.Buffers, e.Feed.Offset(), e.Cfg.ReplBacklogSize)
	if s.backlog == nil {
		e.Log.Warning("The system has no memory for the replication backlog")
		return false
	}
	s.fed, s.alone = e.Feed.Offset(), e.Steady()
	e.Feed.Sent = e.noteForeign
	s.foreign.counts = e.specials() // what has come and gone before is not in the stream
	e.Feed.Attach(propagation.Replicas, s.backlog)
	return true
}

// dropBacklog forgets the stream of the past. No replica may be following it.
func (e *Engine) dropBacklog() {
	s := &e.repl.replicas
	if s.backlog == nil {
		return
	}
	e.Feed.Detach(propagation.Replicas)
	s.files.release()
	s.backlog.Drop()
	s.backlog = nil
}

// BacklogInfo is what INFO says of the backlog.
type BacklogInfo struct {
	Active         bool
	First, History int64 // offset of the first byte that is kept, counted from 1, and their number
}

// BacklogInfo returns what is kept of the stream.
func (e *Engine) BacklogInfo() (b BacklogInfo) {
	if l := e.repl.replicas.backlog; l != nil {
		b.Active = true
		b.First, b.History = l.History()
		b.First++
	}
	return b
}

// feedReplicas has the replicas' connections write what the batch has sent. It is called at the end
// of each batch, and costs a comparison if there is nothing.
func (e *Engine) feedReplicas() {
	s := &e.repl.replicas
	if s.backlog == nil {
		return
	}
	// A replica passes on, and adds nothing. A failover waits for the end of the stream.
	if s.ask && e.repl.master == nil && !e.Feed.InUnit() && !e.FailingOver() {
		s.ask = false
		e.propagateAlive([]byte("REPLCONF"), []byte("GETACK"), []byte("*"))
	}
	if s.fed == e.Feed.Offset() {
		return
	}
	s.fed = e.Feed.Offset()
	e.confirm.noteWritten(s.fed)
	s.backlog.EndBatch()
	if s.backlog.Refused() {
		e.loseBacklog()
		return
	}
	for _, r := range s.list {
		e.checkReplica(r)
		if r.streams && !r.Client.CloseASAP {
			r.conn.Fed()
		}
	}
}

// propagateAlive sends the replicas a command that belongs to no database.
func (e *Engine) propagateAlive(argv ...[]byte) {
	e.Feed.Send(propagation.Replicas, propagation.NoDB, argv)
}

// loseBacklog ends a history that has a gap, because the system has no memory.
func (e *Engine) loseBacklog() {
	s := &e.repl.replicas
	e.Log.Warning("The system has no memory for the replication backlog: %d replicas are "+
		"disconnected, and need a full synchronization", len(s.list))
	for _, r := range s.list {
		if r.reader != nil {
			r.reader.Close()
		}
		r.streams = false
		r.Client.closeSoon()
	}
	e.dropBacklog()
	if e.repl.master == nil {
		e.NewReplID()
	}
}

// checkReplica closes a replica for which too much of the stream waits. What counts is all that
// waits, as in Redis, though it is in memory once for all replicas. A limit below the size of the
// backlog is taken for that size: up to it nothing is kept because of the replica.
func (e *Engine) checkReplica(r *Replica) {
	if r.reader == nil || r.Client.CloseASAP {
		return
	}
	n, lim := r.reader.Lag(), e.Cfg.OutputLimits[ClassReplica]
	hard, soft := lim.Hard, lim.Soft
	if hard > 0 {
		hard = max(hard, e.Cfg.ReplBacklogSize)
	}
	if soft > 0 {
		soft = max(soft, e.Cfg.ReplBacklogSize)
	}
	switch {
	case hard > 0 && n >= hard:
		e.cutReplica(r, n, "hard limit %d", hard)
	case soft == 0 || n < soft:
		r.soft = 0
	case r.soft == 0:
		r.soft = e.Steady()
	case e.Steady()-r.soft > lim.SoftSeconds*1000:
		e.cutReplica(r, n, "soft limit %d for more than %d s", soft, lim.SoftSeconds)
	}
}

// cutReplica closes a replica that is over the output limit.
func (e *Engine) cutReplica(r *Replica, n int64, limit string, args ...any) {
	e.Log.Warning("Client %s scheduled to be closed ASAP for overcoming of output buffer limits. "+
		"%d bytes of the stream wait for replica %s (%s), client-output-buffer-limit replica: %s. "+
		"It resumes without a full synchronization only if repl-backlog-size (%d) covers what it "+
		"misses: raise one of them.",
		e.Describe(r.Client, int(n)), n, r.Name(), r.State, fmt.Sprintf(limit, args...),
		e.Cfg.ReplBacklogSize)
	e.Stats.ClientOutBufLimit++
	e.noteLostSync(r)
	r.Client.closeSoon()
}

// ReplicationMemory is what replication takes, in bytes.
type ReplicationMemory struct {
	Backlog  int64 // of the stream, for replicas that come back
	Beyond   int64 // more of it, because replicas have not read it yet
	Stream   int64 // both
	Snapshot int64 // on its way to replicas
	Kept     int64 // of a master's stream, during a full synchronization
	Clients  int64 // what else the replicas' connections take; only in a MemoryReport
}

// NotCounted returns the part that is not held against maxmemory: evicting keys would add to it.
func (m *ReplicationMemory) NotCounted() int64 { return m.Beyond + m.Snapshot + m.Kept }

// replicationMemory returns what replication takes.
func (e *Engine) replicationMemory() (m ReplicationMemory) {
	s := &e.repl.replicas
	if s.backlog != nil {
		m.Stream = s.backlog.Bytes()
		m.Beyond = s.backlog.Extra()
		m.Backlog = m.Stream - m.Beyond
	}
	if s.full != nil && s.full.pipe != nil {
		m.Snapshot = s.full.pipe.Bytes()
	}
	for _, x := range e.migrations.exports {
		if x.stream != nil {
			n, snapshot := x.stream.Bytes(), x.pipe.Bytes()
			m.Stream, m.Beyond, m.Snapshot = m.Stream+n, m.Beyond+n, m.Snapshot+snapshot
		}
	}
	if e.repl.master != nil {
		m.Kept = e.repl.master.keptBytes()
	}
	s.made = slices.DeleteFunc(s.made, func(p *backlog.Pipe) bool {
		n := p.Bytes()
		m.Snapshot += n
		return n == 0 // all replicas have it, or are gone
	})
	return m
}
