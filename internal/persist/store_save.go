package persist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"godwit/internal/logging"
	"godwit/internal/persist/rdb"
)

// fileSnapshot is a snapshot on its way to a file.
type fileSnapshot struct {
	s    *Store
	snap *SnapshotWriter
	temp string
	rdb  *RDBFormat // of an RDB file
	file *SnapshotFile
	name string // that it gets when it is complete, "" if somebody else sees to that
}

// start begins a snapshot of this moment. It is written under the name temp, and takes the name
// final, if that is not empty, when it is complete.
func (s *Store) start(temp, final string, asRDB, base bool) (*fileSnapshot, error) {
	cfg := s.cfg
	o := FileOptions{Temp: temp, Final: final, Checksum: cfg.RDBChecksum,
		IncrementalSync: cfg.RDBSaveIncrementalFsync}
	stamp := int64(0)
	if cfg.AOFTimestampEnabled {
		stamp = s.host.WallNow() / 1000
	}
	var f Format = NewCommandFormat(s.ks.Heap, stamp, s.host.FunctionSources()...)
	if base {
		o.IncrementalSync = cfg.AOFRewriteIncrementalFsync
	}
	var file *SnapshotFile
	if asRDB {
		format := s.rdbFormat(base)
		f, o.RDB = format, format
		file = s.snapshotFile(format, base)
	}
	dest, err := NewFileDest(s.fs, o)
	if err != nil {
		s.log.Warning("Failed opening the temp RDB file %s (in server root dir %s) for saving: %s",
			temp, workDir(), logging.OSError(err))
		return nil, err
	}
	s.unfinished(temp)
	snap := Start(s.ks, f, NewQueue(dest, s.host.Wake),
		Options{KeyDelay: int64(cfg.RDBKeySaveDelay)})
	return &fileSnapshot{s: s, snap: snap, temp: temp, rdb: o.RDB, file: file, name: final}, nil
}

// rdbFormat returns the format of RDB files, with what they say about themselves.
func (s *Store) rdbFormat(base bool) *RDBFormat {
	return NewRDBFormat(s.ks, RDBOptions{Compress: s.cfg.RDBCompression, Aux: s.aux(base),
		Target: rdb.Target(s.cfg.RDBVersion), Whole: base, Functions: s.host.FunctionSources()})
}

// aux returns what a snapshot says about itself. What is the base of a log does not say where the
// data set is: commands follow.
func (s *Store) aux(base bool) [][2]string {
	a := [][2]string{
		{"redis-ver", s.cfg.CompatVersion},
		{"redis-bits", strconv.Itoa(strconv.IntSize)},
		{"ctime", strconv.FormatInt(s.ks.Now()/1000, 10)},
		{"used-mem", strconv.FormatInt(s.host.UsedMemory(), 10)},
	}
	if p, ok := s.host.Replication(); ok && !base {
		a = append(a, p.aux()...)
	}
	return append(a, [2]string{"aof-base", map[bool]string{false: "0", true: "1"}[base]})
}

// startFile begins a snapshot to the snapshot file. Its paths are absolute: CONFIG SET dir must not
// part it from its temporary name.
func (s *Store) startFile(purpose string) (*fileSnapshot, error) {
	dir := workDir()
	temp := fmt.Sprintf("temp-%s%d.rdb", purpose, os.Getpid())
	return s.start(filepath.Join(dir, temp), filepath.Join(dir, s.cfg.DBFilename), true, false)
}

// ended follows the end of the snapshot.
func (f *fileSnapshot) ended(err error) {
	s := f.s
	s.finished(f.temp)
	var move *os.LinkError
	switch {
	case errors.As(err, &move):
		s.log.Warning("Error moving temp DB file %s on the final destination %s: %s",
			move.Old, move.New, logging.OSError(err))
	case err != nil:
		s.log.Warning("Write error saving DB on disk(%s): %s", f.temp, logging.OSError(err))
	case f.rdb != nil:
		s.tell(f.rdb)
	}
	if err == nil && f.name != "" {
		s.recent.save = f.file.complete(f.name)
	}
}

// tell logs what the operator should know of an RDB file.
func (s *Store) tell(f *RDBFormat) {
	notes, serious := f.notes()
	for _, line := range notes {
		if serious {
			s.log.Warning("%s.", line)
		} else {
			s.log.Notice("%s.", line)
		}
	}
}

// Save writes the snapshot file in one go: for the end of the server, FLUSHALL, DEBUG RELOAD, and
// for SAVE, which comes only when no other snapshot runs. A save that runs makes way for it, and so
// does a snapshot for replicas. The base of a rewrite is written first.
func (s *Store) Save() error {
	s.CancelSave()
	s.FailSync()
	for s.job != nil {
		if !s.Slice(finishSlice, false) {
			time.Sleep(jobPoll)
		}
	}
	f, err := s.startFile("")
	if err != nil {
		return err
	}
	err = f.snap.Run()
	f.ended(err)
	if err == nil {
		s.log.Notice("DB saved on disk")
	}
	return err
}

// SaveAside writes a snapshot to a file that is not the server's own, while everybody waits. No job
// may be running.
func (s *Store) SaveAside(path string) error {
	f, err := s.start(path, "", true, true)
	if err != nil {
		return err
	}
	err = f.snap.Run()
	s.finished(path)
	return err
}

// StartSave begins to write the snapshot file in slices: BGSAVE. No job may be running. done is
// told of the end, unless CancelSave comes before it.
func (s *Store) StartSave(done func(error)) error {
	f, err := s.startFile("bg-")
	if err == nil {
		s.run(&job{kind: jobSave, snap: f.snap, temp: f.temp, file: f.file, done: func(err error) {
			if f.ended(err); err == nil {
				s.log.Notice("DB saved on disk")
			}
			done(err)
		}})
	}
	return err
}

// RemoveTemporary removes the unfinished files of this process. Any goroutine may call it, without
// the executor.
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

// baseMaker makes the base of a rewrite: it implements BaseMaker over the store's one job.
type baseMaker struct{ s *Store }

// Busy implements BaseMaker.
func (b baseMaker) Busy() bool { return b.s.Busy() || b.s.held }

// Start implements BaseMaker.
func (b baseMaker) Start(path string, rdb bool, done func(error)) error {
	f, err := b.s.start(path, "", rdb, true)
	if err == nil {
		ended := func(err error) {
			if err != ErrJobCancelled { // whoever cancelled it has cleaned up
				f.ended(err)
			}
			if err == nil {
				b.s.recent.coming = f.file
			}
			done(err)
		}
		b.s.run(&job{kind: jobBase, snap: f.snap, temp: f.temp, file: f.file, done: ended})
	}
	return err
}

// Cancel implements BaseMaker.
func (b baseMaker) Cancel() {
	if j := b.s.job; j != nil && j.kind == jobBase {
		b.s.cancelJob()
	}
}

// Over implements BaseMaker.
func (b baseMaker) Over(path string) {
	f := b.s.recent.coming
	b.s.recent.coming = nil
	if path != "" {
		b.s.recent.base = f.complete(path)
	}
}

// Empty implements BaseMaker.
func (b baseMaker) Empty(asRDB bool) []byte {
	if !asRDB {
		return nil
	}
	f := b.s.rdbFormat(true)
	text := f.Pack(f.Tail(f.Head(nil)))
	var sum uint64
	if b.s.cfg.RDBChecksum {
		sum = rdb.CRC64(0, text)
	}
	return binary.LittleEndian.AppendUint64(text, sum)
}
