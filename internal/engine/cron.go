package engine

import (
	"time"

	"godwit/internal/arena"
	"godwit/internal/keyspace"
	"godwit/internal/metrics"
)

// cronState is the state of the periodic work.
type cronState struct {
	expireOff bool // DEBUG SET-ACTIVE-EXPIRE 0
	off       bool // DEBUG PAUSE-CRON 1
	sampledAt int64
	ops       metrics.Rate
	in, out   metrics.Rate
	replIn    metrics.Rate
	replOut   metrics.Rate
	cycles    metrics.Rate
	cycleLen  metrics.Rate // ns a cycle
}

func (s *cronState) reset(e *Engine) {
	s.sampledAt = e.Steady()
	s.ops.Start(e.Steady(), e.Stats.Commands)
	s.in.Start(e.Steady(), e.Stats.NetIn)
	s.out.Start(e.Steady(), e.Stats.NetOut)
	s.replIn.Start(e.Steady(), e.Stats.ReplIn)
	s.replOut.Start(e.Steady(), e.ReplOutput())
	s.cycles.Start(e.Steady(), e.Stats.Loop.Cycles)
	s.cycleLen.Start(e.Stats.Loop.Cycles, e.Stats.Loop.Nanos)
}

const (
	// sliceBudget bounds one slice of background work; clients wait that long at most.
	sliceBudget = 500 * time.Microsecond
	// sampleEvery is the time in ms between two samples of the rates, whatever hz is.
	sampleEvery = 100
	// clientsPerTick is how many clients dynamic-hz lets one cron turn look at before hz is raised.
	clientsPerTick = 200
	maxHz          = 500
)

// Hz returns how often Cron is called a second while all clients are active. That is hz, doubled
// under dynamic-hz until a turn has at most clientsPerTick clients to look at.
func (e *Engine) Hz() int { return e.hzFor(e.clients.n) }

// CronHz returns how often Cron must be called a second: as Hz, but for the clients that are to be
// looked after. Those at rest count only while timeout may close them.
func (e *Engine) CronHz() int {
	if e.Cfg.Timeout != 0 {
		return e.Hz()
	}
	return e.hzFor(e.clientMem.stirred.Len())
}

func (e *Engine) hzFor(clients int) int {
	hz := max(e.Cfg.Hz, 1)
	if e.Cfg.DynamicHz {
		for hz < maxHz && clients/hz > clientsPerTick {
			hz *= 2
		}
	}
	return min(hz, maxHz)
}

// Cron does the periodic work. It is called CronHz times a second with the executor held.
func (e *Engine) Cron() {
	if e.cron.off || e.script.run != nil || e.ended {
		return
	}
	start := time.Now()
	defer func() { e.Stats.Loop.CronNanos += int64(time.Since(start)) }()
	e.notePeak()
	e.sampleRates()
	e.trimSpare()
	e.countScripts()
	e.countTables()
	e.giveBackGoMemory()
	e.trimArena()
	e.collapseHuge()
	e.KS.A.Probe(0)
	e.Links.expire(e.Steady())
	e.countSomeClients()
	e.limitClients()
	if e.pause.active && e.endPause() {
		e.serve()
	}
	e.clusterCron()
	if e.loading.on {
		return
	}
	e.masterCron()
	e.persistCron()
	e.replicationCron()
	if e.cluster.on {
		e.inSyncCron()
		e.migrationCron()
	}
	e.shutdownCron()
	e.failoverCron()
	e.makeRoom(nil)
	e.defragCron()
	e.expireRecords()
	e.KS.AssertRecords()
}

// expireRecords looks after the records of streams' producers: after all of them in a turn, unless
// there are more than recordsPerTick.
func (e *Engine) expireRecords() {
	if sh := e.KS.Heap.Streams(); sh.Producing() > 0 {
		sh.ExpireRecords(e.now, recordsPerTick)
	}
}

// recordsPerTick is how many streams and producers one cron turn looks at: about a tenth of a
// millisecond's worth.
const recordsPerTick = 1000

func (e *Engine) sampleRates() {
	s := &e.cron
	if d := e.Steady() - s.sampledAt; d < sampleEvery {
		return
	}
	s.sampledAt = e.Steady()
	s.ops.Sample(e.Steady(), e.Stats.Commands)
	s.in.Sample(e.Steady(), e.Stats.NetIn)
	s.out.Sample(e.Steady(), e.Stats.NetOut)
	s.replIn.Sample(e.Steady(), e.Stats.ReplIn)
	s.replOut.Sample(e.Steady(), e.ReplOutput())
	s.cycles.Sample(e.Steady(), e.Stats.Loop.Cycles)
	s.cycleLen.SampleMean(e.Stats.Loop.Cycles, e.Stats.Loop.Nanos)
}

