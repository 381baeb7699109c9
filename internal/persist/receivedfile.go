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

// ReceivedFile is the temporary file that a master's data set is received into. It belongs to one
// goroutine, which need not hold the executor.
type ReceivedFile struct {
	s     *Store
	file  vfs.File
	temp  string
	final string
	size  int64
	since int64 // bytes that were written since the last sync
}

// syncEvery is after how many bytes a received file is synced, so that the end of it does not wait
// for all of them at once.
const syncEvery = 8 << 20

// NewReceivedFile makes a file for a data set that is to be received. It is refused if the disk has
// no room for its size in bytes, which may be unknown: 0.
func (s *Store) NewReceivedFile(size int64) (*ReceivedFile, error) {
	dir := workDir()
	if disk, ok := s.fs.(interface{ Free(dir string) int64 }); ok {
		if free := disk.Free(dir); free >= 0 && size > free {
			return nil, fmt.Errorf("the disk has no room for %d bytes: %d are free", size, free)
		}
	}
	s.received++
	temp := filepath.Join(dir, fmt.Sprintf("temp-%d.%d-%d.rdb", s.host.WallNow()/1000,
		os.Getpid(), s.received))
	file, err := s.fs.Open(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	s.unfinished(temp)
	r := &ReceivedFile{s: s, file: file, temp: temp}
	if s.cfg.DBFilename != "" {
		r.final = filepath.Join(dir, s.cfg.DBFilename)
	}
	return r, nil
}

// Write implements io.Writer.
func (r *ReceivedFile) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	r.size += int64(n)
	if r.since += int64(n); err == nil && r.since >= syncEvery {
		r.since = 0
		err = r.file.Sync()
	}
	return n, err
}

// Size returns the number of bytes that were written.
func (r *ReceivedFile) Size() int64 { return r.size }

// Rewind brings the file to the disk and returns it for reading from its beginning.
func (r *ReceivedFile) Rewind() (io.Reader, error) {
	if err := r.file.Sync(); err != nil {
		return nil, err
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return r.file, nil
}

// Check returns why what the file holds cannot be loaded, as far as that shows without decoding
// values: src reads the file. The checksum is not compared. A record may have maxRecord bytes.
func (r *ReceivedFile) Check(src io.Reader, maxRecord int64) error {
	n, err := rdb.Skim(src, rdb.ReadOptions{NoChecksum: true, MaxRecord: maxRecord})
	var content *rdb.Error
	switch has := r.s.ks.Databases(); {
	case errors.As(err, &content):
		return errors.New(explain(err))
	case err == nil && n > has:
		return fmt.Errorf("database %d does not exist: the server has %d (directive databases)",
			n-1, has)
	}
	return err
}

// Keep makes the file the snapshot file: a restart finds what the master has sent. It is called
// with the executor, so that no save can put a newer file there before. The ReceivedFile is not
// used any more, whatever comes of it.
func (r *ReceivedFile) Keep() error {
	if r.final == "" {
		r.Discard()
		return nil
	}
	err := r.file.Close()
	if err == nil {
		err = r.s.fs.Rename(r.temp, r.final)
	}
	if err == nil {
		err = r.s.fs.SyncDir(filepath.Dir(r.final))
	}
	if err != nil {
		_ = r.s.fs.Remove(r.temp) // it may have its new name already
	}
	r.s.finished(r.temp)
	return err
}

// Discard removes the file.
func (r *ReceivedFile) Discard() {
	_ = r.file.Close() // nobody reads it any more
	_ = r.s.fs.Remove(r.temp)
	r.s.finished(r.temp)
}
