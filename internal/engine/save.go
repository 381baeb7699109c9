package engine

import (
	"errors"
	"os"

	"godwit/internal/persist"
)

// Why a save or a rewrite does not begin; the commands have Redis's words for each.
var (
	ErrSaveRunning    = errors.New("a save is running")
	ErrRewriteRunning = errors.New("a rewrite is running")
	ErrNoPersistence  = errors.New("nothing is kept in files")
)

// retrySave is how many seconds after a failed save another one begins by itself.
const retrySave = 5

// LastSave returns the unix time in seconds of the last successful save, or of the start.
func (e *Engine) LastSave() int64 { return e.persist.lastSave }

// Save writes the snapshot file now, with the executor held throughout. It is for SAVE and the end
// of the server.
func (e *Engine) Save() error {
	s := &e.persist
	switch {
	case s.store == nil:
		return ErrNoPersistence
	case s.store.Saving(), s.store.Syncing(), e.loading.aside:
		return ErrSaveRunning
	}
	s.saves++
	return e.saveNow()
}

// SaveQuietly saves for DEBUG RELOAD: the statistics do not count it as a save.
func (e *Engine) SaveQuietly() error {
	if e.persist.store == nil {
		return ErrNoPersistence
	}
	return e.saveNow()
}

// Reload reads the data set back from a file, while everybody waits. If that fails the databases
// hold what was read before the error.
func (e *Engine) Reload(from persist.Source, empty bool) error {
	s := &e.persist
	if s.store == nil {
		return ErrNoPersistence
	}
	if err := s.store.Loadable(from); err != nil {
		return err // before anything is thrown away
	}
	e.dropAside()
	e.failMigrations("the data set is loaded anew")
	if from == persist.FromAOF && s.aof.Enabled() {
		e.flushUnit() // what the transaction has done so far is read back too
		if err := s.aof.Sync(); err != nil {
			return err
		}
	}
	if empty {
		for i := range e.KS.Databases() {
			e.FlushDB(e.KS.DB(i), false)
		}
		e.FlushFunctions()
	}
	targets := e.Feed.Attached()
	e.Feed.Detach(targets) // what is loaded is no news
	e.BeginLoading(0)
	err := s.store.Load(from)
	e.ForgetFiles()
	e.EndLoading()
	e.Feed.Reattach(targets)
	if from == persist.FromAOF {
		e.Stats.Dirty = 0
	}
	return err
}

func (e *Engine) saveNow() error {
	e.dropAside()  // no snapshot can be made beside it
	e.cancelSave() // it would write an older state over this one
	if err := e.persist.store.Save(); err != nil {
		return err
	}
	e.syncClock()
	e.Stats.Dirty = 0
	e.persist.saved(e)
	e.persist.saveFailed = false
	return nil
}

// SaveInBackground begins a save in slices (BGSAVE). ErrSaveRunning and ErrRewriteRunning tell that
// another job is on; with schedule, the save begins after a rewrite, and scheduled is true. Within
// a transaction it begins after that: a snapshot of half a transaction must not be. Other errors
// have been logged.
func (e *Engine) SaveInBackground(schedule bool) (scheduled bool, err error) {
	s := &e.persist
	switch {
	case s.store == nil:
		return false, ErrNoPersistence
	case s.store.Saving(), s.store.Syncing(), e.loading.aside:
		return false, ErrSaveRunning
	case e.Feed.InUnit(), s.busy() && schedule:
		s.saveScheduled = true
		return true, nil
	case s.busy():
		return false, ErrRewriteRunning
	}
	return false, e.startSave()
}

func (e *Engine) startSave() error {
	s := &e.persist
	s.saves++
	s.dirtyAt, s.lastTry = e.Stats.Dirty, e.Steady()/1000
	s.saveStart = e.Steady()
	if err := s.store.StartSave(e.saveDone); err != nil {
		s.saveFailed = true
		e.Log.Warning("Can't save in background: %s", err)
		return err
	}
	e.Log.Notice("Background saving started by pid %d", os.Getpid())
	return nil
}

func (e *Engine) saveDone(err error) {
	s := &e.persist
	s.saveSeconds = (e.Steady() - s.saveStart) / 1000
	s.saveFailed = err != nil
	if err != nil {
		e.Log.Warning("Background saving error")
		return
	}
	e.Log.Notice("Background saving terminated with success")
	e.Stats.Dirty -= s.dirtyAt
	s.saved(e)
}

