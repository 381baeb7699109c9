package engine

import (
	"strings"
	"time"

	"godwit/internal/acl"
	"godwit/internal/metrics"
	"godwit/internal/spec"
)

// Stats holds the server-wide counters of INFO. CONFIG RESETSTAT zeroes them.
type Stats struct {
	Connections         int64
	RejectedConnections int64
	Commands            int64
	ErrorReplies        int64
	Dirty               int64 // changes since the last save
	NetIn, NetOut       int64 // bytes
	ReplIn              int64 // bytes from the master
	Reads, Writes       int64 // socket reads and writes
	ClientQueryBufLimit int64 // clients closed for the input limit
	LeaseClosed         int64 // clients closed because a lease ended before their replies left
	ClientOutBufLimit   int64 // clients closed for the output limit
	EvictedClients      int64
	SyncFull            int64 // full synchronizations of replicas
	SyncPartialOK       int64 // partial ones
	SyncPartialErr      int64 // those that were refused
	UnexpectedErrors    int64
	Denied              [acl.DeniedCert + 1]int64 // refusals of access control, by reason
	ExpireNanos         int64                     // time spent in slices that expire keys
	// EvictionOverNanos is how long used memory was over maxmemory, up to the last time that it
	// was within the limit.
	EvictionOverNanos int64
	// DefragNanos is for how long active defragmentation ran, up to its last round's end.
	DefragNanos  int64
	PeakMemory   int64
	PeakMemoryAt int64 // unix ms
	Loop         LoopStats
}

// LoopStats says what the event loops do with their time, in ns. A cycle is a turn of a loop, from
// the clock's reading at its start to that of the next turn, without what the loop slept.
type LoopStats struct {
	Cycles       int64
	Nanos        int64
	LongestNanos int64
	MostCommands int64 // of a cycle
	CommandNanos int64 // running commands
	CommitNanos  int64 // writing the append-only file
	CronNanos    int64 // periodic work
}

// ThreadStats says what one event loop has served.
type ThreadStats struct {
	Clients       int
	Reads, Writes int64
}

// CycleDone counts a cycle of an event loop that was awake for ns and ran so many commands.
func (e *Engine) CycleDone(ns, commands int64) {
	s := &e.Stats.Loop
	ns = max(ns, 0)
	s.Cycles++
	s.Nanos += ns
	s.LongestNanos = max(s.LongestNanos, ns)
	s.MostCommands = max(s.MostCommands, commands)
}

// CommandStats holds the counters of one command.
type CommandStats struct {
	Calls, Nanos     int64
	Rejected, Failed int64
	Hist             metrics.Histogram
}

// ErrorStats calls fn with the count of each error code, in no order.
func (e *Engine) ErrorStats(fn func(code string, count int64)) {
	for code, n := range e.errs {
		fn(code, n)
	}
}

// maxErrorCode is the length in bytes of the longest code of an error.
const maxErrorCode = 30

// countError counts an error reply by its code: the first word if another one follows, or else ERR.
func (e *Engine) countError(msg string) {
	e.Stats.ErrorReplies++
	code := "ERR"
	if i := strings.IndexAny(msg, " \r\n"); 0 <= i && i <= maxErrorCode {
		code = msg[:i]
	}
	if _, ok := e.errs[code]; !ok && len(e.errs) >= maxErrorCodes {
		return
	}
	e.errs[code]++
}

// noteMasterError logs and counts an error that the master's stream has led to: the two data sets
// may differ from now on. cmd is nil if there is no such command.
func (e *Engine) noteMasterError(cmd *spec.Command, msg string) {
	e.Stats.UnexpectedErrors++
	name := "<unknown>"
	if cmd != nil {
		name = cmd.FullName()
	}
	m := &e.masterErrors
	m.database = m.database || msg == ErrDBIndex
	m.last = "'" + msg + "' to '" + name + "'"
	if sec := e.Steady() / 1000; sec != m.second {
		m.second, m.logged = sec, 0
	}
	if m.logged++; m.logged <= maxErrorLines {
		e.Log.Warning("== CRITICAL == This replica is sending an error to its master: '%s' after "+
			"processing the command '%s'", msg, name)
	}
	// A log that has such a command ends the process at any rate, so panic and panic-on-replicas
	// are the same. The data of a writable replica may differ.
	if e.Cfg.ReplicaReadOnly && e.Cfg.PropagationErrorBehavior != "ignore" {
		panic("This replica panicked sending an error to its master after processing the " +
			"command '" + name + "' (propagation-error-behavior)")
	}
}

// masterErrors is what was logged of the master's commands.
type masterErrors struct {
	second, logged int64 // errors in a second
	diskAt         int64 // steady ms of the last warning about the disk
	database       bool  // one needs a database that is not here; see lacksDatabase
	last           string
}

// maxErrorLines is how many errors of the master's commands are logged in a second.
const maxErrorLines = 10

// latencySince records the time since start as a latency event if it reaches
// latency-monitor-threshold.
func (e *Engine) latencySince(event string, start time.Time) {
	t := e.Cfg.LatencyMonitorThreshold
	if t == 0 {
		return
	}
	if ms := time.Since(start).Milliseconds(); ms >= t {
		e.Latency.Add(event, e.now/1000, ms)
	}
}

// NoteLatency records a latency event of ms milliseconds if that reaches latency-monitor-threshold.
func (e *Engine) NoteLatency(event string, ms int64) {
	if t := e.Cfg.LatencyMonitorThreshold; t > 0 && ms >= t {
		e.Latency.Add(event, e.now/1000, ms)
	}
}

// maxErrorCodes bounds INFO errorstats: codes may come from scripts.
const maxErrorCodes = 128

// CommandStats returns the counters of the command.
func (e *Engine) CommandStats(c *spec.Command) *CommandStats { return &e.cmds[c.ID()] }
