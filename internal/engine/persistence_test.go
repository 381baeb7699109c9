package engine_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
)

// fakeDisk implements engine.Persistence and engine.AppendOnly without a disk.
type fakeDisk struct {
	saves, crons int
	jobs         []*fakeJob
	failSave     error
	failStart    error
	writeErr     string
	status       engine.AOFStatus
	synced       int
	failSync     error
	loads        []engine.Source
	nothing      error // to load
}

type fakeJob struct {
	done, cancelled bool
	err             error
	slices          int
}

func (j *fakeJob) Slice(time.Duration, bool) bool { j.slices++; return false }
func (j *fakeJob) Done() (bool, error)            { return j.done, j.err }
func (j *fakeJob) Progress() (int64, int64)       { return 3, 12 }
func (j *fakeJob) Held() int64                    { return 0 }
func (j *fakeJob) Cancel()                        { j.cancelled = true }
func (d *fakeDisk) RemoveTemporary()              {}
func (d *fakeDisk) Reconfigured()                 {}
func (d *fakeDisk) Cron()                         { d.crons++ }
func (d *fakeDisk) Sync() error                   { d.synced++; return d.failSync }
func (d *fakeDisk) WriteError() string            { return d.writeErr }
func (d *fakeDisk) Turn(on bool) error            { d.status.On = on; return nil }
func (d *fakeDisk) Rewrite(bool) (bool, error)    { return false, nil }
func (d *fakeDisk) Status() *engine.AOFStatus     { return &d.status }

func (d *fakeDisk) Offset() int64             { return 0 }
func (d *fakeDisk) Synced() int64             { return -1 }
func (d *fakeDisk) CommitCost() time.Duration { return 0 }

func (d *fakeDisk) AppendOnly() engine.AppendOnly { return d }
func (d *fakeDisk) Loadable(engine.Source) error  { return d.nothing }
func (d *fakeDisk) Load(s engine.Source) error    { d.loads = append(d.loads, s); return nil }

func (d *fakeDisk) Save() error {
	d.saves++
	return d.failSave
}

func (d *fakeDisk) StartSave() (engine.Job, error) {
	if d.failStart != nil {
		return nil, d.failStart
	}
	d.jobs = append(d.jobs, &fakeJob{})
	return d.jobs[len(d.jobs)-1], nil
}

func (d *fakeDisk) last() *fakeJob { return d.jobs[len(d.jobs)-1] }

// disked is an engine with such a disk.
type disked struct {
	*testing.T
	e   *engine.Engine
	c   *engine.Client
	d   *fakeDisk
	log *bytes.Buffer
}

func withDisk(t *testing.T, edit func(c *config.Config)) *disked {
	cfg := config.Default()
	cfg.Save = nil
	if edit != nil {
		edit(cfg)
	}
	log := &bytes.Buffer{}
	l, err := logging.New(logging.Options{Out: log, Level: logging.Debug})
	require.NoError(t, err)
	e := engine.New(cfg, command.Table(), engine.Options{Log: l, Seed: 3})
	x := &disked{t, e, e.NewClient(nil), &fakeDisk{}, log}
	e.SetPersistence(x.d)
	e.Enter()
	t.Cleanup(e.Leave)
	return x
}

func (x *disked) do(words string) string {
	var argv [][]byte
	for _, w := range strings.Fields(words) {
		argv = append(argv, []byte(w))
	}
	x.c.W.Buf = x.c.W.Buf[:0]
	x.e.Exec(x.c, argv)
	return strings.TrimRight(string(x.c.W.Buf), "\r\n")
}

// info is a field of INFO persistence.
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
	require.Equal(t, "+Background saving started", x.do("bgsave"))
	require.Equal(t, "-ERR Background save already in progress", x.do("bgsave"))
	require.Equal(t, "-ERR Background save already in progress", x.do("save"))
	require.Equal(t, "1", x.info("rdb_bgsave_in_progress"))
	require.Equal(t, "3", x.info("current_save_keys_processed"))
	require.Equal(t, "25.00", x.info("current_fork_perc"))
	require.NotEqual(t, "-1", x.info("rdb_current_bgsave_time_sec"))
	x.do("set b 1")
	x.e.Slice()
	require.Equal(t, "1", x.info("rdb_bgsave_in_progress"))
	x.d.last().done = true
	x.e.Slice()
	require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
	require.Equal(t, "1", x.info("rdb_changes_since_last_save"), "b came after the save began")
	require.Equal(t, "ok", x.info("rdb_last_bgsave_status"))
	require.Equal(t, "1", x.info("rdb_saves"))
	require.Contains(t, x.log.String(), "Background saving terminated with success")
}

