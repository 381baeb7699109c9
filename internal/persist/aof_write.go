package persist

import (
	"math"
	"syscall"
	"time"

	"godwit/internal/logging"
	"godwit/internal/propagation"
	"godwit/internal/vfs"
)

const (
	// bufferChunk is how many bytes are collected in one piece: what has to wait for a slow disk
	// grows by further pieces, so that nothing is ever copied.
	bufferChunk = 256 << 10
	// keepChunks is how many empty pieces are kept, and keepChunk the size in bytes up to which one
	// is.
	keepChunks = 16
	keepChunk  = 2 * bufferChunk
	// writeAtOnce bounds in bytes what one batch writes of a backlog, unless its replies wait for
	// all of it: about a millisecond's worth.
	writeAtOnce = 4 << 20
	// postponeMs is how long a write waits for a sync to end under everysec.
	postponeMs = 2000
	// logErrorEvery is the least time in ms between two lines about writes that fail.
	logErrorEvery = 30_000
	// retryEvery is the time in ms between two attempts to write after one that failed.
	retryEvery = 1000
)

// BeginUnit implements propagation.Target.
func (a *AOF) BeginUnit(int) *propagation.Buffer {
	if a.loading || a.state == aofOff || a.state == aofWaitRewrite && !a.rw.running {
		return nil
	}
	if len(a.out.B) >= bufferChunk {
		a.nextChunk()
	}
	if a.set.Timestamps {
		a.stamp()
	}
	return &a.out
}

// nextChunk begins another piece of the buffer. Pieces end where units end.
func (a *AOF) nextChunk() {
	a.full = append(a.full, a.out.B)
	a.fullBytes += len(a.out.B)
	a.out.B = nil
	if n := len(a.spare); n > 0 {
		a.out.B = a.spare[n-1]
		a.spare = a.spare[:n-1]
	}
	if a.out.B == nil {
		a.out.B = make([]byte, 0, bufferChunk+bufferChunk/4)
	}
}

// buffered returns the bytes that wait to be written.
func (a *AOF) buffered() int { return a.fullBytes + len(a.out.B) }

// stamp appends an annotation with the time, at most one a second and one at the start of each
// file: what --check-aof --truncate-to-timestamp goes by.
func (a *AOF) stamp() {
	now := a.o.Clock()
	if now <= a.stamped {
		return
	}
	a.stamped = now
	a.out.B = appendTimestamp(a.out.B, now)
}

// EndBatch implements propagation.Target. Under always it returns when the batch is on disk.
func (a *AOF) EndBatch() {
	a.cost = 0
	if a.state == aofOff {
		return
	}
	if a.Offset() != a.placed {
		a.notePlace(false)
	}
	if a.rw.sealing && !a.trySeal(false) {
		return
	}
	if a.asked == a.Offset() || a.writeErr != nil {
		return
	}
	a.flush(false)
}

// flush writes the buffer to the file that it belongs to, and syncs by the policy. Unless force is
// set it may postpone both: for a sync that is running, and for the worker, who may still be making
// that file. See the stages in aof_seal.go.
func (a *AOF) flush(force bool) {
	if a.rw.sealing && !a.trySeal(force) || a.file == nil {
		return
	}
	now := a.o.Now()
	syncing := false
	if a.set.Fsync == FsyncEverySec {
		syncing = a.work.syncing.Load() > 0
	}
	if a.buffered() > 0 {
		if syncing && !force && a.postpone(now) {
			return
		}
		limit := writeAtOnce
		if force || a.set.Fsync == FsyncAlways {
			limit = math.MaxInt
		}
		if !a.write(now, limit, syncing) {
			return
		}
	}
	a.syncByPolicy(now, syncing)
}

// postpone decides whether a write waits for the sync that is running.
func (a *AOF) postpone(now int64) bool {
	if a.postponed == 0 {
		a.postponed = now
		return true
	}
	if now-a.postponed < postponeMs {
		return true
	}
	a.delayed++
	a.o.Log.Notice("Asynchronous AOF fsync is taking too long (disk is busy?). " +
		"Writing the AOF buffer without waiting for fsync to complete, this may slow down Godwit.")
	return false
}