// CancelBackgroundSave ends the running save without a result, or forgets the scheduled one. It
// reports which of the two there was.
func (e *Engine) CancelBackgroundSave() (running, scheduled bool) {
	s := &e.persist
	switch {
	case s.store == nil:
	case s.store.Saving():
		e.Log.Notice("Background saving cancelled: a client asked for it")
		e.cancelSave()
		return true, false
	case s.saveScheduled:
		e.Log.Notice("Scheduled background saving cancelled: a client asked for it")
		s.saveScheduled = false
		return false, true
	}
	return false, false
}

// Flushed is called after FLUSHALL. It cancels a running save, which would write what nobody wants
// any more. If there are save points, it writes an empty snapshot, so that a restart does not bring
// the data back. It reports whether it has written one.
func (e *Engine) Flushed() bool {
	s := &e.persist
	if s.store == nil || e.loading.on {
		return false
	}
	if s.store.Saving() {
		e.Log.Notice("Background saving cancelled: all databases are flushed")
		e.cancelSave()
	}
	// An error has been logged; the data set in memory is what was asked for.
	return len(e.Cfg.Save) > 0 && e.saveNow() == nil
}

// ErrInUnit refuses a snapshot of half a transaction.
var ErrInUnit = errors.New("a transaction or a script is running")

// startSync begins a snapshot of this moment for replicas; see persist.Store.StartSync. It must not
// be called while another job runs. INFO shows it as a save; but it does not count as one, and when
// it fails, writes are not refused.
func (e *Engine) startSync(o persist.SyncOptions, dest persist.SyncDest, done func(error)) error {
	s := &e.persist
	switch {
	case s.store == nil:
		return ErrNoPersistence
	case e.Feed.InUnit():
		return ErrInUnit
	case !e.mayStartJob():
		return ErrSaveRunning
	}
	s.saveStart = e.Steady()
	err := s.store.StartSync(o, dest, func(err error) {
		s.saveSeconds = (e.Steady() - s.saveStart) / 1000
		done(err)
	})
	if err == nil {
		e.PauseAt(PauseSnapshot)
	}
	return err
}

// cancelSync ends a running snapshot for replicas, whose owner is not told.
func (e *Engine) cancelSync() {
	s := &e.persist
	if s.store != nil && s.store.Syncing() {
		s.saveSeconds = (e.Steady() - s.saveStart) / 1000
		s.store.CancelSync()
	}
}

// persistCron begins what is due: save points, the log's rewrites, a scheduled save.
func (e *Engine) persistCron() {
	s := &e.persist
	if s.store == nil || e.loading.on {
		return
	}
	if e.mayStartJob() {
		e.savePoints()
	}
	s.store.Cron()
	if e.mayStartJob() && s.saveScheduled && e.mayRetrySave() && e.startSave() == nil {
		s.saveScheduled = false
	}
}

// mayStartJob reports whether a snapshot can begin now.
func (e *Engine) mayStartJob() bool { return !e.persist.busy() && !e.loading.aside }

func (e *Engine) mayRetrySave() bool {
	return !e.persist.saveFailed || e.Steady()/1000-e.persist.lastTry > retrySave
}

// keepsFiles reports whether nothing is saved but on demand: the files have a data set that is lost
// in memory, and nobody has begun a new one.
func (e *Engine) keepsFiles() bool {
	return e.persist.emptied && (e.repl.master != nil || e.Stats.Dirty == 0)
}

func (e *Engine) savePoints() {
	s := &e.persist
	if e.keepsFiles() {
		return
	}
	for _, p := range e.Cfg.Save {
		since := e.Steady()/1000 - s.lastSteady
		if e.Stats.Dirty >= p.Changes && since > p.Seconds && e.mayRetrySave() {
			e.Log.Notice("%d changes in %d seconds. Saving...", p.Changes, p.Seconds)
			_ = e.startSave() // noted in saveFailed
			return
		}
	}
}

// turnAOF carries out CONFIG SET appendonly.
func (e *Engine) turnAOF(on bool) error {
	s := &e.persist
	if s.store == nil || e.loading.on || on && s.aof.Enabled() {
		return nil
	}
	return s.store.TurnAOF(on)
}

// RewriteAOF carries out BGREWRITEAOF. Within a transaction the rewrite begins after it, or the log
// would have all of the transaction behind a base that has half of it. Errors have been logged.
func (e *Engine) RewriteAOF() persist.RewriteReply {
	if e.persist.store == nil {
		return persist.RewriteFailed
	}
	return e.persist.aof.Rewrite(e.Feed.InUnit())
}
