package persist

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/vfs"
)

func TestAOFRewrite(t *testing.T) {
	for _, policy := range []FsyncPolicy{FsyncAlways, FsyncEverySec, FsyncNo} {
		for _, rdb := range []bool{false, true} {
			set := usual
			set.Fsync, set.RDBPreamble = policy, rdb
			f := newFixture(t, vfs.NewMem(), set)
			f.mustStart()
			f.do(2, "SET a 1")
			for n := range 3 {
				f.rewrite(func(step int) {
					require.Equal(t, step < 2, f.a.Info().RewriteInProgress)
					f.do(2, fmt.Sprintf("SET s%d %d", step, n), "SET a 2")
				})
				ext := map[bool]string{false: "aof", true: "rdb"}[rdb]
				require.Equal(t,
					fmt.Sprintf("appendonly.aof.%d.base.%s appendonly.aof.%d.incr.aof "+
						"appendonly.aof.manifest", n+2, ext, n+2), f.files())
				require.Equal(t,
					fmt.Sprintf("file appendonly.aof.%d.base.%s seq %d type b\n"+
						"file appendonly.aof.%d.incr.aof seq %d type i\n", n+2, ext, n+2, n+2, n+2),
					f.read("appendonly.aof.manifest"))
			}
			i := f.a.Info()
			require.EqualValues(t, 3, i.Rewrites)
			require.True(t, i.LastRewriteOK)
			was := f.m.clone()
			f.restart()
			require.Equal(t, was, f.m.data)
			require.Equal(t, i.CurrentSize, f.a.Info().CurrentSize)
		}
	}
}

func TestAOFRewriteFailures(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, usual)
	f.mustStart()
	f.do(0, "SET a "+strings.Repeat("x", 2<<20))
	minutes := []int64{0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60}
	for n, wait := range minutes {
		f.a.Cron()
		if wait > 0 {
			require.Nil(t, f.base, "attempt %d is held back", n)
			require.Contains(t, f.log.String(), fmt.Sprintf("will retry in %d minutes", wait))
			f.now += wait*60_000 - 1
			f.a.Cron()
			require.Nil(t, f.base)
			f.now++
			f.a.Cron() // the time has come
		}
		if f.base == nil {
			f.a.Cron()
		}
		require.NotNil(t, f.base, "attempt %d", n)
		f.a.work.drain()
		f.do(0, fmt.Sprintf("SET n %d", n))
		f.fail = errors.New("no luck")
		f.base()
		require.EqualValues(t, n+1, f.a.Info().ConsecutiveFailures)
		require.False(t, f.a.Info().LastRewriteOK)
	}
	f.restart()
	require.Equal(t, "10", f.m.data["0/n"])
	require.Equal(t, RewriteStarted, f.a.Rewrite(false))
	f.base()
	f.finish()
	require.Equal(t, "appendonly.aof.2.base.aof appendonly.aof.13.incr.aof appendonly.aof.manifest",
		strings.Join(sortedFiles(f), " "))
}

// sortedFiles returns the folder with the base first.
func sortedFiles(f *fixture) []string {
	var base, rest []string
	for _, n := range strings.Fields(f.files()) {
		if strings.Contains(n, ".base.") {
			base = append(base, n)
		} else {
			rest = append(rest, n)
		}
	}
	return append(base, rest...)
}

func TestAOFRewriteWaitsForASnapshot(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.busy = true
	require.Equal(t, RewriteScheduled, f.a.Rewrite(false))
	f.a.Cron()
	require.Nil(t, f.base)
	require.True(t, f.a.Info().RewriteScheduled)
	f.busy = false
	f.a.Cron()
	require.NotNil(t, f.base)
	require.False(t, f.a.Info().RewriteScheduled)
	require.Equal(t, RewriteAlreadyRunning, f.a.Rewrite(false))
	f.base()
	f.finish()
	require.True(t, f.a.Info().LastRewriteOK)
}

func TestAOFGrowthTrigger(t *testing.T) {
	set := usual
	set.RewriteMinSize = 1000
	f := newFixture(t, vfs.NewMem(), set)
	f.mustStart()
	for f.base == nil {
		f.do(0, "SET a 1")
		f.a.Cron()
		require.Less(t, f.a.Info().CurrentSize, int64(1100))
	}
	require.Greater(t, f.a.Info().CurrentSize, int64(1000))
	f.base()
	f.finish()
	base := f.a.Info().BaseSize
	require.Less(t, base, int64(100))
	f.set.RewritePercentage = 0
	f.a.Configure(f.set)
	for range 200 {
		f.do(0, "SET a 1")
		f.a.Cron()
	}
	require.Nil(t, f.base)
}