// write writes the buffer, up to the first piece that exceeds the limit, and reports success. After
// a failure the file ends where a piece ended, if that can be had.
func (a *AOF) write(now int64, limit int, syncing bool) bool {
	start := time.Now()
	time.Sleep(a.sleep)
	ok := true
	for ok && len(a.full) > 0 && limit > 0 {
		limit -= len(a.full[0])
		if a.full[0], ok = a.writeChunk(now, a.full[0]); ok {
			a.recycle()
		}
	}
	if ok && len(a.full) == 0 && len(a.out.B) > 0 {
		if a.out.B, ok = a.writeChunk(now, a.out.B); ok && cap(a.out.B) > keepChunk {
			a.out.B = nil
		}
	}
	took := time.Since(start)
	a.spent += took
	a.writeLatency(took.Milliseconds(), syncing)
	a.postponed = 0
	if ok && a.writeErr != nil {
		a.writeErr = nil
		a.o.Log.Notice("AOF write error looks solved, Godwit can write again.")
	}
	return ok
}

// recycle takes the first piece, which is written, off the list.
func (a *AOF) recycle() {
	b := a.full[0]
	a.full[0] = nil
	if a.full = a.full[1:]; len(a.full) == 0 {
		a.full = nil
	}
	if len(a.spare) < keepChunks && cap(b) <= keepChunk {
		a.spare = append(a.spare, b)
	}
}

// writeChunk writes a piece of the buffer and returns what is left of it: nothing, or after a
// failure usually all.
func (a *AOF) writeChunk(now int64, b []byte) (left []byte, ok bool) {
	n, err := a.file.Write(b)
	if err == nil && n == len(b) {
		a.wrote(n)
	} else {
		n = a.writeFailed(now, b, n, err)
	}
	if len(a.full) > 0 {
		a.fullBytes -= n
	}
	return b[:copy(b, b[n:])], err == nil && n == len(b)
}

func (a *AOF) wrote(n int) {
	a.written += int64(n)
	a.fileSize += int64(n)
}

func (a *AOF) writeLatency(ms int64, syncing bool) {
	if ms == 0 {
		return
	}
	switch {
	case syncing:
		a.o.Latency("aof-write-pending-fsync", ms)
	case a.background():
		a.o.Latency("aof-write-active-child", ms)
	default:
		a.o.Latency("aof-write-alone", ms)
	}
	a.o.Latency("aof-write", ms)
}

// background reports whether a snapshot is being written.
func (a *AOF) background() bool { return a.rw.running || a.o.Base != nil && a.o.Base.Busy() }

// writeFailed handles a write of b that has written only n bytes. It returns how many of them stay
// in the file, usually none. Those that stay are a part of the stream, and only the rest is written
// again.
func (a *AOF) writeFailed(now int64, b []byte, n int, err error) int {
	say := now-a.loggedErr > logErrorEvery || a.loggedErr == 0
	if say {
		a.loggedErr = now
	}
	if n == 0 {
		if say {
			a.o.Log.Warning("Error writing to the AOF file: %s", logging.OSError(err))
		}
	} else {
		if say {
			a.o.Log.Warning("Short write while writing to the AOF file: (nwritten=%d, expected=%d)",
				n, len(b))
		}
		if e := a.file.Truncate(a.fileSize); e == nil {
			n = 0
		} else if say {
			a.o.Log.Warning("Could not remove short write from the append-only file. "+
				"Godwit may refuse to load the AOF the next time it starts. ftruncate: %s",
				logging.OSError(e))
		}
	}
	if err == nil {
		err = syscall.ENOSPC // a short write without a reason: what Redis takes it for
	}
	if a.set.Fsync == FsyncAlways {
		a.o.Log.Warning("Can't recover from AOF write error " +
			"when the AOF fsync policy is 'always'. Exiting...")
		a.o.Exit(1)
	}
	a.writeErr, a.triedAt = err, now
	a.wrote(n)
	return n
}

