package persist

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"godwit/internal/logging"
	"godwit/internal/vfs"
)

const (
	// After failureLimit failures in a row automatic rewrites are held back, for a minute at first, then twice as long each time, at most an hour.
	failureLimit    = 3
	maxDelayMinutes = 60
)

// rewriteState is everything about rewrites; see AOF for the steps.
type rewriteState struct {
	running   bool // from Rewrite until its end
	scheduled bool
	started   int64 // unix ms

	lastStatus  bool
	lastSeconds int64
	count       int64
	failures    int64 // in a row

	delayMinutes int64 // of the back-off
	nextTry      int64 // unix ms, 0: none

	tempBase string
	rdb      bool
	temp     string // incremental file under its temporary name, while turned on but not complete

	sealing    bool
	seal       *sealJob
	baseReady  bool // done, but the seal is not
	installing bool
	install    *installJob
}

// sealJob is the worker's: the end of one incremental file and the beginning of the next.
type sealJob struct {
	old     vfs.File // nil: none
	oldUpTo int64
	man     *manifest // to put in place; nil: the new file has a temporary name
	name    string
	file    vfs.File
	err     error
	done    atomic.Bool
}

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

// RewriteReply is what BGREWRITEAOF answers.
type RewriteReply uint8

// The outcomes of BGREWRITEAOF.
const (
	RewriteStarted RewriteReply = iota
	RewriteScheduled
	RewriteAlreadyRunning
	RewriteFailed
)

// Rewrite is BGREWRITEAOF: it begins a rewrite, or notes that one is to begin when a running snapshot, or the transaction of the caller (hold),
// has ended.
func (a *AOF) Rewrite(hold bool) RewriteReply {
	switch {
	case a.rw.running:
		return RewriteAlreadyRunning
	case hold || a.o.Base.Busy():
		a.rw.scheduled = true
		a.rw.failures = 0 // an administrator's wish is not held back
		return RewriteScheduled
	}
	if err := a.startRewrite(); err != nil {
		return RewriteFailed
	}
	return RewriteStarted
}

// startRewrite begins a rewrite. The error has been logged.
func (a *AOF) startRewrite() error {
	a.rw.scheduled = false
	if err := a.makeDir(); err != nil {
		a.o.Log.Warning("%s", err)
		a.rw.lastStatus = false
		return err
	}
	if a.state == aofOn {
		a.flush(true)
		if a.writeErr != nil {
			a.o.Log.Warning("Can't start the AOF rewrite: what is logged cannot be written: %s", logging.OSError(a.writeErr))
			a.rw.lastStatus = false
			return a.writeErr
		}
	}
	a.rw.tempBase = a.path(fmt.Sprintf("%srewriteaof-bg-%d.aof", tempPrefix, os.Getpid()))
	a.rw.rdb = a.set.RDBPreamble
	a.rw.baseReady = false
	if err := a.o.Base.Start(a.rw.tempBase, a.rw.rdb, a.BaseDone); err != nil {
		a.o.Log.Warning("Can't start the AOF rewrite: %s", logging.OSError(err))
		a.rw.lastStatus = false
		return err
	}
	a.rw.running, a.rw.started = true, a.o.Now()
	a.lost.CompareAndSwap(lostData, lostHealing)
	a.rw.count++
	a.o.Log.Notice("Background append only file rewriting started")
	a.work.start(a)
	if a.state != aofOff {
		a.startSeal()
	}
	return nil
}

// startSeal sends the worker to finish the current incremental file and begin the next.
func (a *AOF) startSeal() {
	j := &sealJob{old: a.file, oldUpTo: a.written}
	if a.state == aofWaitRewrite {
		j.name = tempPrefix + a.o.FileName + ".incr"
		a.rw.temp = j.name
	} else {
		j.man = a.man.clone()
		j.name = j.man.addIncr(a.o.FileName)
	}
	a.db, a.stamped = -1, 0
	a.rw.sealing, a.rw.seal = true, j
	a.work.do(func() {
		j.run(a)
		j.done.Store(true)
		a.o.Wake()
	})
}

