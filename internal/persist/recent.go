package persist

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"godwit/internal/persist/rdb"
	"godwit/internal/vfs"
)

// SnapshotFile is a file with the data set as of a place in the history of replication: the
// snapshot file, or the base of the log. A replica that is sent it, and the stream from there on,
// has what it would have after a snapshot of now.
type SnapshotFile struct {
	// Point is the place. The base of a log does not tell it: the stream that follows must begin
	// with a SELECT, or in database 0.
	Point ReplPoint
	Base  bool
	// SentTo has the names of the replicas that the file was sent to. It is the sender's.
	SentTo map[string]bool

	stale  bool // see ForgetFiles
	fs     vfs.FS
	format *RDBFormat // nil when the file is complete

	// These are of a complete file.
	target  rdb.Target
	version int
	path    string
	info    os.FileInfo
}

// Size returns the length of the complete file in bytes.
func (f *SnapshotFile) Size() int64 { return f.info.Size() }

// Name returns the name of the complete file.
func (f *SnapshotFile) Name() string { return filepath.Base(f.path) }

// Serves reports whether the complete file tells those who read files for the target what one that
// is made for them would.
func (f *SnapshotFile) Serves(t rdb.Target) bool {
	if f.target == t && !f.Base {
		return true
	}
	return f.target == rdb.Auto && t.Reads(f.version)
}

// Open opens the complete file for reading. It fails if that is not the one that was written any
// more.
func (f *SnapshotFile) Open() (io.ReadCloser, error) {
	file, err := f.fs.Open(f.path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.fs.Stat(f.path)
	if err == nil && (now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime())) {
		err = fmt.Errorf("%s has been changed by somebody else", f.path)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// recentFiles are what replicas may be sent.
type recentFiles struct {
	save, base *SnapshotFile // the last complete ones, nil if there is none
	coming     *SnapshotFile // the base that the log is putting in its place
}

// snapshotFile returns what is known of a file that is begun, nil if no replica could go on from
// it.
func (s *Store) snapshotFile(format *RDBFormat, base bool) *SnapshotFile {
	p, ok := s.host.Replication()
	if !ok || base && !s.host.Reselect() && p.DB != 0 {
		return nil
	}
	return &SnapshotFile{Point: p, Base: base, SentTo: map[string]bool{}, fs: s.fs, format: format}
}

// complete notes that the file has got its name. It returns nil if that is not worth anything.
func (f *SnapshotFile) complete(path string) *SnapshotFile {
	if f == nil || f.stale {
		return nil
	}
	info, err := f.fs.Stat(path)
	if err != nil {
		return nil
	}
	f.path, f.info = path, info
	f.target, f.version, f.format = f.format.o.Target, f.format.Version(), nil
	return f
}

// RecentFiles returns the files that were completed last, the latest place first.
func (s *Store) RecentFiles() (list []*SnapshotFile) {
	for _, f := range []*SnapshotFile{s.recent.save, s.recent.base} {
		if f != nil {
			list = append(list, f)
		}
	}
	if len(list) == 2 && list[0].Point.Offset < list[1].Point.Offset {
		list[0], list[1] = list[1], list[0]
	}
	return list
}

// ComingFile returns the file that is being written, nil if there is none. It is one of RecentFiles
// when it is complete.
func (s *Store) ComingFile() *SnapshotFile {
	f := s.recent.coming
	if s.job != nil && s.job.file != nil {
		f = s.job.file
	}
	if f == nil || f.stale {
		return nil
	}
	return f
}

// ForgetFiles empties the list, and has no file that is being written come to it: the data set has
// changed in a way that no stream tells.
func (s *Store) ForgetFiles() {
	if f := s.ComingFile(); f != nil {
		f.stale = true
	}
	s.recent = recentFiles{}
}

// ForgetFile takes a file off the RecentFiles.
func (s *Store) ForgetFile(f *SnapshotFile) {
	if s.recent.save == f {
		s.recent.save = nil
	}
	if s.recent.base == f {
		s.recent.base = nil
	}
}
