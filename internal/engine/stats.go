package engine

import (
	"godwit/internal/acl"
	"godwit/internal/arena"
	"godwit/internal/keyspace"
	"godwit/internal/metrics"
)

// Stats are the server-wide counters of INFO; CONFIG RESETSTAT zeroes them.
type Stats struct {
	Connections         int64
	RejectedConnections int64
	Commands            int64
	ErrorReplies        int64
	Dirty               int64 // changes since the last save
	NetIn, NetOut       int64 // bytes
	Reads, Writes       int64 // socket reads and writes
	ClientQueryBufLimit int64 // clients closed for the input limit
	ClientOutBufLimit   int64 // clients closed for the output limit
	EvictedClients      int64
	UnexpectedErrors    int64
	Denied              [acl.DeniedAuth + 1]int64 // refusals of access control, by reason
	ExpireNanos         int64                     // time spent in slices that expire keys
	EvictionOverNanos   int64                     // time that used memory was over maxmemory, up to when it was last within
	DefragNanos         int64                     // time in which active defragmentation ran, up to its last round's end
	PeakMemory          int64
	PeakMemoryAt        int64 // unix ms
}

// CommandStats are the counters of one command.
type CommandStats struct {
	Calls, Nanos     int64
	Rejected, Failed int64
	Hist             metrics.Histogram
}

// BlockedClients is the number of clients that wait: for keys, or for the end of CLIENT PAUSE.
func (e *Engine) BlockedClients() int { return e.blocking.n + len(e.pause.postponed) }

// TimedClients is the number of clients that wait for keys until a deadline.
func (e *Engine) TimedClients() int { return len(e.blocking.deadlines) }

// BlockingKeys is the number of keys that clients wait for.
func (e *Engine) BlockingKeys() int { return e.blocking.queues }

// ErrorStats calls fn with the count of each error code, in no order.
func (e *Engine) ErrorStats(fn func(code string, count int64)) {
	for code, n := range e.errs {
		fn(code, n)
	}
}

// ResetStats does what CONFIG RESETSTAT does. The memory peak and the count of changes are no statistics in that sense.
func (e *Engine) ResetStats() {
	e.Stats = Stats{Dirty: e.Stats.Dirty, PeakMemory: e.Stats.PeakMemory, PeakMemoryAt: e.Stats.PeakMemoryAt}
	e.KS.Stats, e.KS.A.Moves = keyspace.Stats{}, arena.Moves{}
	clear(e.errs)
	for i := range e.cmds {
		e.cmds[i] = CommandStats{}
	}
	e.cron.reset(e)
}
