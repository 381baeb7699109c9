package persist

import (
	"os"
	"path/filepath"
	"sync"

	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/propagation"
	"godwit/internal/vfs"
)

// Store keeps the data set in files: the snapshot file and the append-only file.
//
//	commands, cron, shutdown ─→ engine ─→ Store ─→ snapshots, files, the append-only file
//	                              ↑ Host ←──┘
//
// The engine decides when to save, knows what INFO says, and what is refused after a failure. The
// store runs one job at a time in slices, and does the append-only file's own affairs, its rewrites
// among them. What it needs of the engine is Host.
//
// All methods are called with the executor held, unless noted. Errors have been logged.
type Store struct {
	host Host
	cfg  *config.Config
	ks   *keyspace.Keyspace
	fs   vfs.FS
	log  *logging.Logger
	feed *propagation.Feed

	aof    *AOF
	loaded RDBLoaded
	job    *job // that runs; nil: none
	recent recentFiles
	held   bool // see HoldJobs
	folder folder

	received      int  // files that masters' data sets were received into
	skipChecksums bool // of files that are read, for tests

	mu    sync.Mutex
	temps map[string]bool // unfinished files; guarded by mu
}

// Host is the server above a store.
type Host interface {
	// Step runs fn with the executor held.
	Step(fn func())
	// LoadTarget returns where a data set that is read goes. With held, the caller holds the
	// executor throughout; otherwise each step takes it.
	LoadTarget(held bool) LoadTarget
	// EndLoading ends the state Loading, in which the server starts.
	EndLoading()
	// Steady returns the executor's steady clock, ms: it never goes back.
	Steady() int64
	// WallNow returns the time, unix ms. Unlike Steady it does not stand still while a script runs.
	WallNow() int64
	// Wake has Slice and Cron called soon. Any goroutine may call it.
	Wake()
	// NoteLatency is told how many ms a latency event took on the executor.
	NoteLatency(event string, ms int64)
	// UsedMemory returns the bytes that the server uses.
	UsedMemory() int64
	// FunctionSources returns the code of the function libraries.
	FunctionSources() [][]byte
	// Replication returns where in a history of replication the data set is now. ok is false if
	// nobody could go on from there.
	Replication() (p ReplPoint, ok bool)
	// Reselect has the stream name its database again with the next command, and reports whether
	// that can be done: a replica passes on what its master sends.
	Reselect() bool
	// LogPlace is Replication for the log, which says it at the end of batches. end says that the
	// log ends here.
	LogPlace(end bool) (p ReplPoint, ok bool)
	// Restored is told, before EndLoading, where in a history the data set is that was loaded at
	// the start.
	Restored(p ReplPoint)
}

// StoreOptions are what a Store works on; all must be set.
type StoreOptions struct {
	Host     Host
	Config   *config.Config
	Keyspace *keyspace.Keyspace
	FS       vfs.FS
	Log      *logging.Logger
	Feed     *propagation.Feed // sends the log what changes
}

// NewStore makes a store. It touches no file.
func NewStore(o StoreOptions) *Store {
	s := &Store{host: o.Host, cfg: o.Config, ks: o.Keyspace, fs: o.FS, log: o.Log,
		feed: o.Feed, temps: map[string]bool{}}
	s.aof = NewAOF(AOFOptions{
		FS: s.fs, Log: s.log, Dir: workDir,
		DirName: s.cfg.AppendDirname, FileName: s.cfg.AppendFilename, Base: baseMaker{s},
		Now: s.host.Steady, Clock: func() int64 { return s.host.WallNow() / 1000 },
		Wake: s.host.Wake, Latency: s.host.NoteLatency, Place: s.host.LogPlace,
	}, aofSettings(s.cfg))
	return s
}

// StartError is why the server must not start: a line for the log.
type StartError struct{ line string }

// Error implements error.
func (e *StartError) Error() string { return e.line }

