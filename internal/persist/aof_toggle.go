package persist

import (
	"godwit/internal/logging"
	"godwit/internal/propagation"
)

// dropFile forgets the incremental file of an attempt to turn the log on, and what was to go into
// it.
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
	end := a.Offset()
	a.out = propagation.Buffer{DB: propagation.NoDB}
	a.full, a.fullBytes, a.spare, a.postponed = nil, 0, nil, 0
	a.written, a.asked = end, end
	a.raiseSynced(end) // nobody is to wait for it
}

// cancelRewrite ends a running rewrite without a result.
func (a *AOF) cancelRewrite() {
	a.settle()
	if a.rw.running {
		a.o.Base.Cancel()
		// It has not failed, nobody wants it any more.
		status, failures, seconds := a.rw.lastStatus, a.rw.failures, a.rw.lastSeconds
		a.endRewrite(false)
		a.rw.lastStatus, a.rw.failures, a.rw.lastSeconds = status, failures, seconds
	}
	a.rw.scheduled = false
}

// Enable turns the log on at run time. It begins a rewrite. The log counts when that is complete:
// until then a restart finds what was there before. The files go on from what the manifest on the
// disk says. hold says that the rewrite must wait for the caller's transaction.
func (a *AOF) Enable(hold bool) error {
	if a.state != aofOff {
		return nil
	}
	a.forgetBuffer()
	a.fileSize, a.otherSize, a.writeErr = 0, 0, nil
	a.work.err.Store(nil)
	a.lastSync = a.o.Now()
	if a.rw.running {
		a.o.Log.Warning("AOF was enabled but there is already an AOF rewriting in background. " +
			"Stopping background AOF and starting a rewrite now.")
		a.cancelRewrite()
	}
	if err := a.adopt(); err != nil {
		a.o.Log.Warning("The append-only file can't be turned on: %s", err)
		a.release()
		return ErrEnable
	}
	a.state = aofWaitRewrite
	wanted := a.insist.wanted
	a.insist.wanted = false
	if hold || a.o.Base.Busy() {
		a.rw.scheduled = true
		when := "but there is already another background operation"
		if hold {
			when = "during a transaction"
		}
		a.o.Log.Notice("AOF was enabled %s. "+
			"An AOF background was scheduled to start when possible.", when)
		return nil
	}
	if err := a.startRewrite(); err != nil {
		a.state, a.insist.wanted = aofOff, wanted
		a.release()
		a.o.Log.Warning(
			"Godwit needs to enable the AOF but can't trigger a background AOF rewrite " +
				"operation. Check the above logs for more info about the error.")
		return ErrEnable
	}
	return nil
}

// Between attempts to turn on a log that must be on there is a second, then twice as long each
// time, at most a minute.
const (
	firstEnableDelay = 1000
	maxEnableDelay   = 60_000
)

// insistState is about a log that must be on and could not be turned on.
type insistState struct {
	wanted bool
	delay  int64 // ms
	next   int64 // attempt, steady ms
}

// Insist is Enable for a log that must not stay off. If it cannot be turned on now, Cron goes on
// trying, and WriteError says so meanwhile. Disable ends that.
func (a *AOF) Insist(hold bool) {
	if a.Enable(hold) == nil {
		return
	}
	a.insist = insistState{true, firstEnableDelay, a.o.Now() + firstEnableDelay}
	a.o.Log.Warning("The append-only file must be on, so turning it on is tried again. Until " +
		"that succeeds nothing is logged, and writes are refused.")
}

// retryEnable turns a log on that Insist could not turn on.
func (a *AOF) retryEnable(now int64) {
	in := &a.insist
	if !in.wanted || now < in.next {
		return
	}
	if a.Enable(false) == nil { // which clears wanted
		a.o.Log.Notice("The append-only file could be turned on at last.")
		return
	}
	in.delay = min(2*in.delay, maxEnableDelay)
	in.next = now + in.delay
}

// Disable turns the log off at run time. Its files stay.
func (a *AOF) Disable() {
	a.insist.wanted = false
	if a.state == aofOff {
		return
	}
	a.cancelRewrite()
	if a.state == aofWaitRewrite {
		a.dropFile()
		a.rw.scheduled = false
		a.state = aofOff
		a.release()
		return
	}
	if err := a.finishFile(); err != nil {
		a.o.Log.Warning("Fail to fsync the AOF file: %s", logging.OSError(err))
	}
	a.release()
}
