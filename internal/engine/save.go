package engine

import (
	"errors"
	"os"
	"time"
)

// Why a save or a rewrite does not begin; the commands have Redis's words for each.
var (
	ErrSaveRunning    = errors.New("a save is running")
	ErrRewriteRunning = errors.New("a rewrite is running")
	ErrNoPersistence  = errors.New("nothing is kept in files")
)

// retrySave is how many seconds after a failed save another one begins by itself.
const retrySave = 5

// LastSave is the unix time in seconds of the last successful save, or of the start.
func (e *Engine) LastSave() int64 { return e.persist.lastSave }

// Save writes the snapshot file now, with the executor held throughout: SAVE and the end of the server.
func (e *Engine) Save() error {
	s := &e.persist
	switch {
	case s.kind == saveJob:
		return ErrSaveRunning
	case s.p == nil:
		return ErrNoPersistence
	}
	s.saves++
	return e.saveNow()
}

// SaveQuietly is Save for DEBUG RELOAD, which is no save in the statistics.
func (e *Engine) SaveQuietly() error {
	if e.persist.p == nil {
		return ErrNoPersistence
	}
	return e.saveNow()
}

// Reload reads the data set back from a file, while everybody waits. If that fails the databases hold what was read before the error.
func (e *Engine) Reload(from Source, empty bool) error {
	s := &e.persist
	if s.p == nil {
		return ErrNoPersistence
	}
	if err := s.p.Loadable(from); err != nil {
		return err // before anything is thrown away
	}
	if from == FromAppendOnly && s.p.AppendOnly().Status().On {
		e.flushUnit() // what the transaction has done so far is read back too
		if err := s.p.AppendOnly().Sync(); err != nil {
			return err
		}
	}
	if empty {
		for i := range e.KS.Databases() {
			e.FlushDB(e.KS.DB(i), false)
		}
		e.FlushFunctions()
	}
	sinks := e.sinks
	e.sinks = nil // what is loaded is no news
	e.BeginLoading(0)
	err := s.p.Load(from)
	e.EndLoading()
	e.sinks = sinks
	if from == FromAppendOnly {
		e.Stats.Dirty = 0
	}
	return err
}

func (e *Engine) saveNow() error {
	e.cancelJob(saveJob) // it would write an older state over this one
	e.finishJob()
	if err := e.persist.p.Save(); err != nil {
		return err
	}
	e.syncClock()
	e.Stats.Dirty = 0
	e.persist.saved(e)
	e.persist.saveFailed = false
	return nil
}

// SaveInBackground begins a save in slices (BGSAVE). ErrSaveRunning and ErrRewriteRunning tell that another job is on; with schedule, the save begins after a
// rewrite, and scheduled is true. Within a transaction it begins after that: a snapshot of half a transaction must not be. Other errors have been logged.
func (e *Engine) SaveInBackground(schedule bool) (scheduled bool, err error) {
	s := &e.persist
	switch {
	case s.p == nil:
		return false, ErrNoPersistence
	case s.kind == saveJob:
		return false, ErrSaveRunning
	case e.InUnit(), s.job != nil && schedule:
		s.saveScheduled = true
		return true, nil
	case s.job != nil:
		return false, ErrRewriteRunning
	}
	return false, e.startSave()
}

func (e *Engine) startSave() error {
	s := &e.persist
	s.saves++
	s.dirtyAt, s.lastTry = e.Stats.Dirty, e.Steady()/1000
	job, err := s.p.StartSave()
	if err != nil {
		s.saveFailed = true
		e.Log.Warning("Can't save in background: %s", err)
		return err
	}
	e.Log.Notice("Background saving started by pid %d", os.Getpid())
	e.begin(saveJob, job, e.saveDone)
	return nil
}

// RunJob has a job go on in the slices between commands until it is done; done is told of its end, with the executor held. Only one job runs at a time
// (JobRunning): each makes a snapshot of its own moment.
func (e *Engine) RunJob(job Job, done func(error)) { e.begin(otherJob, job, done) }

// JobRunning reports whether a job runs.
func (e *Engine) JobRunning() bool { return e.persist.job != nil }

// CancelJob ends the job that RunJob was given, without telling anybody.
func (e *Engine) CancelJob() { e.cancelJob(otherJob) }

// CancelJobs ends the running job, whichever it is: the end of the server.
func (e *Engine) CancelJobs() { e.cancelJob(e.persist.kind) }

// ErrJobCancelled is what the owner of a job is told that had to make way for the end of the server.
var ErrJobCancelled = errors.New("cancelled")