func TestSaveAndRewriteTakeTurns(t *testing.T) {
	x := withDisk(t, nil)
	job, done := &fakeJob{}, 0
	x.e.RunJob(job, func(error) { done++ })
	require.Contains(t, x.do("bgsave"), "Another child process is active (AOF?)")
	require.Equal(t, "-ERR syntax error", x.do("bgsave now"))
	require.Equal(t, "+Background saving scheduled", x.do("bgsave schedule"))
	x.e.Cron()
	require.Empty(t, x.d.jobs)
	job.done = true
	x.e.Slice()
	require.Equal(t, 1, done)
	x.e.Cron()
	require.Len(t, x.d.jobs, 1)
}

func TestSavePoints(t *testing.T) {
	x := withDisk(t, func(c *config.Config) {
		c.Save = []config.SavePoint{{Seconds: 3600, Changes: 1}, {Seconds: 100, Changes: 2}}
	})
	x.do("mset a 1")
	x.e.PassTime(102 * time.Second)
	x.e.Cron()
	require.Empty(t, x.d.jobs, "one change is not enough for so little time")
	x.do("set b 1")
	x.e.Cron()
	require.Len(t, x.d.jobs, 1)
	require.Contains(t, x.log.String(), "2 changes in 100 seconds. Saving...")
	x.d.last().done = true
	x.e.Slice()
	x.do("mset a 1")
	x.do("set b 1")
	x.e.Cron()
	require.Len(t, x.d.jobs, 1, "no time has passed")
	x.e.PassTime(102 * time.Second)
	x.e.Cron()
	require.Len(t, x.d.jobs, 2)
	x.d.last().done, x.d.last().err = true, errors.New("disk full")
	x.e.Slice()
	require.Equal(t, "err", x.info("rdb_last_bgsave_status"))
	require.Equal(t, "-"+engine.ErrMisconfRDB, x.do("set c 1"))
	require.Equal(t, "-"+engine.ErrMisconfRDB, x.do("ping"))
	require.Equal(t, "$1\r\n1", x.do("get a"))
	x.e.Cron()
	require.Len(t, x.d.jobs, 2, "it waits before it tries again")
	x.e.PassTime(7 * time.Second)
	x.e.Cron()
	require.Len(t, x.d.jobs, 3)
	x.d.last().done, x.d.last().err = true, errors.New("disk full")
	x.e.Slice()
	require.Equal(t, "+OK", x.do("config set stop-writes-on-bgsave-error no"))
	require.Equal(t, "+OK", x.do("set c 1"))
	require.Equal(t, "+OK", x.do("config set stop-writes-on-bgsave-error yes"))
	require.Equal(t, "+OK", x.do("save"))
	require.Equal(t, "+OK", x.do("set c 1"), "a save that works lifts the refusal")
	require.Equal(t, "1", x.info("rdb_changes_since_last_save"))
}

func TestAOFError(t *testing.T) {
	x := withDisk(t, nil)
	x.d.writeErr = "No space left on device"
	require.Equal(t, "-MISCONF Errors writing to the AOF file: No space left on device", x.do("set a 1"))
	x.d.writeErr = ""
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
	require.NoError(t, target.Exec([][]byte{[]byte("persist"), []byte("k")}), "the key is there although its deadline has passed")
	require.ErrorIs(t, target.Exec([][]byte{[]byte("nonesuch")}), engine.ErrUnknownCommand)
	require.ErrorContains(t, target.Exec([][]byte{[]byte("nonesuch")}), "nonesuch")
	require.EqualError(t, target.Exec([][]byte{[]byte("get")}), "wrong number of arguments for 'get' command")
	require.NoError(t, x.e.Table().Rename("persist", ""))
	require.NoError(t, x.e.Table().Rename("sadd", "add"))
	for _, name := range []string{"persist k", "add s m", "SADD s m"} { // the server's own commands have their old names
		require.NoError(t, target.Check(bytes.Fields([]byte(name))), name)
		require.NoError(t, target.Exec(bytes.Fields([]byte(name))), name)
	}
	require.ErrorContains(t, target.Exec([][]byte{[]byte("lpush"), []byte("k"), []byte("v")}), "WRONGTYPE")
	require.Equal(t, 2, target.DB())
	x.e.EndLoading()
	require.Equal(t, "+PONG", x.do("ping"))
	x.do("select 2")
	require.Equal(t, "$1\r\nv", x.do("get k"))
}

