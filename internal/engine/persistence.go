package engine

import "godwit/internal/persist"

// persistState is the state of saves and rewrites.
type persistState struct {
	store *persist.Store // nil: nothing is kept in files
	aof   *persist.AOF   // of the store; every write asks

	// strayed says that the data set or its log is not what replicas were sent: redis.set_repl, or
	// DEBUG.
	strayed bool

	// emptied says that a master's data set could not be loaded, and the old one had been thrown
	// away for it. The files still have that.
	emptied bool

	jobSeen   int64 // commands when the job had its last slice
	saveStart int64 // steady ms
	dirtyAt   int64 // Stats.Dirty when the running save began

	saves         int64 // saves begun
	lastSave      int64 // unix s of the last success, or of the start
	lastSteady    int64 // the same by the steady clock, s
	lastTry       int64 // steady s of the last attempt in the background, 0 for none
	saveFailed    bool  // the last one in the background
	saveSeconds   int64 // it took, -1 if there was none
	saveScheduled bool
}

func (s *persistState) reset(e *Engine) {
	s.saved(e)
	s.saveSeconds = -1
}

// saved notes that all is saved as of now.
func (s *persistState) saved(e *Engine) {
	s.lastSave, s.lastSteady, s.emptied = e.now/1000, e.Steady()/1000, false
}

// busy reports whether a save runs, or the base of a rewrite is being written.
func (s *persistState) busy() bool { return s.store != nil && s.store.Busy() }

// aofInfo returns the append-only file's state.
func (e *Engine) aofInfo() persist.AOFInfo {
	if e.persist.store == nil {
		return persist.NoAOF
	}
	return e.persist.aof.Info()
}

// AOFBuffered returns how many bytes of the append-only file wait in memory.
func (e *Engine) AOFBuffered() int64 { return int64(e.aofInfo().BufferLength) }

// diskError returns why the data set cannot be written to disk, "" if it can.
func (e *Engine) diskError() string {
	s := &e.persist
	if s.store == nil {
		return ""
	}
	if s.saveFailed && e.Cfg.StopWritesOnBgsaveError && len(e.Cfg.Save) > 0 {
		return ErrMisconfRDB
	}
	if msg := s.aof.WriteError(); msg != "" {
		return ErrMisconfAOF + msg
	}
	return ""
}

// PersistenceInfo is what INFO persistence says.
type PersistenceInfo struct {
	Loading     bool
	Aside       bool // data is loaded beside that which is served
	Load        LoadingInfo
	Keys, Total int64 // of the running job
	Changes     int64
	Saving      bool
	LastSave    int64 // unix s
	LastSaveOK  bool
	LastSaveSec int64 // -1: none
	SaveSec     int64 // of the running one, -1: none
	Saves       int64
	Loaded      persist.RDBCounts // by the last load of a snapshot, or of a log's base that is one
	AOF         persist.AOFInfo
}

// PersistenceInfo returns it.
func (e *Engine) PersistenceInfo() PersistenceInfo {
	s := &e.persist
	i := PersistenceInfo{
		Loading: e.loading.on, Aside: e.loading.aside, Load: e.LoadingInfo(),
		Changes: e.Stats.Dirty, LastSave: s.lastSave, LastSaveOK: !s.saveFailed,
		LastSaveSec: s.saveSeconds, SaveSec: -1, Saves: s.saves, AOF: e.aofInfo(),
	}
	if s.store == nil {
		return i
	}
	i.Saving, i.Loaded = s.store.Saving() || s.store.Syncing(), s.store.LoadCounts()
	i.Keys, i.Total = s.store.Progress()
	if i.Saving {
		i.SaveSec = (e.Steady() - s.saveStart) / 1000
	}
	return i
}

// cancelSave ends a running save without a result.
func (e *Engine) cancelSave() {
	s := &e.persist
	if s.store.CancelSave() {
		s.saveSeconds = (e.Steady() - s.saveStart) / 1000
	}
}