// failJob ends a job that is not a save; its owner is told.
func (e *Engine) failJob() {
	if done := e.persist.jobDone; e.persist.kind == otherJob {
		e.cancelJob(otherJob)
		done(ErrJobCancelled)
	}
}

// finishJob has a job that is not a save come to its end, while everybody waits: another snapshot must begin.
func (e *Engine) finishJob() {
	for e.persist.job != nil {
		if !e.jobSlice() {
			time.Sleep(jobPoll)
		}
	}
}

// jobPoll is the time between two looks at a job that waits for the disk.
const jobPoll = 200 * time.Microsecond

func (e *Engine) begin(kind jobKind, job Job, done func(error)) {
	s := &e.persist
	s.kind, s.job, s.jobStart, s.jobDone = kind, job, e.Steady(), done
	if e.Wake != nil {
		e.Wake()
	}
}

// jobSlice goes on with the running job, and ends it when it is done.
func (e *Engine) jobSlice() (more bool) {
	s := &e.persist
	if s.job == nil {
		return false
	}
	served := e.Stats.Commands != s.jobSeen
	s.jobSeen = e.Stats.Commands
	more = s.job.Slice(sliceBudget, served)
	over, err := s.job.Done()
	if !over {
		return more
	}
	done := s.jobDone
	s.job, s.kind, s.jobDone = nil, noJob, nil
	done(err)
	return false
}

func (e *Engine) saveDone(err error) {
	s := &e.persist
	s.saveSeconds = (e.Steady() - s.jobStart) / 1000
	s.saveFailed = err != nil
	if err != nil {
		e.Log.Warning("Background saving error")
		return
	}
	e.Log.Notice("Background saving terminated with success")
	e.Stats.Dirty -= s.dirtyAt
	s.saved(e)
}

// cancelJob ends the running job, if it is of that kind, without a result.
func (e *Engine) cancelJob(kind jobKind) {
	s := &e.persist
	if s.kind != kind || kind == noJob {
		return
	}
	s.job.Cancel()
	if kind == saveJob {
		s.saveSeconds = (e.Steady() - s.jobStart) / 1000
	}
	s.job, s.kind, s.jobDone = nil, noJob, nil
}

// Flushed follows FLUSHALL: the running save would write what nobody wants any more, and where snapshots are configured, an empty one replaces the old, so
// that a restart does not bring the data back. It reports whether that was written.
func (e *Engine) Flushed() bool {
	s := &e.persist
	if s.p == nil || e.loading.on {
		return false
	}
	if s.kind == saveJob {
		e.Log.Notice("Background saving cancelled: all databases are flushed")
		e.cancelJob(saveJob)
	}
	return len(e.Cfg.Save) > 0 && e.saveNow() == nil // an error has been logged; the data set in memory is what was asked for
}

// persistCron begins what is due: save points, the log's rewrites, a scheduled save.
func (e *Engine) persistCron() {
	s := &e.persist
	if s.p == nil || e.loading.on {
		return
	}
	if s.job == nil {
		e.savePoints()
	}
	s.p.Cron()
	if s.job == nil && s.saveScheduled && e.mayRetrySave() && e.startSave() == nil {
		s.saveScheduled = false
	}
}

func (e *Engine) mayRetrySave() bool {
	return !e.persist.saveFailed || e.Steady()/1000-e.persist.lastTry > retrySave
}

func (e *Engine) savePoints() {
	s := &e.persist
	for _, p := range e.Cfg.Save {
		if e.Stats.Dirty >= p.Changes && e.Steady()/1000-s.lastSteady > p.Seconds && e.mayRetrySave() {
			e.Log.Notice("%d changes in %d seconds. Saving...", p.Changes, p.Seconds)
			_ = e.startSave() // noted in saveFailed
			return
		}
	}
}

// turnAOF obeys CONFIG SET appendonly.
func (e *Engine) turnAOF(on bool) error {
	s := &e.persist
	if s.p == nil || e.loading.on || s.p.AppendOnly().Status().On == on {
		return nil
	}
	return s.p.AppendOnly().Turn(on)
}

// RewriteAOF is BGREWRITEAOF; see AppendOnly.Rewrite. Within a transaction the rewrite begins after it: the log would have all of the transaction behind a base
// that has half of it. Errors but ErrRewriteRunning have been logged.
func (e *Engine) RewriteAOF() (scheduled bool, err error) {
	if e.persist.p == nil {
		return false, ErrNoPersistence
	}
	return e.persist.p.AppendOnly().Rewrite(e.InUnit())
}
