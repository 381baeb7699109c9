// Package storage keeps the engine's data set in files: it puts the engine, which decides when, and package persist, which knows how, together, loads the data
// set at the start and closes the files at the end.
package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/vfs"
)

// Store implements engine.Persistence.
type Store struct {
	eng *engine.Engine
	fs  vfs.FS
	log *logging.Logger
	aof *appendOnly

	folder folder

	mu    sync.Mutex
	temps map[string]bool // unfinished files; guarded by mu
}

// New makes a store for the engine over a file system. It touches no file.
func New(e *engine.Engine, fsys vfs.FS) *Store {
	s := &Store{eng: e, fs: fsys, log: e.Log, temps: map[string]bool{}}
	s.aof = newAppendOnly(s)
	return s
}

// StartError is why the server must not start: a line for the log.
type StartError struct{ line string }

// Error implements error.
func (e *StartError) Error() string { return e.line }

// Open loads the data set — from the append-only file if appendonly is yes, else from the snapshot — and opens the append-only file. It is called
// once, in the state Loading, without the executor, and ends that state; ready is called then, with the executor held. An error says which file cannot be loaded,
// where, and why: the server must not serve what was loaded before it.
func (s *Store) Open(ready func()) error {
	var logged bool
	s.step(func() {
		logged = s.eng.Cfg.AppendOnly
		s.claimFolder()
	})
	if !logged {
		if err := s.aof.CheckManifest(); err != nil {
			return &StartError{err.Error() + ". Exiting."}
		}
	}
	if err := s.load(s.eng.LoadTarget(false), logged); err != nil {
		return &StartError{"Fatal error loading the DB: " + err.Error() + ". Exiting."}
	}
	s.eng.Enter()
	defer s.eng.Release()
	if logged {
		if err := s.aof.open(); err != nil {
			return &StartError{"Can't open the append-only file: " + logging.OSError(err) + ". Exiting."}
		}
	}
	s.eng.EndLoading()
	if on := s.eng.Cfg.AppendOnly; on != logged { // CONFIG SET appendonly came meanwhile
		if err := s.aof.Turn(on); err != nil {
			return &StartError{"Can't turn the append-only file on: " + err.Error() + ". Exiting."}
		}
	}
	ready()
	return nil
}

// Close ends everything behind the engine's last command: a running job is cancelled, the append-only file is synced and closed. It returns the process's
// exit code.
func (s *Store) Close() int {
	s.eng.Enter()
	defer s.eng.Release()
	code := 0
	if err := s.aof.close(); err != nil {
		s.log.Warning("Fail to fsync the AOF file: %s.", logging.OSError(err))
	}
	s.eng.CancelJobs()
	s.RemoveTemporary()
	s.folder.leave()
	return code
}

func (s *Store) step(fn func()) {
	s.eng.Enter()
	defer s.eng.Release()
	fn()
}

// AppendOnly implements engine.Persistence.
func (s *Store) AppendOnly() engine.AppendOnly { return s.aof }

// Cron implements engine.Persistence.
func (s *Store) Cron() {
	s.aof.Cron()
	s.aof.attach()
}

// Reconfigured implements engine.Persistence.
func (s *Store) Reconfigured() {
	s.aof.Configure(settings(s.eng.Cfg))
	s.claimFolder()
}

// load reads the data set at the start.
func (s *Store) load(t *engine.LoadTarget, logged bool) error {
	if logged {
		return s.aof.load(t)
	}
	start := time.Now()
	loaded, err := s.loadSnapshot(t, false)
	if err != nil {
		return err
	}
	if loaded {
		s.log.Notice("DB loaded from disk: %.3f seconds", time.Since(start).Seconds())
	}
	return nil
}

// loadSnapshot reads the snapshot file; without one it reports false.
func (s *Store) loadSnapshot(t *engine.LoadTarget, merge bool) (loaded bool, err error) {
	var name string
	o := persist.RDBLoadOptions{Log: s.log, Merge: merge}
	t.Step(func() {
		name = s.eng.Cfg.DBFilename
		o.NoChecksum, o.KeyDelay = !s.eng.Cfg.RDBChecksum, int64(s.eng.Cfg.KeyLoadDelay)
	})
	f, err := s.fs.Open(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %s", name, logging.OSError(err))
	}
	defer f.Close()
	if info, err := s.fs.Stat(name); err == nil {
		o.Size = info.Size()
		t.Step(func() { t.Expect(o.Size) })
	}
	n, _, err := persist.LoadRDB(f, t, o)
	if err != nil {
		return false, fmt.Errorf("%s: %s", name, explain(err))
	}
	t.Step(func() { s.eng.SetLoadCounts(engine.LoadCounts{Loaded: n.Loaded, Expired: n.Expired}) })
	return true, nil
}

// explain is an error of a file in one line, without the names that system errors repeat.
func explain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return logging.OSError(err)
	}
	return err.Error()
}

// Loadable implements engine.Persistence.
func (s *Store) Loadable(from engine.Source) error {
	var err error
	if from == engine.FromAppendOnly {
		err = s.aof.Loadable()
	} else {
		_, err = s.fs.Stat(s.eng.Cfg.DBFilename)
	}
	if err != nil {
		s.log.Warning("There is nothing to load: %s", logging.OSError(err))
	}
	return err
}

// Load implements engine.Persistence.
func (s *Store) Load(from engine.Source) error {
	t := s.eng.LoadTarget(true)
	var err error
	if from == engine.FromAppendOnly {
		err = s.aof.load(t)
	} else {
		_, err = s.loadSnapshot(t, from == engine.FromSnapshotMerge)
	}
	if err != nil {
		s.log.Warning("Error loading the DB: %s", err)
	}
	return err
}

// RemoveTemporary implements engine.Persistence.
func (s *Store) RemoveTemporary() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.temps {
		_ = s.fs.Remove(name) // it may be gone, and nobody looks at it
	}
}

// unfinished notes a file that RemoveTemporary removes until finished is called.
func (s *Store) unfinished(name string) {
	s.mu.Lock()
	s.temps[name] = true
	s.mu.Unlock()
}

func (s *Store) finished(name string) {
	s.mu.Lock()
	delete(s.temps, name)
	s.mu.Unlock()
}

// temporary is the name of a file that this process has not finished; purpose tells it from others.
func temporary(purpose string) string { return fmt.Sprintf("temp-%s%d.rdb", purpose, os.Getpid()) }

// workDir is the folder that files are in: the process's.
func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return filepath.Clean(dir)
}
