// Package engine runs commands: the command table's types, the logical client, the gates that every command passes, statistics,
// propagation and the cron.
//
// # The executor
//
// All state below the engine belongs to whoever holds the executor: a loop calls Enter, runs the commands it has parsed with
// Exec, and calls Leave. With one I/O loop the lock is never contended. Nothing outside Enter … Leave may touch the engine,
// the keyspace or a Client's fields.
package engine

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"godwit/internal/arena"
	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/metrics"
	"godwit/internal/propagation"
	"godwit/internal/pubsub"
	"godwit/internal/resp"
	"godwit/internal/script"
	"godwit/internal/script/lualib"
	"godwit/internal/spec"
)

// Engine is the server without its sockets.
type Engine struct {
	Cfg   *config.Config
	Log   *logging.Logger
	KS    *keyspace.Keyspace
	Stats Stats

	// Slowlog and Latency belong to SLOWLOG, LATENCY and INFO.
	Slowlog metrics.Slowlog
	Latency metrics.Events

	// Buffers are those of requests and replies that are too large for Go's heap.
	Buffers *arena.Pool

	// Feed sends what commands change to the append-only file and to replicas.
	Feed propagation.Feed

	// Links are the connections that MIGRATE keeps.
	Links Links
	// Dialer opens connections to other servers; the server sets it.
	Dialer Dialer

	// Shutdown is called by SHUTDOWN and by the life cycle; the server sets it.
	Shutdown func(opts ShutdownOptions) error
	// Reconfigure is called after CONFIG SET changed the named directives, for what the engine itself does not apply
	// (listeners, log file, …); an error undoes the change. The server sets it.
	Reconfigure func(names []string) error
	// Alarm is called when a deadline has become the first of all that UntilTimeout tells of; the server sets it, to wake who sleeps longer.
	Alarm func()
	// ServeOthers serves other clients for a moment while a script is busy; its client must not be. It reports whether the server is ending. The
	// executor is held, and is given away meanwhile. The server sets it.
	ServeOthers func(busy *Client) (ending bool)
	// ScriptLibraries are what scripts have besides the host's own libraries.
	ScriptLibraries []script.Opener
	// Wake has Slice called soon: a Job that waited can go on. Any goroutine may call it; the server sets it.
	Wake func()

	table   *Table
	mu      sync.Mutex
	current *Client
	ctx     Ctx
	wakeCtx Ctx // of commands that have waited
	discard resp.Writer
	nest    nesting
	multis  []*multi // of finished transactions, for the next ones

	clients      clientList
	nextClientID uint64
	monitors     []*Client
	pause        pauseState
	blocking     blocking
	watching     watching
	loading      loadingState
	hub          pubsub.Hub[*Client]
	pushing      pushState
	tracking     trackingState
	persist      persistState

	clock
	rng     *rand.Rand
	runID   string
	replID  string
	errs    map[string]int64
	cmds    []CommandStats
	mem     memoryState
	defrag  defragState
	cron    cronState
	script  scripting
	access  access
	waiters atomic.Int32 // of the executor
	between *sync.Cond   // over mu: a busy script is over
	ended   bool         // nothing runs any more; see End
}

// Options are what New needs beyond configuration and table.
type Options struct {
	Log  *logging.Logger
	Seed uint64 // of the random source; 0 takes one from the system
}

// New makes an engine with empty databases. The configuration stays the caller's to read; only CONFIG SET changes it, under the executor.
func New(cfg *config.Config, table *Table, o Options) *Engine {
	e := &Engine{Cfg: cfg, Log: o.Log, table: table, clock: newClock(), errs: map[string]int64{},
		ScriptLibraries: []script.Opener{lualib.Open}}
	e.between = sync.NewCond(&e.mu)
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	e.rng = rand.New(rand.NewPCG(o.Seed, o.Seed>>1))
	e.initAccess()
	e.runID, e.replID = e.hexID(40), e.hexID(40)
	e.cmds = make([]CommandStats, len(table.All()))
	e.Slowlog.SetMax(int(cfg.SlowlogMaxLen))
	e.syncClock()
	e.KS = keyspace.New(arena.New(), e.params(), e.rng, e.now, hooks{e})
	e.KS.A.Guard()
	e.Buffers = arena.NewPool()
	e.measureStart()
	e.KS.P.MaxMemory = e.memoryLimit()
	e.cron.reset(e)
	e.persist.reset(e)
	return e
}

// Table is the sealed command table.
func (e *Engine) Table() *Table { return e.table }

// RunID is 40 hexadecimal characters that tell this run of the server from others.
func (e *Engine) RunID() string { return e.runID }

// ReplID is 40 hexadecimal characters that name the data set's history, for replication.
func (e *Engine) ReplID() string { return e.replID }

// NewReplID begins another history (DEBUG CHANGE-REPL-ID).
func (e *Engine) NewReplID() { e.replID = e.hexID(40) }

// Rand is the engine's random source.
func (e *Engine) Rand() *rand.Rand { return e.rng }

// Current is the client whose command is running, nil outside commands.
func (e *Engine) Current() *Client { return e.current }

// CommandStats are the counters of the command, by Command.ID.
func (e *Engine) CommandStats(c *spec.Command) *CommandStats { return &e.cmds[c.ID()] }

func (e *Engine) hexID(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[e.rng.IntN(16)]
	}
	return string(b)
}

// Enter takes the executor and reads the clock.
func (e *Engine) Enter() {
	e.waiters.Add(1)
	e.mu.Lock()
	e.waiters.Add(-1)
	e.syncClock()
}

// EnterBetween is Enter for what must not happen in the middle of a script: while one is busy,
// which gives the executor away now and then, it waits for the script's end.
func (e *Engine) EnterBetween() {
	e.Enter()
	for e.script.run != nil {
		e.AwaitScript()
	}
}

// AwaitScript gives the executor away until a script that is busy has ended. Others may have had
// the executor since.
func (e *Engine) AwaitScript() {
	e.between.Wait()
	e.syncClock()
}

// Leave finishes the batch — what was pushed to clients is delivered, what was propagated is on its way as a whole — and gives the executor
// back.
func (e *Engine) Leave() {
	e.Deliver()
	e.Commit()
	e.mu.Unlock()
}

// Release is Leave for a defer statement. After a panic it does not give the executor back, nor
// what the batch has done to the log: it ends the process.
func (e *Engine) Release() {
	if v := recover(); v != nil {
		crash.Fatal("executor", v)
	}
	e.Leave()
}
