package persist

import (
	"errors"
	"time"
)

// Only one job runs at a time: a save, the base of a rewrite, or a snapshot for replicas. Each is
// of its own moment, and goes on in slices between commands.

// job is a snapshot in the background.
type job struct {
	kind jobKind
	snap *SnapshotWriter
	temp string        // the unfinished file, "" if there is none
	done func(error)   // is told of the end, first of all
	file *SnapshotFile // that it writes, nil if replicas cannot be sent it
}

type jobKind uint8

const (
	jobSave jobKind = iota // to the snapshot file
	jobBase                // of the append-only file
	jobSync                // to replicas
)

const (
	// finishSlice is a slice of a job that everybody waits for.
	finishSlice = 500 * time.Microsecond
	// jobPoll is the time between two looks at a job that waits for the disk.
	jobPoll = 200 * time.Microsecond
)

// ErrJobCancelled tells the owner of a job that it had to make way for the end of the server.
var ErrJobCancelled = errors.New("cancelled")

func (s *Store) run(j *job) {
	s.job = j
	s.host.Wake()
}

// HoldJobs keeps jobs from beginning by themselves, or lets them begin again. It is for times when
// no snapshot can be made.
func (s *Store) HoldJobs(hold bool) { s.held = hold }

// Busy reports whether a job runs.
func (s *Store) Busy() bool { return s.job != nil }

// Saving reports whether a job runs that is a save.
func (s *Store) Saving() bool { return s.job != nil && s.job.kind == jobSave }

// Slice goes on with the running job for about the budget, and ends the job when it is done: its
// file is in place and synced, or removed after an error. served tells whether commands have run
// since the last time. If Slice does not report more, the job waits for the disk; Host.Wake is
// called when it can go on.
func (s *Store) Slice(budget time.Duration, served bool) (more bool) {
	j := s.job
	if j == nil {
		return false
	}
	more = j.snap.Slice(budget, served)
	over, err := j.snap.Over()
	if !over {
		return more
	}
	s.job = nil
	j.done(err)
	return false
}

// Progress returns the number of keys that the running job has written and of those there were at
// its start, 0 without one.
func (s *Store) Progress() (keys, total int64) {
	if s.job == nil {
		return 0, 0
	}
	p := s.job.snap.Progress()
	return int64(p.Keys), int64(p.Total)
}

// Held returns the bytes in Go's heap that copies of what has changed take until the running job
// has written them. It is O(1).
func (s *Store) Held() int64 {
	if s.job == nil {
		return 0
	}
	return s.job.snap.Held()
}

// Beyond returns the bytes in Go's heap that wait for a slow destination of the running job.
func (s *Store) Beyond() int64 {
	if s.job == nil {
		return 0
	}
	return s.job.snap.q.Beyond()
}

// CancelSave ends a running save without a result, and reports whether there was one.
func (s *Store) CancelSave() bool {
	if !s.Saving() {
		return false
	}
	s.cancelJob()
	return true
}

// FailRewrite ends the base of a running rewrite, which fails.
func (s *Store) FailRewrite() {
	if j := s.job; j != nil && j.kind == jobBase {
		s.cancelJob()
		j.done(ErrJobCancelled)
	}
}

// cancelJob ends the running job. If it writes a file, it waits until that is removed.
func (s *Store) cancelJob() {
	j := s.job
	if j == nil {
		return
	}
	s.job = nil
	j.snap.Cancel()
	if j.temp != "" {
		_ = j.snap.Wait() // it says that it was cancelled
		s.finished(j.temp)
	}
}
