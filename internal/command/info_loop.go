package command

import (
	"fmt"

	"godwit/internal/engine"
)

// infoThreads writes a line for each event loop. What connections with goroutines of their own have
// read and written counts for the first.
func infoThreads(t *infoText) {
	e := t.e
	first := engine.ThreadStats{Clients: e.ClientCount(), Reads: e.Stats.Reads,
		Writes: e.Stats.Writes}
	others := e.Threads[min(1, len(e.Threads)):]
	for _, s := range others {
		first.Clients -= s.Clients
		first.Reads -= s.Reads
		first.Writes -= s.Writes
	}
	for i, s := range append([]engine.ThreadStats{first}, others...) {
		fmt.Fprintf(&t.b, "io_thread_%d:clients=%d,reads=%d,writes=%d\r\n", i, max(s.Clients, 0),
			max(s.Reads, 0), max(s.Writes, 0))
	}
}

// infoThreaded writes what event loops other than the first have read and written.
func infoThreaded(t *infoText) {
	var sum engine.ThreadStats
	for _, s := range t.e.Threads[min(1, len(t.e.Threads)):] {
		sum.Reads += s.Reads
		sum.Writes += s.Writes
	}
	t.num("io_threaded_reads_processed", sum.Reads)
	t.num("io_threaded_writes_processed", sum.Writes)
}

// infoLoop writes the lines of INFO stats about the event loops.
func infoLoop(t *infoText) {
	s := &t.e.Stats.Loop
	t.num("eventloop_cycles", s.Cycles)
	t.num("eventloop_duration_sum", s.Nanos/1000)
	t.num("eventloop_duration_cmd_sum", s.CommandNanos/1000)
	t.num("instantaneous_eventloop_cycles_per_sec", t.e.CyclesPerSecond())
	t.num("instantaneous_eventloop_duration_usec", t.e.CycleNanos()/1000)
}

// infoDebug writes the section that INFO shows only under its own name. What scripts use is a part
// of Go's heap, so what is allocated is active and resident as well.
func infoDebug(t *infoText) {
	s := &t.e.Stats.Loop
	t.num("eventloop_duration_aof_sum", s.CommitNanos/1000)
	t.num("eventloop_duration_cron_sum", s.CronNanos/1000)
	t.num("eventloop_duration_max", s.LongestNanos/1000)
	t.num("eventloop_cmd_per_cycle_max", s.MostCommands)
	sm := t.e.ScriptMemory()
	lua := sm.Machine + sm.FunctionMachine
	t.num("allocator_allocated_lua", lua)
	t.num("allocator_active_lua", lua)
	t.num("allocator_resident_lua", lua)
	t.num("allocator_frag_bytes_lua", 0)
}
