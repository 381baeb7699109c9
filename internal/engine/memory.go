package engine

import (
	"runtime/debug"
	rtmetrics "runtime/metrics"
	"time"

	"godwit/internal/arena"
	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// What counts as used memory
//
// Used memory is the sum of what has an owner who can say how much it is:
//
//	the arena's blocks    keys, values, tables, buffers; rounded up to size classes, with the ends of runs that no block fits in
//	clients               counted buffers and structures, see clientmemory.go
//	client-side caching   which client has read which key
//	the start             what was resident when the engine was made, without the binary: the table, the configuration, the runtime
//
// It does not ask the Go runtime while it runs. Garbage is not in use, but the runtime can tell it from live memory only after a
// collection, minutes old on a quiet server: eviction would delete keys because of replies that are long gone. The runtime's own figures are in
// INFO beside it (ReadGoMemory), and resident memory, which includes the slack of both, in used_memory_rss.

// memoryState is what is known of the memory outside the arena.
type memoryState struct {
	startup int64 // bytes in use when the engine was made
	clients clientMemory
	overNs  int64 // monotonic ns since when used memory is over maxmemory, 0 if it is within
}

// UsedMemory is the memory in use in bytes. It is cheap: the eviction loop calls it for every key.
func (e *Engine) UsedMemory() int64 {
	return e.KS.A.Used() + e.KS.A.Tails() + e.mem.startup + e.mem.clients.total + e.tracking.table.Bytes()
}

// Fits reports whether a value of n bytes can be had: in what maxmemory leaves, or in all of maxmemory where keys may be evicted for it, and in what the machine has
// beside the memory in use. It is for commands that a few bytes ask for very much; small values always fit. While a log is replayed everything does: it has fit before.
func (e *Engine) Fits(n uint64) bool {
	if n < alwaysFits || e.loading.on {
		return true
	}
	room := func(limit int64) bool { return n <= uint64(max(limit, 0)) }
	used := e.UsedMemory()
	if limit := e.Cfg.Maxmemory; limit > 0 {
		if e.Cfg.MaxmemoryPolicy == config.NoEviction {
			limit -= used
		}
		if !room(limit) {
			return false
		}
	}
	total := SystemMemory()
	return total == 0 || room(total-used)
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
	e.Stats.PeakMemory, e.Stats.PeakMemoryAt = e.UsedMemory(), e.now
}

// notePeak keeps the highest used memory seen.
func (e *Engine) notePeak() {
	if used := e.UsedMemory(); used > e.Stats.PeakMemory {
		e.Stats.PeakMemory, e.Stats.PeakMemoryAt = used, e.now
	}
}

// GoMemory is the Go runtime's memory in bytes.
type GoMemory struct {
	Objects  int64 // objects on the heap, live ones and garbage not yet swept
	Unused   int64 // of the heap's spans, not holding an object
	Free     int64 // free spans that are still mapped
	Released int64 // free spans given back to the system
	Stacks   int64
	Runtime  int64 // the runtime's own structures
	Cycles   int64 // garbage collections so far
}

// InUse is the memory that the runtime holds of the system.
func (g GoMemory) InUse() int64 { return g.Objects + g.Unused + g.Free + g.Stacks + g.Runtime }

// ReadGoMemory asks the Go runtime; it takes some microseconds.
func ReadGoMemory() (g GoMemory) {
	where := []struct {
		name string
		to   *int64
	}{
		{"/memory/classes/heap/objects:bytes", &g.Objects},
		{"/memory/classes/heap/unused:bytes", &g.Unused},
		{"/memory/classes/heap/free:bytes", &g.Free},
		{"/memory/classes/heap/released:bytes", &g.Released},
		{"/memory/classes/heap/stacks:bytes", &g.Stacks},
		{"/memory/classes/os-stacks:bytes", &g.Stacks},
		{"/memory/classes/metadata/mcache/inuse:bytes", &g.Runtime},
		{"/memory/classes/metadata/mspan/inuse:bytes", &g.Runtime},
		{"/memory/classes/metadata/other:bytes", &g.Runtime},
		{"/memory/classes/other:bytes", &g.Runtime},
		{"/memory/classes/profiling/buckets:bytes", &g.Runtime},
		{"/gc/cycles/total:gc-cycles", &g.Cycles},
	}
	samples := make([]rtmetrics.Sample, len(where))
	for i, w := range where {
		samples[i].Name = w.name
	}
	rtmetrics.Read(samples)
	for i, s := range samples {
		if s.Value.Kind() == rtmetrics.KindUint64 {
			*where[i].to += int64(s.Value.Uint64())
		}
	}
	return g
}

// MemoryReport is what INFO memory, MEMORY STATS and MEMORY DOCTOR say; all sizes in bytes.
type MemoryReport struct {
	Used, Peak, Startup         int64
	Dataset, Overhead           int64
	Clients, Replicas           int64
	Tables                      int64
	Keys                        int64 // number of keys
	Allocated, Active, Resident int64 // as Redis's allocator_*: blocks handed out, held of the system, resident
	RSS, System                 int64
	Go                          GoMemory
	ArenaUsed, ArenaMapped      int64
	ArenaKeys, ArenaValues      int64
	ArenaTables, ArenaBuffers   int64
	LazyFreePending, LazyFreed  int64
	PeakPercent, DatasetPercent float64
	FragmentationRatio          float64
}

// MemoryReport reads all figures anew.
func (e *Engine) MemoryReport() MemoryReport {
	e.recountClients()
	e.notePeak()
	a := e.KS.A
	rss, file := readResident()
	r := MemoryReport{
		Used: e.UsedMemory(), Peak: e.Stats.PeakMemory, Startup: e.mem.startup,
		Clients: e.mem.clients.total, Tables: a.UsedBy(arena.Tables),
		RSS: rss, Resident: rss - file, System: SystemMemory(), Go: ReadGoMemory(),
		ArenaUsed: a.Used(), ArenaMapped: a.Mapped(),
		ArenaKeys: a.UsedBy(arena.Keys), ArenaValues: a.UsedBy(arena.Values),
		ArenaTables: a.UsedBy(arena.Tables), ArenaBuffers: a.UsedBy(arena.Buffers),
		LazyFreePending: int64(e.KS.LazyFreePending()), LazyFreed: e.KS.Stats.LazyFreed,
	}
	for i := range e.KS.Databases() {
		r.Keys += int64(e.KS.DB(i).Len())
	}
	r.Overhead = r.Startup + r.Clients + e.tracking.table.Bytes() + r.Tables + r.ArenaBuffers + a.Tails()
	r.Dataset = r.Used - r.Overhead
	r.Allocated = r.ArenaUsed + r.Go.Objects
	r.Active = r.ArenaMapped + r.Go.InUse()
	r.PeakPercent = percent(r.Used, r.Peak)
	r.DatasetPercent = percent(r.Dataset, r.Used-r.Startup)
	r.FragmentationRatio = ratio(r.RSS, r.Used)
	return r
}

func percent(a, b int64) float64 { return 100 * ratio(a, b) }

func ratio(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// PurgeMemory gives free memory back to the system (MEMORY PURGE).
func (e *Engine) PurgeMemory() {
	e.KS.A.Trim()
	e.Buffers.Trim()
	debug.FreeOSMemory()
}

// params are the keyspace's settings under the current configuration.
func (e *Engine) params() keyspace.Params {
	c := e.Cfg
	return keyspace.Params{
		Databases: c.Databases, MaxMemory: c.Maxmemory, Policy: policyOf(c.MaxmemoryPolicy), Samples: c.MaxmemorySamples,
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
	if c != nil {
		need = e.brings(c)
	}
	if limit := e.KS.P.MaxMemory; limit == 0 || e.UsedMemory()+need <= limit {
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

// brings returns how many bytes the command is known to store before it runs: those of its arguments,
// or of the transaction's that it runs. Redis counts arguments as memory in use at this moment too.
func (e *Engine) brings(c *Ctx) (n int64) {
	if effectiveFlags(c.Cmd, c.Client)&DenyOOM == 0 {
		return 0
	}
	if c.Cmd.Is(RunsQueue) {
		n = c.Client.QueuedBytes()
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
	ok := e.evictTo(e.KS.P.MaxMemory-need, start)
	if e.cron.evicting = ok && e.UsedMemory() > e.KS.P.MaxMemory; ok && !e.cron.evicting {
		e.within()
	}
	e.latencySince("eviction-cycle", start)
	return ok
}

// payRoom is makeRoom while a slice is to go on evicting. Every command of a turn evicting for as long as it may would add up to many
// milliseconds. So those that store nothing wait for the slice, and the others evict twice what they bring, or memory would outgrow the slices.
func (e *Engine) payRoom(c *Ctx, need int64) bool {
	if effectiveFlags(c.Cmd, c.Client)&DenyOOM == 0 {
		return true
	}
	owed := payFixed + 2*need
	return e.evictTo(max(e.UsedMemory()-owed, e.KS.P.MaxMemory-need), time.Now())
}

// payFixed is what a command owes besides its arguments, in bytes: entry, table and a little more.
const payFixed = 256

// evictTo evicts until no more than goal bytes are in use or the time is up. It reports false when there is nothing left to evict.
func (e *Engine) evictTo(goal int64, start time.Time) bool {
	limit := evictionBudget(e.Cfg.MaxmemoryEvictionTenacity)
	for n := 1; e.UsedMemory() > goal; n++ {
		if n%evictionStride == 0 && time.Since(start) > limit {
			return true
		}
		// What is already on its way out comes first, or more would be evicted than is needed: values that wait to be
		// freed, the old half of a table that is resized, dead records of deadlines.
		if e.KS.LazyFreeQueued() {
			e.KS.LazyFreeSlice(lazyStride)
		} else if e.KS.RehashPending() && e.KS.RehashSlice(lazyStride) {
			continue
		} else if e.KS.SweepPending() {
			e.KS.SweepSlice(sweepStride)
		} else if !e.evictOne() {
			return false
		}
	}
	return true
}

const (
	evictionStride = 4  // evictions between two looks at the clock
	lazyStride     = 64 // entries freed between them
	sweepStride    = 64 // records of deadlines looked at between them
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
