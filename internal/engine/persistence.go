package engine

import "time"

// How the data set is kept
//
//	commands, cron, shutdown ─→ engine ─→ Persistence (package storage) ─→ package persist: snapshots, files
//	                              ↑ RunJob, Wake, LoadTarget, Sink ←──────────┘
//
// The engine decides when to save, runs one job at a time in slices, and knows what INFO says and what is refused after a failure; package persist
// knows snapshots, files and the append-only file's own affairs (its rewrites among them) and nothing of the engine; package storage puts the two
// together, because Go wants the types of one side in the interfaces of the other.

// Persistence keeps the data set in files. All methods are called with the executor held, unless noted. Errors have been logged.
type Persistence interface {
	Saver
	Upkeep
	// Loadable says why there is nothing that Load could read, nil if there is.
	Loadable(from Source) error
	// Load reads the data set from files (DEBUG RELOAD, DEBUG LOADAOF), while everybody waits. Databases keep what they have: emptying them first is the caller's.
	Load(from Source) error
	// AppendOnly is the log of writes, never nil.
	AppendOnly() AppendOnly
}

// Saver writes the snapshot file.
type Saver interface {
	// Save writes it in one go: SAVE, the end of the server.
	Save() error
	// StartSave begins to write it in slices: BGSAVE. The engine runs the job.
	StartSave() (Job, error)
	// RemoveTemporary removes the unfinished files of this process. Any goroutine may call it, without the executor.
	RemoveTemporary()
}

// Upkeep is what is to be done now and then.
type Upkeep interface {
	// Cron is called hz times a second.
	Cron()
	// Reconfigured is called after CONFIG SET.
	Reconfigured()
}

// Source is what Persistence.Load reads.
type Source uint8

// The sources. Under FromSnapshotMerge keys that exist are replaced; otherwise they are errors.
const (
	FromSnapshot Source = iota
	FromSnapshotMerge
	FromAppendOnly
)

// Job is a snapshot that is being written in slices, to the snapshot file or to the base of the append-only file.
type Job interface {
	// Slice goes on for about the budget; served tells whether commands have run since the last time. Unless it reports more, it waits for the
	// disk; Engine.Wake is called when it can go on or is done.
	Slice(budget time.Duration, served bool) (more bool)
	// Done reports whether the job is over — its file in place and synced, or removed after an error — and how it ended.
	Done() (bool, error)
	// Progress is the number of keys written so far and of those there were at the start.
	Progress() (keys, total int64)
	// Held is the memory in bytes that copies of what has changed take in Go's heap until they are
	// written. It is O(1).
	Held() int64
	// Cancel ends the job and removes its files. The job must not be used any more.
	Cancel()
}

// AppendOnly is the append-only file. As a Sink it is attached to the engine while it is on.
type AppendOnly interface {
	LogPosition
	// Rewrite is BGREWRITEAOF: the files are rewritten from now on, or once the running job has ended (scheduled). ErrRewriteRunning: they are being
	// rewritten.
	Rewrite(hold bool) (scheduled bool, err error)
	// Turn switches the log on or off at run time.
	Turn(on bool) error
	// Sync writes what is buffered and syncs it to the disk, whatever appendfsync says.
	Sync() error
	// WriteError says why writes cannot be logged at the moment, "" if they can; asked before every command that writes.
	WriteError() string
	// Status is the log's state, good until the next call.
	Status() *AOFStatus
}

// AOFStatus is what INFO and the gates need to know of the append-only file.
type AOFStatus struct {
	On          bool
	FirstBase   bool // switched on, but not yet complete
	WriteFailed bool // the last write or sync
	Rewriting   bool
	Scheduled   bool
	LastSec     int64 // of the last rewrite, -1: none
	CurrentSec  int64 // of the running one, -1: none
	LastFailed  bool
	Rewrites    int64
	Failures    int64 // in a row
	Size        int64 // bytes of all files
	BaseSize    int64 // bytes after the last rewrite
	Buffered    int64 // bytes that wait to be written
	PendingSync int64 // syncs that wait for the background
	Delayed     int64 // writes that had to wait for a sync
}

