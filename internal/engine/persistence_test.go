package engine_test

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/persist"
	"godwit/internal/vfs"
)

// gatedFS is a file system that syncs files only while its gate is open.
type gatedFS struct {
	vfs.FS
	gate chan struct{}
}

func (f *gatedFS) Open(name string, flag int, perm os.FileMode) (vfs.File, error) {
	file, err := f.FS.Open(name, flag, perm)
	return &gatedFile{file, f}, err
}

type gatedFile struct {
	vfs.File
	fs *gatedFS
}

func (f *gatedFile) Sync() error {
	<-f.fs.gate
	return f.File.Sync()
}

// disked is an engine that keeps its data set in files in memory.
type disked struct {
	*testing.T
	e    *engine.Engine
	c    *engine.Client
	s    *persist.Store
	mem  *vfs.Mem
	plan *vfs.Plan // faults
	fs   *gatedFS  // its gate is open
	log  *loggingtest.Buffer
	dir  string
}

func withDisk(t *testing.T, edit func(c *config.Config)) *disked {
	x := onDisk(t, vfs.NewMem(), edit)
	x.start(nil)
	return x
}

// onDisk makes an engine that is not started.
func onDisk(t *testing.T, mem *vfs.Mem, edit func(c *config.Config)) *disked {
	cfg := config.Default()
	cfg.Save = nil
	if edit != nil {
		edit(cfg)
	}
	x := &disked{T: t, mem: mem, plan: vfs.NewPlan(), log: &loggingtest.Buffer{}}
	l, err := logging.New(logging.Options{Out: x.log, Level: logging.Debug})
	require.NoError(t, err)
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, x.mem.MkdirAll(dir, 0o755))
	x.dir = dir
	x.fs = &gatedFS{vfs.Faulty(x.mem, x.plan), make(chan struct{})}
	close(x.fs.gate)
	x.e = engine.New(cfg, command.Table(), engine.Options{Log: l, Seed: 3})
	x.s = x.e.NewStore(x.fs)
	return x
}

// start loads what is on the disk. ready, if it is not nil, is called then.
func (x *disked) start(ready func()) {
	x.e.BeginLoading(0)
	require.NoError(x, x.s.Open(func() {
		if x.c = x.e.NewClient(nil); ready != nil {
			ready()
		}
	}))
	x.e.Enter()
	x.Cleanup(x.stop)
}

// stop ends the engine without saving anything.
func (x *disked) stop() {
	if x.e != nil {
		x.e.Leave()
		x.s.Close()
		x.e = nil
	}
}

func (x *disked) do(words string) string {
	var argv [][]byte
	for _, w := range strings.Fields(words) {
		argv = append(argv, []byte(w))
	}
	x.c.W.Buf = x.c.W.Buf[:0]
	x.e.Exec(x.c, argv)
	x.e.Commit()
	return strings.TrimRight(string(x.c.W.Buf), "\r\n")
}

// shut closes the gate. No job ends until the caller opens it by closing the channel.
func (x *disked) shut() chan struct{} {
	x.fs.gate = make(chan struct{})
	return x.fs.gate
}

// finish waits until the running job has ended.
func (x *disked) finish() {
	require.True(x, x.s.Busy())
	for x.s.Busy() {
		x.e.Slice()
		runtime.Gosched()
	}
}

// fail makes the next job fail.
func (x *disked) fail() {
	x.plan.Add(vfs.Fault{Op: vfs.OpSync, Name: "temp-"})
	x.finish()
	x.plan.Clear()
}

// info returns a field of INFO persistence.
func (x *disked) info(name string) string {
	for line := range strings.Lines(x.do("info persistence")) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return v
		}
	}
	return ""
}

func TestBackgroundSave(t *testing.T) {
	x := withDisk(t, nil)
	x.do("set a 1")
	gate := x.shut()
	require.Equal(t, "+Background saving started", x.do("bgsave"))
	require.Equal(t, "-ERR Background save already in progress", x.do("bgsave"))
	require.Equal(t, "-ERR Background save already in progress", x.do("save"))
	require.Equal(t, "1", x.info("rdb_bgsave_in_progress"))
	require.Equal(t, "0", x.info("current_save_keys_processed"))
	require.Equal(t, "1", x.info("current_save_keys_total"))
	require.NotEqual(t, "-1", x.info("rdb_current_bgsave_time_sec"))
	for x.info("current_save_keys_processed") == "0" {
		x.e.Slice()
	}
	require.Equal(t, "100.00", x.info("current_fork_perc"))
	x.do("set b 1")
	x.e.Slice()
	require.Equal(t, "1", x.info("rdb_bgsave_in_progress"))
	close(gate)
	x.finish()
	require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
	require.Equal(t, "1", x.info("rdb_changes_since_last_save"), "b came after the save began")
	require.Equal(t, "ok", x.info("rdb_last_bgsave_status"))
	require.Equal(t, "1", x.info("rdb_saves"))
	require.Contains(t, x.log.String(), "Background saving terminated with success")
}

