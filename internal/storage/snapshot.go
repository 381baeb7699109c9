package storage

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/persist/rdb"
)

// job is a snapshot on its way to a file; it implements engine.Job.
type job struct {
	s    *Store
	snap *persist.Snapshot
	temp string
	what string // for the log
}

// start begins a snapshot of this moment. It is written under the name temp, and takes the name final, if that is not empty, when it is complete.
func (s *Store) start(temp, final string, asRDB, base bool) (*job, error) {
	cfg := s.eng.Cfg
	o := persist.FileOptions{Temp: temp, Final: final, Checksum: cfg.RDBChecksum, IncrementalSync: cfg.RDBSaveIncrementalFsync}
	stamp := int64(0)
	if cfg.AOFTimestampEnabled {
		stamp = s.eng.WallNow() / 1000
	}
	var f persist.Format = persist.NewCommandFormat(s.eng.KS.Heap, stamp, s.eng.FunctionSources()...)
	if base {
		o.IncrementalSync = cfg.AOFRewriteIncrementalFsync
	}
	if asRDB {
		format := s.rdbFormat(base)
		f, o.RDB = format, format
	}
	dest, err := persist.NewFileDest(s.fs, o)
	if err != nil {
		s.log.Warning("Failed opening the temp RDB file %s (in server root dir %s) for saving: %s", temp, workDir(), logging.OSError(err))
		return nil, err
	}
	s.unfinished(temp)
	q := persist.NewQueue(dest, s.wake)
	snap := persist.Start(s.eng.KS, f, q, persist.Options{KeyDelay: int64(cfg.RDBKeySaveDelay)})
	return &job{s: s, snap: snap, temp: temp}, nil
}

// rdbFormat is the format of RDB files, with what they say about themselves.
func (s *Store) rdbFormat(base bool) *persist.RDBFormat {
	e := s.eng
	aux := [][2]string{
		{"redis-ver", engine.RedisVersion},
		{"redis-bits", strconv.Itoa(strconv.IntSize)},
		{"ctime", strconv.FormatInt(e.Now()/1000, 10)},
		{"used-mem", strconv.FormatInt(e.UsedMemory(), 10)},
		{"aof-base", map[bool]string{false: "0", true: "1"}[base]},
	}
	return persist.NewRDBFormat(e.KS, persist.RDBOptions{Compress: e.Cfg.RDBCompression, Aux: aux, Functions: e.FunctionSources()})
}

func (s *Store) wake() {
	if s.eng.Wake != nil {
		s.eng.Wake()
	}
}

// startFile begins a snapshot to the snapshot file. Its paths are absolute: CONFIG SET dir must not part it from its temporary name.
func (s *Store) startFile(purpose string) (*job, error) {
	dir := workDir()
	return s.start(filepath.Join(dir, temporary(purpose)), filepath.Join(dir, s.eng.Cfg.DBFilename), true, false)
}

// Save implements engine.Persistence.
func (s *Store) Save() error {
	j, err := s.startFile("")
	if err != nil {
		return err
	}
	err = j.snap.Run()
	j.ended(err)
	if err == nil {
		s.log.Notice("DB saved on disk")
	}
	return err
}

// StartSave implements engine.Persistence.
func (s *Store) StartSave() (engine.Job, error) {
	j, err := s.startFile("bg-")
	if err != nil {
		return nil, err // not j: a nil *job is no nil Job
	}
	j.what = "DB saved on disk"
	return j, nil
}

// ended follows the end of the job.
func (j *job) ended(err error) {
	j.s.finished(j.temp)
	var move *os.LinkError
	switch {
	case errors.As(err, &move):
		j.s.log.Warning("Error moving temp DB file %s on the final destination %s: %s", move.Old, move.New, logging.OSError(err))
	case err != nil:
		j.s.log.Warning("Write error saving DB on disk(%s): %s", j.temp, logging.OSError(err))
	}
}

// Slice implements engine.Job.
func (j *job) Slice(budget time.Duration, served bool) (more bool) {
	return j.snap.Slice(budget, served)
}

// Done implements engine.Job.
func (j *job) Done() (bool, error) {
	over, err := j.snap.Over()
	if over {
		j.ended(err)
		if err == nil && j.what != "" {
			j.s.log.Notice("%s", j.what)
		}
	}
	return over, err
}

// Progress implements engine.Job.
func (j *job) Progress() (keys, total int64) {
	p := j.snap.Progress()
	return int64(p.Keys), int64(p.Total)
}

// Held implements engine.Job.
func (j *job) Held() int64 { return j.snap.Held() }

// Cancel implements engine.Job. It waits until the file is removed.
func (j *job) Cancel() {
	j.snap.Cancel()
	_ = j.snap.Wait() // it says that it was cancelled
	j.s.finished(j.temp)
}

// emptyBase is the base of a log that begins with an empty data set.
func (s *Store) emptyBase(asRDB bool) []byte {
	if !asRDB {
		return nil
	}
	f := s.rdbFormat(true)
	b := f.Pack(f.Tail(f.Head(nil)))
	var sum uint64
	if s.eng.Cfg.RDBChecksum {
		sum = rdb.CRC64(0, b)
	}
	return binary.LittleEndian.AppendUint64(b, sum)
}
