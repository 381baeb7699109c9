package persist

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"godwit/internal/logging"
	"godwit/internal/persist/rdb"
)

// LoadTarget is the server as loads of all files see it.
type LoadTarget interface {
	RDBTarget
	Replayer
	// Expect sets the number of bytes that there are to load, within a step.
	Expect(total int64)
}

// Source is what Load reads.
type Source uint8

// The sources. Under FromRDBMerge keys that exist are replaced; otherwise they are errors.
const (
	FromRDB Source = iota
	FromRDBMerge
	FromAOF
)

// Loadable says why there is nothing that Load could read, nil if there is.
func (s *Store) Loadable(from Source) error {
	var err error
	if from == FromAOF {
		err = s.aof.Loadable()
	} else {
		_, err = s.fs.Stat(filepath.Join(workDir(), s.cfg.DBFilename))
	}
	if err != nil {
		s.log.Warning("There is nothing to load: %s", logging.OSError(err))
	}
	return err
}

// Load reads the data set from files (DEBUG RELOAD, DEBUG LOADAOF), while everybody waits.
// Databases keep what they have: the caller empties them first.
func (s *Store) Load(from Source) error {
	t := s.host.LoadTarget(true)
	var err error
	if from == FromAOF {
		err = s.loadLog(t)
	} else {
		_, err = s.loadRDB(t, RDBLoadOptions{Merge: from == FromRDBMerge})
	}
	if err != nil {
		s.log.Warning("Error loading the DB: %s", err)
	}
	return err
}

// LoadCounts returns the keys of the last load of an RDB file, which may have been the base of a
// log.
func (s *Store) LoadCounts() RDBCounts { return s.loaded.RDBCounts }

// loadAtStart reads the data set, from the log or else from the snapshot file.
func (s *Store) loadAtStart(t LoadTarget, logged bool) error {
	if logged {
		return s.loadLog(t)
	}
	start := time.Now()
	loaded, err := s.loadRDB(t, RDBLoadOptions{KeepDue: true})
	if err != nil {
		return err
	}
	if loaded {
		s.log.Notice("DB loaded from disk: %.3f seconds", time.Since(start).Seconds())
	}
	return nil
}

// loadRDB reads the snapshot file; without one it reports false.
func (s *Store) loadRDB(t LoadTarget, o RDBLoadOptions) (loaded bool, err error) {
	var name, path string
	o.Log = s.log
	t.Step(func() {
		name = s.cfg.DBFilename
		path = filepath.Join(workDir(), name)
		o.NoChecksum, o.KeyDelay = !s.cfg.RDBChecksum || s.skipChecksums, int64(s.cfg.KeyLoadDelay)
	})
	if name == "" { // then path is the folder
		return false, nil
	}
	f, err := s.fs.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %s", name, logging.OSError(err))
	}
	defer f.Close()
	if info, err := s.fs.Stat(path); err == nil {
		o.Size = info.Size()
		t.Step(func() { t.Expect(o.Size) })
	}
	n, err := LoadRDB(f, t, o)
	if err != nil {
		return false, fmt.Errorf("%s: %s", name, explain(err))
	}
	t.Step(func() { s.loaded = n })
	return true, nil
}

// explain returns an error of an RDB file in one line, without the names that system errors repeat.
// What is wrong with the content begins with Redis's words.
func explain(err error) string {
	var path *fs.PathError
	var content *rdb.Error
	switch {
	case errors.As(err, &path):
		return logging.OSError(err)
	case errors.As(err, &content) && content.Refused != "":
		return "Internal error in RDB reading " + err.Error() + ". godwit-server --check-rdb " +
			"lists everything in the file that is not; delete it where the file was made and " +
			"save again"
	case errors.As(err, &content):
		return "Internal error in RDB reading " + err.Error()
	}
	return err.Error()
}

// loadLog replays the log; there may be none.
func (s *Store) loadLog(t LoadTarget) error {
	total, err := s.aof.Prepare()
	if errors.Is(err, ErrNoAOF) {
		return nil
	}
	if err != nil {
		return err
	}
	o := RDBLoadOptions{Log: s.log, Base: true, Size: total}
	t.Step(func() {
		t.Expect(total)
		o.NoChecksum, o.KeyDelay = !s.cfg.RDBChecksum || s.skipChecksums, int64(s.cfg.KeyLoadDelay)
	})
	start := time.Now()
	err = s.aof.Load(t, func(r *bufio.Reader, before int64) (int64, error) {
		o.Before = before
		n, err := LoadRDB(r, t, o)
		t.Step(func() { s.loaded = n })
		return n.Used, err
	})
	if err != nil {
		return err
	}
	s.log.Notice("DB loaded from append only file: %.3f seconds", time.Since(start).Seconds())
	return nil
}
