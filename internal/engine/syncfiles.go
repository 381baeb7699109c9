package engine

import (
	"cmp"
	"math"
	"slices"

	"godwit/internal/persist"
)

// Full synchronization from a file
//
// The data set need not be read again for a replica if it has just been written: to the snapshot
// file, as the base of the log, or to a file for another replica. Where the backlog reaches back to
// the moment of that file, the replica is sent the file and the stream from there on. While such a
// file is being written, a replica waits for it, and the stream is pinned.
//
//	BGSAVE, base of the log    moment ─────── complete ──┐
//	replica                         PSYNC, hold          ├─→ file, then the stream
//	replica                                              └─ PSYNC ─→ file, then the stream
//
// A file is sent to a replica once: if it is damaged, the next attempt gets a snapshot.

// fileServes reports whether the replica can be sent a data set of the past instead of a snapshot.
// Who fetches an RDB file to keep it, or functions alone, gets what there is now.
func (e *Engine) fileServes(r *Replica, id string, at int64) bool {
	main := cmp.Or(r.main, r)
	return id == e.repl.id && !main.RDBOnly && !r.FunctionsOnly && e.lacksStream(main, at+1) == ""
}

// serveFromFiles begins the synchronization of all replicas that wait for a snapshot and can have a
// file.
func (e *Engine) serveFromFiles() {
	s := &e.repl.replicas
	store := e.persist.store
	if store == nil || s.backlog == nil ||
		s.files.held == nil && !slices.ContainsFunc(s.list, (*Replica).waits) {
		return
	}
	recent := store.RecentFiles()
	for _, r := range slices.Clone(s.list) {
		if r.due(e) && !e.joinSyncFile(r) {
			for _, f := range recent {
				if e.serveFromFile(r, f) {
					break
				}
			}
		}
	}
	e.holdStream(store.ComingFile())
}

// holdStream pins the stream from the moment of a file that is being written, while a replica waits
// for it, and as long as the output limit of a replica allows. f may be nil.
func (e *Engine) holdStream(f *persist.SnapshotFile) {
	s := &e.repl.replicas
	h := &s.files
	wanted := f != nil && slices.ContainsFunc(s.list, func(r *Replica) bool {
		return r.waits() && e.fileServes(r, f.Point.ID, f.Point.Offset)
	})
	if !wanted || h.held != f {
		h.release()
	}
	switch {
	case !wanted:
	case h.held == nil:
		if reader, ok := s.backlog.Open(f.Point.Offset); ok {
			h.held, h.hold = f, reader
		}
	case h.hold != nil && h.hold.Lag() > e.mostBehind():
		h.release()
		h.held = f // there is no second attempt
	}
}

// mostBehind returns how far, in bytes of the stream, a file may be behind: half of what a replica
// is cut off at.
func (e *Engine) mostBehind() int64 {
	if limit := e.Cfg.OutputLimits[ClassReplica].Hard; limit > 0 {
		return max(limit, e.Cfg.ReplBacklogSize) / 2
	}
	return math.MaxInt64
}

// filesComing reports whether replicas that are due wait for a file rather than for a snapshot of
// their own.
func (e *Engine) filesComing() bool {
	s := &e.repl.replicas
	if s.files.hold != nil {
		return true
	}
	// A rewrite of the log that is due begins first, in the next turn of the cron.
	p, ok := e.replPoint()
	own := e.repl.master == nil // the stream can name its database again
	return ok && (own || p.DB == 0) && e.persist.store != nil && e.persist.aof.RewriteDue() &&
		slices.ContainsFunc(s.list, func(r *Replica) bool {
			return r.due(e) && e.fileServes(r, p.ID, p.Offset)
		})
}

// serveFromFile begins to send the replica a complete file and the stream from there on, and
// reports whether it can.
func (e *Engine) serveFromFile(r *Replica, f *persist.SnapshotFile) bool {
	name := r.Name()
	if !e.fileServes(r, f.Point.ID, f.Point.Offset) || f.SentTo[name] ||
		!f.Serves(r.target(e)) || e.Feed.Offset()-f.Point.Offset > min(f.Size(), e.mostBehind()) {
		return false
	}
	file, err := f.Open()
	if err != nil {
		e.persist.store.ForgetFile(f)
		return false
	}
	if !e.beginLoading(r, f.Point.Offset) {
		_ = file.Close()
		return false
	}
	f.SentTo[name] = true
	e.Log.Notice("Replica %s gets the file %s (%d bytes), and the stream since then (%d bytes)",
		name, f.Name(), f.Size(), e.Feed.Offset()-f.Point.Offset)
	e.sendFile(r, file, f.Size(), func() { _ = file.Close() })
	return true
}

// joinSyncFile lets the replica have a file that was begun for others which need the same, and
// reports whether there is one.
func (e *Engine) joinSyncFile(r *Replica) bool {
	f := e.repl.replicas.filed
	if f == nil || f.need != e.needOf(r) || !e.fileServes(r, f.id, f.at) || f.names[r.Name()] ||
		!e.beginLoading(r, f.at) {
		return false
	}
	f.names[r.Name()] = true
	f.file.uses++
	e.Log.Notice("Replica %s joins the others that get the snapshot of %d ms ago", r.Name(),
		e.Steady()-f.began)
	if f.members = append(f.members, r); f.made {
		e.sendSyncFile(f, r)
	}
	return true
}

// sendSyncFile begins to send a replica the file that was written for it and others.
func (e *Engine) sendSyncFile(f *fullSync, r *Replica) {
	e.sendFile(r, f.file.reader(), f.file.size, func() { e.releaseSyncFile(f) })
}

// releaseSyncFile counts a replica that needs the file no more.
func (e *Engine) releaseSyncFile(f *fullSync) {
	if f.file.release(1); f.file.uses == 0 && e.repl.replicas.filed == f {
		e.repl.replicas.filed = nil
	}
}
