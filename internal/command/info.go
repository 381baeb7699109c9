package command

import (
	"fmt"
	"godwit/internal/acl"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/persist"
	"godwit/internal/pubsub"
)

// infoText collects the lines of INFO.
type infoText struct {
	b strings.Builder
	e *engine.Engine
}

func (t *infoText) str(name, value string) {
	t.b.WriteString(name)
	t.b.WriteByte(':')
	t.b.WriteString(value)
	t.b.WriteString("\r\n")
}

func (t *infoText) num(name string, n int64) { t.str(name, strconv.FormatInt(n, 10)) }

func (t *infoText) nums(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		t.num(pairs[i].(string), int64(pairs[i+1].(int)))
	}
}

func (t *infoText) fixed(name string, f float64, decimals int) {
	t.str(name, strconv.FormatFloat(f, 'f', decimals, 64))
}

// size writes a number of bytes, then the same number in human-readable form.
func (t *infoText) size(name string, n int64) {
	t.num(name, n)
	t.str(name+"_human", humanBytes(n))
}

func (t *infoText) percent(name string, f float64) {
	t.str(name, strconv.FormatFloat(f, 'f', 2, 64)+"%")
}

func humanBytes(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 && unit < 4 {
		f /= 1024
		unit++
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + "KMGTP"[unit:unit+1]
}

// infoSection is one section of INFO. The sections are listed in the order in which INFO shows
// them.
type infoSection struct {
	name     string
	title    string
	optional bool // Not in the default set.
	write    func(t *infoText)
}

func infoHandlers() engine.Handlers {
	sections := []infoSection{
		{"server", "Server", false, infoServer(readBuild())},
		{"clients", "Clients", false, infoClients},
		{"memory", "Memory", false, infoMemory},
		{"persistence", "Persistence", false, infoPersistence},
		{"stats", "Stats", false, infoStats},
		{"replication", "Replication", false, infoReplication},
		{"cpu", "CPU", false, infoCPU},
		{"modules", "Modules", false, infoModules},
		{"commandstats", "Commandstats", true, infoCommandstats},
		{"errorstats", "Errorstats", false, infoErrorstats},
		{"latencystats", "Latencystats", true, infoLatencystats},
		{"cluster", "Cluster", false, func(t *infoText) { t.num("cluster_enabled", 0) }},
		{"keyspace", "Keyspace", false, infoKeyspace},
	}
	return engine.Handlers{
		"info": func(c *engine.Ctx) { infoCmd(c, sections) },
	}
}

// infoCmd shows the requested sections, each once and in INFO's order. It ignores unknown ones.
func infoCmd(c *engine.Ctx, sections []infoSection) {
	t := &infoText{e: c.E}
	for _, s := range sections {
		if !wantsSection(c.Args[1:], &s) {
			continue
		}
		if t.b.Len() > 0 {
			t.b.WriteString("\r\n")
		}
		t.b.WriteString("# " + s.title + "\r\n")
		s.write(t)
	}
	c.Verbatim("txt", t.b.String())
}

func wantsSection(args [][]byte, s *infoSection) bool {
	if len(args) == 0 {
		return !s.optional
	}
	for _, a := range args {
		switch {
		case is(a, "all"), is(a, "everything"), is(a, s.name), is(a, "default") && !s.optional:
			return true
		}
	}
	return false
}

// build says what the binary was built from.
type build struct{ sha, dirty, id string }

func readBuild() build {
	b := build{sha: "00000000", dirty: "0", id: "0"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 16:
			b.sha, b.id = s.Value[:8], s.Value[:16]
		case s.Key == "vcs.modified" && s.Value == "true":
			b.dirty = "1"
		}
	}
	return b
}

func infoServer(b build) func(t *infoText) {
	return func(t *infoText) {
		e := t.e
		up := e.Uptime() / 1000
		exe, _ := os.Executable() // Empty if the system does not know.
		t.str("redis_version", engine.RedisVersion)
		t.str("redis_git_sha1", b.sha)
		t.str("redis_git_dirty", b.dirty)
		t.str("redis_build_id", b.id)
		t.str("redis_mode", "standalone")
		t.str("server_name", "godwit")
		t.str("godwit_version", engine.Version)
		t.str("os", engine.OSName())
		t.num("arch_bits", strconv.IntSize)
		t.str("monotonic_clock", "Go runtime")
		t.str("multiplexing_api", multiplexer())
		t.str("go_version", runtime.Version())
		t.num("process_id", int64(os.Getpid()))
		t.str("process_supervised", directive(e, "supervised"))
		t.str("run_id", e.RunID())
		t.num("tcp_port", int64(tcpPort(e)))
		t.num("server_time_usec", e.NowMicros())
		t.num("uptime_in_seconds", up)
		t.num("uptime_in_days", up/(24*3600))
		t.num("hz", int64(e.Hz()))
		t.num("configured_hz", int64(e.Cfg.Hz))
		t.num("lru_clock", e.Steady()/1000&0xffffff)
		t.str("executable", exe)
		t.str("config_file", e.Cfg.File)
		t.num("io_threads_active", boolInt(e.Cfg.IOThreads > 1))
		listeners(t)
	}
}