func TestSaveAndRewriteTakeTurns(t *testing.T) {
	x := withDisk(t, nil)
	gate := x.shut()
	require.Equal(t, "+Background append only file rewriting started", x.do("bgrewriteaof"))
	require.Contains(t, x.do("bgsave"), "Another child process is active (AOF?)")
	require.Equal(t, "-ERR syntax error", x.do("bgsave now"))
	require.Equal(t, "+Background saving scheduled", x.do("bgsave schedule"))
	x.e.Cron()
	require.Equal(t, "0", x.info("rdb_saves"))
	close(gate)
	x.finish()
	require.Contains(t, x.log.String(), "Background AOF rewrite terminated with success")
	x.e.Cron()
	require.Equal(t, "1", x.info("rdb_saves"))
	for x.info("aof_rewrite_in_progress") == "1" {
		x.e.Cron()
		runtime.Gosched()
	}
	require.Equal(t, "+Background append only file rewriting scheduled", x.do("bgrewriteaof"))
}

func TestCancelBackgroundSave(t *testing.T) {
	x := withDisk(t, nil)
	const none = "-ERR Background saving is currently not in progress or scheduled"
	require.Equal(t, none, x.do("bgsave cancel"))
	gate := x.shut()
	require.Equal(t, "+Background saving started", x.do("bgsave"))
	require.Equal(t, "+Background saving cancelled", x.do("bgsave cancel"))
	require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
	require.Equal(t, "ok", x.info("rdb_last_bgsave_status"))
	require.Equal(t, none, x.do("bgsave cancel"))
	require.Equal(t, "+Background append only file rewriting started", x.do("bgrewriteaof"))
	require.Equal(t, "+Background saving scheduled", x.do("bgsave schedule"))
	require.Equal(t, "+Scheduled background saving cancelled", x.do("bgsave cancel"))
	close(gate)
	x.finish()
	x.e.Cron()
	require.Equal(t, "1", x.info("rdb_saves"), "that which was cancelled")
}

func TestSavePoints(t *testing.T) {
	x := withDisk(t, func(c *config.Config) {
		c.Save = []config.SavePoint{{Seconds: 3600, Changes: 1}, {Seconds: 100, Changes: 2}}
	})
	x.do("mset a 1")
	x.e.PassTime(102 * time.Second)
	x.e.Cron()
	require.Equal(t, "0", x.info("rdb_saves"), "one change is not enough for so little time")
	x.do("set b 1")
	x.e.Cron()
	require.Equal(t, "1", x.info("rdb_saves"))
	require.Contains(t, x.log.String(), "2 changes in 100 seconds. Saving...")
	x.finish()
	x.do("mset a 1")
	x.do("set b 1")
	x.e.Cron()
	require.Equal(t, "1", x.info("rdb_saves"), "no time has passed")
	x.e.PassTime(102 * time.Second)
	x.e.Cron()
	require.Equal(t, "2", x.info("rdb_saves"))
	x.fail()
	require.Equal(t, "err", x.info("rdb_last_bgsave_status"))
	require.Equal(t, "-"+engine.ErrMisconfRDB, x.do("set c 1"))
	require.Equal(t, "-"+engine.ErrMisconfRDB, x.do("ping"))
	require.Equal(t, "$1\r\n1", x.do("get a"))
	x.e.Cron()
	require.Equal(t, "2", x.info("rdb_saves"), "it waits before it tries again")
	x.e.PassTime(7 * time.Second)
	x.e.Cron()
	require.Equal(t, "3", x.info("rdb_saves"))
	x.fail()
	require.Equal(t, "+OK", x.do("config set stop-writes-on-bgsave-error no"))
	require.Equal(t, "+OK", x.do("set c 1"))
	require.Equal(t, "+OK", x.do("config set stop-writes-on-bgsave-error yes"))
	require.Equal(t, "+OK", x.do("save"))
	require.Equal(t, "+OK", x.do("set c 1"), "a save that works lifts the refusal")
	require.Equal(t, "1", x.info("rdb_changes_since_last_save"))
}

