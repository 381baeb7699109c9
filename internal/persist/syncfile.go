package persist

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"godwit/internal/persist/rdb"
	"godwit/internal/vfs"
)

// SyncFile is the temporary file that a master's data set is received into. It belongs to one
// goroutine, which need not hold the executor.
type SyncFile struct {
	s     *Store
	f     vfs.File
	temp  string
	final string
	size  int64
	since int64 // bytes that were written since the last sync
}

// syncEvery is after how many bytes a received file is synced, so that the end of it does not wait
// for all of them at once.
const syncEvery = 8 << 20

// NewSyncFile makes a file for a data set that is to be received. It is refused if the disk has no
// room for its size in bytes, which may be unknown: 0.
func (s *Store) NewSyncFile(size int64) (*SyncFile, error) {
	dir := workDir()
	if disk, ok := s.fs.(interface{ Free(dir string) int64 }); ok {
		if free := disk.Free(dir); free >= 0 && size > free {
			return nil, fmt.Errorf("the disk has no room for %d bytes: %d are free", size, free)
		}
	}
	s.received++
	temp := filepath.Join(dir, fmt.Sprintf("temp-%d.%d-%d.rdb", s.host.WallNow()/1000,
		os.Getpid(), s.received))
	f, err := s.fs.Open(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	s.unfinished(temp)
	y := &SyncFile{s: s, f: f, temp: temp}
	if s.cfg.DBFilename != "" {
		y.final = filepath.Join(dir, s.cfg.DBFilename)
	}
	return y, nil
}

// Write implements io.Writer.
func (y *SyncFile) Write(p []byte) (int, error) {
	n, err := y.f.Write(p)
	y.size += int64(n)
	if y.since += int64(n); err == nil && y.since >= syncEvery {
		y.since = 0
		err = y.f.Sync()
	}
	return n, err
}

// Size returns the number of bytes that were written.
func (y *SyncFile) Size() int64 { return y.size }

// Rewind brings the file to the disk and returns it for reading from its beginning.
func (y *SyncFile) Rewind() (io.Reader, error) {
	if err := y.f.Sync(); err != nil {
		return nil, err
	}
	if _, err := y.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return y.f, nil
}

// Check returns why what the file holds cannot be loaded, as far as that shows without decoding
// values: src reads the file. The checksum is not compared. A record may have maxRecord bytes.
func (y *SyncFile) Check(src io.Reader, maxRecord int64) error {
	n, err := rdb.Skim(src, rdb.ReadOptions{NoChecksum: true, MaxRecord: maxRecord})
	var content *rdb.Error
	switch has := y.s.ks.Databases(); {
	case errors.As(err, &content):
		return errors.New(explain(err))
	case err == nil && n > has:
		return fmt.Errorf("database %d does not exist: the server has %d (directive databases)",
			n-1, has)
	}
	return err
}

// Keep makes the file the snapshot file: a restart finds what the master has sent. It is called
// with the executor, so that no save can put a newer file there before. The SyncFile is not used
// any more, whatever comes of it.
func (y *SyncFile) Keep() error {
	if y.final == "" {
		y.Discard()
		return nil
	}
	err := y.f.Close()
	if err == nil {
		err = y.s.fs.Rename(y.temp, y.final)
	}
	if err == nil {
		err = y.s.fs.SyncDir(filepath.Dir(y.final))
	}
	if err != nil {
		_ = y.s.fs.Remove(y.temp) // it may have its new name already
	}
	y.s.finished(y.temp)
	return err
}

// Discard removes the file.
func (y *SyncFile) Discard() {
	_ = y.f.Close() // nobody reads it any more
	_ = y.s.fs.Remove(y.temp)
	y.s.finished(y.temp)
}
