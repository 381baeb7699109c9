package persist

import (
	"sync/atomic"

	"godwit/internal/logging"
)

// installJob is the worker's: the end of a rewrite.
type installJob struct {
	man     *manifest
	base    string // from its temporary name
	temp    string // incremental file with a temporary name, "": none
	incr    string
	size    int64 // of the base
	renamed bool  // the manifest is in place, whatever err says
	err     error
	done    atomic.Bool
}

// startInstall sends the worker to put the new base in place.
func (a *AOF) startInstall() {
	a.rw.baseReady = false
	m := a.man.clone()
	j := &installJob{man: m, temp: a.rw.temp}
	j.base = m.addBase(a.o.FileName, a.rw.rdb)
	switch {
	case a.state == aofOff:
		m.retireIncr(0)
	case a.rw.temp != "":
		m.retireIncr(0)
		j.incr = m.addIncr(a.o.FileName)
	default:
		m.retireIncr(1)
	}
	a.rw.installing, a.rw.install = true, j
	from := a.rw.tempBase
	a.work.do(func() {
		j.run(a, from)
		j.done.Store(true)
		a.o.Wake()
	})
}

func (j *installJob) run(a *AOF, from string) {
	fsys := a.o.FS
	info, err := fsys.Stat(from)
	if err != nil {
		j.err = err
		return
	}
	j.size = info.Size()
	if j.err = fsys.Rename(from, a.path(j.base)); j.err != nil {
		return
	}
	a.o.Log.Notice("Successfully renamed the temporary AOF base file %s into %s", from, j.base)
	if j.temp != "" {
		if j.err = fsys.Rename(a.path(j.temp), a.path(j.incr)); j.err != nil {
			return
		}
		a.o.Log.Notice("Successfully renamed the temporary AOF incr file %s into %s",
			j.temp, j.incr)
	}
	if j.err = fsys.SyncDir(a.dir); j.err != nil {
		return
	}
	j.renamed, j.err = j.man.write(fsys, a.dir, a.o.FileName)
	// A sync of the folder covers what was renamed before.
	a.dirDoubt.Store(j.err != nil && (j.renamed || a.dirDoubt.Load()))
}

// tryInstall takes the worker's result, if it is there.
func (a *AOF) tryInstall() {
	j := a.rw.install
	if !j.done.Load() {
		return
	}
	a.rw.installing, a.rw.install = false, nil
	if j.err != nil {
		a.o.Log.Warning("Can't put the rewritten AOF in place: %s", logging.OSError(j.err))
	}
	if j.err != nil && !j.renamed {
		a.undoInstall(j)
		a.endRewrite(false)
		return
	}
	a.man = j.man
	if j.incr != "" {
		a.name, a.rw.temp = j.incr, ""
	}
	if a.state != aofOff {
		a.otherSize, a.baseSize = j.size, j.size+a.fileSize
	}
	a.o.Log.Notice("Background AOF rewrite finished successfully")
	switch {
	case j.err == nil:
		if a.lost.CompareAndSwap(lostHealing, lostNothing) {
			a.asked = -1 // what was synced meanwhile counts after another sync
		}
	case a.state == aofWaitRewrite:
		a.asked = -1 // what was synced counts when the manifest does
		a.synced.Store(-1)
	}
	if a.state == aofWaitRewrite {
		a.state = aofOn
	}
	if j.err == nil {
		a.o.Base.Over(a.path(j.base))
	}
	a.endRewrite(j.err == nil)
	if j.err == nil { // else the old files may be the ones that count
		a.deleteHistory()
	}
}

// undoInstall removes the files that no manifest names.
func (a *AOF) undoInstall(j *installJob) {
	_ = a.o.FS.Remove(a.path(j.base))
	if j.incr != "" {
		// The file that is being written to may already have its new name.
		a.dropFile()
		_ = a.o.FS.Remove(a.path(j.incr))
	}
}