// Open loads the data set — from the append-only file if appendonly is yes, else from the snapshot
// — and opens the append-only file. It is called once, in the state Loading, without the executor,
// and ends that state; ready is called then, with the executor held. An error says which file
// cannot be loaded, where, and why: the server must not serve what was loaded before it.
func (s *Store) Open(ready func()) error {
	var logged bool
	s.host.Step(func() {
		logged = s.cfg.AppendOnly
		s.claimFolder()
	})
	if !logged {
		if err := s.aof.CheckManifest(); err != nil {
			return &StartError{err.Error() + ". Exiting."}
		}
	}
	if err := s.loadAtStart(s.host.LoadTarget(false), logged); err != nil {
		return &StartError{"Fatal error loading the DB: " + err.Error() + ". Exiting."}
	}
	var err error
	s.host.Step(func() { err = s.open(logged, ready) })
	return err
}

// open ends a start whose data set is loaded, from the log or not.
func (s *Store) open(logged bool, ready func()) error {
	if logged {
		if err := s.aof.Open(); err != nil {
			return &StartError{"Can't open the append-only file: " + logging.OSError(err) +
				". Exiting."}
		}
		s.attach()
	}
	place := s.loaded.Point
	if logged {
		place = s.aof.LoadedPlace()
	}
	if place.ID != "" {
		s.host.Restored(place)
	}
	s.host.EndLoading()
	if on := s.cfg.AppendOnly; on != logged { // CONFIG SET appendonly came meanwhile
		if err := s.TurnAOF(on); err != nil {
			return &StartError{"Can't turn the append-only file on: " + err.Error() + ". Exiting."}
		}
	}
	ready()
	return nil
}

// Close is called after the engine's last command, without the executor. It cancels a running job,
// and syncs and closes the append-only file.
func (s *Store) Close() {
	s.host.Step(func() {
		err := s.aof.Close()
		s.attach()
		if err != nil {
			s.log.Warning("Fail to fsync the AOF file: %s.", logging.OSError(err))
		}
		s.cancelJob()
		s.RemoveTemporary()
		s.folder.leave()
	})
}

// AOF returns the append-only file, never nil.
func (s *Store) AOF() *AOF { return s.aof }

// TurnAOF switches the append-only file on or off at run time. Within a transaction, the rewrite
// that turns it on begins after that: a base must not have half a transaction.
//
// The log must be off while another data set is put in the place of the one that there is, and
// while the place in the history of replication changes with it. Turned on behind it, the log
// begins anew: until its base is complete, a start finds the old data set and its place.
func (s *Store) TurnAOF(on bool) error {
	var err error
	if on {
		err = s.aof.Enable(s.feed.InUnit())
	} else {
		s.aof.Disable()
	}
	s.attach()
	return err
}

// InsistAOF switches the append-only file on. If that fails, Cron goes on trying.
func (s *Store) InsistAOF() {
	s.aof.Insist(s.feed.InUnit())
	s.attach()
}

// attach sends the log what changes while it is on, and nothing while it is off.
func (s *Store) attach() {
	if s.aof.Enabled() {
		s.feed.Attach(propagation.Log, s.aof)
	} else {
		s.feed.Detach(propagation.Log)
	}
}

// Cron is called hz times a second.
func (s *Store) Cron() {
	s.aof.Cron()
	s.attach()
}

// SkipChecksums makes loads take files with a wrong checksum, or stops that.
func (s *Store) SkipChecksums(skip bool) { s.skipChecksums = skip }

// Reconfigured is called after CONFIG SET.
func (s *Store) Reconfigured() {
	s.aof.Configure(aofSettings(s.cfg))
	s.claimFolder()
}

// aofSettings returns the directives that the log goes by.
func aofSettings(c *config.Config) AOFSettings {
	return AOFSettings{
		Fsync: FsyncPolicy(c.AppendFsync), NoFsyncOnRewrite: c.NoAppendfsyncOnRewrite,
		RewritePercentage: c.AutoAOFRewritePercentage, RewriteMinSize: c.AutoAOFRewriteMinSize,
		LoadTruncated: c.AOFLoadTruncated, RDBPreamble: c.AOFUseRDBPreamble,
		Timestamps: c.AOFTimestampEnabled, KeepHistory: c.AOFDisableAutoGC,
	}
}

// workDir returns the folder that files are in: the process's.
func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return filepath.Clean(dir)
}
