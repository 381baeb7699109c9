package engine

import (
	"math"
	"math/rand/v2"
	"sync"

	"godwit/internal/arena"
	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/lua/redislib"
	"godwit/internal/script"
)

// Options is what New needs besides configuration and table.
type Options struct {
	Log  *logging.Logger
	Seed uint64 // of the random source; 0 takes one from the system
}

// New makes an engine with empty databases. The caller may go on reading the configuration. Only
// CONFIG SET changes it, with the executor held.
func New(cfg *config.Config, table *Table, o Options) *Engine {
	e := &Engine{Cfg: cfg, Log: o.Log, table: table, clock: newClock(), errs: map[string]int64{},
		ScriptLibraries: []script.Opener{redislib.Open}}
	e.between = sync.NewCond(&e.mu)
	e.discard.Stage, e.discard.Mute = nowhere{}, true
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	e.rng = rand.New(rand.NewPCG(o.Seed, o.Seed>>1))
	if e.cluster.on = cfg.Cluster.Enabled; !e.cluster.on {
		table.leaveOutCluster()
	}
	e.cluster.down = e.cluster.on // until a topology is known
	e.initAccess()
	e.runID = e.hexID(40)
	e.NewReplID()
	e.cmds = make([]CommandStats, len(table.All()))
	e.configureLogs()
	e.ExpectInput(math.MaxInt)
	e.syncClock()
	e.KS = keyspace.New(arena.New(), e.params(), e.rng, e.now, hooks{e})
	e.KS.A.Guard()
	e.configureSlotStats()
	if e.huge.off = !arena.HugePagesOffered(); !e.huge.off && cfg.DisableTHP {
		arena.RefuseHugePages()
	}
	e.configureExpire()
	e.beReplica()
	e.Buffers = arena.NewPool()
	e.measureStart()
	e.KS.P.MaxMemory = e.memoryLimit()
	e.cron.reset(e)
	e.persist.reset(e)
	return e
}
