package persist

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/internal/logging"
	"godwit/internal/vfs"
)

// The folder of the log has one owner
//
//	appendonlydir/appendonly.aof.lock   locked by the process that writes the log; has its pid
//
// The lock comes before anything in the folder is read, because loading may cut off a torn end,
// which another server might just be writing. It is held while the log is on and while anything is
// still being done for it: a rewrite that BGREWRITEAOF began although the log is off, files that
// are being deleted. The system ends it with the process.
//
// What the manifest on the disk says is read anew whenever the lock has been taken: another server
// may have been here since.
//
// The folder is named by its full path from then on. CONFIG SET dir moves the process, but not the
// log: half of it would be here, half there. The log moves when it is turned off and on.

const (
	lockSuffix = ".lock"
	// lockPatience is how long a start waits for the folder: its owner may have been killed just
	// now. endPatience is how long if the owner is known to be at its end: to give a large memory
	// back takes seconds.
	lockPatience = 2 * time.Second
	endPatience  = time.Minute
	lockPoll     = 20 * time.Millisecond
)

// locate finds the folder, unless the log has one.
func (a *AOF) locate() {
	if a.owned {
		return
	}
	a.root = a.o.Dir()
	a.dir = filepath.Join(a.root, a.o.DirName)
}

func (a *AOF) path(name string) string { return filepath.Join(a.dir, name) }

// take makes the folder this process's, and creates it if there is none. While another process has
// it, take tries again for as long as patience says, or longer if that process is ending; without
// patience it tries once. An error says that another process has the folder, or that there can be
// none. A file system without locks is only warned of.
func (a *AOF) take(patience time.Duration) error {
	if a.owned {
		return nil
	}
	a.locate()
	if err := a.makeDir(); err != nil {
		return err
	}
	for begin := time.Now(); ; time.Sleep(lockPoll) {
		lock, err := a.o.FS.Lock(a.path(a.o.FileName + lockSuffix))
		var other *vfs.LockedError
		switch {
		case err == nil:
			a.lock, a.owned = lock, true
			return nil
		case !errors.As(err, &other):
			a.o.Log.Warning("The folder %s cannot be locked (%s): "+
				"nothing keeps a second server out of it.",
				a.dir, logging.OSError(err))
			a.lock, a.owned = nil, true
			return nil
		}
		if other.Ending && patience > 0 && patience < endPatience {
			a.o.Log.Notice("The process with pid %d still has the folder %s, but is ending: "+
				"waiting for that.",
				other.PID, a.dir)
			patience = endPatience
		}
		if time.Since(begin) >= patience {
			return &FolderError{a.dir, other.PID}
		}
	}
}

// FolderError says that another process has the folder.
type FolderError struct {
	Dir string
	PID int // 0: not known
}

// Error implements error.
func (e *FolderError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("the process with pid %d", e.PID)
	}
	return fmt.Sprintf("the append-only folder %s is in use by %s. Stop that, "+
		"or give this server a folder of its own (dir or appenddirname)",
		e.Dir, who)
}

// release gives the folder back, once the log is off and nothing is going on in it.
func (a *AOF) release() {
	if !a.owned || a.state != aofOff || a.loading || a.gc != nil ||
		a.rw.running || a.rw.sealing || a.rw.installing {
		return
	}
	a.work.stop() // the last manifest may still be on its way
	if a.lock != nil {
		_ = a.lock.Close() // it ends with the process at the latest
	}
	a.lock, a.owned = nil, false
}

// adopt takes the folder and what its manifest says, for a log that is off. What is there stays as
// it is, and is found by a start, until a manifest that names other files is durable.
func (a *AOF) adopt() error {
	if err := a.take(0); err != nil {
		return err
	}
	m, found, err := readManifest(a.o.FS, a.dir, a.o.FileName)
	if err != nil {
		return err
	}
	if !found {
		a.skipStrays(m)
	}
	if err := m.extensible(); err != nil {
		return err
	}
	a.man = m
	a.removeLeftovers()
	return nil
}

// skipStrays makes the numbers go on after those of files that no manifest names. Such files may be
// all that is left of a data set.
func (a *AOF) skipStrays(m *manifest) {
	list, _ := a.o.FS.ReadDir(a.dir)
	for _, f := range list {
		seq, kind, ok := a.ofLog(f.Name())
		switch {
		case !ok:
			continue
		case kind == fileIncr:
			m.incrSeq = max(m.incrSeq, seq)
		default:
			m.baseSeq = max(m.baseSeq, seq)
		}
		a.o.Log.Notice("No manifest names the file %s. It stays as it is.", f.Name())
	}
}

// ofLog tells whether a file's name is one that files of this log have, and which.
func (a *AOF) ofLog(name string) (seq int64, kind byte, ok bool) {
	rest, ok := strings.CutPrefix(name, a.o.FileName+".")
	number, suffix, _ := strings.Cut(rest, ".")
	seq, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || seq < 0 || seq > maxSeq {
		return 0, 0, false
	}
	switch suffix {
	case "incr.aof":
		return seq, fileIncr, true
	case "base.aof", "base.rdb":
		return seq, fileBase, true
	}
	return 0, 0, false
}

// makeDir makes the log's folder if there is none. It does not make the folder above: where that
// has gone, its volume may be unmounted or moved.
func (a *AOF) makeDir() error {
	if _, err := a.o.FS.Stat(a.root); err != nil {
		return fmt.Errorf("can't open the folder %s: %s", a.root, logging.OSError(err))
	}
	if err := a.o.FS.MkdirAll(a.dir, 0o755); err != nil {
		return fmt.Errorf("can't open or create append-only dir %s: %s",
			a.o.DirName, logging.OSError(err))
	}
	if err := a.o.FS.SyncDir(a.root); err != nil {
		return fmt.Errorf("can't sync the folder %s: %s", a.root, logging.OSError(err))
	}
	return nil
}

// removeLeftovers deletes what a crash left under temporary names.
func (a *AOF) removeLeftovers() {
	list, err := a.o.FS.ReadDir(a.dir)
	if err != nil {
		return
	}
	for _, f := range list {
		n := f.Name()
		if strings.HasPrefix(n, tempPrefix+"rewriteaof-") ||
			strings.HasPrefix(n, tempPrefix+a.o.FileName+".") {
			_ = a.o.FS.Remove(a.path(n))
		}
	}
}