func (j *sealJob) run(a *AOF) {
	fsys := a.o.FS
	if j.old != nil {
		j.err = a.syncFile(j.old)
		a.synced1(j.oldUpTo, j.err)
		if j.err != nil {
			return
		}
	}
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE | os.O_TRUNC
	if j.file, j.err = fsys.Open(a.path(j.name), flags, 0o644); j.err != nil {
		return
	}
	renamed := false
	if j.err = fsys.SyncDir(a.dir); j.err == nil && j.man != nil {
		renamed, j.err = j.man.write(fsys, a.dir, a.o.FileName)
	}
	if j.err == nil {
		return
	}
	if renamed { // the manifest that names the new file may be the one on the disk: it is the truth now, and no write counts until it surely is
		a.dirDoubt.Store(true)
		a.o.Log.Warning("AOF rewrite: %s", logging.OSError(j.err))
		j.err = nil
		return
	}
	_ = j.file.Close()
	j.file = nil
	_ = fsys.Remove(a.path(j.name))
}

// trySeal takes the worker's result, if it is there: the next file is written to from now on. Under always it waits.
func (a *AOF) trySeal() bool {
	j := a.rw.seal
	if !j.done.Load() {
		if a.set.Fsync != FsyncAlways || a.state != aofOn {
			return false
		}
		a.work.drain()
	}
	a.rw.sealing, a.rw.seal = false, nil
	if j.err != nil {
		a.o.Log.Warning("Can't begin the next append-only file %s: %s", j.name, logging.OSError(j.err))
		if a.rw.running {
			a.o.Base.Cancel()
			a.endRewrite(false)
		}
		return true // to the old file, which has lost nothing
	}
	if !a.rw.running && a.state != aofOn { // cancelled, and turned off or waiting for the next attempt
		_ = j.file.Close()
		return true
	}
	a.o.Log.Notice("Creating AOF incr file %s on background rewrite", j.name)
	if a.file != nil {
		_ = a.file.Close() // it is synced
	}
	a.otherSize += a.fileSize
	a.fileSize = 0
	a.file, a.name = j.file, j.name
	if j.man != nil {
		a.man = j.man
	}
	a.postponed = 0
	if a.rw.baseReady {
		a.startInstall()
	}
	return true
}

// BaseDone is told of the end of a base; see BaseMaker.
func (a *AOF) BaseDone(err error) {
	if !a.rw.running {
		return
	}
	if err != nil {
		a.o.Log.Warning("Background AOF rewrite terminated with error: %s", logging.OSError(err))
		a.endRewrite(false)
		return
	}
	a.o.Log.Notice("Background AOF rewrite terminated with success")
	if a.rw.sealing && !a.trySeal() {
		a.rw.baseReady = true
		return
	}
	if a.rw.running && !a.rw.installing {
		a.startInstall()
	}
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
		a.o.Log.Notice("Successfully renamed the temporary AOF incr file %s into %s", j.temp, j.incr)
	}
	if j.err = fsys.SyncDir(a.dir); j.err != nil {
		return
	}
	j.renamed, j.err = j.man.write(fsys, a.dir, a.o.FileName)
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
	if j.err != nil {
		a.dirDoubt.Store(true)
	} else if a.lost.CompareAndSwap(lostHealing, lostNothing) {
		a.asked = -1 // what was synced meanwhile counts after another sync
	}
	if a.state == aofWaitRewrite {
		a.state = aofOn
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
		a.rw.temp = ""
		a.dropFile()
		_ = a.o.FS.Remove(a.path(j.incr))
	}
}

// endRewrite accounts for the end of a rewrite.
func (a *AOF) endRewrite(ok bool) {
	rw := &a.rw
	rw.running, rw.baseReady = false, false
	rw.lastStatus = ok
	rw.lastSeconds = (a.o.Now() - rw.started) / 1000
	if ok {
		rw.failures = 0
	} else {
		rw.failures++
		_ = a.o.FS.Remove(rw.tempBase)
	}
	if a.state == aofWaitRewrite {
		a.dropFile()
		rw.scheduled = true
	}
}

// dropFile forgets the incremental file of an attempt to turn the log on, and what was to go into it.
func (a *AOF) dropFile() {
	if a.state != aofWaitRewrite {
		return
	}
	if a.file != nil {
		_ = a.file.Close()
		a.file = nil
	}
	if a.rw.temp != "" {
		_ = a.o.FS.Remove(a.path(a.rw.temp))
		a.rw.temp = ""
	}
	a.forgetBuffer()
	a.fileSize = 0
}

// forgetBuffer drops what is buffered; the stream goes on behind it.
func (a *AOF) forgetBuffer() {
	a.buf, a.full, a.fullBytes, a.spare, a.db, a.postponed = nil, nil, 0, nil, -1, 0
	a.written, a.asked = a.appended, a.appended
	a.raiseSynced(a.appended) // nobody is to wait for it
}

