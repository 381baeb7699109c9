package persist

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	"godwit/internal/crash"
	"godwit/internal/logging"
)

// historyJob is the deletion of history files by a goroutine of its own: the kernel takes long over
// a large file.
type historyJob struct {
	names map[string]bool
	done  atomic.Bool
}

// deleteHistory deletes history files in the background; then cron takes their lines out of the
// manifest. A crash in between leaves lines without files, and the next start goes on from there.
// While it is not certain that the manifest is durable, the one on the disk may still need them.
func (a *AOF) deleteHistory() {
	if len(a.man.history) == 0 || a.set.KeepHistory || a.gc != nil || a.dirDoubt.Load() {
		return
	}
	j := &historyJob{names: map[string]bool{}}
	for _, f := range a.man.history {
		a.o.Log.Notice("Removing the history file %s in the background", f.name)
		j.names[f.name] = true
	}
	a.gc = j
	fsys, dir := a.o.FS, a.dir
	go func() {
		defer crash.Guard("deleting files of the log")()
		for n := range j.names {
			_ = fsys.Remove(filepath.Join(dir, n)) // what cannot be deleted is a file too many
		}
		j.done.Store(true)
	}()
}

// historyDeleted takes the lines of deleted files out of the manifest.
func (a *AOF) historyDeleted() {
	if a.gc == nil || !a.gc.done.Load() || a.rw.sealing || a.rw.installing {
		return
	}
	names := a.gc.names
	a.gc = nil
	m := a.man.clone()
	m.history = slices.DeleteFunc(m.history, func(f aofFile) bool { return names[f.name] })
	a.man = m
	a.work.start(a)
	a.work.do(func() {
		if _, err := m.write(a.o.FS, a.dir, a.o.FileName); err != nil {
			a.o.Log.Warning("AOF manifest: %s", logging.OSError(err))
		}
	})
	a.deleteHistory()
}
