package engine

import (
	"runtime/debug"
	"time"

	"godwit/internal/crash"
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

// memoryState is what the engine knows of memory outside of the arena.
type memoryState struct {
	startup int64 // bytes in use when the engine was made
	scripts int64 // as of the last tick
	tables  int64 // see countTables, likewise
	beyond  int64 // the part of it that waits for the slow destination of a snapshot
	back    giveBack
	// untouched is what the Go runtime had at the start without it being resident.
	untouched int64
	trimmed   int64         // monotonic ns of the last sweep for free memory within the arena
	refs      []spec.KeyRef // of the command that is held against what the system has
	refused   bool          // there was no room for the command that has passed the gates last
	// overNs is since when used memory is over maxmemory, in monotonic ns; 0 if it is within.
	overNs   int64
	evicting bool // makeRoom gave up for lack of time
}

// UsedMemory returns the memory in use in bytes. It is cheap: eviction calls it for every key.
func (e *Engine) UsedMemory() int64 {
	return e.KS.A.Used() + e.KS.A.Tails() + e.Buffers.Used() + e.mem.startup + e.goCounted()
}

// limitedMemory returns the part of used memory that is held against the limit. It leaves out what
// is kept for a snapshot alone: evicting keys would not free that, but add to it.
func (e *Engine) limitedMemory() int64 {
	m := e.replicationMemory()
	return e.UsedMemory() - e.KS.Heap.FrozenBytes() - e.mem.beyond - m.NotCounted()
}

// goCounted returns the part of used memory that is in Go's heap, without what was there at the
// start.
func (e *Engine) goCounted() int64 {
	c := &e.clientMem
	return c.total - c.pooled + e.tracking.table.Bytes() + e.KS.Heap.HeaderBytes() +
		e.KS.SlotBytes() + e.mem.scripts + e.mem.tables + int64(e.pushing.bytes)
}

// countScripts updates the memory of scripts.
func (e *Engine) countScripts() {
	e.trimScripts()
	if f := e.script.functions; f != nil && e.script.run == nil {
		f.Count()
	}
	m := e.ScriptMemory()
	e.mem.scripts = m.Machine + m.Caches + m.FunctionMachine + m.FunctionCaches
}

// measureStart measures what the program uses before it has any data.
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

// notePeak records the highest used memory so far.
func (e *Engine) notePeak() {
	if used := e.UsedMemory(); used > e.Stats.PeakMemory {
		e.Stats.PeakMemory, e.Stats.PeakMemoryAt = used, e.now
	}
}

// memoryLimit returns the limit for used memory, 0 for none. That is maxmemory, and more where it
// is small: half of it is for data even if the process took more than the other half at the start.
func (e *Engine) memoryLimit() int64 {
	limit := e.Cfg.Maxmemory
	if limit == 0 {
		return 0
	}
	return limit + max(min(e.mem.startup, usualStart)-limit/2, 0)
}

// usualStart is about twice what the server takes before the first key, in bytes.
const usualStart = 4 << 20

// trimEvery is the time between two sweeps for memory that is free within the arena's chunks.
const trimEvery = 3 * time.Second

// trimArena begins a sweep every trimEvery. Slices between commands carry it out.
func (e *Engine) trimArena() {
	if e.lastNs-e.mem.trimmed < int64(trimEvery) {
		return
	}
	e.mem.trimmed = e.lastNs
	e.KS.A.BeginTrim()
	e.Buffers.BeginTrim()
}

// giveBackGoMemory begins to give memory back to the system that Go's heap has no use for. It is
// part of the cron.
func (e *Engine) giveBackGoMemory() {
	b := &e.mem.back
	if e.lastNs < b.next || b.running.Load() || !b.due(ReadGoMemory(), e.goCounted(), e.lastNs) {
		return
	}
	b.running.Store(true)
	go func() {
		defer crash.Guard("giving memory back")()
		start := time.Now()
		debug.FreeOSMemory()
		b.left = ReadGoMemory()
		b.took.Store(int64(time.Since(start)) + 1)
		b.running.Store(false)
	}()
}

// PurgeMemory gives free memory back to the system (MEMORY PURGE).
func (e *Engine) PurgeMemory() {
	e.KS.A.Trim()
	e.Buffers.Trim()
	e.dropScriptStacks(true)
	debug.FreeOSMemory()
}
