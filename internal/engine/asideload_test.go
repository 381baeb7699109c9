package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/persist"
	"godwit/internal/script"
)

// load reads a snapshot beside the data that is served.
func (x *disked) load(a engine.AsideLoad, rdb string) error {
	x.e.Leave()
	defer x.e.Enter()
	_, err := x.s.LoadSync(strings.NewReader(rdb), persist.SyncLoadOptions{Target: a})
	return err
}

// snapshotOf returns the snapshot of a server that has run the commands.
func snapshotOf(t *testing.T, lines ...string) string {
	x := withDisk(t, nil)
	for _, line := range lines {
		require.NotContains(t, x.do(line), "-ERR", line)
	}
	_, err := x.e.Functions().Load([]byte("#!lua name=new\nredis.register_function('f', "+
		"function() return 1 end)"), script.LoadOptions{})
	require.NoError(t, err)
	b, err := x.sync(persist.SyncOptions{})
	require.NoError(t, err)
	return b
}

// TestAsideLoad loads a data set beside that which is served.
func TestAsideLoad(t *testing.T) {
	rdb := snapshotOf(t, "set a new", "rpush l 1 2", "hsetex h px 1 fields 1 f v", "set due 1 px 1",
		"select 2", "xadd s 1-1 f v", "xgroup create s g 0")
	x := withDisk(t, nil)
	x.do("set a old")
	x.do("set gone 1")
	x.do("function load x")
	watcher := x.c
	x.do("watch l")
	x.do("multi")
	x.do("ping")

	x.c = x.e.NewClient(nil)
	a := x.e.BeginAside(int64(len(rdb)))
	require.NoError(t, x.load(a, rdb))
	require.Equal(t, "0", x.info("loading"))
	require.Equal(t, "1", x.info("async_loading"))
	require.NotEqual(t, "0", x.info("loading_loaded_bytes"))
	require.Equal(t, "100.00", x.info("loading_loaded_perc"))
	require.Equal(t, "$3\r\nold", x.do("get a"))
	require.Equal(t, "+OK", x.do("set local 1"))
	require.Contains(t, x.do("bgsave"), "-LOADING")
	require.Contains(t, x.do("bgrewriteaof"), "-LOADING")
	require.Contains(t, x.do("fcall f 0"), "Function not found")
	x.e.Cron()
	require.False(t, x.s.Busy())
	require.NoError(t, x.e.KS.Check())

	time.Sleep(2 * time.Millisecond) // until h and due are due
	require.True(t, a.Adopt())
	require.Empty(t, x.info("loading_start_time"))
	require.Equal(t, "0", x.info("async_loading"))
	require.Equal(t, "$3\r\nnew", x.do("get a"))
	require.Equal(t, "$-1", x.do("get gone"))
	require.Equal(t, "$-1", x.do("get local"))
	require.Equal(t, ":1", x.do("fcall f 0"))
	require.Equal(t, ":0", x.do("exists h due"), "what is due is there no more")
	require.False(t, a.Adopt(), "it is over")
	require.NoError(t, x.e.KS.Check())
	x.c = watcher
	require.Equal(t, "*-1", x.do("exec"))
	for x.e.KS.LazyFreeSlice(100) {
	}
	require.NoError(t, x.e.KS.Check())
	require.Equal(t, "+Background saving started", x.do("bgsave"))
	x.finish()
}

// TestAsideLoadFails ends such loads before their time: nothing changes.
func TestAsideLoadFails(t *testing.T) {
	rdb := snapshotOf(t, "set a new", "rpush l 1 2")
	broken := rdb[:len(rdb)-9] + "123456789"
	for name, c := range map[string]struct {
		rdb, want string
		end       func(x *disked, a engine.AsideLoad)
	}{
		"broken":  {broken, "offset", func(x *disked, a engine.AsideLoad) { a.Drop() }},
		"dropped": {rdb, "", func(x *disked, a engine.AsideLoad) { a.Drop() }},
		"save": {rdb, "", func(x *disked, a engine.AsideLoad) {
			require.NoError(x, x.e.SaveQuietly())
		}},
		"shutdown": {rdb, "", func(x *disked, a engine.AsideLoad) {
			require.NoError(x, x.e.FinishData(engine.ShutdownOptions{Save: true}, nil))
		}},
		"again": {rdb, "", func(x *disked, a engine.AsideLoad) { x.e.BeginAside(0).Drop() }},
	} {
		x := withDisk(t, nil)
		x.do("set a old px 100000")
		before := x.e.FunctionSources()
		a := x.e.BeginAside(0)
		require.Equal(t, keyspace.ExpireHide, x.e.KS.ExpireMode())
		err := x.load(a, c.rdb)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
		} else {
			require.NoError(t, err)
		}
		c.end(x, a)
		require.False(t, a.Adopt(), name)
		require.ErrorContains(t, x.load(a, rdb), "given up")
		require.Equal(t, keyspace.ExpireDelete, x.e.KS.ExpireMode())
		require.Equal(t, "$3\r\nold", x.do("get a"))
		require.Equal(t, ":1", x.do("dbsize"))
		require.Equal(t, before, x.e.FunctionSources())
		require.Equal(t, "0", x.info("async_loading"))
		for x.e.KS.LazyFreeSlice(100) {
		}
		require.NoError(t, x.e.KS.Check())
	}
}
