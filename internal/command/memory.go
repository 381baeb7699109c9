package command

import (
	"fmt"
	"strings"

	"godwit/internal/engine"
)

var _ = family(memoryHandlers)

func memoryHandlers() engine.Handlers {
	return engine.Handlers{
		"memory|usage":        memoryUsageCmd,
		"memory|stats":        memoryStatsCmd,
		"memory|doctor":       func(c *engine.Ctx) { c.Verbatim("txt", memoryDiagnosis(c.E)) },
		"memory|malloc-stats": func(c *engine.Ctx) { c.Verbatim("txt", allocatorReport(c.E)) },
		"memory|purge":        memoryPurgeCmd,
		"memory|help":         helpOf(memoryHelp...),
	}
}

// memoryHelp lists the lines of MEMORY HELP.
var memoryHelp = []string{
	"DOCTOR",
	"    Say what looks wrong with the memory.",
	"MALLOC-STATS",
	"    Show the allocators' own figures.",
	"PURGE",
	"    Give free memory back to the system.",
	"STATS",
	"    Show where the memory is.",
	"USAGE <key> [SAMPLES <count>]",
	"    Bytes that <key> and its value take. Of a nested value, <count> elements are",
	"    looked at (5 unless given; 0: all).",
}

func memoryPurgeCmd(c *engine.Ctx) {
	c.E.PurgeMemory()
	c.OK()
}

// tableShare is what one key adds to its database's table, in bytes: a slot of a bucket at the
// usual load.
const tableShare = 12

// memoryUsageCmd takes no samples, because collections track their own size. SAMPLES is checked and
// has no effect.
func memoryUsageCmd(c *engine.Ctx) {
	for i := 3; i < len(c.Args); i += 2 {
		if !is(c.Args[i], "samples") || i+1 >= len(c.Args) {
			c.Err(engine.ErrSyntax)
			return
		}
		n, ok := intArg(c, c.Args[i+1])
		if !ok {
			return
		}
		if n < 0 {
			c.Err(engine.ErrSyntax)
			return
		}
	}
	e := c.DB.Peek(c.Args[2])
	if !e.Exists() {
		c.Null()
		return
	}
	c.Int(c.E.KS.Heap.Size(e) + tableShare)
}

func memoryStatsCmd(c *engine.Ctx) {
	r := c.E.MemoryReport()
	var dbs []int
	for i := range c.E.KS.Databases() {
		if c.E.KS.DB(i).Len() > 0 {
			dbs = append(dbs, i)
		}
	}
	c.Map(33 + len(dbs))
	num := func(name string, n int64) {
		c.BulkString(name)
		c.Int(n)
	}
	dbl := func(name string, f float64) {
		c.BulkString(name)
		c.Double(f)
	}
	num("peak.allocated", r.Peak)
	num("total.allocated", r.Used)
	num("startup.allocated", r.Startup)
	num("replication.backlog", r.Repl.Backlog)
	num("replica.fullsync.buffer", 0)
	num("clients.slaves", r.Repl.Beyond+r.Repl.Clients)
	num("clients.normal", r.Clients)
	num("cluster.links", 0)
	num("aof.buffer", c.E.AOFBuffered())
	sm := c.E.ScriptMemory()
	num("lua.caches", sm.Caches)
	num("functions.caches", sm.FunctionCaches)
	num("script.VMs", sm.Machine+sm.FunctionMachine)
	for _, i := range dbs {
		// Deadlines are stored in the entries, so they have no table of their own.
		c.BulkString(fmt.Sprintf("db.%d", i))
		c.Map(3)
		num("overhead.hashtable.main", c.E.KS.DB(i).TableBytes())
		num("overhead.hashtable.expires", 0)
		num("overhead.hashtable.slot-to-keys", 0)
	}
	num("overhead.db.hashtable.lut", r.Buckets)
	num("overhead.db.hashtable.rehashing", r.Rehashing)
	num("overhead.total", r.Overhead)
	num("db.dict.rehashing.count", r.RehashingDBs)
	num("keys.count", r.Keys)
	num("keys.bytes-per-key", int64(ratioOf(r.Used-r.Startup, r.Keys)))
	num("dataset.bytes", r.Dataset)
	dbl("dataset.percentage", r.DatasetPercent)
	dbl("peak.percentage", r.PeakPercent)
	num("allocator.allocated", r.Allocated)
	num("allocator.active", r.Active)
	num("allocator.resident", r.Resident)
	num("allocator.muzzy", 0)
	dbl("allocator-fragmentation.ratio", ratioOf(r.Active, r.Allocated))
	num("allocator-fragmentation.bytes", r.Active-r.Allocated)
	dbl("allocator-rss.ratio", ratioOf(r.Resident, r.Active))
	num("allocator-rss.bytes", r.Resident-r.Active)
	dbl("rss-overhead.ratio", ratioOf(r.RSS, r.Resident))
	num("rss-overhead.bytes", r.RSS-r.Resident)
	dbl("fragmentation", r.FragmentationRatio)
	num("fragmentation.bytes", r.RSS-r.Used)
}

