package engine

import (
	"math"
	"time"

	"godwit/internal/keyspace"
	"godwit/internal/spec"
)

// makeRoom evicts keys until used memory is within maxmemory, for the command that is about to run
// (nil between commands). It reports false if that is impossible. If it takes longer than
// maxmemory-eviction-tenacity allows, the command may run although memory is over the limit. The
// slices between commands then go on evicting.
func (e *Engine) makeRoom(c *Ctx) bool {
	need := int64(0)
	if c != nil && (c.Cmd.Flags&spec.DenyOOM != 0 || c.Client.multi != nil) {
		need = e.brings(c)
	}
	if limit := e.KS.P.MaxMemory; limit == 0 || e.limitedMemory()+need <= limit {
		if e.mem.overNs != 0 {
			e.within()
		}
		return true
	}
	if e.keepsKeys() || e.IsReplica() && e.Cfg.ReplicaIgnoreMaxmemory {
		return true // as Redis and Valkey: whoever copies the data must not lose any
	}
	if need > e.KS.P.MaxMemory {
		return false // evicting everything would not help
	}
	if c != nil && e.mem.evicting {
		return e.payRoom(c, need)
	}
	return e.evict(need)
}

// brings returns the bytes of the command's arguments, which it may be about to store. For EXEC
// these are the arguments of the queued commands, if one of them may need memory. Redis counts
// arguments as memory in use at this moment too.
func (e *Engine) brings(c *Ctx) (n int64) {
	if c.Cmd.Is(spec.RunsQueue) {
		if effectiveFlags(c.Cmd, c.Client)&spec.DenyOOM != 0 {
			n = c.Client.QueuedBytes()
		}
		return n
	}
	for _, a := range c.Args {
		n += int64(len(a))
	}
	return n
}

// evict does makeRoom's work when memory would be over the limit with need bytes more.
func (e *Engine) evict(need int64) bool {
	start := time.Now()
	if e.mem.overNs == 0 {
		e.mem.overNs = int64(start.Sub(e.base))
	}
	ok := e.evictTo(e.KS.P.MaxMemory-need, e.mustReach(need), start)
	if e.mem.evicting = ok && e.limitedMemory() > e.KS.P.MaxMemory; ok && !e.mem.evicting {
		e.within()
	}
	e.latencySince("eviction-cycle", start)
	return ok
}

// payRoom does makeRoom's work while a slice is to go on evicting. If every command of a turn
// evicted for as long as it may, that would add up to many milliseconds. So commands that store
// nothing leave it to the slice. The others evict twice what they bring, or memory would grow
// faster than the slices evict.
func (e *Engine) payRoom(c *Ctx, need int64) bool {
	if effectiveFlags(c.Cmd, c.Client)&spec.DenyOOM == 0 {
		return true
	}
	goal := max(e.limitedMemory()-owed(need), e.KS.P.MaxMemory-need)
	return e.evictTo(goal, e.mustReach(need), time.Now())
}

// mustReach returns to how many bytes in use a command that stores need bytes evicts however long
// it takes: to 2 % above the limit, but no more than it owes. A large value evicts many small keys
// in many times the tenacity's time. If it did not, the next would take memory far over the limit.
func (e *Engine) mustReach(need int64) int64 {
	if need == 0 {
		return math.MaxInt64
	}
	limit := e.KS.P.MaxMemory
	return max(e.limitedMemory()-owed(need), limit+limit/50-need)
}

// owed returns how many bytes a command evicts that stores need bytes while memory is over the
// limit.
func owed(need int64) int64 { return payFixed + 2*need }

// payFixed is what a command owes besides its arguments, in bytes: entry, table and a little more.
const payFixed = 256

// evictTo evicts until no more than goal bytes are in use, or no more than must and the time is up.
// It reports false when there is nothing left to evict.
//
// What is already on its way out comes first, or more would be evicted than is needed: values that
// wait to be freed, the old half of a table that is resized, dead records of deadlines. The latter
// two give memory back in the end only. For a command that owes a little while memory is over the
// limit anyhow, the share that a step brings nearer counts as freed: it need not see the whole
// resize through. How many records are dead in what a sweep comes to next is not known: a key is
// evicted at every few steps of it.
func (e *Engine) evictTo(goal, must int64, start time.Time) bool {
	limit := evictionBudget(e.Cfg.MaxmemoryEvictionTenacity)
	share := func(bytes int64) {
		if goal > e.KS.P.MaxMemory {
			goal += bytes
		}
		if must > e.KS.P.MaxMemory && must < math.MaxInt64/2 {
			must += bytes
		}
	}
	for n := 1; e.limitedMemory() > goal; n++ {
		if n%evictionStride == 0 && e.limitedMemory() <= must && time.Since(start) > limit {
			return true
		}
		if e.KS.LazyFreeQueued() {
			e.KS.LazyFreeSlice(lazyStride)
		} else if e.KS.RehashPending() && e.KS.RehashSlice(lazyStride) {
			share(lazyStride * keyspace.BucketBytes)
		} else if n%sweptPerKey != sweptPerKey/2-1 && e.KS.SweepPending() {
			before, size := e.KS.Records(), e.KS.RecordBytes()
			e.KS.SweepSlice(sweepStride)
			share(int64(before-e.KS.Records()) * size)
		} else if !e.evictOne() && !e.KS.SweepPending() {
			return false
		}
	}
	return true
}

const (
	evictionStride = 4  // evictions between two looks at the clock
	lazyStride     = 64 // entries freed between them
	sweepStride    = 64 // records of deadlines looked at between them
	sweptPerKey    = 8  // steps of sweeps, at one of which a key is evicted
)

func (e *Engine) evictOne() bool {
	if e.Cfg.LatencyMonitorThreshold == 0 {
		return e.KS.EvictOne()
	}
	start := time.Now()
	ok := e.KS.EvictOne()
	e.latencySince("eviction-del", start)
	return ok
}

// within ends a time in which memory was over maxmemory.
func (e *Engine) within() {
	e.Stats.EvictionOverNanos += e.overFor()
	e.mem.overNs = 0
}

// overFor returns for how many ns used memory has been over maxmemory now.
func (e *Engine) overFor() int64 {
	if e.mem.overNs == 0 {
		return 0
	}
	return max(int64(time.Since(e.base))-e.mem.overNs, 0)
}

// EvictionOver returns for how many ns used memory was over maxmemory: in all, and the part that
// still lasts.
func (e *Engine) EvictionOver() (total, current int64) {
	current = e.overFor()
	return e.Stats.EvictionOverNanos + current, current
}

// evictionBudget returns how long one command may evict: 500 µs at the default tenacity of 10,
// growing by 15 % with each step above it, without limit at 100.
func evictionBudget(tenacity int) time.Duration {
	switch {
	case tenacity <= 10:
		return time.Duration(50*tenacity) * time.Microsecond
	case tenacity >= 100:
		return time.Hour
	}
	us := 500.0
	for range tenacity - 10 {
		us *= 1.15
	}
	return time.Duration(us) * time.Microsecond
}