func TestAOFError(t *testing.T) {
	x := withDisk(t, func(c *config.Config) { c.AppendOnly, c.AppendFsync = true, config.FsyncNo })
	x.plan.Add(vfs.Fault{Op: vfs.OpWrite, Name: ".incr."})
	require.Equal(t, "+OK", x.do("set a 1"))
	require.Equal(t, "-MISCONF Errors writing to the AOF file: No space left on device",
		x.do("set a 1"))
	x.plan.Clear()
	x.e.PassTime(2 * time.Second)
	x.e.Cron()
	require.Equal(t, "+OK", x.do("set a 1"))
}

func TestLoadingRefusesCommands(t *testing.T) {
	x := withDisk(t, nil)
	x.do("set old v px 1")
	x.e.BeginLoading(200)
	target := x.e.LoadTarget(true)
	target.Loaded(50)
	require.Equal(t, "-"+engine.ErrLoading, x.do("get a"))
	require.Equal(t, "-"+engine.ErrLoading, x.do("ping"))
	require.Equal(t, "1", x.info("loading"))
	require.Equal(t, "25.00", x.info("loading_loaded_perc"))
	require.NoError(t, target.Exec([][]byte{[]byte("select"), []byte("2")}))
	require.NoError(t, target.Exec([][]byte{[]byte("set"), []byte("k"), []byte("v")}))
	require.NoError(t, target.Exec([][]byte{[]byte("pexpireat"), []byte("k"), []byte("1000")}))
	require.NoError(t, target.Exec([][]byte{[]byte("persist"), []byte("k")}),
		"the key is there although its deadline has passed")
	require.ErrorIs(t, target.Exec([][]byte{[]byte("nonesuch")}), engine.ErrUnknownCommand)
	require.ErrorContains(t, target.Exec([][]byte{[]byte("nonesuch")}), "nonesuch")
	require.EqualError(t, target.Exec([][]byte{[]byte("get")}),
		"wrong number of arguments for 'get' command")
	require.NoError(t, x.e.Table().Rename("persist", ""))
	require.NoError(t, x.e.Table().Rename("sadd", "add"))
	// the server's own commands have their old names
	for _, name := range []string{"persist k", "add s m", "SADD s m"} {
		require.NoError(t, target.Check(bytes.Fields([]byte(name))), name)
		require.NoError(t, target.Exec(bytes.Fields([]byte(name))), name)
	}
	require.ErrorContains(t, target.Exec([][]byte{[]byte("lpush"), []byte("k"), []byte("v")}),
		"WRONGTYPE")
	x.e.EndLoading()
	require.Equal(t, "+PONG", x.do("ping"))
	x.do("select 2")
	require.Equal(t, "$1\r\nv", x.do("get k"))
}

func TestFlushallReplacesTheSnapshot(t *testing.T) {
	x := withDisk(t, func(c *config.Config) {
		c.Save = []config.SavePoint{{Seconds: 3600, Changes: 1}}
	})
	x.do("set a 1")
	x.stalledSave()
	x.do("flushall")
	require.Contains(t, x.log.String(), "Background saving cancelled: all databases are flushed")
	require.Equal(t, 1, strings.Count(x.log.String(), "DB saved on disk"))
	require.Equal(t, "0", x.info("rdb_changes_since_last_save"))
	require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
}

// stalledSave begins a save that only ends when it is cancelled.
func (x *disked) stalledSave() {
	x.e.Cfg.RDBKeySaveDelay = 1 << 40
	require.Equal(x, "+Background saving started", x.do("bgsave"))
	x.e.Cfg.RDBKeySaveDelay = 0
}