func multiplexer() string {
	if runtime.GOOS == "linux" {
		return "epoll"
	}
	return "goroutines"
}

func tcpPort(e *engine.Engine) int {
	if e.Cfg.Port == 0 {
		return e.Cfg.TLSPort
	}
	return e.Cfg.Port
}

// listeners writes a line for each kind of listener, numbered.
func listeners(t *infoText) {
	cfg := t.e.Cfg
	n := 0
	line := func(kind string, addrs []string, port int) {
		var b strings.Builder
		b.WriteString("name=" + kind)
		for _, a := range addrs {
			b.WriteString(",bind=" + a)
		}
		if port != 0 {
			b.WriteString(",port=" + strconv.Itoa(port))
		}
		t.str("listener"+strconv.Itoa(n), b.String())
		n++
	}
	if cfg.Port != 0 && len(cfg.Bind) > 0 {
		line("tcp", cfg.Bind, cfg.Port)
	}
	if cfg.UnixSocket != "" {
		line("unix", []string{cfg.UnixSocket}, 0)
	}
	if cfg.TLSPort != 0 && len(cfg.Bind) > 0 {
		line("tls", cfg.Bind, cfg.TLSPort)
	}
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func infoClients(t *infoText) {
	in, out := t.e.RecentBuffers()
	t.nums("connected_clients", t.e.ClientCount(), "cluster_connections", 0, "maxclients",
		t.e.Cfg.MaxClients,
		"client_recent_max_input_buffer", in, "client_recent_max_output_buffer", out,
		"blocked_clients", t.e.BlockedClients(), "tracking_clients", t.e.TrackingInfo().Clients,
		"pubsub_clients", t.e.Hub().Subscribers(), "watching_clients", t.e.WatchingClients(),
		"clients_in_timeout_table", t.e.TimedClients(), "total_watched_keys",
		t.e.TotalWatchedKeys(), "total_blocking_keys", t.e.BlockingKeys(),
		"total_blocking_keys_on_nokey", 0)
}

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
	t.size("used_memory_lua", sm.Machine)
	t.num("used_memory_vm_eval", sm.Machine)
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
	t.nums("mem_replication_backlog", 0, "mem_total_replication_buffers", 0,
		"mem_replica_full_sync_buffer", 0, "mem_clients_slaves", 0)
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

func infoPersistence(t *infoText) {
	p := t.e.PersistenceInfo()
	t.num("loading", boolInt(p.Loading))
	t.nums("async_loading", 0, "current_cow_peak", 0, "current_cow_size", 0, "current_cow_size_age",
		0)
	t.fixed("current_fork_perc", 100*ratioOf(p.Keys, p.Total), 2)
	t.num("current_save_keys_processed", p.Keys)
	t.num("current_save_keys_total", p.Total)
	t.num("rdb_changes_since_last_save", p.Changes)
	t.num("rdb_bgsave_in_progress", boolInt(p.Saving))
	t.num("rdb_last_save_time", p.LastSave)
	t.status("rdb_last_bgsave_status", p.LastSaveOK)
	t.num("rdb_last_bgsave_time_sec", p.LastSaveSec)
	t.num("rdb_current_bgsave_time_sec", p.SaveSec)
	t.num("rdb_saves", p.Saves)
	t.num("rdb_last_cow_size", 0)
	t.num("rdb_last_load_keys_expired", p.Loaded.Expired)
	t.num("rdb_last_load_keys_loaded", p.Loaded.Loaded)
	infoAOF(t, &p.AOF)
	t.nums("module_fork_in_progress", 0, "module_fork_last_cow_size", 0)
	if p.AOF.Enabled {
		t.num("aof_current_size", p.AOF.CurrentSize)
		t.num("aof_base_size", p.AOF.BaseSize)
		t.num("aof_pending_rewrite", boolInt(p.AOF.RewriteScheduled))
		t.num("aof_buffer_length", int64(p.AOF.BufferLength))
		t.num("aof_pending_bio_fsync", int64(p.AOF.PendingSyncs))
		t.num("aof_delayed_fsync", p.AOF.DelayedFsync)
	}
	if p.Loading {
		infoLoading(t, &p.Load)
	}
}

func infoAOF(t *infoText, a *persist.AOFInfo) {
	t.num("aof_enabled", boolInt(a.Enabled))
	t.num("aof_rewrite_in_progress", boolInt(a.RewriteInProgress))
	t.num("aof_rewrite_scheduled", boolInt(a.RewriteScheduled))
	t.num("aof_last_rewrite_time_sec", a.LastRewriteSeconds)
	t.num("aof_current_rewrite_time_sec", a.CurrentSeconds)
	t.status("aof_last_bgrewrite_status", a.LastRewriteOK)
	t.num("aof_rewrites", a.Rewrites)
	t.num("aof_rewrites_consecutive_failures", a.ConsecutiveFailures)
	t.status("aof_last_write_status", a.LastWriteOK)
	t.num("aof_last_cow_size", 0)
}

func infoLoading(t *infoText, l *engine.LoadingInfo) {
	t.num("loading_start_time", l.Start)
	t.num("loading_total_bytes", l.Total)
	t.num("loading_rdb_used_mem", 0)
	t.num("loading_loaded_bytes", l.Loaded)
	t.fixed("loading_loaded_perc", 100*ratioOf(l.Loaded, l.Total), 2)
	t.num("loading_eta_seconds", l.ETA)
}

// status writes "ok" or "err".
func (t *infoText) status(name string, ok bool) {
	if ok {
		t.str(name, "ok")
		return
	}
	t.str(name, "err")
}

func infoStats(t *infoText) {
	e := t.e
	s, k := &e.Stats, &e.KS.Stats
	over, overNow := e.EvictionOver()
	t.num("total_connections_received", s.Connections)
	t.num("total_commands_processed", s.Commands)
	t.num("instantaneous_ops_per_sec", e.OpsPerSecond())
	t.num("total_net_input_bytes", s.NetIn)
	t.num("total_net_output_bytes", s.NetOut)
	t.nums("total_net_repl_input_bytes", 0, "total_net_repl_output_bytes", 0)
	t.fixed("instantaneous_input_kbps", float64(e.InputPerSecond())/1024, 2)
	t.fixed("instantaneous_output_kbps", float64(e.OutputPerSecond())/1024, 2)
	t.str("instantaneous_input_repl_kbps", "0.00")
	t.str("instantaneous_output_repl_kbps", "0.00")
	t.num("rejected_connections", s.RejectedConnections)
	t.nums("sync_full", 0, "sync_partial_ok", 0, "sync_partial_err", 0)
	t.num("expired_keys", k.Expired)
	t.num("expired_subkeys", k.ExpiredFields) // Fields of hashes.
	// Expiry is exact, so there are no stale keys to estimate.
	t.str("expired_stale_perc", "0.00")
	t.num("expired_time_cap_reached_count", k.ExpireCapReached)
	t.num("expire_cycle_cpu_milliseconds", s.ExpireNanos/1e6)
	t.num("evicted_keys", k.Evicted)
	t.num("evicted_clients", s.EvictedClients)
	t.num("total_eviction_exceeded_time", over/1e6)
	t.num("current_eviction_exceeded_time", overNow/1e6)
	t.num("keyspace_hits", k.Hits)
	t.num("keyspace_misses", k.Misses)
	hub, tracking := e.Hub(), e.TrackingInfo()
	t.nums("pubsub_channels", hub.Count(pubsub.Channels), "pubsub_patterns",
		hub.Count(pubsub.Patterns),
		"pubsubshard_channels", hub.Count(pubsub.Shards), "latest_fork_usec", 0, "total_forks", 0,
		"migrate_cached_sockets", e.Links.Len(), "slave_expires_tracked_keys", 0)
	infoDefrag(t)
	t.nums("tracking_total_keys", tracking.Keys, "tracking_total_items", tracking.Items,
		"tracking_total_prefixes", tracking.Prefixes)
	t.num("unexpected_error_replies", s.UnexpectedErrors)
	t.num("total_error_replies", s.ErrorReplies)
	t.num("dump_payload_sanitizations", 0)
	t.num("total_reads_processed", s.Reads)
	t.num("total_writes_processed", s.Writes)
	t.num("client_query_buffer_limit_disconnections", s.ClientQueryBufLimit)
	t.num("client_output_buffer_limit_disconnections", s.ClientOutBufLimit)
	denied := func(r acl.Reason) int { return int(e.Stats.Denied[r]) }
	t.nums("acl_access_denied_auth", denied(acl.DeniedAuth), "acl_access_denied_cmd",
		denied(acl.DeniedCommand),
		"acl_access_denied_key", denied(acl.DeniedKey), "acl_access_denied_channel",
		denied(acl.DeniedChannel))
}

// infoReplication shows what holds without replicas: the replication ID is set, and the offset
// stays 0.
func infoReplication(t *infoText) {
	t.str("role", "master")
	t.num("connected_slaves", 0)
	if cfg := t.e.Cfg; cfg.MinReplicasToWrite > 0 && cfg.MinReplicasMaxLag > 0 {
		t.num("min_slaves_good_slaves", 0)
	}
	t.str("master_failover_state", "no-failover")
	t.str("master_replid", t.e.ReplID())
	t.str("master_replid2", strings.Repeat("0", 40))
	t.nums("master_repl_offset", 0, "second_repl_offset", -1, "repl_backlog_active", 0)
	t.str("repl_backlog_size", directive(t.e, "repl-backlog-size"))
	t.nums("repl_backlog_first_byte_offset", 0, "repl_backlog_histlen", 0)
}

// directive returns the value of a directive as CONFIG GET shows it.
func directive(e *engine.Engine, name string) string {
	for _, kv := range e.Cfg.Get([]byte(name)) {
		return kv[1]
	}
	return ""
}

func infoCPU(t *infoText) {
	cpu := engine.ReadCPU()
	t.fixed("used_cpu_sys", cpu.Sys, 6)
	t.fixed("used_cpu_user", cpu.User, 6)
	t.fixed("used_cpu_sys_children", cpu.ChildSys, 6)
	t.fixed("used_cpu_user_children", cpu.ChildUser, 6)
	t.fixed("used_cpu_sys_main_thread", cpu.ThreadSys, 6)
	t.fixed("used_cpu_user_main_thread", cpu.ThreadUser, 6)
}

func infoCommandstats(t *infoText) {
	for _, cmd := range t.e.Table().All() {
		s := t.e.CommandStats(cmd)
		if s.Calls == 0 && s.Rejected == 0 && s.Failed == 0 {
			continue
		}
		us, per := s.Nanos/1000, 0.0
		if s.Calls > 0 {
			per = float64(us) / float64(s.Calls)
		}
		fmt.Fprintf(&t.b,
			"cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d\r\n",
			cmd.FullName(), s.Calls, us, per, s.Rejected, s.Failed)
	}
}

// safeName keeps a name from breaking INFO's syntax.
var safeName = strings.NewReplacer("#", "_", ":", "_", "\n", "_", "\r", "_")

func infoErrorstats(t *infoText) {
	var lines []string
	t.e.ErrorStats(func(code string, n int64) {
		lines = append(lines, fmt.Sprintf("errorstat_%s:count=%d\r\n", safeName.Replace(code), n))
	})
	slices.Sort(lines)
	for _, l := range lines {
		t.b.WriteString(l)
	}
}

func infoLatencystats(t *infoText) {
	for _, cmd := range t.e.Table().All() {
		h := &t.e.CommandStats(cmd).Hist
		if h.Count() == 0 {
			continue
		}
		t.b.WriteString("latency_percentiles_usec_" + cmd.FullName() + ":")
		for i, p := range t.e.Cfg.LatencyPercentiles {
			if i > 0 {
				t.b.WriteByte(',')
			}
			fmt.Fprintf(&t.b, "p%s=%.3f", strconv.FormatFloat(p, 'f', -1, 64),
				float64(h.Percentile(p))/1000)
		}
		t.b.WriteString("\r\n")
	}
}

func infoKeyspace(t *infoText) {
	for i := range t.e.KS.Databases() {
		db := t.e.KS.DB(i)
		if db.Len() == 0 {
			continue
		}
		fmt.Fprintf(&t.b, "db%d:keys=%d,expires=%d,avg_ttl=%d\r\n", i, db.Len(), db.Expires(),
			db.AvgTTL())
	}
}