// Slice does background work for at most sliceBudget, and as much again for a snapshot: expiry,
// lazy freeing, rehash, eviction. It reports whether there is more to do now. Then the loop should
// poll without waiting and call Slice again. Loops call it every turn. Without work it costs a few
// ns and reads no clock.
func (e *Engine) Slice() (more bool) {
	if e.script.run != nil || e.ended {
		return false
	}
	ks := e.KS
	expire := ks.ExpiryDue()
	rehash := ks.RehashPending() && e.Cfg.ActiveRehashing
	if !expire && !rehash && !ks.LazyFreeQueued() && !e.mem.evicting && !ks.A.Idle() &&
		!e.Buffers.Idle() && !ks.A.Trimming() && !ks.SweepPending() && !e.persist.busy() &&
		e.defrag.round == nil && !e.strays.pending() && !ks.MeasurePending() &&
		!ks.RenewPending() {
		return false
	}
	start := time.Now()
	if expire {
		more = e.expireSlice(start)
	}
	more = e.jobSlice() || more
	if e.defrag.round != nil && !e.loading.on {
		e.defragSlice()
	}
	for {
		again := ks.LazyFreeSlice(lazyStride)
		again = ks.A.Release() || again
		again = e.Buffers.Release() || again
		again = ks.SweepPending() && ks.SweepSlice(sweepStride) || again
		again = ks.A.TrimSlice() || again
		again = ks.MeasureSlots(lazyStride) || again
		again = ks.RenewSlice(lazyStride) || again
		if e.Cfg.ActiveRehashing {
			again = ks.RehashSlice(lazyStride) || again
		}
		if e.strays.pending() {
			again = e.dropStrays() || again
		}
		if e.mem.evicting {
			e.mem.evicting = false
			e.makeRoom(nil)
			again = e.mem.evicting || again
		}
		if !again || time.Since(start) >= sliceBudget {
			return more || again
		}
	}
}

// expireSlice deletes due keys for at most half of the budget. active-expire-effort raises that
// share to all of it.
func (e *Engine) expireSlice(start time.Time) (more bool) {
	budget := sliceBudget/2 + sliceBudget/18*time.Duration(e.Cfg.ActiveExpireEffort-1)
	for {
		more = e.KS.ExpireSlice(lazyStride)
		if !more || time.Since(start) >= budget {
			break
		}
	}
	if more {
		e.KS.Stats.ExpireCapReached++
	}
	e.Stats.ExpireNanos += int64(time.Since(start))
	e.latencySince("expire-cycle", start)
	return more
}

// NextWake returns how long a loop with nothing to do may sleep: until a key falls due or
// defragmentation goes on, at most a second.
func (e *Engine) NextWake() time.Duration {
	wait := e.defragWait()
	ms, ok := e.KS.NextDeadline()
	if !ok || e.cron.expireOff {
		return wait
	}
	return min(wait, time.Duration(min(max(ms-e.now, 1), 1000))*time.Millisecond)
}

// SetActiveExpire turns active expiry on or off (DEBUG SET-ACTIVE-EXPIRE).
func (e *Engine) SetActiveExpire(on bool) {
	e.cron.expireOff = !on
	e.KS.P.ActiveExpire = on
}

// PauseCron stops the periodic work or lets it go on (DEBUG PAUSE-CRON).
func (e *Engine) PauseCron(off bool) { e.cron.off = off }

// OpsPerSecond returns the rate of commands.
func (e *Engine) OpsPerSecond() int64 { return e.cron.ops.PerSecond() }

// InputPerSecond returns the rate of bytes received.
func (e *Engine) InputPerSecond() int64 { return e.cron.in.PerSecond() }

// OutputPerSecond returns the rate of bytes sent.
func (e *Engine) OutputPerSecond() int64 { return e.cron.out.PerSecond() }

// ReplInputPerSecond returns the rate of bytes received from the master.
func (e *Engine) ReplInputPerSecond() int64 { return e.cron.replIn.PerSecond() }

// ReplOutputPerSecond returns the rate of bytes sent to replicas.
func (e *Engine) ReplOutputPerSecond() int64 { return e.cron.replOut.PerSecond() }

// CyclesPerSecond returns the rate of the event loops' cycles.
func (e *Engine) CyclesPerSecond() int64 { return e.cron.cycles.PerSecond() }

// CycleNanos returns how long a cycle has taken lately, in ns.
func (e *Engine) CycleNanos() int64 { return e.cron.cycleLen.Mean() }

// ResetStats carries out CONFIG RESETSTAT. The memory peak and the count of changes stay.
func (e *Engine) ResetStats() {
	e.Stats = Stats{Dirty: e.Stats.Dirty, PeakMemory: e.Stats.PeakMemory,
		PeakMemoryAt: e.Stats.PeakMemoryAt}
	e.KS.Stats, e.KS.A.Moves = keyspace.Stats{}, arena.Moves{}
	e.repl.replicas.netOut -= e.ReplOutput()
	clear(e.errs)
	if h := e.script.host; h != nil {
		h.Evicted = 0
	}
	for i := range e.Threads {
		e.Threads[i].Reads, e.Threads[i].Writes = 0, 0
	}
	for i := range e.cmds {
		e.cmds[i] = CommandStats{}
	}
	e.resetSlotStats()
	e.cron.reset(e)
}

// jobSlice goes on with the running job and ends it when it is done.
func (e *Engine) jobSlice() (more bool) {
	s := &e.persist
	if !s.busy() {
		return false
	}
	served := e.Stats.Commands != s.jobSeen
	s.jobSeen = e.Stats.Commands
	return s.store.Slice(sliceBudget, served)
}

// countSomeClients counts the memory of some clients: all that have been stirred in the course of a
// second, and at least five.
func (e *Engine) countSomeClients() {
	m := &e.clientMem
	sec := e.Steady() / 1000
	m.stirred.Visit(max(m.stirred.Share(e.CronHz()), 5), func(c *Client) (resting bool) {
		e.countClient(c)
		in, out := 0, len(c.W.Buf)
		if c.Conn != nil {
			_, in, out = c.Conn.Buffers()
			out = max(out, len(c.W.Buf))
		}
		m.peakIn.note(sec, in)
		m.peakOut.note(sec, max(out, c.MaxBuf))
		return in == 0 && out == 0
	})
}
