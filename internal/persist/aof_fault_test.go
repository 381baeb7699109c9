package persist

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

// aofRun is a fixture that remembers everything that it ever promised.
type aofRun struct {
	*fixture
	rnd     *rand.Rand
	history []map[string]string // after each unit
	offsets []int64             // of the stream, after each unit
	issued  atomic.Int64        // units that may be on disk
	floor   atomic.Int64        // units that must be
	on      bool                // the log, when goOn ended
}

func newAOFRun(t *testing.T, fsys vfs.FS, seed uint64, policy FsyncPolicy) *aofRun {
	set := usual
	set.Fsync = policy
	r := &aofRun{fixture: newFixture(t, fsys, set), rnd: rand.New(rand.NewPCG(seed, 1))}
	r.history, r.offsets = []map[string]string{{}}, []int64{0}
	return r
}

// batch makes one turn of the server: some units, then the end of the batch, then cron.
func (r *aofRun) batch(units int) {
	r.units(units)
	r.a.EndBatch()
	r.promise()
	r.now += 150
	r.a.Cron()
	r.promise()
}

// units executes n units and answers none of them yet.
func (r *aofRun) units(n int) {
	for range n {
		if r.a.WriteError() != "" {
			break // MISCONF
		}
		var cmds []string
		for range r.rnd.IntN(3) {
			key := fmt.Sprintf("k%d", r.rnd.IntN(4))
			cmds = append(cmds,
				[]string{"SET " + key + " " + fmt.Sprint(len(r.history)),
					"DEL " + key}[r.rnd.IntN(2)])
		}
		// The mark makes every state different from every other, the key of its own shows a gap
		// that others hide.
		cmds = append(cmds, fmt.Sprintf("SET u%d 1", len(r.history)))
		db := r.rnd.IntN(2)
		r.issued.Add(1)
		r.unit(db, append(cmds, fmt.Sprintf("SET mark%d %d", db, len(r.history)))...)
		r.history = append(r.history, r.m.clone())
		r.offsets = append(r.offsets, r.a.Offset())
	}
}

// promise notes what is surely on disk.
func (r *aofRun) promise() {
	if r.exit >= 0 {
		return // the process is gone
	}
	synced := r.a.Synced()
	n := int(r.floor.Load())
	for n+1 < len(r.offsets) && r.offsets[n+1] <= synced {
		n++
	}
	r.floor.Store(int64(n))
}

// life runs the short life of a server, with rewrites. It ends early when the log ends the process.
func (r *aofRun) life() {
	for step := range 24 {
		switch {
		case step == 4 || step == 14 || step == 20:
			r.a.Rewrite(false)
		case (step == 8 || step == 18) && r.base != nil:
			r.base()
		}
		r.batch(r.rnd.IntN(3))
		if r.exit >= 0 {
			r.a.work.stop()
			return
		}
	}
	_ = r.a.Close()
}

// holds checks what a restart from fsys finds: the state after some unit between lo and hi, and a
// log that goes on working.
func (r *aofRun) holds(fsys *vfs.Mem, lo, hi int64, what string) {
	next := newAOFRun(r.t, fsys, 7, FsyncAlways)
	if err := next.start(); err != nil {
		r.t.Fatalf("%s: does not start: %v\n%s", what, err, next.log.String())
	}
	n := lo
	for n <= hi && !maps.Equal(next.m.data, r.history[n]) {
		n++
	}
	if n > hi {
		r.t.Fatalf("%s: the state is none of those after units %d to %d: %v; those are %v to %v",
			what, lo, hi, next.m.data, r.history[lo], r.history[hi])
	}
	next.history[0] = next.m.clone()
	next.batch(2)
	last := next.history[len(next.history)-1]
	if err := next.a.Close(); err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
	again := newAOFRun(r.t, fsys.Crash(vfs.LoseAll), 8, FsyncAlways)
	if err := again.start(); err != nil || !maps.Equal(again.m.data, last) {
		r.t.Fatalf("%s: after another life: %v, %v, not %v\n%s\n%s\nfirst state %v", what, err,
			again.m.data, last, again.log.String(), next.log.String(), next.history[0])
	}
	_ = again.a.Close()
}

