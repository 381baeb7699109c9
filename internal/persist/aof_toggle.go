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
		a.state = aofOff
		a.release()
		a.o.Log.Warning(
			"Godwit needs to enable the AOF but can't trigger a background AOF rewrite " +
				"operation. Check the above logs for more info about the error.")
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
		a.release()
		return
	}
	if err := a.finishFile(); err != nil {
		a.o.Log.Warning("Fail to fsync the AOF file: %s", logging.OSError(err))
	}
	a.release()
}
