package engine_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/persist/rdb"
	"godwit/internal/script"
)

// wire is a SyncDest in memory.
type wire struct {
	b       []byte
	fail    error
	gate    chan struct{} // Write waits for it to be closed, unless it is nil
	aborted chan struct{}
}

func (w *wire) Write(p []byte) error {
	if w.gate != nil {
		<-w.gate
	}
	w.b = append(w.b, p...)
	return w.fail
}

func (w *wire) Commit() error { return nil }

func (w *wire) Abort() {
	if w.aborted != nil {
		close(w.aborted)
	}
}

// sync makes a snapshot for replicas and returns it.
func (x *disked) sync(o persist.SyncOptions) (string, error) {
	w, result := &wire{}, error(nil)
	require.NoError(x, x.e.StartSync(o, w, func(err error) { result = err }))
	x.finish()
	return string(w.b), result
}

// TestSyncVersion asks for the version that data leads to, and for the lower one when it is gone.
func TestSyncVersion(t *testing.T) {
	x := withDisk(t, nil)
	version := func() string {
		b, err := x.sync(persist.SyncOptions{})
		require.NoError(t, err)
		_, err = persist.LoadRDB(strings.NewReader(b), newTarget(t),
			persist.RDBLoadOptions{Log: x.e.Log})
		require.NoError(t, err, "whole and sound")
		return b[:rdb.HeaderLen]
	}
	for _, step := range [][2]string{
		{"set a 1", "REDIS0010"},
		{"xadd s 1-0 f v", "REDIS0010"},
		{"xgroup create s g 0", "REDIS0011"},
		{"hsetex h ex 1000 fields 1 f v", "REDIS0012"},
		{"xadd t idmp p i * f v", "REDIS0013"},
		{"xreadgroup group g c streams s >", "REDIS0013"},
		{"xnack s g fail ids 1 1-0", "REDIS0014"},
		{"copy s u", "REDIS0014"},
		{"xack s g 1-0", "REDIS0014"},
		{"xgroup destroy u g", "REDIS0013"},
		{"del t", "REDIS0012"},
		{"hpersist h fields 1 f", "REDIS0012"}, // its record of the deadline has not fired
		{"del h", "REDIS0011"},
		{"flushall", "REDIS0010"},
	} {
		require.NotContains(t, x.do(step[0]), "-ERR", step[0])
		require.Equal(t, step[1], version(), step[0])
		require.NoError(t, x.e.KS.Check())
	}
}

// newTarget returns an empty server.
func newTarget(t *testing.T) persist.RDBTarget {
	log, err := logging.New(logging.Options{Out: io.Discard})
	require.NoError(t, err)
	return engine.New(config.Default(), command.Table(), engine.Options{Log: log}).LoadTarget(false)
}

// TestSyncInfo holds what INFO says of a snapshot for replicas, and who has to wait for it.
func TestSyncInfo(t *testing.T) {
	x := withDisk(t, nil)
	x.do("set a 1")
	w := &wire{gate: make(chan struct{})}
	var results []error
	done := func(err error) { results = append(results, err) }
	require.NoError(t, x.e.StartSync(persist.SyncOptions{}, w, done))
	x.e.Slice()
	require.Equal(t, "1", x.info("rdb_bgsave_in_progress"))
	require.NotEqual(t, "-1", x.info("rdb_current_bgsave_time_sec"))
	require.Equal(t, "1", x.info("current_save_keys_total"))
	require.Equal(t, "-ERR Background save already in progress", x.do("bgsave"))
	require.Equal(t, "-ERR Background save already in progress", x.do("save"))
	require.ErrorIs(t, x.e.StartSync(persist.SyncOptions{}, w, done), engine.ErrSaveRunning)
	x.do("set b 1")
	close(w.gate)
	x.finish()
	require.Equal(t, []error{nil}, results)
	require.NotContains(t, string(w.b), "\x01b")
	require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
	require.NotEqual(t, "-1", x.info("rdb_last_bgsave_time_sec"))
	require.Equal(t, "0", x.info("rdb_saves"))
	require.Equal(t, "2", x.info("rdb_changes_since_last_save"))

	broken := errors.New("gone")
	require.NoError(t, x.e.StartSync(persist.SyncOptions{}, &wire{fail: broken}, done))
	x.finish()
	require.ErrorIs(t, results[1], broken)
	require.Equal(t, "ok", x.info("rdb_last_bgsave_status"))
	x.do("multi")
	require.Equal(t, "+OK", x.do("discard"))
}

// TestSyncMakesWay checks that nothing waits for a replica that takes no bytes.
func TestSyncMakesWay(t *testing.T) {
	for name, end := range map[string]func(x *disked){
		"cancel": func(x *disked) { x.e.CancelSync() },
		"reload": func(x *disked) { require.NoError(x, x.e.SaveQuietly()) },
		"shutdown": func(x *disked) {
			require.NoError(x, x.e.FinishData(engine.ShutdownOptions{}, nil))
		},
	} {
		x := withDisk(t, nil)
		x.do("set a 1")
		w := &wire{gate: make(chan struct{}), aborted: make(chan struct{})}
		var results []error
		require.NoError(t, x.e.StartSync(persist.SyncOptions{}, w,
			func(err error) { results = append(results, err) }))
		x.e.Slice()
		end(x)
		if name == "cancel" {
			require.Empty(t, results)
		} else {
			require.Equal(t, []error{persist.ErrJobCancelled}, results, name)
		}
		require.Equal(t, "0", x.info("rdb_bgsave_in_progress"))
		x.do("set b 1")
		require.Equal(t, "+Background saving started", x.do("bgsave"))
		x.finish()
		close(w.gate)
		<-w.aborted
	}
}

// TestSyncFunctions asks for the libraries of functions alone.
func TestSyncFunctions(t *testing.T) {
	x := withDisk(t, nil)
	x.do("set key 1")
	const code = "#!lua name=lib\nredis.register_function('f', function() end)"
	_, err := x.e.Functions().Load([]byte(code), script.LoadOptions{})
	require.NoError(t, err)
	b, err := x.sync(persist.SyncOptions{Functions: true, NoCompress: true, NoChecksum: true})
	require.NoError(t, err)
	require.Contains(t, b, code)
	require.NotContains(t, b, "key")
	require.Equal(t, string(make([]byte, rdb.ChecksumLen)), b[len(b)-rdb.ChecksumLen:])
}

// TestSyncBehind changes what a replica that takes no bytes has not got yet. What is kept for it is
// memory in use, but no reason to evict.
func TestSyncBehind(t *testing.T) {
	x := withDisk(t, nil)
	const keys, size = 24, 512 << 10
	write := func(b string) {
		for i := range keys {
			x.do(fmt.Sprint("set key:", i, " ", strings.Repeat(b, size)))
		}
	}
	write("a")
	before := x.e.MemoryReport()
	w := &wire{gate: make(chan struct{})}
	require.NoError(t, x.e.StartSync(persist.SyncOptions{NoCompress: true}, w, func(error) {}))
	write("b")
	r := x.e.MemoryReport()
	require.InDelta(t, (keys-8)*size, r.Frozen, 4*size)
	require.InDelta(t, before.Used-before.NotCounted(), r.Used-r.NotCounted(), 4*size)
	close(w.gate)
	x.finish()
	require.Zero(t, x.e.MemoryReport().Frozen)
	require.Equal(t, keys, strings.Count(string(w.b), strings.Repeat("a", size)))
}