// These are the thresholds above which MEMORY DOCTOR reports a problem.
const (
	doctorMinUsed   = 5 << 20 // With fewer bytes in use, the ratios mean nothing.
	doctorPeak      = 1.5     // Peak to used memory.
	doctorFrag      = 1.4     // Resident to used memory.
	doctorFragBytes = 10 << 20
	doctorClient    = 200 << 10 // Bytes for each client.
)

// memoryDiagnosis returns the reply of MEMORY DOCTOR: what stands out, and what to do.
func memoryDiagnosis(e *engine.Engine) string {
	r := e.MemoryReport()
	if r.Used < doctorMinUsed {
		return "This instance holds next to nothing: there is not enough to examine yet.\n"
	}
	var found []string
	if peak := ratioOf(r.Peak, r.Used); peak > doctorPeak {
		found = append(found,
			fmt.Sprintf("Peak: used memory was %.1f times as high as it is now (%s). "+
				"What the peak took may still be resident: MEMORY PURGE gives back what is free.",
				peak, humanBytes(r.Peak)))
	}
	if r.FragmentationRatio > doctorFrag && r.RSS-r.Used > doctorFragBytes {
		found = append(found,
			fmt.Sprintf("Fragmentation: %s is resident for %s in use (%.2f times). "+
				"Blocks of many sizes were freed and their pages are still partly used, "+
				"or they are not yet given back: try MEMORY PURGE.",
				humanBytes(r.RSS), humanBytes(r.Used), r.FragmentationRatio))
	}
	if idle := r.Go.InUse() - r.Go.Objects; idle > max(r.Used/4, doctorFragBytes) {
		found = append(found,
			fmt.Sprintf("Go heap: %s is held but not in use, as after a burst of large replies. "+
				"MEMORY PURGE gives it back at once.", humanBytes(idle)))
	}
	if n := int64(e.ClientCount()); n > 0 && r.Clients/n > doctorClient {
		found = append(found,
			fmt.Sprintf("Clients: %d of them take %s each. Pipelines without reading the "+
				"replies, or large values, do that: see tot-mem in CLIENT LIST, "+
				"client-output-buffer-limit and maxmemory-clients.", n, humanBytes(r.Clients/n)))
	}
	if limit, used := e.Cfg.Maxmemory, r.Used-r.NotCounted(); limit > 0 && used > limit {
		found = append(found,
			fmt.Sprintf("Limit: used memory is %s over maxmemory; under the policy %s nothing "+
				"more can be evicted in time.",
				humanBytes(used-limit), e.Cfg.MaxmemoryPolicy))
	}
	if len(found) == 0 {
		return "No memory problem found in this instance.\n"
	}
	return "Memory problems found in this instance:\n\n * " + strings.Join(found, "\n\n * ") + "\n"
}

// allocatorReport returns the reply of MEMORY MALLOC-STATS.
func allocatorReport(e *engine.Engine) string {
	r := e.MemoryReport()
	var b strings.Builder
	line := func(name string, n int64) {
		fmt.Fprintf(&b, "%-28s%14d  %s\n", name, n, humanBytes(n))
	}
	b.WriteString("Arena (keys, values, tables; outside the Go heap)\n")
	line("  mapped", r.ArenaMapped)
	line("  in use", r.ArenaUsed)
	line("    keys", r.ArenaKeys)
	line("    values", r.ArenaValues)
	line("    tables", r.ArenaTables)
	line("    buffers", r.ArenaBuffers)
	line("  resident at most", e.KS.A.Resident())
	line("  in huge pages", e.KS.A.HugeBytes())
	line("  lost to fragmentation", e.KS.A.Fragmentation())
	sizeClasses(&b, e)
	b.WriteString("Go runtime (clients, buffers, program)\n")
	line("  objects", r.Go.Objects)
	line("  unused in spans", r.Go.Unused)
	line("  free", r.Go.Free)
	line("  given back", r.Go.Released)
	line("  stacks", r.Go.Stacks)
	line("  runtime", r.Go.Runtime)
	fmt.Fprintf(&b, "%-28s%14d\n", "  collections", r.Go.Cycles)
	b.WriteString("Process\n")
	line("  resident", r.RSS)
	return b.String()
}
