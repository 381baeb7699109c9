package persist

import (
	"errors"
	"io"

	"godwit/internal/vfs"
)

// folder is the claim to the folder of the snapshot file. Two servers there replace each other's
// snapshots, but people do run several with names of their own in one folder, so a second one is
// only warned.
type folder struct {
	dir  string
	lock io.Closer // nil: another process has it, or there are no locks
}

// claimFolder locks the working directory if there are save points, and warns if another process
// has done so. It is called at the start and whenever the configuration has changed.
func (s *Store) claimFolder() {
	dir := ""
	if len(s.cfg.Save) > 0 {
		dir = workDir()
	}
	if dir == s.folder.dir {
		return
	}
	s.folder.leave()
	s.folder.dir = dir
	if dir == "" {
		return
	}
	lock, err := s.fs.Lock(dir)
	if err == nil {
		s.folder.lock = lock
		return
	}
	var other *vfs.LockedError
	if !errors.As(err, &other) {
		return // a file system without locks
	}
	s.log.Warning("WARNING: another server saves its snapshots in this folder: %s. "+
		"If both are named %s, each replaces the other's. "+
		"Give each a dir, or at least a dbfilename, of its own.", other, s.cfg.DBFilename)
}

func (f *folder) leave() {
	if f.lock != nil {
		_ = f.lock.Close() // it ends with the process at the latest
	}
	*f = folder{}
}