func TestAOFTurnedOnAtRunTime(t *testing.T) {
	for _, policy := range []FsyncPolicy{FsyncAlways, FsyncEverySec} {
		set := usual
		set.Fsync = policy
		f := newFixture(t, vfs.NewMem(), set)
		f.mustStart()
		f.a.Disable()
		require.False(t, f.a.Info().Enabled)
		f.do(0, "SET while off")
		require.NoError(t, f.a.Enable(false))
		require.EqualValues(t, -1, f.a.Synced())
		f.do(0, "SET during base")
		f.fail = errors.New("no luck")
		f.base()
		f.do(0, "SET between attempts")
		f.finish()
		require.NotNil(t, f.base, "it tries again by itself")
		f.do(0, "SET during second")
		f.a.work.drain()
		require.Contains(t, f.files(), "temp-appendonly.aof.incr")
		f.base()
		f.do(0, "SET after base")
		f.finish()
		f.do(0, "SET at last")
		require.Equal(t,
			"appendonly.aof.2.base.aof appendonly.aof.2.incr.aof appendonly.aof.manifest",
			f.files())
		was := f.m.clone()
		f.restart()
		require.Equal(t, was, f.m.data)
		require.Len(t, was, 5)
	}
}

func TestAOFTurnedOffDuringItsFirstRewrite(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.do(0, "SET a 1")
	f.a.Disable()
	require.NoError(t, f.a.Enable(false))
	f.do(0, "SET b 1")
	require.ErrorIs(t, f.a.Loadable(), ErrNoAOF, "what is on disk is older")
	f.a.Disable()
	require.Nil(t, f.base)
	require.NoError(t, f.a.Loadable())
	require.True(t, f.a.Info().LastRewriteOK, "it was called off, and has not failed")
	require.Zero(t, f.a.Info().ConsecutiveFailures)
	require.Equal(t, "appendonly.aof.1.base.aof appendonly.aof.1.incr.aof appendonly.aof.manifest",
		f.files())
	f.mustStart()
	require.Equal(t, map[string]string{"0/a": "1"}, f.m.data, "what was there before")
}

func TestAOFLoadable(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	require.NoError(t, f.a.Loadable())
	f.a.Disable()
	require.NoError(t, f.fs.Remove("/d/appendonlydir/appendonly.aof.manifest"))
	require.ErrorIs(t, f.a.Loadable(), ErrNoAOF)
	require.NoError(t, writeAll(f.fs, "/d/appendonly.aof", nil))
	require.NoError(t, f.a.Loadable(), "one of an old version")
	require.NoError(t,
		writeAll(f.fs, "/d/appendonlydir/appendonly.aof.manifest", []byte("what?\n")))
	require.ErrorContains(t, f.a.Loadable(), "manifest")
}

// TestAOFWithoutItsManifest checks that files with data that no manifest names are neither
// overwritten nor gone on with.
func TestAOFWithoutItsManifest(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	require.NoError(t, f.a.Close())
	require.NoError(t, f.fs.Remove("/d/appendonlydir/appendonly.aof.manifest"))
	f.mustStart() // nothing is in them: a first start that was interrupted
	f.do(0, "SET a 1")
	require.NoError(t, f.a.Close())
	manifest := f.read("appendonly.aof.manifest")
	require.NoError(t, f.fs.Remove("/d/appendonlydir/appendonly.aof.manifest"))
	require.ErrorContains(t, f.start(), "appendonly.aof.1.incr.aof: there is no manifest")
	require.NoError(t, writeAll(f.fs, "/d/appendonlydir/appendonly.aof.manifest", []byte(manifest)))
	f.mustStart()
	require.Equal(t, map[string]string{"0/a": "1"}, f.m.data)
	f.rewrite(func(int) {})
	require.NoError(t, f.a.Close())
	require.NoError(t, f.fs.Remove("/d/appendonlydir/appendonly.aof.manifest"))
	require.ErrorContains(t, f.start(), "appendonly.aof.2.base.aof: there is no manifest")
}

func TestAOFRewriteWhileOff(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.a.Disable()
	f.do(0, "SET a 1")
	require.Equal(t, RewriteStarted, f.a.Rewrite(false))
	f.base()
	f.finish()
	require.Equal(t, "file appendonly.aof.2.base.aof seq 2 type b\n",
		f.read("appendonly.aof.manifest"))
	f.mustStart()
	require.Equal(t, map[string]string{"0/a": "1"}, f.m.data)
}