// syncByPolicy syncs what is written, or has the worker do it.
func (a *AOF) syncByPolicy(now int64, syncing bool) {
	if a.asked == a.written || a.set.NoFsyncOnRewrite && a.background() {
		return
	}
	switch a.set.Fsync {
	case FsyncAlways:
		start := time.Now()
		if err := a.fsync(a.file); err != nil {
			a.o.Log.Warning("Can't persist AOF for fsync error "+
				"when the AOF fsync policy is 'always': %s. Exiting...", logging.OSError(err))
			a.o.Exit(1)
			return
		}
		a.cost = time.Since(start)
		a.spent += a.cost
		if ms := a.cost.Milliseconds(); ms > 0 {
			a.o.Latency("aof-fsync-always", ms)
		}
		a.asked, a.lastSync = a.written, now
		a.raiseSynced(a.written)
	case FsyncEverySec:
		if now-a.lastSync >= 1000 {
			if !syncing {
				a.syncInBackground()
			}
			a.lastSync = now
		}
	case FsyncNo:
		a.asked = a.written
	}
}

// What a failed sync leaves (AOF.lost): the kernel may have dropped what it could not write, and a
// later sync that works says nothing of that. Only a base that was begun afterwards brings it back.
const (
	lostNothing int32 = iota
	lostData          // and until then nothing counts as synced
	lostHealing       // a rewrite is running that was begun since
)

// fsync syncs a log file and, if that is still to do, the name under which it will be found. Any
// goroutine.
func (a *AOF) fsync(f vfs.File) error {
	if a.dirDoubt.Load() {
		if err := a.o.FS.SyncDir(a.dir); err != nil {
			return err
		}
		a.dirDoubt.Store(false)
	}
	return f.Sync()
}

// raiseSynced notes up to where the stream is on disk, unless there may be a gap before.
func (a *AOF) raiseSynced(to int64) {
	for a.lost.Load() == lostNothing {
		was := a.synced.Load()
		if was >= to || a.synced.CompareAndSwap(was, to) {
			return
		}
	}
}

// syncInBackground has the worker sync what is written.
func (a *AOF) syncInBackground() {
	f, upTo := a.file, a.written
	a.asked = upTo
	a.work.syncing.Add(1)
	a.work.do(func() {
		err := a.fsync(f)
		a.noteSync(upTo, err)
		a.work.syncing.Add(-1)
		a.o.Wake()
	})
}

// noteSync notes the outcome of a sync. Any goroutine.
func (a *AOF) noteSync(upTo int64, err error) {
	w := &a.work
	if err == nil {
		a.raiseSynced(upTo)
		w.err.Store(nil)
		return
	}
	a.lost.Store(lostData)
	if w.err.Load() == nil {
		a.o.Log.Warning("Fail to fsync the AOF file: %s", logging.OSError(err))
	}
	w.err.Store(&err)
}

// Cron is called hz times a second: retries of failed writes, growth triggers, scheduled rewrites.
func (a *AOF) Cron() {
	now := a.o.Now()
	if a.state != aofOff && a.writeErr != nil && now-a.triedAt >= retryEvery {
		a.triedAt = now
		a.flush(false)
	}
	if a.state != aofOff {
		a.retrySync(now)
	}
	a.retryEnable(now)
	a.rewriteCron(now)
}

// retrySync asks for another sync after one that failed: the error, and with it the refusal of
// writes, lasts until one succeeds. What the kernel may have dropped meanwhile comes back with a
// rewrite.
func (a *AOF) retrySync(now int64) {
	if a.rw.sealing {
		return // which syncs the file, and then closes it
	}
	switch failed := a.work.syncError() != nil; {
	case failed && a.work.pending() == 0 && a.file != nil && now-a.lastSync >= 1000:
		a.lastSync = now
		a.syncInBackground()
	case !failed && a.lost.Load() == lostData && !a.rw.scheduled && !a.rw.running:
		a.rw.scheduled = true
		a.o.Log.Notice("AOF fsync works again. Rewriting the AOF, " +
			"because the system may have dropped what it could not write.")
	}
}
