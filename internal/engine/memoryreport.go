package engine

import "godwit/internal/arena"

// MemoryReport is what INFO memory, MEMORY STATS and MEMORY DOCTOR say; all sizes in bytes.
type MemoryReport struct {
	Used, Peak, Startup int64
	Dataset, Overhead   int64
	Clients, Tables     int64
	// Buckets are the tables of the databases, Rehashing those of them that a resize replaces.
	Buckets, Rehashing int64
	RehashingDBs       int64 // databases being resized
	Keys               int64 // number of keys
	// These are Redis's allocator_*: blocks handed out, held of the system, resident.
	Allocated, Active, Resident int64
	RSS, System                 int64
	Slack                       MemorySlack
	LogBuffer                   int64 // part of Used that eviction does not count
	StartShare                  int64 // likewise, of what was there at the start: see memoryLimit
	// Frozen is likewise, for what is kept for a snapshot alone: see limitedMemory.
	Frozen                      int64
	Repl                        ReplicationMemory
	Go                          GoMemory
	ArenaUsed, ArenaMapped      int64
	ArenaKeys, ArenaValues      int64
	ArenaTables, ArenaBuffers   int64
	PoolUsed                    int64
	ScriptBytes, HeaderBytes    int64
	Waiting                     int64 // see keyspace.Waiting
	LazyFreePending, LazyFreed  int64
	PeakPercent, DatasetPercent float64
	FragmentationRatio          float64
}

// NotCounted returns the part of Used that is not held against maxmemory.
func (r *MemoryReport) NotCounted() int64 {
	return r.LogBuffer + r.StartShare + r.Frozen + r.Repl.NotCounted()
}

// MemorySlack is what is resident beside used memory, in bytes: with that it adds up to RSS. Parts
// can be negative, where memory counts as used that is not resident (yet): pages that nobody has
// touched.
type MemorySlack struct {
	Binary int64 // pages of the program's file
	// Go is garbage, free spans and the runtime's structures, less what was there at the start.
	Go    int64
	Arena int64 // free blocks and free units that are resident, what waits to be given back
	Pool  int64 // likewise in the pool of buffers
	Other int64 // what none of them knows
}

// MemoryReport reads all figures anew.
func (e *Engine) MemoryReport() MemoryReport {
	e.recountClients()
	e.countScripts()
	e.countTables()
	e.notePeak()
	a := e.KS.A
	rss, file, goMemory := residentAndGo()
	r := MemoryReport{
		Used: e.UsedMemory() + e.AOFBuffered(), LogBuffer: e.AOFBuffered(),
		StartShare: e.KS.P.MaxMemory - e.Cfg.Maxmemory, Peak: e.Stats.PeakMemory,
		Startup: e.mem.startup, Clients: e.clientMem.total, Tables: a.UsedBy(arena.Tables),
		RSS: rss, Resident: rss - file, System: SystemMemory(), Go: goMemory,
		ArenaUsed: a.Used(), ArenaMapped: a.Mapped(),
		ArenaKeys: a.UsedBy(arena.Keys), ArenaValues: a.UsedBy(arena.Values),
		PoolUsed: e.Buffers.Used(), ScriptBytes: e.mem.scripts,
		HeaderBytes: e.KS.Heap.HeaderBytes(),
		Waiting:     e.KS.Waiting(),
		Frozen:      e.KS.Heap.FrozenBytes() + e.mem.beyond,
		Repl:        e.replicationMemory(),
		ArenaTables: a.UsedBy(arena.Tables), ArenaBuffers: a.UsedBy(arena.Buffers),
		LazyFreePending: int64(e.KS.LazyFreePending()), LazyFreed: e.KS.Stats.LazyFreed,
	}
	e.Clients(func(c *Client) bool {
		if c.Class == ClassReplica {
			r.Repl.Clients += c.counted.total
			r.Clients -= c.counted.total
		}
		return true
	})
	for i := range e.KS.Databases() {
		db := e.KS.DB(i)
		r.Keys += int64(db.Len())
		r.Buckets += db.TableBytes()
		if db.Rehashing() {
			r.Rehashing += db.RehashingBytes()
			r.RehashingDBs++
		}
	}
	r.Dataset = a.UsedBy(arena.Keys) + a.UsedBy(arena.Values) + r.HeaderBytes
	r.Overhead = r.Used - r.Dataset
	pool := e.Buffers.Resident()
	r.Allocated = r.ArenaUsed + r.PoolUsed + r.Go.Objects
	r.Active = a.Resident() + pool + r.Go.InUse()
	r.Slack = MemorySlack{
		Binary: file,
		Go:     r.Go.InUse() - e.mem.untouched - r.Startup - e.goCounted() - r.LogBuffer,
		Arena:  a.Resident() - r.ArenaUsed - a.Tails(),
		Pool:   pool - r.PoolUsed,
	}
	r.Slack.Other = r.RSS - r.Used - r.Slack.Binary - r.Slack.Go - r.Slack.Arena - r.Slack.Pool
	r.PeakPercent = percent(r.Used, r.Peak)
	r.DatasetPercent = percent(r.Dataset, r.Used-r.Startup)
	r.FragmentationRatio = ratio(r.RSS, r.Used)
	return r
}

// residentAndGo reads the resident memory, the part of it that is the program's file, and the Go
// runtime's memory. The runtime gives memory back on other threads. If that happens between the
// readings they are repeated, a few times at most.
func residentAndGo() (rss, file int64, g GoMemory) {
	g = ReadGoMemory()
	for range 4 {
		before := g.InUse()
		rss, file = readResident()
		g = ReadGoMemory()
		if changed := g.InUse() - before; max(changed, -changed) < 1<<20 {
			break
		}
	}
	return rss, file, g
}

func percent(a, b int64) float64 { return 100 * ratio(a, b) }

func ratio(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}
