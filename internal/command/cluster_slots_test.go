package command

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/slot"
	"godwit/internal/testseed"
)

// newClusterNode returns a local that is a node of a cluster and the master of the slots.
func newClusterNode(t testing.TB, slots slot.Set, edit func(c *config.Config)) *local {
	t.Helper()
	cfg := config.Default()
	cfg.Cluster.Enabled, cfg.Cluster.FullCoverage = true, false
	cfg.Cluster.Databases = 1
	if edit != nil {
		edit(cfg)
	}
	e := engine.New(cfg, Table(), engine.Options{Log: logging.Discard(), Seed: 1})
	e.Cluster = &fakeNode{self: "a"}
	e.Enter()
	defer e.Leave()
	l := &local{e, e.NewClient(nil)}
	l.own(slots)
	return l
}

// own makes the node the master of the slots. Another has the rest.
func (l *local) own(slots slot.Set) {
	rest := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
	rest.Subtract(&slots)
	l.e.InstallTopology(&topology.State{
		Nodes: map[topology.NodeID]*topology.Node{
			"a": {ID: "a", Shard: "s"},
			"b": {ID: "b", Shard: "r",
				About: topology.About{Address: topology.Address{IP: "1.2.3.4", Port: 5}}},
		},
		Shards: map[topology.ShardID]*topology.Shard{
			"s": {ID: "s", Master: "a", Last: "a", Slots: slots},
			"r": {ID: "r", Master: "b", Last: "b", Slots: rest},
		},
	}, "a")
}

var allSlots = slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})

// shorter makes a reply as text shorter.
var shorter = strings.NewReplacer("array[", "[", "simple:", "", `"`, "")

// TestClusterSlotCommands runs the cases.
func TestClusterSlotCommands(t *testing.T) {
	l := newClusterNode(t, allSlots, nil)
	cases, err := os.ReadFile("testdata/cluster_slots.cases")
	require.NoError(t, err)
	for line := range strings.Lines(string(cases)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		command, want, _ := strings.Cut(strings.TrimSpace(line), " | ")
		v := run(t, l, strings.Fields(command)...)
		got := shorter.Replace(v.String())
		if v.IsError() {
			got = v.Text()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// TestClusterDatabases checks what differs where nodes have several databases, as in Valkey.
func TestClusterDatabases(t *testing.T) {
	l := newClusterNode(t, allSlots, func(c *config.Config) { c.Cluster.Databases = 3 })
	for _, db := range []string{"0", "1", "2"} {
		require.Equal(t, "OK", run(t, l, "select", db).Str)
		require.Equal(t, "OK", run(t, l, "set", "{a}"+db, "x").Str)
	}
	require.True(t, run(t, l, "select", "3").IsError())
	require.EqualValues(t, 1, run(t, l, "cluster", "countkeysinslot", "15495").Int)
	stats := run(t, l, "cluster", "slot-stats", "slotsrange", "15495", "15495")
	require.EqualValues(t, 3, stats.Elems[0].Elems[1].Elems[1].Int)
	require.EqualValues(t, 1, run(t, l, "move", "{a}2", "1").Int)
	require.Equal(t, "OK", run(t, l, "cluster", "flushslot", "15495").Str)
	for i := range 3 {
		require.Zero(t, l.e.KS.DB(i).Len())
	}
}

// TestClusterScan walks keys of slots that lie side by side and apart, while others come and go.
func TestClusterScan(t *testing.T) {
	rng := testseed.Rand(t)
	slots := slot.SetOf(slot.Range{First: 100, Last: 2000}, slot.Range{First: 9000, Last: 16383})
	l := newClusterNode(t, slots, nil)
	stay := map[string]bool{}
	for i := range 4000 {
		key := fmt.Sprintf("k%d", i)
		if i%4 == 0 {
			key = fmt.Sprintf("{%d}%d", i%12, i) // some slots have many
		}
		if slots.Has(slot.Of([]byte(key))) {
			run(t, l, "set", key, "v")
			stay[key] = i%2 == 0
		}
	}
	found := map[string]bool{}
	cursor, calls := "0", 0
	for cursor != "0" || calls == 0 {
		v := run(t, l, "clusterscan", cursor, "count", strconv.Itoa(1+rng.IntN(100)))
		if calls++; v.IsError() { // another node would answer this: it has no keys
			require.Contains(t, v.Text(), "MOVED", cursor)
			cursor = nextOwned(slots, slot.Of([]byte(cursor)))
			continue
		}
		cursor = v.Elems[0].Str
		for _, key := range v.Elems[1].Elems {
			found[key.Str] = true
		}
		for key, stays := range stay {
			if !stays && rng.IntN(20) == 0 {
				run(t, l, "del", key)
			}
			if rng.IntN(30) == 0 {
				break
			}
		}
	}
	require.Less(t, calls, 4000)
	for key, stays := range stay {
		require.True(t, !stays || found[key], key)
	}
}

// nextOwned returns a cursor of the first slot of the set behind i, 0 if there is none.
func nextOwned(slots slot.Set, i int) string {
	for i++; i < slot.Count; i++ {
		if slots.Has(i) {
			return "0-{" + slot.TagOf(i) + "}-0"
		}
	}
	return "0"
}

// TestSlotStats counts what commands cost, and compares memory with the sum over the keys.
func TestSlotStats(t *testing.T) {
	l := newClusterNode(t, allSlots, func(c *config.Config) { c.Cluster.SlotStats = 7 })
	read := func() map[string]int64 {
		v := run(t, l, "cluster", "slot-stats", "slotsrange", "15495", "15495")
		m := map[string]int64{}
		for pair := range slices.Chunk(v.Elems[0].Elems[1].Elems, 2) {
			m[pair[0].Str] = pair[1].Int
		}
		return m
	}
	require.Len(t, read(), 5)
	run(t, l, "set", "{a}", "value")
	was := read()
	require.EqualValues(t, len("*3\r\n$3\r\nset\r\n$3\r\n{a}\r\n$5\r\nvalue\r\n"),
		was["network-bytes-in"])
	require.EqualValues(t, len("+OK\r\n"), was["network-bytes-out"])
	require.Equal(t, l.e.KS.DB(0).Footprint([]byte("{a}")), was["memory-bytes"])

	run(t, l, "multi")
	run(t, l, "get", "{a}")
	run(t, l, "exec")
	is := read()
	require.EqualValues(t, len("*1\r\n$5\r\nmulti\r\n*2\r\n$3\r\nget\r\n$3\r\n{a}\r\n"+
		"*1\r\n$4\r\nexec\r\n"), is["network-bytes-in"]-was["network-bytes-in"])
	require.EqualValues(t, len("+QUEUED\r\n*1\r\n$5\r\nvalue\r\n"),
		is["network-bytes-out"]-was["network-bytes-out"])

	l.own(slot.SetOf(slot.Range{First: 0, Last: 100}))
	l.own(allSlots)
	require.Zero(t, read()["network-bytes-in"])
	run(t, l, "get", "{a}")
	require.NotZero(t, read()["network-bytes-in"])
	run(t, l, "config", "resetstat")
	require.Zero(t, read()["network-bytes-in"])
	require.Equal(t, "OK", run(t, l, "config", "set", "cluster-slot-stats-enabled", "mem").Str)
	require.Len(t, read(), 2)
	require.Equal(t, was["memory-bytes"], read()["memory-bytes"])
	require.True(t, run(t, l, "cluster", "slot-stats", "orderby", "cpu-usec").IsError())
}
