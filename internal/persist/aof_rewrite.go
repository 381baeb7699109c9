package persist

import (
	"fmt"
	"os"

	"godwit/internal/logging"
)

const (
	// After failureLimit failures in a row automatic rewrites are held back, for a minute at first,
	// then twice as long each time, at most an hour.
	failureLimit    = 3
	maxDelayMinutes = 60
)

// rewriteState is everything about rewrites; see AOF for the steps.
type rewriteState struct {
	running   bool // from Rewrite until its end
	scheduled bool
	started   int64 // steady ms

	lastStatus  bool
	lastSeconds int64
	count       int64
	failures    int64 // in a row

	delayMinutes int64 // of the back-off
	nextTry      int64 // steady ms, 0: none

	tempBase string
	rdb      bool
	temp     string // incremental file under its temporary name, while turned on but not complete

	sealing    bool
	seal       *sealJob
	baseReady  bool // done, but the seal is not
	installing bool
	install    *installJob
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

// Rewrite carries out BGREWRITEAOF. It begins a rewrite, or notes that one is to begin when a
// running snapshot, or the transaction of the caller (hold), has ended.
func (a *AOF) Rewrite(hold bool) RewriteReply {
	switch {
	case a.rw.running:
		return RewriteAlreadyRunning
	case hold || a.o.Base.Busy() || a.rw.sealing || a.rw.installing: // of one that failed
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
	var err error
	if a.owned {
		if err = a.makeDir(); err == nil { // somebody may have deleted it
			err = a.man.extensible()
		}
	} else {
		err = a.adopt()
	}
	if err != nil {
		a.o.Log.Warning("Can't start the AOF rewrite: %s", err)
		a.rw.lastStatus = false
		return err
	}
	if a.state == aofOn {
		a.flush(true)
		if a.writeErr != nil {
			a.o.Log.Warning("Can't start the AOF rewrite: what is logged cannot be written: %s",
				logging.OSError(a.writeErr))
			a.rw.lastStatus = false
			return a.writeErr
		}
	}
	a.rw.tempBase = a.path(fmt.Sprintf("%s%s.rewrite-%d", tempPrefix, a.o.FileName, os.Getpid()))
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
	if a.rw.sealing && !a.trySeal(false) {
		a.rw.baseReady = true
		return
	}
	if a.rw.running && !a.rw.installing {
		a.startInstall()
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
		a.o.Base.Over("")
		_ = a.o.FS.Remove(rw.tempBase)
	}
	if a.state == aofWaitRewrite {
		a.dropFile()
		rw.scheduled = true
	}
}

// rewriteCron begins rewrites that are due and takes the worker's results.
func (a *AOF) rewriteCron(now int64) {
	rw := &a.rw
	if rw.sealing && a.trySeal(false) && a.state != aofOff && a.writeErr == nil {
		a.flush(false)
	}
	if rw.installing {
		a.tryInstall()
	}
	a.historyDeleted()
	a.release()
	if a.o.Base == nil || rw.running || rw.sealing || rw.installing || a.o.Base.Busy() {
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
	growth, much := a.growth()
	if much && !a.held(now) {
		a.o.Log.Notice("Starting automatic rewriting of AOF on %d%% growth", growth)
		if a.startRewrite() != nil {
			rw.failures++
		}
	}
}

// growth returns by how many per cent the log has grown since the last rewrite, and whether that
// asks for another one.
func (a *AOF) growth() (growth int64, much bool) {
	if a.state != aofOn || a.set.RewritePercentage == 0 || a.size() <= a.set.RewriteMinSize {
		return 0, false
	}
	growth = a.size()*100/max(a.baseSize, 1) - 100
	return growth, growth >= a.set.RewritePercentage
}

// RewriteDue reports whether Cron is about to begin a rewrite whose base is an RDB file.
func (a *AOF) RewriteDue() bool {
	rw := &a.rw
	if !a.set.RDBPreamble || rw.failures >= failureLimit || rw.running || rw.sealing ||
		rw.installing {
		return false
	}
	_, much := a.growth()
	return rw.scheduled || much
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
	a.o.Log.Warning("Background AOF rewrite has repeatedly failed and triggered the limit, "+
		"will retry in %d minutes", rw.delayMinutes)
	return true
}
