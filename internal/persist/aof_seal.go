package persist

import (
	"os"
	"sync/atomic"

	"godwit/internal/logging"
	"godwit/internal/propagation"
	"godwit/internal/vfs"
)

// Stages of the log: which byte belongs to which file
//
// The stream of propagated commands is one sequence of bytes. At every moment they are divided so:
//
//	           synced ≤ asked ≤ written           ≤ Offset
//	───────────────────────────┬──────────────────────────┐
//	 in files                  │ in the buffer            │
//	───────────────────────────┴──────────────────────────┘
//
// The buffer belongs to one file as a whole. Which one, and whether that can be written to, depends
// on the stage:
//
//	stage        state        the buffer belongs to                    may be written
//	off          off          nothing: it is empty                     —
//	waiting      waitRewrite  nothing: it is empty, the next base      —
//	                          will have what happens until it begins
//	logging      on           file                                     yes
//	sealing      on           the file that the worker is creating     when the seal has been taken
//	             waitRewrite  the same, under its temporary name       when the seal has been taken
//	sealed       both         file, which the seal made                yes
//	installing   both         the same; its name may change            yes
//
// Rewrite cuts the stream: it writes the buffer to file, all of it, and only then sends the seal to
// the worker. So nothing that is propagated later may go to the old file: a new base replaces that,
// and what is in it counts no more.
//
// Invariants:
//
//   - While sealing, written is the cut: bytes are written again once trySeal has put the new file
//     in the place of the old one, or has found that there is none, so that the old one goes on.
//   - Everything that writes goes through flush, which takes the seal first. Whoever must have the
//     bytes on disk before it goes on (force) waits for the worker.
//   - A file is synced as a whole before a manifest names the next, so what a power failure leaves
//     is a prefix of the stream.
//   - One seal, one installation, and one rewrite at a time. The next one begins when the last
//     one's results have been taken, even if the rewrite itself has failed or was called off long
//     before.
//   - What a directive says takes effect where it is read: the policy of syncs in flush, preamble,
//     compression and the like at the beginning of a rewrite. Bytes synced under another policy
//     count as asked for under it only: see Configure.
//   - Which database is selected is the buffer's, so the next file begins with a SELECT. So it is
//     with the place in the history of replication: aof_place.go.

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

// startSeal sends the worker to finish the current incremental file and begin the next. The buffer
// is empty.
func (a *AOF) startSeal() {
	j := &sealJob{old: a.file, oldUpTo: a.written}
	if a.state == aofWaitRewrite {
		j.name = tempPrefix + a.o.FileName + ".incr"
		a.rw.temp = j.name
	} else {
		j.man = a.man.clone()
		j.name = j.man.addIncr(a.o.FileName)
	}
	a.out.DB, a.stamped, a.place = propagation.NoDB, 0, ReplPoint{}
	a.rw.sealing, a.rw.seal = true, j
	a.notePlace(false)
	a.work.do(func() {
		j.run(a)
		j.done.Store(true)
		a.o.Wake()
	})
}

func (j *sealJob) run(a *AOF) {
	fsys := a.o.FS
	if j.old != nil {
		j.err = a.fsync(j.old)
		a.noteSync(j.oldUpTo, j.err)
		if j.err != nil {
			return
		}
	}
	if j.file, j.err = a.create(j.name); j.err != nil {
		return
	}
	renamed := false
	if j.err = fsys.SyncDir(a.dir); j.err == nil && j.man != nil {
		renamed, j.err = j.man.write(fsys, a.dir, a.o.FileName)
	}
	if j.err == nil {
		return
	}
	if renamed {
		// The manifest that names the new file may be the one on the disk: it is the truth now, and
		// no write counts until it surely is.
		a.dirDoubt.Store(true)
		a.o.Log.Warning("AOF rewrite: %s", logging.OSError(j.err))
		j.err = nil
		return
	}
	_ = j.file.Close()
	j.file = nil
	_ = fsys.Remove(a.path(j.name))
}

// create makes a file of the log. One of that name may have been left behind with data in it; that
// it is empty now has to be durable before the name counts.
func (a *AOF) create(name string) (vfs.File, error) {
	info, err := a.o.FS.Stat(a.path(name))
	left := err == nil && info.Size() > 0
	f, err := a.o.FS.Open(a.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	if left {
		if err := f.Sync(); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return f, nil
}

// trySeal takes the worker's result, if it is there: the next file is written to from now on. With
// wait it is there, and so it is under always, whose replies wait anyway.
func (a *AOF) trySeal(wait bool) bool {
	j := a.rw.seal
	if !j.done.Load() {
		if !wait && (a.set.Fsync != FsyncAlways || a.state != aofOn) {
			return false
		}
		a.work.drain()
	}
	a.rw.sealing, a.rw.seal = false, nil
	if j.err != nil {
		a.o.Log.Warning("Can't begin the next append-only file %s: %s",
			j.name, logging.OSError(j.err))
		if a.rw.running {
			a.o.Base.Cancel()
			a.endRewrite(false)
		}
		return true // to the old file, which has lost nothing
	}
	if !a.rw.running && a.state != aofOn {
		// It was cancelled, and the log is off or waits for the next attempt.
		_ = j.file.Close()
		_ = a.o.FS.Remove(a.path(j.name))
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

// settle waits for the worker and takes its results, until nothing is under way but the base of a
// rewrite.
func (a *AOF) settle() {
	a.work.drain()
	for a.rw.sealing || a.rw.installing {
		a.work.drain()
		if a.rw.sealing {
			a.trySeal(true)
		} else {
			a.tryInstall()
		}
	}
}
