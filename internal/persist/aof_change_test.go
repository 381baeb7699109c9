package persist

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

// changes are all that an administrator can change about the log while it is being rewritten.
var changes = map[string]func(r *aofRun){
	"nothing": func(*aofRun) {},
	"always": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.Fsync = FsyncAlways })
	},
	"everysec": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.Fsync = FsyncEverySec })
	},
	"no": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.Fsync = FsyncNo })
	},
	"preamble": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.RDBPreamble = !s.RDBPreamble })
	},
	"timestamps": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.Timestamps = !s.Timestamps })
	},
	"no fsync": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.NoFsyncOnRewrite = !s.NoFsyncOnRewrite })
	},
	"growth": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.RewritePercentage, s.RewriteMinSize = 1, 1 })
	},
	"history": func(r *aofRun) {
		r.configure(func(s *AOFSettings) { s.KeepHistory = !s.KeepHistory })
	},
	"off":               func(r *aofRun) { r.a.Disable() },
	"off and on":        func(r *aofRun) { r.a.Disable(); r.enable() },
	"off, on, off":      func(r *aofRun) { r.a.Disable(); r.enable(); r.a.Disable() },
	"off, on, off, on":  func(r *aofRun) { r.a.Disable(); r.enable(); r.a.Disable(); r.enable() },
	"another rewrite":   func(r *aofRun) { r.a.Rewrite(false) },
	"a snapshot begins": func(r *aofRun) { r.busy = true },
	"sync":              func(r *aofRun) { _ = r.a.Sync() },
}

func (r *aofRun) configure(change func(*AOFSettings)) {
	change(&r.set)
	r.a.Configure(r.set)
}

func (r *aofRun) enable() { _ = r.a.Enable(false) } // on a failing disk it stays off

// stages lead to each stage of a rewrite, with a worker that waits to be asked.
var stages = []struct {
	name string
	to   func(r *aofRun)
}{
	{"logging", func(*aofRun) {}},
	{"sealing", func(r *aofRun) { r.a.Rewrite(false) }},
	{"sealing, base done", func(r *aofRun) { r.a.Rewrite(false); r.finishBase(nil) }},
	{"sealing, base failed", func(r *aofRun) {
		r.a.Rewrite(false)
		r.finishBase(errors.New("no luck"))
	}},
	{"seal done, not taken", func(r *aofRun) { r.a.Rewrite(false); r.a.work.next() }},
	{"sealed", func(r *aofRun) { r.a.Rewrite(false); r.a.work.next(); r.a.Cron() }},
	{"installing", func(r *aofRun) {
		r.a.Rewrite(false)
		r.a.work.next()
		r.a.Cron()
		r.finishBase(nil)
	}},
	{"installed, not taken", func(r *aofRun) {
		r.a.Rewrite(false)
		r.a.work.next()
		r.a.Cron()
		r.finishBase(nil)
		r.a.work.next()
	}},
	{"installed", func(r *aofRun) { r.a.Rewrite(false); r.finishBase(nil); r.a.settle() }},
	{"off", func(r *aofRun) { r.a.Disable() }},
	{"off, rewriting", func(r *aofRun) { r.a.Disable(); r.a.Rewrite(false) }},
	{"off, installing", func(r *aofRun) { r.a.Disable(); r.a.Rewrite(false); r.finishBase(nil) }},
	{"turned on", func(r *aofRun) { r.a.Disable(); r.enable() }},
	{"turned on, base done", func(r *aofRun) { r.a.Disable(); r.enable(); r.finishBase(nil) }},
	{"turned on, base failed", func(r *aofRun) {
		r.a.Disable()
		r.enable()
		r.finishBase(errors.New("no luck"))
	}},
	{"turned on, sealed", func(r *aofRun) {
		r.a.Disable()
		r.enable()
		r.a.work.next()
		r.a.Cron()
	}},
	{"turned on, installing", func(r *aofRun) {
		r.a.Disable()
		r.enable()
		r.a.work.next()
		r.a.Cron()
		r.finishBase(nil)
	}},
	{"turned on, waiting", func(r *aofRun) { r.a.Disable(); r.busy = true; r.enable() }},
}

func (r *aofRun) finishBase(err error) {
	if r.base != nil {
		r.fail = err
		r.base()
	}
}

// TestAOFChangesAtEveryStage makes every change at every stage of a rewrite, in the middle of a
// batch, then kills the process, or lets it go on and end. What a client was promised is there, as
// in a start after each.
func TestAOFChangesAtEveryStage(t *testing.T) {
	for policy, name := range policyNames {
		for _, stage := range stages {
			for what, change := range changes {
				for _, ending := range []string{"power loss", "power loss later", "end"} {
					disk := newDisk(t)
					r := newAOFRun(t, disk, 1, policy)
					r.slow = true
					require.NoError(t, r.start())
					r.batch(2)
					stage.to(r)
					r.units(2)
					change(r)
					r.units(1)
					r.a.EndBatch()
					r.promise()
					switch ending {
					case "power loss later":
						r.goOn()
					case "end":
						r.goOn()
						require.NoError(t, r.a.Close())
						if r.logged() {
							r.floor.Store(int64(len(r.history) - 1))
						}
					}
					at := fmt.Sprintf("appendfsync %s, %s at stage %q, %s", name, what, stage.name,
						ending)
					r.holds(disk.Crash(vfs.LoseAll), r.floor.Load(), r.issued.Load(), at)
				}
			}
		}
	}
}