// gap reports whether a start is refused for damage within the log.
func (r *aofRun) gap(fsys *vfs.Mem) bool {
	next := newAOFRun(r.t, fsys.Crash(vfs.KeepAll), 7, FsyncAlways)
	err := next.start()
	if err == nil {
		_ = next.a.Close()
		return false
	}
	require.ErrorContains(r.t, err, ".incr.aof, offset ")
	return true
}

// newDisk has the folder of a fixture.
func newDisk(t *testing.T) *vfs.Mem {
	m := vfs.NewMem()
	require.NoError(t, m.MkdirAll("/d", 0o755))
	require.NoError(t, m.SyncDir("/"))
	return m
}

var policyNames = map[FsyncPolicy]string{FsyncAlways: "always", FsyncEverySec: "everysec",
	FsyncNo: "no"}

// TestAOFPowerLossAnywhere cuts the power after every file operation of a life with appends and
// rewrites, and lets all kinds of unsynced data survive. What is found is a prefix of the history
// with all that was promised, and goes on working.
func TestAOFPowerLossAnywhere(t *testing.T) {
	seed := testseed.New(t)
	for policy, name := range policyNames {
		t.Run(name, func(t *testing.T) {
			type loss struct {
				disk   *vfs.Mem
				lo, hi int64
				what   string
			}
			var losses []loss
			disk := newDisk(t)
			r := newAOFRun(t, disk, seed, policy)
			disk.Observe(func(n int, op string, crash func(uint64) *vfs.Mem) {
				lo, hi := r.floor.Load(), r.issued.Load()
				for s := range uint64(6) {
					seed := s + s/vfs.FirstRandomSeed*uint64(n)*8
					losses = append(losses,
						loss{crash(seed), lo, hi,
							fmt.Sprintf("power loss after operation %d (%s), crash seed %d", n, op,
								seed)})
				}
			})
			require.NoError(t, r.start())
			r.life()
			disk.Observe(nil) // files are still being deleted in the background
			require.Greater(t, len(losses), 150, "the life has rewrites")
			for _, l := range losses {
				r.holds(l.disk, l.lo, l.hi, l.what)
			}
		})
	}
}

// TestAOFFaults fails every file operation of such a life once, then for good, and cuts the power
// afterwards.
func TestAOFFaults(t *testing.T) {
	seed := testseed.New(t)
	for policy, name := range policyNames {
		t.Run(name, func(t *testing.T) {
			for _, op := range []vfs.Op{vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpTruncate,
				vfs.OpRename, vfs.OpRemove, vfs.OpSyncDir, vfs.OpMkdir} {
				for _, once := range []bool{true, false} {
					for n := int64(0); aofFault(t, seed, policy,
						vfs.Fault{Op: op, After: n, Once: once}); n++ {
					}
				}
			}
			for n := int64(0); aofFault(t, seed, policy,
				vfs.Fault{Op: vfs.OpWrite, Bytes: true, After: n}); n += 53 {
			}
		})
	}
}

// aofFault lives with one fault; it reports whether the fault was met.
func aofFault(t *testing.T, seed uint64, policy FsyncPolicy, fault vfs.Fault) bool {
	what := fmt.Sprintf("%s of %v after %d (bytes %v, once %v)", policyNames[policy], fault.Op,
		fault.After, fault.Bytes, fault.Once)
	disk, plan := newDisk(t), vfs.NewPlan()
	r := newAOFRun(t, vfs.Faulty(disk, plan), seed, policy)
	plan.Add(fault)
	err := r.start()
	if err == nil {
		r.life()
	}
	r.a.work.stop()
	if plan.Fired() == 0 {
		return false
	}
	if r.exit >= 0 {
		what += ", the process ended"
	}
	for s := range uint64(5) {
		left := disk.Crash(s)
		// An fsync failed, and before a rewrite healed that the power did: what the kernel dropped
		// is a gap in the log, and that is refused. At the end of a file that is not the last it is
		// not to be seen, when it begins where a unit does.
		if fault.Op == vfs.OpSync && policy != FsyncAlways &&
			(r.gap(left) || r.a.lost.Load() != lostNothing) {
			continue
		}
		r.holds(left, r.floor.Load(), r.issued.Load(),
			fmt.Sprintf("%s, start: %v, crash seed %d", what, err, s))
	}
	return true
}

