package storage

import (
	"bufio"
	"errors"
	"time"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/persist"
)

// appendOnly implements engine.AppendOnly over persist.AOF, and what that needs of the engine.
type appendOnly struct {
	*persist.AOF
	s        *Store
	attached bool
	status   engine.AOFStatus
}

func newAppendOnly(s *Store) *appendOnly {
	a := &appendOnly{s: s}
	e := s.eng
	a.AOF = persist.NewAOF(persist.AOFOptions{
		FS: s.fs, Log: s.log, Dir: workDir, DirName: e.Cfg.AppendDirname, FileName: e.Cfg.AppendFilename,
		Now: e.Steady, Clock: func() int64 { return e.WallNow() / 1000 }, Base: &baseMaker{s: s},
		Wake: func() {
			if e.Wake != nil {
				e.Wake()
			}
		},
		Latency: e.NoteLatency,
	}, settings(e.Cfg))
	return a
}

func settings(c *config.Config) persist.AOFSettings {
	return persist.AOFSettings{
		Fsync: persist.FsyncPolicy(c.AppendFsync), NoFsyncOnRewrite: c.NoAppendfsyncOnRewrite,
		RewritePercentage: c.AutoAOFRewritePercentage, RewriteMinSize: c.AutoAOFRewriteMinSize,
		LoadTruncated: c.AOFLoadTruncated, RDBPreamble: c.AOFUseRDBPreamble, Timestamps: c.AOFTimestampEnabled, KeepHistory: c.AOFDisableAutoGC,
	}
}

// load replays the log; there may be none.
func (a *appendOnly) load(t *engine.LoadTarget) error {
	total, err := a.Prepare()
	if errors.Is(err, persist.ErrNoAOF) {
		return nil
	}
	if err != nil {
		return err
	}
	o := persist.RDBLoadOptions{Log: a.s.log, Base: true, Size: total}
	t.Step(func() {
		t.Expect(total)
		o.NoChecksum, o.KeyDelay = !a.s.eng.Cfg.RDBChecksum, int64(a.s.eng.Cfg.KeyLoadDelay)
	})
	start := time.Now()
	err = a.Load(t, func(r *bufio.Reader, before int64) (int64, error) {
		o.Before = before
		n, used, err := persist.LoadRDB(r, t, o)
		t.Step(func() { a.s.eng.SetLoadCounts(engine.LoadCounts{Loaded: n.Loaded, Expired: n.Expired}) })
		return used, err
	})
	if err != nil {
		return err
	}
	a.s.log.Notice("DB loaded from append only file: %.3f seconds", time.Since(start).Seconds())
	return nil
}

// open begins to log at the start.
func (a *appendOnly) open() error {
	if err := a.Open(); err != nil {
		return err
	}
	a.attach()
	return nil
}

func (a *appendOnly) attach() {
	if on := a.Enabled(); on && !a.attached {
		a.s.eng.AddSink(a.AOF)
		a.attached = true
	} else if !on && a.attached {
		a.s.eng.RemoveSink(a.AOF)
		a.attached = false
	}
}

func (a *appendOnly) close() error {
	err := a.Close()
	a.attach()
	return err
}

// Rewrite implements engine.AppendOnly.
func (a *appendOnly) Rewrite(hold bool) (scheduled bool, err error) {
	switch a.AOF.Rewrite(hold) {
	case persist.RewriteScheduled:
		return true, nil
	case persist.RewriteAlreadyRunning:
		return false, engine.ErrRewriteRunning
	case persist.RewriteFailed:
		return false, errors.New("the rewrite does not begin")
	}
	return false, nil
}

// Turn implements engine.AppendOnly.
func (a *appendOnly) Turn(on bool) error {
	var err error
	if on {
		err = a.Enable(false)
	} else {
		a.Disable()
	}
	a.attach()
	return err
}

// Status implements engine.AppendOnly.
func (a *appendOnly) Status() *engine.AOFStatus {
	i := a.Info()
	a.status = engine.AOFStatus{
		On: i.Enabled, FirstBase: i.Enabled && a.Synced() < 0, WriteFailed: !i.LastWriteOK, Rewriting: i.RewriteInProgress, Scheduled: i.RewriteScheduled,
		LastSec: i.LastRewriteSeconds, CurrentSec: i.CurrentSeconds, LastFailed: !i.LastRewriteOK,
		Rewrites: i.Rewrites, Failures: i.ConsecutiveFailures,
		Size: i.CurrentSize, BaseSize: i.BaseSize, Buffered: int64(i.BufferLength), PendingSync: int64(i.PendingSyncs), Delayed: i.DelayedFsync,
	}
	return &a.status
}

// baseMaker makes the base of a rewrite: implements persist.BaseMaker over the engine's one job.
type baseMaker struct{ s *Store }

// Busy implements persist.BaseMaker.
func (b *baseMaker) Busy() bool { return b.s.eng.JobRunning() }

// Start implements persist.BaseMaker.
func (b *baseMaker) Start(path string, rdb bool, done func(error)) error {
	j, err := b.s.start(path, "", rdb, true)
	if err != nil {
		return err
	}
	b.s.eng.RunJob(j, done)
	return nil
}

// Cancel implements persist.BaseMaker.
func (b *baseMaker) Cancel() { b.s.eng.CancelJob() }

// Empty implements persist.BaseMaker.
func (b *baseMaker) Empty(rdb bool) []byte { return b.s.emptyBase(rdb) }