func TestFlushallReplacesTheSnapshot(t *testing.T) {
	x := withDisk(t, func(c *config.Config) { c.Save = []config.SavePoint{{Seconds: 3600, Changes: 1}} })
	x.do("set a 1")
	x.do("bgsave")
	x.do("flushall")
	require.True(t, x.d.last().cancelled)
	require.Equal(t, 1, x.d.saves)
	require.Equal(t, "0", x.info("rdb_changes_since_last_save"))
	require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
}

func TestFinishData(t *testing.T) {
	points := []config.SavePoint{{Seconds: 3600, Changes: 1}}
	for _, c := range []struct {
		name   string
		points []config.SavePoint
		o      engine.ShutdownOptions
		fails  bool
		aof    engine.AOFStatus
		saves  int
		err    error
	}{
		{name: "no save points"},
		{name: "save points", points: points, saves: 1},
		{name: "nosave", points: points, o: engine.ShutdownOptions{NoSave: true}},
		{name: "save", o: engine.ShutdownOptions{Save: true}, saves: 1},
		{name: "failing", points: points, fails: true, saves: 1, err: engine.ErrFinalSave},
		{name: "forced", points: points, fails: true, o: engine.ShutdownOptions{Force: true}, saves: 1},
		{name: "first base", aof: engine.AOFStatus{On: true, FirstBase: true}, err: engine.ErrFirstBase},
		{name: "first base, forced", aof: engine.AOFStatus{On: true, FirstBase: true}, o: engine.ShutdownOptions{Force: true}},
		{name: "aof", aof: engine.AOFStatus{On: true}},
		{name: "aof failing", fails: true, points: points, aof: engine.AOFStatus{On: true}, err: engine.ErrFinalSync},
		{name: "aof failing, nosave", fails: true, aof: engine.AOFStatus{On: true}, o: engine.ShutdownOptions{NoSave: true}},
		{name: "aof failing, forced", fails: true, aof: engine.AOFStatus{On: true}, o: engine.ShutdownOptions{Force: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := withDisk(t, func(cfg *config.Config) { cfg.Save = c.points })
			x.do("bgsave")
			if x.d.status = c.aof; c.fails {
				x.d.failSave, x.d.failSync = errors.New("full"), errors.New("full")
			}
			err := x.e.FinishData(c.o, nil)
			require.Equal(t, c.err, err)
			require.Equal(t, c.saves, x.d.saves)
			require.True(t, x.d.last().cancelled, "the running save is ended")
			if c.aof.On && c.err == nil {
				require.Equal(t, 1, x.d.synced)
			}
		})
	}
	x := withDisk(t, func(cfg *config.Config) { cfg.Save = points })
	x.e.BeginLoading(1)
	require.NoError(t, x.e.FinishData(engine.ShutdownOptions{Save: true}, nil))
	require.Zero(t, x.d.saves, "half a data set is not saved")
}

func TestReload(t *testing.T) {
	x := withDisk(t, func(c *config.Config) { c.EnableDebugCommand = config.GuardYes })
	x.do("set a 1")
	require.Equal(t, "+OK", x.do("debug reload"))
	require.Equal(t, "+OK", x.do("debug reload merge noflush nosave"))
	require.Equal(t, "+OK", x.do("debug loadaof"))
	require.Contains(t, x.do("debug reload x"), "DEBUG RELOAD only supports")
	require.Equal(t, []engine.Source{engine.FromSnapshot, engine.FromSnapshotMerge, engine.FromAppendOnly}, x.d.loads)
	require.Equal(t, 1, x.d.saves)
	require.Equal(t, ":0", x.do("dbsize"))
	x.do("set a 1")
	x.d.nothing = errors.New("no file")
	require.Contains(t, x.do("debug reload nosave"), "-ERR")
	require.Contains(t, x.do("debug loadaof"), "-ERR")
	require.Equal(t, ":1", x.do("dbsize"), "what is there is thrown away only for something else")
	require.Len(t, x.d.loads, 3)
}
