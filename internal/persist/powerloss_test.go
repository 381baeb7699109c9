package persist_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/invariant"
	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/persist"
	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
	"godwit/internal/vfs"
)

func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}

// host is a server without sockets, whose loop the test turns.
type host struct {
	t   *testing.T
	e   *engine.Engine
	s   *persist.Store
	c   *engine.Client
	log loggingtest.Buffer

	digests []string // after each write
	offsets []int64  // of the log, after each write
	issued  atomic.Int64
	floor   atomic.Int64 // what is promised
	saving  int          // the write behind which the running BGSAVE began; 0: none runs
}

// boot starts a server on the file system; the error is why it refuses.
func boot(t *testing.T, fsys vfs.FS, change func(*config.Config)) (*host, error) {
	cfg := config.Default()
	cfg.Save = nil
	cfg.EnableDebugCommand = config.GuardYes
	cfg.HashMaxListpackEntries, cfg.ZsetMaxListpackEntries,
		cfg.SetMaxListpackEntries, cfg.ListMaxListpackSize = 4, 4, 4, 4
	cfg.RDBKeySaveDelay = 100
	change(cfg)
	h := &host{t: t}
	log, err := logging.New(logging.Options{Out: &h.log, Level: logging.Debug})
	require.NoError(t, err)
	h.e = engine.New(cfg, command.Table(), engine.Options{Log: log, Seed: 5})
	h.s = h.e.NewStore(fsys)
	h.e.BeginLoading(0)
	if err := h.s.Open(func() {}); err != nil {
		return h, err
	}
	h.e.Enter()
	h.c = h.e.NewClient(nil)
	h.e.Leave()
	h.digests, h.offsets = []string{h.digest()}, []int64{0}
	return h, nil
}

// do runs a command as a batch of its own and returns the reply.
func (h *host) do(words ...string) client.Value {
	h.t.Helper()
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	h.e.Enter()
	h.c.W.Buf = h.c.W.Buf[:0]
	h.e.Exec(h.c, argv)
	raw := bytes.Clone(h.c.W.Buf)
	h.e.Leave()
	v, _, err := client.Parse(raw)
	require.NoError(h.t, err)
	return v
}

func (h *host) digest() string { return h.do("DEBUG", "DIGEST").Text() }

// write runs a command that changes something and a mark that makes the state unlike any other, and
// notes the states.
func (h *host) write(words ...string) {
	for _, cmd := range [][]string{words, {"INCR", "mark"}} {
		h.issued.Add(1)
		if v := h.do(cmd...); v.IsError() && !strings.Contains(v.Text(), "no such key") {
			require.Contains(h.t, v.Text(), "MISCONF", "%q", cmd)
		}
		h.digests = append(h.digests, h.digest())
		h.offsets = append(h.offsets, h.s.AOF().Offset())
	}
	h.turn()
	h.promise()
}

// turn does what the loop does between commands.
func (h *host) turn() {
	h.e.Enter()
	h.e.Slice()
	h.e.Cron()
	h.e.Leave()
}

// promise notes what is surely on disk.
func (h *host) promise() {
	n := int(h.floor.Load())
	if h.s.AOF().Enabled() {
		synced := h.s.AOF().Synced()
		for n+1 < len(h.offsets) && h.offsets[n+1] <= synced {
			n++
		}
	} else if info := h.info(); h.saving > 0 && !info.Saving {
		if info.LastSaveOK {
			n = max(n, h.saving)
		}
		h.saving = 0
	}
	h.floor.Store(int64(n))
}

func (h *host) info() engine.PersistenceInfo {
	h.e.Enter()
	defer h.e.Leave()
	return h.e.PersistenceInfo()
}

// settle turns the loop until no snapshot is being written and no rewrite is under way.
func (h *host) settle() {
	for end := time.Now().Add(testserver.Patience); time.Now().Before(end); {
		if i := h.info(); !i.Saving && !i.AOF.RewriteInProgress {
			return
		}
		h.turn()
		time.Sleep(100 * time.Microsecond)
	}
	h.t.Fatal("a snapshot does not end")
}

// randomWrite returns a command that changes a small data set of all types, with collections beyond
// the packed encodings.
func randomWrite(rnd *rand.Rand) []string {
	key := fmt.Sprint(rnd.IntN(3))
	elem := fmt.Sprintf("element:%d", rnd.IntN(20))
	return [][]string{
		{"SET", "s" + key, strings.Repeat(elem, rnd.IntN(8))},
		{"APPEND", "s" + key, elem},
		{"RPUSH", "l" + key, elem, "x", elem},
		{"LPOP", "l" + key},
		{"LSET", "l" + key, "0", elem},
		{"HSET", "h" + key, elem, "1", "other", elem},
		{"HDEL", "h" + key, elem},
		{"HPEXPIREAT", "h" + key, fmt.Sprint(time.Now().UnixMilli() + 1e7 + rnd.Int64N(1e6)),
			"FIELDS", "1", elem},
		{"SADD", "t" + key, elem, "a"},
		{"SREM", "t" + key, elem},
		{"ZADD", "z" + key, fmt.Sprint(rnd.IntN(50)), elem},
		{"ZREM", "z" + key, elem},
		{"ZINCRBY", "z" + key, "1.5", elem},
		{"PEXPIREAT", "h" + key, fmt.Sprint(time.Now().UnixMilli() + 1e7)},
		{"DEL", string("slhtz"[rnd.IntN(5)]) + key},
	}[rnd.IntN(15)]
}

