package persist_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

// sets are changes of directives that matter to files.
var sets = [][]string{
	{"appendfsync", "always"}, {"appendfsync", "everysec"}, {"appendfsync", "no"},
	{"no-appendfsync-on-rewrite", "yes"}, {"no-appendfsync-on-rewrite", "no"},
	{"aof-use-rdb-preamble", "yes"}, {"aof-use-rdb-preamble", "no"},
	{"aof-timestamp-enabled", "yes"}, {"aof-timestamp-enabled", "no"},
	{"aof-rewrite-incremental-fsync", "no"}, {"auto-aof-rewrite-percentage", "1"},
	{"auto-aof-rewrite-min-size", "1"}, {"rdbcompression", "no"}, {"rdbcompression", "yes"},
	{"save", "3600 1"}, {"save", ""}, {"appendonly", "no"}, {"appendonly", "yes"},
	{"appendonly", "no"}, {"appendonly", "yes"}, {"appendonly", "yes"},
	{"aof-disable-auto-gc", "yes"}, {"aof-disable-auto-gc", "no"},
}

// changingLife writes while directives change, rewrites and snapshots begin and the log is turned
// off and on.
func (h *host) changingLife(rnd *rand.Rand, steps int) {
	for range steps {
		switch rnd.IntN(5) {
		case 0, 1:
			// on a failing disk appendonly may not turn on
			h.do(append([]string{"CONFIG", "SET"}, sets[rnd.IntN(len(sets))]...)...)
		case 2:
			h.do([]string{"BGREWRITEAOF", "BGSAVE"}[rnd.IntN(2)])
		}
		h.write(randomWrite(rnd)...)
	}
	h.do("CONFIG", "SET", "appendonly", "yes")
	h.settle()
	h.promise()
}

func logged(c *config.Config) { c.AppendOnly, c.AppendFsync = true, config.FsyncEverysec }

// TestChangesPowerLoss cuts the power after file operations of lives in which everything about the
// files changes.
func TestChangesPowerLoss(t *testing.T) {
	seed := testseed.New(t)
	for life := range uint64(6) {
		type loss struct {
			disk   *vfs.Mem
			lo, hi int64
			what   string
		}
		var losses []loss
		disk := home(t)
		h, err := boot(t, disk, logged)
		require.NoError(t, err)
		rnd := rand.New(rand.NewPCG(seed, life))
		disk.Observe(func(n int, op string, crash func(uint64) *vfs.Mem) {
			s := []uint64{vfs.LoseAll, vfs.KeepAll, vfs.KeepNames,
				vfs.FirstRandomSeed + uint64(n)}[n%4]
			what := fmt.Sprintf("life %d, power loss after operation %d (%s), crash seed %d", life,
				n, op, s)
			losses = append(losses, loss{crash(s), h.floor.Load(), h.issued.Load(), what})
		})
		h.changingLife(rnd, 30)
		h.s.Close()
		disk.Observe(nil) // files are still being deleted in the background
		rnd.Shuffle(len(losses), func(i, j int) { losses[i], losses[j] = losses[j], losses[i] })
		for _, l := range losses[:min(len(losses), 60)] {
			h.holds(l.disk, l.lo, l.hi, l.what, logged)
		}
	}
}

// TestChangesDiskFaults fails operations of such lives, then the power fails, then there is room
// again.
func TestChangesDiskFaults(t *testing.T) {
	seed := testseed.New(t)
	for n, f := range []vfs.Fault{
		{Op: vfs.OpCreate}, {Op: vfs.OpCreate, Once: true, After: 3},
		{Op: vfs.OpWrite, Bytes: true, After: 300},
		{Op: vfs.OpWrite, Err: syscall.EIO, After: 9}, {Op: vfs.OpRename},
		{Op: vfs.OpRename, Once: true, After: 1}, {Op: vfs.OpSyncDir},
		{Op: vfs.OpSyncDir, Once: true, After: 4}, {Op: vfs.OpRemove}, {Op: vfs.OpMkdir},
		{Op: vfs.OpLock}, {Op: vfs.OpCreate, Name: ".manifest"},
		{Op: vfs.OpRename, Name: ".manifest"}, {Op: vfs.OpRename, Name: ".incr."},
		{Op: vfs.OpRename, Name: ".base."}, {Op: vfs.OpRename, Name: ".manifest", Once: true},
	} {
		what := fmt.Sprintf("fault %d: %s of %q after %d", n, f.Op, f.Name, f.After)
		disk, plan := home(t), vfs.NewPlan()
		h, err := boot(t, vfs.Faulty(disk, plan), logged)
		require.NoError(t, err)
		rnd := rand.New(rand.NewPCG(seed, uint64(n)))
		h.write(randomWrite(rnd)...)
		h.do("CONFIG", "SET", "appendonly", "no")
		plan.Add(f)
		h.do("CONFIG", "SET", "appendonly", "yes")
		for range 8 { // under always a failure ends the process, as persist's own tests show
			h.write(randomWrite(rnd)...)
			h.do([]string{"BGREWRITEAOF", "BGSAVE"}[rnd.IntN(2)])
		}
		h.settle()
		for s := range uint64(4) {
			h.holds(disk.Crash(s), h.floor.Load(), h.issued.Load(),
				fmt.Sprintf("%s, crash seed %d", what, s), logged)
		}
		plan.Clear()
		h.do("CONFIG", "SET", "appendonly", "no")
		v := h.do("CONFIG", "SET", "appendonly", "yes")
		require.False(t, v.IsError(), "%s: %v\n%s", what, v, h.log.String())
		h.settle()
		h.s.Close()
	}
}
