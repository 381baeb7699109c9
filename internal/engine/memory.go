package engine

import (
	"math"
	"time"

	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/spec"
)

// What counts as used memory
//
// Used memory is the sum of what has an owner who can say how much it is:
//
//	the arena's blocks    keys, values, tables, queued frees; rounded up to size classes, with the
//	                      ends of runs that no block fits in
//	the pool's buffers    large requests, and replies that wait for their sockets
//	clients               their other buffers and structures, see clientmemory.go
//	client-side caching   which client has read which key
//	collections           the parts of large ones that are in Go's heap
//	scripts               their environments and sources
//	tables                slow log, ACL log, subscriptions, blocked and watched keys, and what a
//	                      snapshot has copied, see tablememory.go
//	messages              buffers for replies that wait to be lent again
//	the start             what was resident when the engine was made, without the binary
//
// It does not ask the Go runtime while it runs. Garbage is not in use, but the runtime can tell it
// from live memory only after a collection, minutes old on a quiet server: eviction would delete
// keys because of replies that are long gone. What is resident beside used memory is listed in
// INFO, see memoryreport.go; how garbage goes back to the system is in gomemory.go.

// memoryState is what is known of the memory outside the arena.
type memoryState struct {
	startup int64 // bytes in use when the engine was made
	clients clientMemory
	scripts int64 // as of the last tick
	tables  int64 // see countTables, likewise
	back    giveBack
	// untouched is what the Go runtime had at the start without it being resident.
	untouched int64
	trimmed   int64         // monotonic ns of the last sweep for free memory within the arena
	refs      []spec.KeyRef // of the command that is held against what the system has
	refused   bool          // there was no room for the command that has passed the gates last
	overNs    int64         // monotonic ns since when used memory is over maxmemory, 0 if it is within
}

// UsedMemory is the memory in use in bytes. It is cheap: the eviction loop calls it for every key.
func (e *Engine) UsedMemory() int64 {
	return e.KS.A.Used() + e.KS.A.Tails() + e.Buffers.Used() + e.mem.startup + e.goCounted()
}

// limitedMemory is the used memory that is held against the limit: not what is kept for a snapshot
// alone. Evicting keys would not free that, but add to it.
func (e *Engine) limitedMemory() int64 { return e.UsedMemory() - e.KS.Heap.FrozenBytes() }

// goCounted is the part of used memory that is in Go's heap, but for the start.
func (e *Engine) goCounted() int64 {
	c := &e.mem.clients
	return c.total - c.pooled + e.tracking.table.Bytes() + e.KS.Heap.HeaderBytes() + e.mem.scripts +
		e.mem.tables + int64(e.pushing.bytes)
}

// countScripts brings the memory of scripts up to date.
func (e *Engine) countScripts() {
	e.trimScripts()
	if f := e.script.functions; f != nil && e.script.run == nil {
		f.Count()
	}
	m := e.ScriptMemory()
	e.mem.scripts = m.Machine + m.Caches + m.FunctionMachine + m.FunctionCaches
}

// Fits reports whether a value of n bytes can be had: in what maxmemory leaves, or in all of maxmemory where keys may be evicted for it, and in what the machine has
// beside the memory in use. It is for commands that a few bytes ask for very much; small values always fit. While a log is replayed everything does: it has fit before.
func (e *Engine) Fits(n uint64) bool {
	if n < alwaysFits || e.loading.on {
		return true
	}
	room := func(limit int64) bool { return n <= uint64(max(limit, 0)) }
	used := e.UsedMemory()
	if limit := e.memoryLimit(); limit > 0 {
		if e.Cfg.MaxmemoryPolicy == config.NoEviction {
			limit -= e.limitedMemory()
		}
		if !room(limit) {
			return false
		}
	}
	total := SystemMemory()
	return (total == 0 || room(total-used)) && e.probe(int64(n))
}

// alwaysFits is how many bytes are not worth asking for.
const alwaysFits = 1 << 20

// ClientsMemory is the memory of all clients as last counted.
func (e *Engine) ClientsMemory() int64 { return e.mem.clients.total }

// measureStart takes what the program uses by itself.
func (e *Engine) measureStart() {
	if rss, file := readResident(); rss > file {
		e.mem.startup = rss - file
	} else {
		g := ReadGoMemory()
		e.mem.startup = g.Objects + g.Stacks
	}
	inUse := ReadGoMemory().InUse()
	e.mem.back.slack, e.mem.back.start = inUse, inUse
	e.mem.untouched = max(inUse-e.mem.startup, 0)
	e.Stats.PeakMemory, e.Stats.PeakMemoryAt = e.UsedMemory(), e.now
}

// notePeak keeps the highest used memory seen.
func (e *Engine) notePeak() {
	if used := e.UsedMemory(); used > e.Stats.PeakMemory {
		e.Stats.PeakMemory, e.Stats.PeakMemoryAt = used, e.now
	}
}

// memoryLimit is what used memory is held against, 0 for no limit: maxmemory, but half of the
// smallest limits is for data, where the process took more than the other half before the first key.
func (e *Engine) memoryLimit() int64 {
	limit := e.Cfg.Maxmemory
	if limit == 0 {
		return 0
	}
	return limit + max(min(e.mem.startup, usualStart)-limit/2, 0)
}

