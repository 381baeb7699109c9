package engine

import (
	"fmt"
	"strings"
)

// Why a SYNC or PSYNC is refused.
const (
	errNoMasterLink = "NOMASTERLINK Can't SYNC while not connected with my master"
	errPending      = "ERR SYNC and PSYNC are invalid with pending output"
	errNeedsEOF     = "ERR Filtered replica requires EOF capability"
)

// Sync carries out SYNC: a full synchronization of a replica that knows no offsets.
func (c *Ctx) Sync() {
	if r := c.beginSync(true); r != nil {
		r.legacy = true
		c.E.fullResync(r)
	}
}

// Psync carries out PSYNC. The replica asks to go on at a byte of a history, which is counted from
// 1, or for a full synchronization.
func (c *Ctx) Psync(id string, at int64) {
	e := c.E
	r := c.beginSync(!e.continues(id, at))
	if r == nil {
		return
	}
	if e.goOn(r, id, at) {
		e.Stats.SyncPartialOK++
		return
	}
	if !strings.HasPrefix(id, "?") {
		e.Stats.SyncPartialErr++
	}
	if e.offersChannel(r) {
		e.offerChannel(r)
		return
	}
	e.fullResync(r)
}

// beginSync makes a replica of the client, which is sent all data if full is set. It returns nil if
// the client is one already, which is told nothing, or cannot be one, which is told why.
func (c *Ctx) beginSync(full bool) *Replica {
	e, cl := c.E, c.Client
	r := e.ReplicaOf(cl)
	conn, ok := cl.Conn.(StreamConn)
	switch {
	case r.State != ReplicaNone:
		return nil
	case e.linkDown():
		c.Err(errNoMasterLink)
		return nil
	case !ok:
		c.Err("ERR This connection cannot be a replica's")
		return nil
	case r.FunctionsOnly && !r.CapEOF:
		c.Err(errNeedsEOF)
		return nil
	}
	if msg := e.peerLeft(r); msg != "" {
		c.Err(msg)
		return nil
	}
	if msg := e.refusesForeign(r); msg != "" {
		c.Err(msg)
		return nil
	}
	// Replies that are on their way already do no harm, because the stream comes behind them.
	if len(cl.W.Buf) > 0 || cl.held != nil {
		c.Err(errPending)
		return nil
	}
	if full {
		if msg := e.refusesFull(r); msg != "" {
			c.Err(msg)
			return nil
		}
	}
	// What a master has changed until now is in no stream, so a new history begins.
	if e.repl.replicas.backlog == nil && e.repl.master == nil {
		e.NewReplID()
		e.Log.Notice("Replication backlog created, my new replication ID is '%s'", e.repl.id)
	}
	if !e.ensureBacklog() {
		c.Err(ErrNoMemory)
		return nil
	}
	r.conn = conn
	conn.NoDelay(!e.Cfg.ReplDisableTCPNoDelay)
	e.leaveMonitor(cl)
	e.leaveHub(cl)
	e.Untrack(cl)
	cl.Class = ClassReplica
	e.repl.replicas.list = append(e.repl.replicas.list, r)
	e.Log.Notice("Replica %s asks for synchronization", r.Name())
	if e.repl.master != nil && !r.CapGodwit && !r.RDBOnly {
		e.Log.Notice("Replica %s gets what my master sends, byte for byte: it must be of the "+
			"master's kind, or know all that is used there", r.Name())
	}
	return r
}

// continues reports whether the history and the backlog let a replica go on at a byte.
func (e *Engine) continues(id string, at int64) bool {
	b := e.BacklogInfo()
	return b.Active && at >= b.First && at <= b.First+b.History && e.hasHistory(id, at)
}

// hasHistory reports whether the data set came by the history with that id, up to a byte of it.
func (e *Engine) hasHistory(id string, at int64) bool {
	h := &e.repl
	return id == h.id || id == h.id2 && h.id2 != "" && at <= h.second
}

// goOn lets a replica go on where it was, if the history and the backlog allow it.
func (e *Engine) goOn(r *Replica, id string, at int64) bool {
	if strings.HasPrefix(id, "?") {
		e.Log.Notice("Full resync requested by replica %s", r.Name())
		return false
	}
	h := &e.repl
	if !e.hasHistory(id, at) {
		if id == h.id2 {
			e.Log.Notice("Partial resynchronization not accepted: Requested offset for second "+
				"ID was %d, but I can reply up to %d", at, h.second)
		} else {
			e.Log.Notice("Partial resynchronization not accepted: Replication ID mismatch "+
				"(Replica asked for %.42q, my replication IDs are '%s' and '%s')", id, h.id, h.id2)
		}
		return false
	}
	if what := e.lacksStream(r, at); what != "" {
		e.Log.Notice("Partial resynchronization not accepted: the stream from %d on has %s, "+
			"which replica %s cannot hold", at, what, r.Name())
		return false
	}
	reader, ok := h.replicas.backlog.Open(at - 1)
	if !ok {
		b := e.BacklogInfo()
		e.Log.Notice("Unable to partial resync with replica %s for lack of backlog (Replica "+
			"request was: %d; the backlog has %d to %d). A larger repl-backlog-size (%d) helps.",
			r.Name(), at, b.First, b.First+b.History, e.Cfg.ReplBacklogSize)
		return false
	}
	r.reader, r.acked, r.from, r.settled = reader, at-1, at-1, true
	answer := "+CONTINUE\r\n"
	if r.CapPsync2 {
		answer = fmt.Sprintf("+CONTINUE %s\r\n", h.id)
	}
	e.say(r, answer)
	e.Log.Notice("Partial resynchronization request from %s accepted. Sending %d bytes of backlog "+
		"starting from offset %d.", r.Name(), reader.Lag(), at)
	e.enterState(r, ReplicaOnline)
	e.stream(r)
	return true
}

// fullResync has a replica wait for a snapshot.
func (e *Engine) fullResync(r *Replica) {
	e.Stats.SyncFull++
	e.enterState(r, ReplicaWaits)
	pause := e.syncPause(r)
	r.since += pause
	e.startFullSyncs()
	if !r.waits() {
		return
	}
	if pause > 0 {
		e.Log.Notice("The full synchronization of replica %s begins in %d ms", r.Name(), pause)
	} else if e.repl.replicas.files.hold != nil {
		e.Log.Notice("Replica %s waits for the file that is being written", r.Name())
	} else if e.persist.busy() {
		e.Log.Notice("Another snapshot is running: replica %s waits for the next one", r.Name())
	} else {
		e.Log.Notice("Delay next BGSAVE for diskless SYNC (repl-diskless-sync-delay), %d ms",
			e.syncDelay())
	}
}