// jobKind is what the running job writes.
type jobKind uint8

const (
	noJob jobKind = iota
	saveJob
	otherJob // a rewrite of the append-only file
)

// persistState is what the engine remembers of saves and rewrites.
type persistState struct {
	p        Persistence
	log      LogPosition // of p; every write asks
	job      Job
	kind     jobKind
	jobStart int64 // steady ms
	jobSeen  int64 // commands when the job had its last slice
	jobDone  func(error)
	dirtyAt  int64 // Stats.Dirty when the running save began

	saves         int64 // saves begun
	lastSave      int64 // unix s of the last success, or of the start
	lastSteady    int64 // the same by the steady clock, s
	lastTry       int64 // steady s of the last attempt in the background, 0 for none
	saveFailed    bool  // the last one in the background
	saveSeconds   int64 // it took, -1 if there was none
	saveScheduled bool

	load  LoadCounts
	noAOF AOFStatus // the state without persistence
}

// LoadCounts are the keys of the last load of a snapshot, or of a log's base that is one.
type LoadCounts struct{ Loaded, Expired int64 }

func (s *persistState) reset(e *Engine) {
	s.saved(e)
	s.saveSeconds = -1
	s.noAOF.LastSec, s.noAOF.CurrentSec = -1, -1
}

// saved notes that all is saved as of now.
func (s *persistState) saved(e *Engine) { s.lastSave, s.lastSteady = e.now/1000, e.Steady()/1000 }

// SetPersistence tells the engine where the data set is kept. Without it nothing is: SAVE and its kin are refused.
func (e *Engine) SetPersistence(p Persistence) { e.persist.p, e.persist.log = p, p.AppendOnly() }

// SetLoadCounts notes what a load has found, for INFO.
func (e *Engine) SetLoadCounts(c LoadCounts) { e.persist.load = c }

// aof is the append-only file's state.
func (e *Engine) aof() *AOFStatus {
	if e.persist.p == nil {
		return &e.persist.noAOF
	}
	return e.persist.p.AppendOnly().Status()
}

// AOFBuffered is how many bytes of the append-only file wait in memory.
func (e *Engine) AOFBuffered() int64 { return e.aof().Buffered }

// diskError is what keeps the data set from being written to disk, "" if nothing does.
func (e *Engine) diskError() string {
	s := &e.persist
	if s.p == nil {
		return ""
	}
	if s.saveFailed && e.Cfg.StopWritesOnBgsaveError && len(e.Cfg.Save) > 0 {
		return ErrMisconfRDB
	}
	if msg := s.p.AppendOnly().WriteError(); msg != "" {
		return ErrMisconfAOF + msg
	}
	return ""
}

// PersistenceInfo is what INFO persistence says.
type PersistenceInfo struct {
	Loading     bool
	Load        LoadingInfo
	Keys, Total int64 // of the running job
	Changes     int64
	Saving      bool
	LastSave    int64 // unix s
	LastSaveOK  bool
	LastSaveSec int64 // -1: none
	SaveSec     int64 // of the running one, -1: none
	Saves       int64
	LoadCounts  LoadCounts
	AOF         *AOFStatus
}

// PersistenceInfo collects it.
func (e *Engine) PersistenceInfo() PersistenceInfo {
	s := &e.persist
	i := PersistenceInfo{
		Loading: e.loading.on, Load: e.LoadingInfo(), Changes: e.Stats.Dirty, LastSave: s.lastSave, LastSaveOK: !s.saveFailed, LastSaveSec: s.saveSeconds,
		Saving: s.kind == saveJob, SaveSec: -1, Saves: s.saves, LoadCounts: s.load, AOF: e.aof(),
	}
	if s.job != nil {
		i.Keys, i.Total = s.job.Progress()
	}
	if i.Saving {
		i.SaveSec = (e.Steady() - s.jobStart) / 1000
	}
	return i
}
