package command

import "godwit/internal/engine"

func infoMemory(t *infoText) {
	r := t.e.MemoryReport()
	t.size("used_memory", r.Used)
	t.size("used_memory_rss", r.RSS)
	t.size("used_memory_peak", r.Peak)
	t.percent("used_memory_peak_perc", r.PeakPercent)
	t.num("used_memory_overhead", r.Overhead)
	t.num("used_memory_startup", r.Startup)
	t.num("used_memory_dataset", r.Dataset)
	t.percent("used_memory_dataset_perc", r.DatasetPercent)
	t.num("allocator_allocated", r.Allocated)
	t.num("allocator_active", r.Active)
	t.num("allocator_resident", r.Resident)
	t.num("allocator_muzzy", 0)
	t.size("total_system_memory", r.System)
	sm := t.e.ScriptMemory()
	t.num("used_memory_lua", sm.Machine)
	t.num("used_memory_vm_eval", sm.Machine)
	t.str("used_memory_lua_human", humanBytes(sm.Machine))
	t.num("used_memory_scripts_eval", sm.Caches)
	t.nums("number_of_cached_scripts", sm.Cached, "number_of_functions", sm.Functions,
		"number_of_libraries", sm.Libraries)
	t.num("used_memory_vm_functions", sm.FunctionMachine)
	t.size("used_memory_vm_total", sm.Machine+sm.FunctionMachine)
	t.num("used_memory_functions", sm.FunctionCaches)
	t.size("used_memory_scripts", sm.Caches+sm.FunctionCaches)
	t.size("maxmemory", t.e.Cfg.Maxmemory)
	t.str("maxmemory_policy", t.e.Cfg.MaxmemoryPolicy.String())
	infoFragmentation(t, &r)
	t.num("mem_not_counted_for_evict", r.NotCounted())
	t.num("mem_replication_backlog", r.Repl.Backlog)
	t.num("mem_total_replication_buffers", r.Repl.Stream)
	t.num("mem_replica_full_sync_buffer", r.Repl.Kept)
	t.num("mem_clients_slaves", r.Repl.Beyond+r.Repl.Clients)
	t.num("mem_clients_normal", r.Clients)
	t.nums("mem_cluster_links", 0, "mem_aof_buffer", int(t.e.AOFBuffered()))
	t.str("mem_allocator", "arena")
	t.num("mem_overhead_db_hashtable_rehashing", r.Rehashing)
	t.num("mem_arena_used", r.ArenaUsed)
	t.num("mem_arena_mapped", r.ArenaMapped)
	t.num("mem_arena_keys", r.ArenaKeys)
	t.num("mem_arena_values", r.ArenaValues)
	t.num("mem_arena_tables", r.ArenaTables)
	t.num("mem_arena_buffers", r.ArenaBuffers)
	t.num("mem_go_objects", r.Go.Objects)
	t.num("mem_go_in_use", r.Go.InUse())
	infoSlack(t, &r)
	t.num("active_defrag_running", t.e.Defragging())
	t.num("lazyfree_pending_objects", r.LazyFreePending)
	t.num("lazyfreed_objects", r.LazyFreed)
}

// infoSlack lists the resident memory that is not used memory. used_memory and the mem_slack lines
// add up to used_memory_rss.
func infoSlack(t *infoText, r *engine.MemoryReport) {
	t.num("mem_go_free", r.Go.Free+r.Go.Unused)
	t.num("mem_go_stacks", r.Go.Stacks)
	t.num("mem_go_runtime", r.Go.Runtime)
	t.num("mem_large_buffers", r.PoolUsed)
	t.num("mem_collection_headers", r.HeaderBytes)
	t.num("mem_waiting_to_be_freed", r.Waiting)
	t.num("mem_slack_binary", r.Slack.Binary)
	t.num("mem_slack_go", r.Slack.Go)
	t.num("mem_slack_arena", r.Slack.Arena)
	t.num("mem_slack_large_buffers", r.Slack.Pool)
	t.num("mem_slack_other", r.Slack.Other)
}

func infoFragmentation(t *infoText, r *engine.MemoryReport) {
	t.fixed("allocator_frag_ratio", ratioOf(r.Active, r.Allocated), 2)
	t.num("allocator_frag_bytes", r.Active-r.Allocated)
	t.fixed("allocator_rss_ratio", ratioOf(r.Resident, r.Active), 2)
	t.num("allocator_rss_bytes", r.Resident-r.Active)
	t.fixed("rss_overhead_ratio", ratioOf(r.RSS, r.Resident), 2)
	t.num("rss_overhead_bytes", r.RSS-r.Resident)
	t.fixed("mem_fragmentation_ratio", ratioOf(r.RSS, r.Used), 2)
	t.num("mem_fragmentation_bytes", r.RSS-r.Used)
}

func ratioOf(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}
