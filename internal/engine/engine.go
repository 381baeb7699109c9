package engine

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/arena"
	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/metrics"
	"godwit/internal/propagation"
	"godwit/internal/pubsub"
	"godwit/internal/resp"
	"godwit/internal/script"
)

// Engine is the server without its sockets.
type Engine struct {
	Cfg   *config.Config
	Log   *logging.Logger
	KS    *keyspace.Keyspace
	Stats Stats

	// TLS is what the server knows of its certificates.
	TLS TLSFacts
	// Threads are the event loops, which the server makes.
	Threads []ThreadStats

	// Slowlog and Latency belong to SLOWLOG, LATENCY and INFO.
	Slowlog metrics.Slowlog
	Latency metrics.Events

	// Buffers holds requests and replies that are too large for Go's heap.
	Buffers *arena.Pool

	// Feed sends what commands change to the append-only file and to replicas.
	Feed propagation.Feed

	// Links holds the connections that MIGRATE keeps.
	Links Links
	// Dialer opens connections to other servers; the server sets it.
	Dialer Dialer

	// Shutdown is called by SHUTDOWN and by the life cycle. The server sets it.
	Shutdown func(opts ShutdownOptions) error
	// Reconfigure is called after CONFIG SET has changed the named directives. It applies what the
	// engine does not apply itself: listeners, certificates and so on. After an error nothing has
	// changed; otherwise undo goes back once the old values are in place. The server sets it.
	Reconfigure func(names []string) (undo func(), err error)
	// LinkMaster runs an attempt to link up with the master, on a goroutine of its own. The server
	// sets it.
	LinkMaster func(a *LinkAttempt)
	// LinkImport runs an attempt to get the keys of a migration, on a goroutine of its own. The
	// server sets it.
	LinkImport func(a *ImportAttempt)
	// Restart ends the process and starts it again after a while: in order, with everything saved,
	// or at once. The server sets it.
	Restart func(graceful bool, delay time.Duration) error
	// DebugApart starts a process that runs the client's command in a session of the debugger, on a
	// copy of the data set and over the client's connection. The server sets it.
	DebugApart func(c *Client, argv [][]byte) error
	// Alarm is called when a new deadline is the earliest of all (see UntilTimeout), to wake a loop
	// that would sleep longer. The server sets it.
	Alarm func()
	// ServeOthers serves clients other than busy for a moment while busy's script runs. The
	// executor is held, and is given away meanwhile. It reports whether the server is ending. The
	// server sets it.
	ServeOthers func(busy *Client) (ending bool)
	// ScriptLibraries holds what scripts have besides the host's own libraries.
	ScriptLibraries []script.Opener
	// Cluster is this node's part in its cluster, nil without cluster-enabled. The server sets it.
	Cluster ClusterNode
	// Wake makes a loop call Slice soon, because a job that has waited can go on. Any goroutine may
	// call it. The server sets it.
	Wake func()

	table     *Table
	mu        sync.Mutex
	current   *Client // whose command is running, nil between commands
	ctx       Ctx
	wakeCtx   Ctx    // of commands that have waited
	scriptCtx Ctx    // of commands that scripts call
	depth     int    // of commands within the running one
	inner     []*Ctx // theirs: one for each depth, kept for the next time
	discard   resp.Writer
	multis    []*multi // of finished transactions, for the next ones

	clients      clientList
	nextClientID uint64
	monitors     []*Client
	pause        pauseState
	inTimeless   bool // a command runs that finds what is due, see dispatchTimeless
	blocking     blocking
	watching     watching
	loading      loadingState
	aside        *asideLoad // nil: no data is loaded beside that which is served
	hub          pubsub.Hub[*Client]
	pushing      pushState
	tracking     trackingState
	persist      persistState

	clock
	rng        *rand.Rand
	runID      string
	repl       replication
	confirm    confirming
	ending     shutdownWait
	failover   failoverState
	cluster    clustering
	lease      lease
	inSync     inSync
	shard      shardRole
	strays     strayKeys
	half       halfImports
	migrations migrations
	// importError is what a command of the source of a migration has failed with.
	importError string
	errs        map[string]int64
	// masterErrors and applied are of the commands of the master.
	masterErrors masterErrors
	applied      applied
	cmds         []CommandStats
	mem          memoryState
	huge         hugePages
	clientMem    clientMemory
	defrag       defragState
	cron         cronState
	script       scripting
	access       access
	large        commandLogs
	hot          hotKeys
	slotStats    slotCounters
	prefetch     prefetch
	waiters      atomic.Int32 // of the executor
	between      *sync.Cond   // over mu: a busy script is over
	ended        bool         // nothing runs any more; see End

	// Debug holds what DEBUG has switched.
	Debug DebugSwitches
}

// RunID returns 40 hexadecimal characters that identify this run of the server.
func (e *Engine) RunID() string { return e.runID }

// Rand returns the engine's random source.
func (e *Engine) Rand() *rand.Rand { return e.rng }

func (e *Engine) hexID(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[e.rng.IntN(16)]
	}
	return string(b)
}