// TestAOFDiskFreed checks that writes that failed are refused, not lost, and go on when there is
// room again.
func TestAOFDiskFreed(t *testing.T) {
	disk, plan := newDisk(t), vfs.NewPlan()
	r := newAOFRun(t, vfs.Faulty(disk, plan), 3, FsyncEverySec)
	require.NoError(t, r.start())
	r.batch(5)
	plan.Add(vfs.Fault{Op: vfs.OpWrite, Bytes: true, After: 10})
	r.batch(3)
	require.NotEmpty(t, r.a.WriteError())
	before := len(r.history)
	r.batch(3)
	require.Len(t, r.history, before, "refused")
	plan.Clear()
	for range 20 {
		r.batch(0)
	}
	require.Empty(t, r.a.WriteError())
	r.batch(3)
	require.NoError(t, r.a.Close())
	n := int64(len(r.history) - 1)
	r.holds(disk.Crash(vfs.LoseAll), n, n, "after room was made")
}

// TestAOFDiskFullAtStart checks that a server whose disk is full starts with its log, to be read
// from and to have things deleted.
func TestAOFDiskFullAtStart(t *testing.T) {
	disk, plan := newDisk(t), vfs.NewPlan()
	r := newAOFRun(t, vfs.Faulty(disk, plan), 3, FsyncEverySec)
	require.NoError(t, r.start())
	r.batch(5)
	require.NoError(t, r.a.Close())
	want := r.m.clone()
	plan.Add(vfs.Fault{Op: vfs.OpWrite, Bytes: true})
	plan.Add(vfs.Fault{Op: vfs.OpCreate})
	require.NoError(t, r.start(), "%s", r.log.String())
	require.Equal(t, want, r.m.data)
	r.batch(1)
	require.NotEmpty(t, r.a.WriteError())
	require.Equal(t, RewriteFailed, r.a.Rewrite(false))
	require.Contains(t, r.log.String(), "Can't start the AOF rewrite",
		"the reply to BGREWRITEAOF names the log")
	plan.Clear()
	for range 20 {
		r.batch(0)
	}
	require.Empty(t, r.a.WriteError())
	require.NoError(t, r.a.Close())
}

// TestAOFUpgradePowerLoss cuts the power between the steps that take a single log of an old version
// into the layout.
func TestAOFUpgradePowerLoss(t *testing.T) {
	old := []byte(
		"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\n2\r\n")
	want := map[string]string{"0/a": "1", "0/b": "2"}
	disk := newDisk(t)
	require.NoError(t, writeAll(disk, "/d/appendonly.aof", old))
	require.NoError(t, disk.SyncDir("/d"))
	losses := map[string]*vfs.Mem{}
	disk.Observe(func(n int, op string, crash func(uint64) *vfs.Mem) {
		for s := range uint64(40) {
			losses[fmt.Sprintf("after %d (%s), variant %d", n, op, s)] = crash(s)
		}
	})
	r := newAOFRun(t, disk, 1, FsyncAlways)
	require.NoError(t, r.start())
	require.Equal(t, want, r.m.data)
	require.NoError(t, r.a.Close())
	disk.Observe(nil)
	require.Greater(t, len(losses), 40*8)
	r.history[0] = want
	for what, left := range losses {
		r.holds(left, 0, 0, what)
	}
}
