package engine

import "godwit/internal/logging"

// ErrShutdown refuses a shutdown that would lose data. Its text is for the service manager.
type ErrShutdown string

// Error implements error.
func (e ErrShutdown) Error() string { return string(e) }

// The reasons to refuse a shutdown.
const (
	ErrFirstBase = ErrShutdown("Writing initial AOF, can't exit.")
	ErrFinalSync = ErrShutdown("Error trying to sync the AOF file, can't exit.")
	ErrFinalSave = ErrShutdown("Error trying to save the DB, can't exit.")
)

// ErrShutdownFailed is the reply to a SHUTDOWN that has come to nothing.
const ErrShutdownFailed = "ERR Errors trying to SHUTDOWN. Check logs."

// FinishData brings the data set to the disk for the end of the server: the log is synced, a
// snapshot is written when there are save points or SAVE asks for it. Unless forced, an error means
// that the server must go on. saving is called before the snapshot, which may take long. In a
// cluster the other nodes hear of it first, so that nobody promotes this one meanwhile.
func (e *Engine) FinishData(o ShutdownOptions, saving func()) (err error) {
	s := &e.persist
	if s.store == nil || e.loading.on {
		return nil // half a data set must not replace the whole one
	}
	e.tellEnd(true)
	defer func() {
		if err != nil {
			e.tellEnd(false)
		}
	}()
	if s.store.Saving() {
		e.Log.Warning("There is a child saving an .rdb. Killing it!")
		e.cancelSave()
	}
	s.store.FailSync()
	e.dropAside()
	if st := s.aof.Info(); st.FirstBase {
		if err := e.firstBase(o); err != nil {
			return err
		}
	} else if st.RewriteInProgress {
		e.Log.Warning("There is a child rewriting the AOF. Killing it!")
		s.store.FailRewrite()
	}
	if s.aof.Enabled() {
		if err := e.finalSync(o); err != nil {
			return err
		}
	}
	if !o.Save && (o.NoSave || len(e.Cfg.Save) == 0) {
		return nil
	}
	if !o.Save && e.keepsFiles() {
		e.Log.Warning("Not saving: the data set was thrown away for a master's, which could not "+
			"be loaded. %s still has what there was. SHUTDOWN SAVE overwrites it.",
			e.Cfg.DBFilename)
		return nil
	}
	e.Log.Notice("Saving the final RDB snapshot before exiting.")
	if saving != nil {
		saving()
	}
	if e.saveNow() == nil {
		return nil
	}
	if o.Force {
		e.Log.Warning("Error trying to save the DB. Exit anyway.")
		return nil
	}
	e.Log.Warning("Error trying to save the DB, can't exit.")
	return ErrFinalSave
}

// tellEnd tells the other nodes of the cluster whether this server is about to end.
func (e *Engine) tellEnd(ends bool) {
	if e.ending.finishes = ends; e.Cluster != nil {
		e.Cluster.Report()
	}
}

// mayFinish returns the error that FinishData would return, as far as that can be told before all
// else that a shutdown does. Nobody should take over from a server that then goes on.
func (e *Engine) mayFinish(o ShutdownOptions) error {
	s := &e.persist
	if s.store == nil || e.loading.on || o.Force {
		return nil
	}
	switch st := s.aof.Info(); {
	case st.FirstBase:
		return e.firstBase(o)
	case !st.LastWriteOK:
		return e.finalSync(o)
	}
	return nil
}

// firstBase returns ErrFirstBase for a log that has no base yet, unless the shutdown is forced.
func (e *Engine) firstBase(o ShutdownOptions) error {
	if o.Force {
		e.Log.Warning("Writing initial AOF. Exit anyway.")
		return nil
	}
	e.Log.Warning("Writing initial AOF, can't exit.")
	return ErrFirstBase
}

// finalSync syncs the log. It returns an error if that fails and the server must go on.
func (e *Engine) finalSync(o ShutdownOptions) error {
	e.Log.Notice("Calling fsync() on the AOF file.")
	err := e.persist.aof.Sync()
	if err == nil {
		return nil
	}
	e.Log.Warning("Fail to fsync the AOF file: %s.", logging.OSError(err))
	if o.Force || o.NoSave {
		return nil
	}
	e.Log.Warning("What was acknowledged is not in the AOF file, can't exit. " +
		"SHUTDOWN NOSAVE or FORCE does.")
	return ErrFinalSync
}

// End follows a FinishData that has succeeded, before the executor is given back: from now on
// nothing changes the data set, because nothing would save it. Every command is postponed for
// good, nobody who waits is served, and there is no cron and no background work. What was
// replied to before may still be written to the clients.
func (e *Engine) End() { e.ended = true }

// RemoveTemporary removes unfinished files before the process ends out of order. Any goroutine may
// call it.
func (e *Engine) RemoveTemporary() {
	if s := e.persist.store; s != nil {
		s.RemoveTemporary()
	}
}