// rewriteCron begins rewrites that are due and takes the worker's results.
func (a *AOF) rewriteCron(now int64) {
	rw := &a.rw
	if rw.sealing && a.trySeal() && a.state != aofOff && a.writeErr == nil {
		a.flush(false)
	}
	if rw.installing {
		a.tryInstall()
	}
	a.historyDeleted()
	if a.o.Base == nil || rw.running || rw.sealing || a.o.Base.Busy() {
		return
	}
	if rw.scheduled && !a.held(now) {
		_ = a.startRewrite() // logged; lastStatus tells
		if !rw.running {
			rw.failures++
			rw.scheduled = a.state == aofWaitRewrite
		}
		return
	}
	if a.state != aofOn || a.set.RewritePercentage == 0 || a.size() <= a.set.RewriteMinSize {
		return
	}
	growth := a.size()*100/max(a.baseSize, 1) - 100
	if growth >= a.set.RewritePercentage && !a.held(now) {
		a.o.Log.Notice("Starting automatic rewriting of AOF on %d%% growth", growth)
		if a.startRewrite() != nil {
			rw.failures++
		}
	}
}

// held reports whether failures hold automatic rewrites back.
func (a *AOF) held(now int64) bool {
	rw := &a.rw
	if rw.failures < failureLimit {
		rw.delayMinutes, rw.nextTry = 0, 0
		return false
	}
	if rw.nextTry != 0 {
		if now < rw.nextTry {
			return true
		}
		rw.nextTry = 0
		return false
	}
	rw.delayMinutes = min(max(1, 2*rw.delayMinutes), maxDelayMinutes)
	rw.nextTry = now + rw.delayMinutes*60_000
	a.o.Log.Warning("Background AOF rewrite has repeatedly failed and triggered the limit, will retry in %d minutes", rw.delayMinutes)
	return true
}

// cancelRewrite ends a running rewrite without a result.
func (a *AOF) cancelRewrite() {
	a.settle()
	if a.rw.running {
		if !a.rw.installing {
			a.o.Base.Cancel()
		}
		status, failures, seconds := a.rw.lastStatus, a.rw.failures, a.rw.lastSeconds
		a.endRewrite(false)
		a.rw.lastStatus, a.rw.failures, a.rw.lastSeconds = status, failures, seconds // it has not failed, nobody wants it any more
	}
	a.rw.scheduled = false
}

// Enable turns the log on at run time: a rewrite begins, and only once it is complete does the log count (until then a restart
// finds what was there before). hold says that the rewrite has to wait, for the caller's transaction.
func (a *AOF) Enable(hold bool) error {
	if a.state != aofOff {
		return nil
	}
	a.forgetBuffer()
	a.fileSize, a.otherSize, a.writeErr = 0, 0, nil
	a.work.err.Store(nil)
	a.lastSync = a.o.Now()
	if a.rw.running {
		a.o.Log.Warning("AOF was enabled but there is already an AOF rewriting in background. Stopping background AOF and starting a rewrite now.")
		a.cancelRewrite()
	}
	a.state = aofWaitRewrite
	if hold || a.o.Base.Busy() {
		a.rw.scheduled = true
		a.o.Log.Notice("AOF was enabled but there is already another background operation. An AOF background was scheduled to start when possible.")
		return nil
	}
	if err := a.startRewrite(); err != nil {
		a.state = aofOff
		a.o.Log.Warning("Godwit needs to enable the AOF but can't trigger a background AOF rewrite operation. Check the above logs for more info about the error.")
		return ErrEnable
	}
	return nil
}

// Disable turns the log off at run time. Its files stay.
func (a *AOF) Disable() {
	if a.state == aofOff {
		return
	}
	a.cancelRewrite()
	if a.state == aofWaitRewrite {
		a.dropFile()
		a.rw.scheduled = false
		a.state = aofOff
		return
	}
	if err := a.finishFile(); err != nil {
		a.o.Log.Warning("Fail to fsync the AOF file: %s", logging.OSError(err))
	}
}

// historyJob is the deletion of history files by a goroutine of its own: the kernel takes long over a large file.
type historyJob struct {
	names map[string]bool
	done  atomic.Bool
}

// deleteHistory deletes history files in the background; then cron takes their lines out of the manifest. A crash in between leaves lines without
// files, and the next start goes on from there.
func (a *AOF) deleteHistory() {
	if len(a.man.history) == 0 || a.set.KeepHistory || a.gc != nil {
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
	a.work.do(func() {
		if _, err := m.write(a.o.FS, a.dir, a.o.FileName); err != nil {
			a.o.Log.Warning("AOF manifest: %s", logging.OSError(err))
		}
	})
	a.deleteHistory()
}