func TestFinishData(t *testing.T) {
	points := []config.SavePoint{{Seconds: 3600, Changes: 1}}
	for _, c := range []struct {
		name      string
		points    []config.SavePoint
		o         engine.ShutdownOptions
		fails     bool
		aof       bool
		firstBase bool
		saves     int
		err       error
	}{
		{name: "no save points"},
		{name: "save points", points: points, saves: 1},
		{name: "nosave", points: points, o: engine.ShutdownOptions{NoSave: true}},
		{name: "save", o: engine.ShutdownOptions{Save: true}, saves: 1},
		{name: "failing", points: points, fails: true, saves: 1, err: engine.ErrFinalSave},
		{name: "forced", points: points, fails: true, o: engine.ShutdownOptions{Force: true},
			saves: 1},
		{name: "first base", firstBase: true, err: engine.ErrFirstBase},
		{name: "first base, forced", firstBase: true, o: engine.ShutdownOptions{Force: true}},
		{name: "aof", aof: true},
		{name: "aof failing", fails: true, points: points, aof: true, err: engine.ErrFinalSync},
		{name: "aof failing, nosave", fails: true, aof: true,
			o: engine.ShutdownOptions{NoSave: true}},
		{name: "aof failing, forced", fails: true, aof: true,
			o: engine.ShutdownOptions{Force: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := withDisk(t, func(cfg *config.Config) {
				cfg.Save, cfg.AppendOnly = c.points, c.aof
			})
			x.do("set a 1")
			x.stalledSave()
			if c.firstBase {
				require.Equal(t, "+OK", x.do("config set appendonly yes"))
			}
			if c.fails {
				x.plan.Add(vfs.Fault{Op: vfs.OpSync})
			}
			err := x.e.FinishData(c.o, nil)
			x.plan.Clear()
			require.Equal(t, c.err, err)
			require.Equal(t, c.saves,
				strings.Count(x.log.String(), "Saving the final RDB snapshot"))
			require.Equal(t, !c.fails && c.saves > 0,
				strings.Contains(x.log.String(), "DB saved on disk"))
			require.False(t, x.s.Busy(), "the running save is ended")
			if c.aof && !c.fails {
				require.Equal(t, x.s.AOF().Offset(), x.s.AOF().Synced())
			}
		})
	}
	x := withDisk(t, func(cfg *config.Config) { cfg.Save = points })
	x.e.BeginLoading(1)
	require.NoError(t, x.e.FinishData(engine.ShutdownOptions{Save: true}, nil))
	require.NotContains(t, x.log.String(), "DB saved on disk", "half a data set is not saved")
}

func TestReload(t *testing.T) {
	x := withDisk(t, func(c *config.Config) {
		c.EnableDebugCommand, c.AppendOnly = config.GuardYes, true
	})
	x.do("set a 1")
	require.Equal(t, "+OK", x.do("debug reload"))
	require.Equal(t, "0", x.info("rdb_saves"), "it is no save in the statistics")
	x.do("set b 1")
	require.Equal(t, ":2", x.do("dbsize"))
	require.Equal(t, "+OK", x.do("debug reload merge noflush nosave"))
	require.Equal(t, ":2", x.do("dbsize"))
	require.Contains(t, x.do("debug reload noflush nosave"), "-ERR", "a is there twice")
	require.Equal(t, "+OK", x.do("debug reload nosave"))
	require.Equal(t, ":1", x.do("dbsize"))
	require.Equal(t, "+OK", x.do("debug loadaof"))
	require.Equal(t, ":2", x.do("dbsize"),
		"what is loaded is not logged, and what was logged is there")
	require.Contains(t, x.do("debug reload x"), "DEBUG RELOAD only supports")
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, x.mem.Remove(dir+"/dump.rdb"))
	require.NoError(t, x.mem.Remove(dir+"/appendonlydir/appendonly.aof.manifest"))
	require.Contains(t, x.do("debug reload nosave"), "-ERR")
	require.Contains(t, x.do("debug loadaof"), "-ERR")
	require.Equal(t, ":2", x.do("dbsize"), "what is there is thrown away only for something else")
}

// TestLogTurnedOnWithinTransaction turns the log off and on in the middle of a transaction. The
// base must not have half a transaction, and nothing that it has may stand behind it once more.
func TestLogTurnedOnWithinTransaction(t *testing.T) {
	x := withDisk(t, func(c *config.Config) {
		c.EnableDebugCommand, c.AppendOnly = config.GuardYes, true
	})
	for _, line := range []string{"multi", "incr a", "config set appendonly no", "incr b",
		"config set appendonly yes", "incr b", "exec"} {
		x.do(line)
	}
	require.Equal(t, "1", x.info("aof_rewrite_scheduled"))
	require.Equal(t, "0", x.info("aof_rewrite_in_progress"), "it begins after the transaction")
	x.do("incr a")
	x.e.Cron()
	x.do("incr a")
	x.finish()
	for x.info("aof_rewrite_in_progress") == "1" {
		x.e.Cron()
		runtime.Gosched()
	}
	require.Equal(t, "+OK", x.do("debug loadaof"))
	require.Equal(t, "*2\r\n$1\r\n3\r\n$1\r\n2", x.do("mget a b"))
}