// TestAOFRewriteFaults fails every single file operation of a rewrite once. Whatever happens,
// nothing is lost, at once or after a later rewrite.
func TestAOFRewriteFaults(t *testing.T) {
	for op := vfs.OpOpen; op <= vfs.OpMkdir; op++ {
		for n := int64(0); ; n++ {
			plan := vfs.NewPlan()
			set := usual
			set.Fsync = FsyncEverySec
			f := newFixture(t, vfs.Faulty(vfs.NewMem(), plan), set)
			f.mustStart()
			f.do(0, "SET a 1")
			plan.Add(vfs.Fault{Op: op, After: n, Once: true})
			step := func(i int) {
				f.do(i, fmt.Sprintf("SET s%d 1", i))
				f.finish()
			}
			if f.a.Rewrite(false) == RewriteStarted {
				step(0)
				if f.base != nil {
					f.base()
				}
				step(1)
			}
			step(2)
			fired := plan.Fired() > 0
			plan.Clear()
			for range 3 { // what failed is tried again
				f.now += 1000
				f.finish()
				if f.base != nil {
					f.base()
				}
			}
			was := f.m.clone()
			f.restart()
			require.Equal(t, was, f.m.data, "%v %d", op, n)
			f.rewrite(func(i int) { f.do(i, "SET again 1") })
			require.True(t, f.a.Info().LastRewriteOK)
			was = f.m.clone()
			f.restart()
			require.Equal(t, was, f.m.data, "%v %d, rewritten", op, n)
			require.NoError(t, f.a.Close())
			if !fired {
				break
			}
		}
	}
}

// TestAOFPowerLoss ends the power after every file operation of a run with rewrites, and starts
// from what may be left: a prefix of the history, and under always all of it.
func TestAOFPowerLoss(t *testing.T) {
	for _, policy := range []FsyncPolicy{FsyncAlways, FsyncEverySec, FsyncNo} {
		for seed := uint64(0); seed < 3; seed++ {
			powerLoss(t, policy, seed)
		}
	}
}

func powerLoss(t *testing.T, policy FsyncPolicy, seed uint64) {
	set := usual
	set.Fsync = policy
	for n := 0; ; n++ {
		mem := vfs.NewMem()
		require.NoError(t, mem.MkdirAll("/d", 0o755))
		require.NoError(t, mem.SyncDir("/"))
		mem.PowerOffAfter(n)
		f := &fixture{t: t, fs: mem, now: 1_700_000_000_000, set: set}
		history, acked := playUntilPowerEnds(f)
		if history == nil {
			t.Logf("policy %d: %d operations", policy, n)
			return // it got to the end
		}
		g := newFixture(t, mem.Crash(seed), set)
		g.mustStart()
		at := -1
		for i, state := range history {
			if fmt.Sprint(state) == fmt.Sprint(g.m.data) {
				at = i
			}
		}
		require.GreaterOrEqual(t, at, 0,
			"policy %d, power off after %d, seed %d: %v is no state that ever was", policy, n, seed,
			g.m.data)
		if policy == FsyncAlways {
			require.GreaterOrEqual(t, at, acked, "policy %d, power off after %d, seed %d", policy,
				n, seed)
		}
		require.NoError(t, g.a.Close())
	}
}

// playUntilPowerEnds runs a server with two rewrites. It returns the states it went through and the
// last one that a client was told of; no history when the power lasted.
func playUntilPowerEnds(f *fixture) (history []map[string]string, acked int) {
	if f.start() != nil {
		return []map[string]string{{}}, 0
	}
	history = append(history, f.m.clone())
	for i := range 30 {
		f.now += 400
		f.unit(i%3, fmt.Sprintf("SET k%d %d", i%7, i), fmt.Sprintf("SET l %d", i))
		f.a.EndBatch()
		history = append(history, f.m.clone())
		if f.exit < 0 {
			acked = i + 1
		} else {
			break
		}
		f.a.Cron()
		f.a.work.drain()
		if i%9 == 3 {
			f.a.Rewrite(false)
		}
		if i%9 == 6 && f.base != nil {
			f.base()
		}
	}
	f.finish()
	err := f.fs.SyncDir("/d")
	f.a.work.stop()
	if err == nil {
		return nil, 0
	}
	return history, acked
}