// mode is a way to keep the data set, and what a life under it does at certain steps.
type mode struct {
	name   string
	change func(*config.Config)
	steps  map[int]string
}

var modes = []mode{
	{"always", func(c *config.Config) {
		c.AppendOnly, c.AppendFsync = true, config.FsyncAlways
	}, map[int]string{10: "BGREWRITEAOF", 30: "BGREWRITEAOF"}},
	{"everysec, no preamble", func(c *config.Config) {
		c.AppendOnly, c.AOFUseRDBPreamble = true, false
	}, map[int]string{10: "BGREWRITEAOF", 30: "BGSAVE"}},
	{"snapshots", func(*config.Config) {}, map[int]string{10: "SAVE", 20: "BGSAVE", 35: "BGSAVE"}},
}

func (h *host) life(rnd *rand.Rand, m mode) {
	for step := range 40 {
		if cmd := m.steps[step]; cmd != "" {
			before := len(h.digests) - 1
			if v := h.do(cmd); !v.IsError() {
				h.saving = before
			}
		}
		h.write(randomWrite(rnd)...)
	}
	h.settle()
	h.promise()
}

func home(t *testing.T) *vfs.Mem {
	m := vfs.NewMem()
	require.NoError(t, m.MkdirAll(workDir(), 0o755))
	for dir := workDir(); dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, m.SyncDir(filepath.Dir(dir)))
	}
	return m
}

// holds starts a server from what is left and looks for its state in the history.
func (h *host) holds(left *vfs.Mem, lo, hi int64, what string, change func(*config.Config)) {
	h.t.Helper()
	next, err := boot(h.t, left, change)
	if err != nil {
		h.t.Fatalf("%s: does not start: %v\n%s", what, err, next.log.String())
	}
	if !slices.Contains(h.digests[lo:hi+1], next.digests[0]) {
		n := slices.Index(h.digests, next.digests[0])
		h.t.Errorf("%s: the state is that after write %d (-1: none ever was), not of %d to %d\n%s",
			what, n, lo, hi, next.log.String())
	}
	next.s.Close()
	if !invariant.Enabled { // which takes the keys that are left for a leak
		next.e.KS.A.Close()
	}
}

// TestPowerLoss cuts the power after every file operation of a server's life: what it finds when it
// starts again is a state that it once had, with all that was promised.
func TestPowerLoss(t *testing.T) {
	seed := testseed.New(t)
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			type loss struct {
				disk   *vfs.Mem
				lo, hi int64
				what   string
			}
			var losses []loss
			disk := home(t)
			h, err := boot(t, disk, m.change)
			require.NoError(t, err)
			disk.Observe(func(n int, op string, crash func(uint64) *vfs.Mem) {
				lo, hi := h.floor.Load(), h.issued.Load()
				for _, s := range []uint64{vfs.LoseAll, vfs.KeepNames,
					vfs.FirstRandomSeed + uint64(n)} {
					losses = append(losses, loss{crash(s), lo, hi, fmt.Sprintf(
						"power loss after operation %d (%s), crash seed %d", n, op, s)})
				}
			})
			h.life(rand.New(rand.NewPCG(seed, 1)), m)
			h.s.Close()
			disk.Observe(nil) // files are still being deleted in the background
			require.Greater(t, len(losses), 30)
			if max := 500; len(losses) > max { // a sample, but of all of the life
				rand.Shuffle(len(losses), func(i, j int) {
					losses[i], losses[j] = losses[j], losses[i]
				})
				losses = losses[:max]
			}
			for _, l := range losses {
				h.holds(l.disk, l.lo, l.hi, l.what, m.change)
			}
		})
	}
}

// TestDiskFaults fills the disk and fails operations of saves and rewrites, one at a time; then the
// power fails.
func TestDiskFaults(t *testing.T) {
	seed := testseed.New(t)
	// under always an error of the log ends the process, as persist's own tests show
	for _, m := range modes[1:] {
		t.Run(m.name, func(t *testing.T) {
			for _, name := range []string{"temp-", ".manifest", ".base.", ".incr.", "dump", ""} {
				for _, f := range []vfs.Fault{
					{Op: vfs.OpCreate, Name: name},
					{Op: vfs.OpWrite, Name: name, Bytes: true, After: 100},
					{Op: vfs.OpWrite, Name: name, Err: syscall.EIO}, {Op: vfs.OpSync, Name: name},
					{Op: vfs.OpRename, Name: name}, {Op: vfs.OpSyncDir, Name: name},
				} {
					diskFault(t, seed, m, f)
				}
			}
		})
	}
}

func diskFault(t *testing.T, seed uint64, m mode, f vfs.Fault) {
	what := fmt.Sprintf("%s of %s after %d", f.Op, f.Name, f.After)
	disk, plan := home(t), vfs.NewPlan()
	h, err := boot(t, vfs.Faulty(disk, plan), m.change)
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range 5 {
		h.write(randomWrite(rnd)...)
	}
	plan.Add(f)
	h.life(rnd, m)
	if plan.Fired() == 0 {
		return
	}
	failed := disk.Crash(seed)
	plan.Clear()
	lo, hi := h.floor.Load(), h.issued.Load()
	// else the log may have a gap, which is refused
	if f.Op != vfs.OpSync || !strings.Contains("x.incr.", f.Name) {
		h.holds(failed, lo, hi, what, m.change)
	}
	h.do("BGSAVE")
	h.settle()
	v := h.do("SAVE")
	require.False(t, v.IsError(), "%s: with room again: %v\n%s", what, v, h.log.String())
	h.s.Close()
}
