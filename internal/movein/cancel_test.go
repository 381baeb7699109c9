package movein

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
)

// fencedWorld is world after a run that was killed while it handed the slots over: b:1, which asked
// for 3 replicas, refuses writes, and both masters of the target have keys.
func fencedWorld() fake {
	f := world()
	f["b:1"]["CONFIG GET min-replicas-to-write"] = "*min-replicas-to-write 1000004"
	f["b:1"]["CONFIG SET min-replicas-to-write 3"] = "OK"
	for _, addr := range []string{"x:1", "y:1"} {
		f[addr]["INFO keyspace"] = "# Keyspace\r\ndb0:keys=1,expires=0\r\n"
		f[addr]["CONFIG GET cluster-require-full-coverage"] = "*cluster-require-full-coverage yes"
	}
	return f
}

// undoable lets Cancel empty the target.
func undoable(f fake) {
	f["x:1"]["CLUSTER DELSLOTSRANGE 100 200"] = "OK"
	for _, addr := range []string{"x:1", "y:1"} {
		f[addr]["FLUSHALL"], f[addr]["FUNCTION FLUSH"] = "OK", "OK"
	}
}

func emptied(f fake, addrs ...string) {
	for _, addr := range addrs {
		f[addr]["INFO keyspace"] = "# Keyspace\r\n"
	}
}

// TestCancelEnded has no master of the target follow the source any more. What Cancel may do then
// depends on what else is left.
func TestCancelEnded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f fake)
		force  bool
		want   string // a part of the error
		says   string // and of the lines
	}{
		"nothing to do": {func(f fake) {
			f["b:1"]["CONFIG GET min-replicas-to-write"] = "*min-replicas-to-write 0"
			emptied(f, "x:1", "y:1")
		}, false, "no node of the source refuses writes", ""},
		"only keys are left": {func(f fake) {
			f["b:1"]["CONFIG GET min-replicas-to-write"] = "*min-replicas-to-write 0"
		}, true, "nothing is cancelled", "y:1 has keys and no slots"},
		"only the fence is left": {func(f fake) { emptied(f, "x:1", "y:1") }, false, "",
			"the source takes writes again"},
		"both are empty": {func(f fake) { emptied(f, "a:1", "b:1", "x:1", "y:1") }, false,
			"use --cancel --force", ""},
		"both are empty, and nobody is at work": {func(f fake) {
			emptied(f, "a:1", "b:1", "x:1", "y:1")
		}, true, "", "the source takes writes again"},
		"slots are taken": {undoable, false,
			"are refused (min-replicas-to-write) by b:1", "x:1 has keys and the slots 100-200"},
		"slots were taken": {undoable, true, "", "undone"},
		"all slots are taken": {func(f fake) {
			undoable(f)
			for _, addr := range []string{"x:1", "y:1"} {
				f[addr]["CLUSTER NODES"] = strings.Replace(f[addr]["CLUSTER NODES"], "100-200",
					"0-16383", 1)
			}
		}, true, "the move is done", ""},
		"all slots are taken, and the keys deleted": {func(f fake) {
			for _, addr := range []string{"x:1", "y:1"} {
				f[addr]["CLUSTER NODES"] = strings.Replace(f[addr]["CLUSTER NODES"], "100-200",
					"0-16383", 1)
			}
			undoable(f)
			emptied(f, "x:1", "y:1")
		}, true, "the move is done", ""},
		"some slots are served": {func(f fake) {
			undoable(f)
			const name = "cluster-require-full-coverage"
			f["x:1"]["CONFIG GET "+name] = "*" + name + " no"
		}, true, "may have taken writes", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := fencedWorld()
			c.change(f)
			var said strings.Builder
			err := Cancel(Options{From: Side{Addr: "a:1"}, To: Side{Addr: "x:1"}, Dial: f.dial,
				Force: c.force, Out: &said})
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
			require.Contains(t, said.String(), c.says)
		})
	}
}

// TestRunTellsOfFences begins a move of a source that refuses writes since another run was killed.
func TestRunTellsOfFences(t *testing.T) {
	f := fencedWorld()
	err := Run(t.Context(), Options{From: Side{Addr: "a:1"}, To: Side{Addr: "x:1"}, Dial: f.dial,
		Out: new(strings.Builder)})
	require.ErrorContains(t, err, "has keys")
	require.ErrorContains(t, err, "refused (min-replicas-to-write) by b:1")
	require.ErrorContains(t, err, "--cancel")

	emptied(f, "x:1", "y:1")
	var said strings.Builder
	m := newMover(Options{From: Side{Addr: "a:1"}, To: Side{Addr: "x:1"}, Dial: f.dial, Out: &said})
	defer m.from.close()
	defer m.to.close()
	require.NoError(t, m.check())
	require.Contains(t, said.String(), "refused (min-replicas-to-write) by b:1")
}

// TestFenceRemembers has what a node had before be read back from what keeps it from taking writes.
func TestFenceRemembers(t *testing.T) {
	for _, least := range []string{"0", "1", "999999"} {
		for _, lag := range []string{"0", "10", "86400"} {
			f := fence{least: least, lag: lag}
			now := lag
			if lag == "0" {
				now = "10" // raise sets it
			}
			var g fence
			g.read(strconv.Itoa(f.value()), now)
			require.Equal(t, fence{least: least, lag: lag, raised: true}, g)
			g.read(least, lag)
			require.Equal(t, f, g)
		}
	}
}

// TestGiveUpGoesOn has one master of the target be out of reach when slots are to be given back.
// The others give theirs back.
func TestGiveUpGoesOn(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 0
	f := fencedWorld()
	f["y:1"]["CLUSTER DELSLOTSRANGE 7 7"] = "OK"
	m := newMover(Options{Dial: f.dial, Out: new(strings.Builder)})
	one := slot.SetOf(slot.Range{First: 7, Last: 7})
	m.pairs = []*pair{{to: m.to.node("gone:1"), slots: one, taken: true},
		{to: m.to.node("y:1"), slots: one, taken: true}}
	require.ErrorContains(t, m.undo(), "--cancel --force undoes the rest")
	require.True(t, m.pairs[0].taken)
	require.False(t, m.pairs[1].taken)
	m.to.close()
}
