package engine

import (
	"fmt"
	"io"
	"time"

	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/upstream"
)

// A full synchronization puts the master's data set in the place of this server's, in this order:
//
//	begin   the log is turned off, replicas of this server are sent away, the databases are emptied
//	load    in steps; clients are answered LOADING
//	end     the history is the master's; the log gets a new base
//
// Usually the RDB file is received first, while the old data is served, and its checksum is
// compared. Under repl-diskless-load it is loaded as it comes. If a load fails, the databases are
// emptied again: half a data set is never served.

// Direct reports whether the RDB file is loaded as it comes (repl-diskless-load). Call it with the
// executor.
func (a *LinkAttempt) Direct() bool {
	e := a.e
	if e.Cfg.ReplDisklessLoad == "disabled" {
		return false
	}
	for i := range e.KS.Databases() {
		if e.KS.DB(i).Len() > 0 {
			return false
		}
	}
	return true
}

// SyncFile opens the file that the RDB file is received into. Call it with the executor.
func (a *LinkAttempt) SyncFile() (*persist.SyncFile, error) {
	if a.e.persist.store == nil {
		return nil, ErrNoPersistence
	}
	return a.e.persist.store.NewSyncFile()
}

// Load reads the RDB file from src, which has size bytes or 0 if that is not known, in the place of
// the data set. It is called without the executor. alive is called now and then, to show the master
// that this replica lives.
func (a *LinkAttempt) Load(src io.Reader, size int64, alive func()) error {
	e := a.e
	e.EnterBetween()
	if !a.Wanted() || e.persist.store == nil {
		e.Leave()
		return errNotWanted
	}
	a.beginLoad(size)
	store := e.persist.store
	t := &syncTarget{LoadTarget: &LoadTarget{e: e, client: e.LogClient()}, alive: alive}
	e.Release()
	loaded, err := store.LoadSync(src, persist.SyncLoadOptions{Target: t, Size: size})
	if err == nil {
		err = ended(src)
	}
	e.EnterBetween()
	defer e.Release()
	if db := loaded.Point.DB; db < e.KS.Databases() {
		a.db = db
	}
	a.endLoad(err)
	if err != nil {
		return fmt.Errorf("Failed trying to load the MASTER synchronization DB: %w", err)
	}
	return nil
}

// ended returns an error if there is something behind an RDB file, or its end does not come.
func ended(src io.Reader) error {
	n, err := io.Copy(io.Discard, src)
	if err == nil && n > 0 {
		err = fmt.Errorf("there are %d bytes behind its end", n)
	}
	return err
}

// errNotWanted ends the goroutine of an attempt that nobody waits for.
var errNotWanted = fmt.Errorf("the link is not wanted any more")

// syncTarget is where the RDB file of a master goes.
type syncTarget struct {
	*LoadTarget
	alive func()
	told  time.Time
}

// Step implements persist.RDBTarget.
func (t *syncTarget) Step(fn func()) {
	t.LoadTarget.Step(fn)
	if now := time.Now(); now.Sub(t.told) > time.Second {
		t.told = now
		t.alive()
	}
}

// beginLoad empties the databases for the master's data set of size bytes.
func (a *LinkAttempt) beginLoad(size int64) {
	e := a.e
	e.turnLog(false)
	if s := e.persist.store; s != nil {
		if s.Saving() {
			e.cancelSave()
		}
		s.FailRewrite()
	}
	e.dropReplicas()
	e.dropBacklog()
	a.master.cached = false
	e.Log.Notice("MASTER <-> REPLICA sync: Flushing old data")
	e.emptyAll()
	e.Log.Notice("MASTER <-> REPLICA sync: Loading DB in memory")
	e.BeginLoading(size)
}

// endLoad ends the load with its error, if any.
func (a *LinkAttempt) endLoad(err error) {
	e, m := a.e, a.master
	e.EndLoading()
	e.configureExpire()
	if err != nil {
		e.emptyAll()
		e.NewReplID()
	} else {
		m.old = a.answer.Kind == upstream.Old
		if m.cached, m.db = !m.old, a.db; m.old {
			e.NewReplID()
		} else {
			e.joinHistory(a.answer.ID, a.answer.Offset)
		}
		e.Log.Notice("MASTER <-> REPLICA sync: Finished with success")
	}
	e.turnLog(true)
}

// emptyAll empties the databases and deletes the libraries of functions, without a word to log and
// replicas.
func (e *Engine) emptyAll() {
	for i := range e.KS.Databases() {
		e.FlushDB(e.KS.DB(i), e.Cfg.ReplicaLazyFlush)
	}
	e.FlushFunctions()
	e.InvalidateAll()
}

// turnLog turns the append-only file off before the data set is replaced, and on again behind it.
// It begins anew then, because it must never hold a mixture.
func (e *Engine) turnLog(on bool) {
	s := &e.persist
	if s.store == nil || !e.Cfg.AppendOnly || s.aof.Enabled() == on {
		return
	}
	if err := s.store.TurnAOF(on); err != nil {
		e.Log.Warning("Can't turn the append-only file on after the synchronization with the "+
			"master: %s", logging.OSError(err))
	}
}
