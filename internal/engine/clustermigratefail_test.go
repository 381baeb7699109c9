package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
)

// fails wants the migration to have failed, for a reason, with all keys on the source. It serves
// them, and the destination has none.
func (p *moving) fails(why string, want map[string]string) {
	p.Helper()
	p.settle()
	require.Equal(p, topology.Failed, p.phase())
	require.Contains(p, p.message(), why)
	p.clean()
	p.sameKeys(want, p.contents(p.from, &p.slots))
	require.Empty(p, p.contents(p.to, &p.slots))
	require.Equal(p, "+OK", p.from.do(p.from.client(), "set "+keyOf(movingSlot)+" 1"))
}

// failure is something that ends a migration.
type failure struct {
	name, why string
	edit      func(c *config.Config) // of the destination
	// spoil is called when the snapshot has been sent, or when the slots have closed.
	closed bool
	spoil  func(p *moving)
}

var failures = []failure{
	{"the pause is too long", "clients have waited", nil, true, func(p *moving) {
		held := p.from.client()
		require.Equal(p, "(postponed)", p.from.do(held, "set {a}1 2"))
		p.from.pass(int(p.from.e.Cfg.Cluster.WritePause) - 200)
		require.True(p, held.Postponed())
		require.Empty(p, p.from.proposed)
		p.from.pass(400)
		require.Len(p, p.from.proposed, 1)
		p.settle()
		require.False(p, held.Postponed())
	}},
	{"too many changes", "hard limit", nil, false, func(p *moving) {
		p.from.e.Cfg.OutputLimits[engine.ClassReplica].Hard = 1 << 20
		for i := 0; len(p.from.proposed) == 0 && i < 2000; i++ {
			require.Equal(p, "+OK", p.from.do(p.from.c, "set {a}0 "+strings.Repeat("x", 1000)))
			p.from.turn()
		}
		p.from.do(p.from.c, "set {a}0 1")
	}},
	{"the destination is silent", "has not been heard", nil, false, func(p *moving) {
		p.from.pass(int(p.from.e.Cfg.ReplTimeout)*1000 + 200)
	}},
	{"the source is silent", "the source has not been heard", nil, false, func(p *moving) {
		p.carry()
		p.to.pass(int(p.from.e.Cfg.ReplTimeout)*1000 - 400)
		require.Empty(p, p.to.proposed)
		p.to.pass(800)
	}},
	{"the source stops in its snapshot", "the source has not been heard", nil, false,
		func(p *moving) {
			p.stream.NetIn, p.stream.LastUsed = 1, p.to.e.Steady()
			p.to.pass(int(p.from.e.Cfg.ReplTimeout)*1000 - 400)
			require.Empty(p, p.to.proposed)
			p.to.pass(800)
		}},
	{"the source is lost while clients wait", "connection to the source is lost", nil, true,
		func(p *moving) {
			p.to.e.Kill(p.stream) // before it has said that this is all
			p.to.pass(int(p.from.e.Cfg.ReplTimeout)*1000 + 400)
		}},
	{"the replicas do not confirm", "do not confirm", func(c *config.Config) {
		c.MinReplicasToAck, c.MinReplicasAckTimeout = 1, 1
	}, false, func(p *moving) {
		for range 40 {
			p.carry()
			require.Equal(p, topology.Copying, p.phase(), "clients do not wait")
		}
	}},
	{"the source loads its data set", "loaded anew", nil, false, func(p *moving) {
		require.Contains(p, p.from.do(p.from.c, "debug reload"), "OK")
	}},
	{"the destination loads its data set", "loaded anew", nil, false, func(p *moving) {
		require.Contains(p, p.to.do(p.to.c, "debug reload"), "OK")
	}},
}

// TestMigrationFails has a node of a migration be too slow, silent or without its data set.
func TestMigrationFails(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			base := func(cfg *config.Config) {
				cfg.ReplTimeout, cfg.EnableDebugCommand = 5, config.GuardYes
				cfg.Cluster.WritePause = 3000
			}
			p := newMoving(t, base, func(cfg *config.Config) {
				if base(cfg); c.edit != nil {
					c.edit(cfg)
				}
			})
			for i := range 100 {
				p.from.do(p.from.c, fmt.Sprintf("set {a}%d 1", i))
			}
			p.begin(slotSet(movingSlot))
			p.snapshot()
			if c.closed {
				for range 10 {
					if p.carryUntil(topology.Closed) {
						break
					}
				}
				require.Equal(t, topology.Closed, p.phase())
			}
			c.spoil(p)
			p.fails(c.why, p.contents(p.from, &p.slots))
		})
	}
}

// TestReloadBeforeTransfer has the destination load its data set when the log says that there is
// nothing in the slots, and nothing has come yet. The file may have keys there.
func TestReloadBeforeTransfer(t *testing.T) {
	p := newMoving(t, func(c *config.Config) { c.EnableDebugCommand = config.GuardYes })
	p.apply(topology.Begin{ID: migrationID, Slots: slotSet(movingSlot), Created: 1,
		From: p.from.shard().ID, To: p.to.shard().ID})
	p.pass(300)
	p.settle()
	p.pass(300)
	require.True(t, p.from.log.Migration(migrationID).Ready)
	require.Len(t, p.attempts, 1)
	require.Contains(t, p.to.do(p.to.c, "debug reload"), "OK")
	p.settle()
	require.Equal(t, topology.Failed, p.phase())
	require.Contains(t, p.message(), "loaded anew")
	require.False(t, p.attempts[0].Wanted())
}

// TestWaitingSource has the source of a migration make another snapshot for longer than
// repl-timeout. It says nothing meanwhile, and the destination waits for it.
func TestWaitingSource(t *testing.T) {
	p := newMoving(t, func(c *config.Config) { c.ReplTimeout = 5 })
	for i := range 100 {
		p.from.do(p.from.c, fmt.Sprintf("set {a}%d 1", i))
	}
	require.Contains(t, p.from.do(p.from.c, "bgsave"), "+Background")
	p.begin(slotSet(movingSlot))
	want := p.contents(p.from, &p.slots)
	p.pass(20_000)
	require.Nil(t, p.conn.result, "it waits")
	require.Empty(t, p.to.proposed)
	for engine.JobRuns(p.from.e) {
		p.from.e.Slice()
		runtime.Gosched()
	}
	p.snapshot()
	require.Equal(t, topology.Done, p.finish())
	p.sameKeys(want, p.contents(p.to, &p.slots))
}

// TestTricklingDestination has a destination take a snapshot so slowly that others would wait for
// theirs for ever.
func TestTricklingDestination(t *testing.T) {
	p := newMoving(t, func(c *config.Config) { c.ReplTimeout = 5 })
	value := strings.Repeat("x", 1<<20)
	for i := range 24 {
		p.from.do(p.from.c, fmt.Sprintf("set {a}%d %s", i, value))
	}
	p.begin(slotSet(movingSlot))
	want := p.contents(p.from, &p.slots)
	p.conn.slow = make(chan struct{})
	p.from.pass(300)
	require.NotNil(t, p.conn.result)
	seconds := 0
	for ; len(p.from.proposed) == 0 && seconds < 20; seconds++ {
		for range 1000 {
			p.from.e.Slice()
			runtime.Gosched()
		}
		p.conn.slow <- struct{}{} // some bytes leave
		p.from.pass(1000)
	}
	require.Greater(t, seconds, 4)
	require.Len(t, p.from.proposed, 1)
	require.Contains(t, p.from.do(p.from.c, "bgsave"), "+Background", "others have their turn")
	close(p.conn.slow)
	p.fails("has taken less than", want)
}