// goOn lets everything that is under way come to its end.
func (r *aofRun) goOn() {
	r.batch(2)
	r.busy = false
	for range 3 {
		r.finishBase(nil)
		r.finish()
		r.now += 1100
		r.batch(1)
	}
	r.promise()
	r.on = r.a.state == aofOn
}

// logged reports whether the log was on when goOn ended.
func (r *aofRun) logged() bool { return r.on }

// wild makes changes at random moments.
func (r *aofRun) wild(steps int, fail bool) {
	names := slicesSorted(changes)
	for range steps {
		r.units(r.rnd.IntN(3))
		switch r.rnd.IntN(8) {
		case 0, 1:
			changes[names[r.rnd.IntN(len(names))]](r)
		case 2:
			r.a.Rewrite(r.rnd.IntN(8) == 0)
		case 3:
			var err error
			if fail && r.rnd.IntN(4) == 0 {
				err = errors.New("no luck")
			}
			r.finishBase(err)
		case 4:
			r.enable()
		case 5:
			r.busy = false
		case 6, 7:
			r.a.work.next()
		}
		r.units(r.rnd.IntN(2))
		r.batch(0)
		if r.exit >= 0 {
			return
		}
	}
}

func slicesSorted(m map[string]func(*aofRun)) []string {
	var names []string
	for n := range maps.Keys(m) {
		names = append(names, n)
	}
	for i := range names { // a few
		for j := i; j > 0 && names[j] < names[j-1]; j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
	return names
}

// TestAOFChangesPowerLoss cuts the power after every file operation of lives in which everything
// about the log changes all the time, turning it off and on included. What is found is a state that
// once was, with all that was promised.
func TestAOFChangesPowerLoss(t *testing.T) {
	seed := testseed.New(t)
	lives := 24
	if testing.Short() {
		lives = 10
	}
	for life := range lives {
		type loss struct {
			disk   *vfs.Mem
			lo, hi int64
			what   string
		}
		var losses []loss
		disk := newDisk(t)
		r := newAOFRun(t, disk, seed+uint64(life), FsyncPolicy(life%3))
		r.slow = true
		rnd := rand.New(rand.NewPCG(seed, uint64(life)))
		disk.Observe(func(n int, op string, crash func(uint64) *vfs.Mem) {
			s := []uint64{vfs.LoseAll, vfs.KeepAll, vfs.KeepNames, vfs.KeepData,
				vfs.FirstRandomSeed + uint64(n)}[rnd.IntN(5)]
			what := fmt.Sprintf("life %d, power loss after operation %d (%s), crash seed %d", life,
				n, op, s)
			losses = append(losses, loss{crash(s), r.floor.Load(), r.issued.Load(), what})
		})
		require.NoError(t, r.start())
		r.wild(60, true)
		_ = r.a.Close()
		disk.Observe(nil) // files are still being deleted in the background
		for _, l := range losses {
			r.holds(l.disk, l.lo, l.hi, l.what)
		}
	}
}

// TestAOFChangesFaults fails an operation of such lives, once or for good, and cuts the power
// afterwards.
func TestAOFChangesFaults(t *testing.T) {
	seed := testseed.New(t)
	ops := []vfs.Op{vfs.OpCreate, vfs.OpWrite, vfs.OpTruncate, vfs.OpRename, vfs.OpRemove,
		vfs.OpSyncDir, vfs.OpMkdir, vfs.OpOpen, vfs.OpRead, vfs.OpLock}
	for _, op := range ops {
		for _, once := range []bool{true, false} {
			for n, fired := int64(0), true; fired && n < 20; n++ {
				disk, plan := newDisk(t), vfs.NewPlan()
				r := newAOFRun(t, vfs.Faulty(disk, plan), seed+uint64(n), FsyncPolicy(n%3))
				r.slow = true
				require.NoError(t, r.start())
				plan.Add(vfs.Fault{Op: op, After: n, Once: once})
				r.wild(40, false)
				for s := range uint64(5) {
					what := fmt.Sprintf("%v fails after %d (once %v), crash seed %d\n%s", op, n,
						once, s, r.log.String())
					r.holds(disk.Crash(s), r.floor.Load(), r.issued.Load(), what)
				}
				fired = plan.Fired() > 0
				_ = r.a.Close()
			}
		}
	}
}