// usualStart is about twice what the server takes before the first key, in bytes.
const usualStart = 4 << 20

// params are the keyspace's settings under the current configuration.
func (e *Engine) params() keyspace.Params {
	c := e.Cfg
	return keyspace.Params{
		Databases: c.Databases, MaxMemory: e.memoryLimit(), Policy: policyOf(c.MaxmemoryPolicy), Samples: c.MaxmemorySamples,
		LFULogFactor: c.LFULogFactor, LFUDecayTime: c.LFUDecayTime, ActiveExpire: !e.cron.expireOff,
		LazyExpire: c.LazyfreeExpire, LazyEviction: c.LazyfreeEviction, LazyServerDel: c.LazyfreeServerDel,
		LazyUserDel: c.LazyfreeUserDel, LazyUserFlush: c.LazyfreeUserFlush,
		Events: eventClasses(c.NotifyKeyspaceEvents),
		Limits: object.Limits{
			HashMaxListpackEntries: int(c.HashMaxListpackEntries), HashMaxListpackValue: int(c.HashMaxListpackValue),
			SetMaxIntsetEntries: int(c.SetMaxIntsetEntries), SetMaxListpackEntries: int(c.SetMaxListpackEntries),
			SetMaxListpackValue:    int(c.SetMaxListpackValue),
			ZSetMaxListpackEntries: int(c.ZsetMaxListpackEntries), ZSetMaxListpackValue: int(c.ZsetMaxListpackValue),
			ListMaxListpackSize: c.ListMaxListpackSize, ListCompressDepth: c.ListCompressDepth,
		},
	}
}

// policyOf is the keyspace's name for a configured policy; the two packages do not know each other.
func policyOf(p config.Policy) keyspace.Policy {
	switch p {
	case config.VolatileLRU:
		return keyspace.VolatileLRU
	case config.VolatileLFU:
		return keyspace.VolatileLFU
	case config.VolatileRandom:
		return keyspace.VolatileRandom
	case config.VolatileTTL:
		return keyspace.VolatileTTL
	case config.AllkeysLRU:
		return keyspace.AllKeysLRU
	case config.AllkeysLFU:
		return keyspace.AllKeysLFU
	case config.AllkeysRandom:
		return keyspace.AllKeysRandom
	}
	return keyspace.NoEviction
}

// makeRoom evicts until used memory is within maxmemory, for the command that is about to run (nil: between commands). It reports
// false when that cannot be done. When it takes longer than the tenacity allows, the command may run although memory is over the limit, and
// the slices between commands go on evicting.
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
	if need > e.KS.P.MaxMemory {
		return false // evicting everything would not help
	}
	if c != nil && e.cron.evicting {
		return e.payRoom(c, need)
	}
	return e.evict(need)
}

// brings returns how many bytes the command is known to store before it runs: those of its
// arguments, or of the transaction's that it runs. Redis counts arguments as memory in use at this
// moment too.
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

// evict is makeRoom for memory that is over the limit once need bytes more are stored.
func (e *Engine) evict(need int64) bool {
	start := time.Now()
	if e.mem.overNs == 0 {
		e.mem.overNs = int64(start.Sub(e.base))
	}
	ok := e.evictTo(e.KS.P.MaxMemory-need, e.mustReach(need), start)
	if e.cron.evicting = ok && e.limitedMemory() > e.KS.P.MaxMemory; ok && !e.cron.evicting {
		e.within()
	}
	e.latencySince("eviction-cycle", start)
	return ok
}

// payRoom is makeRoom while a slice is to go on evicting. Every command of a turn evicting for as long as it may would add up to many
// milliseconds. So those that store nothing wait for the slice, and the others evict twice what they bring, or memory would outgrow the slices.
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

// within ends a time over maxmemory.
func (e *Engine) within() {
	e.Stats.EvictionOverNanos += e.overFor()
	e.mem.overNs = 0
}

// overFor is for how many ns used memory has been over maxmemory now.
func (e *Engine) overFor() int64 {
	if e.mem.overNs == 0 {
		return 0
	}
	return max(int64(time.Since(e.base))-e.mem.overNs, 0)
}

// EvictionOver is the time in ns that used memory was over maxmemory: all in all, and the part of it that still lasts.
func (e *Engine) EvictionOver() (total, current int64) {
	current = e.overFor()
	return e.Stats.EvictionOverNanos + current, current
}

// evictionBudget is how long one command may evict: 500 µs at the default tenacity of 10, growing by 15 % a step above, unbounded at 100.
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

// trimEvery is the time between two sweeps for memory that is free within the arena's chunks.
const trimEvery = 3 * time.Second

// trimArena begins such a sweep, which slices between commands carry out.
func (e *Engine) trimArena() {
	if e.lastNs-e.mem.trimmed < int64(trimEvery) {
		return
	}
	e.mem.trimmed = e.lastNs
	e.KS.A.BeginTrim()
	if p := e.Buffers; p.Resident()-p.Used() > max(2<<20, p.Used()/8) {
		p.Trim()
	}
}
