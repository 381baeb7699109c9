package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/acl"
	"godwit/internal/pubsub"
)

func infoStats(t *infoText) {
	e := t.e
	s, k := &e.Stats, &e.KS.Stats
	over, overNow := e.EvictionOver()
	t.num("total_connections_received", s.Connections)
	t.num("total_commands_processed", s.Commands)
	t.num("instantaneous_ops_per_sec", e.OpsPerSecond())
	t.num("total_net_input_bytes", s.NetIn)
	t.num("total_net_output_bytes", s.NetOut)
	t.num("total_net_repl_input_bytes", s.ReplIn)
	t.num("total_net_repl_output_bytes", e.ReplOutput())
	t.fixed("instantaneous_input_kbps", float64(e.InputPerSecond())/1024, 2)
	t.fixed("instantaneous_output_kbps", float64(e.OutputPerSecond())/1024, 2)
	t.fixed("instantaneous_input_repl_kbps", float64(e.ReplInputPerSecond())/1024, 2)
	t.fixed("instantaneous_output_repl_kbps", float64(e.ReplOutputPerSecond())/1024, 2)
	t.num("rejected_connections", s.RejectedConnections)
	t.num("sync_full", s.SyncFull)
	t.num("sync_partial_ok", s.SyncPartialOK)
	t.num("sync_partial_err", s.SyncPartialErr)
	t.num("expired_subkeys", k.ExpiredFields) // Fields of hashes.
	t.num("expired_keys", k.Expired)
	// Expiry is exact, so there are no stale keys to estimate.
	t.str("expired_stale_perc", "0.00")
	t.num("expired_time_cap_reached_count", k.ExpireCapReached)
	t.num("expire_cycle_cpu_milliseconds", s.ExpireNanos/1e6)
	t.num("evicted_keys", k.Evicted)
	t.num("evicted_clients", s.EvictedClients)
	t.num("evicted_scripts", e.ScriptMemory().Evicted)
	t.num("total_eviction_exceeded_time", over/1e6)
	t.num("current_eviction_exceeded_time", overNow/1e6)
	t.num("keyspace_hits", k.Hits)
	t.num("keyspace_misses", k.Misses)
	hub, tracking := e.Hub(), e.TrackingInfo()
	t.nums("pubsub_channels", hub.Count(pubsub.Channels),
		"pubsub_patterns", hub.Count(pubsub.Patterns),
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
	infoThreaded(t)
	t.num("client_query_buffer_limit_disconnections", s.ClientQueryBufLimit)
	t.num("client_output_buffer_limit_disconnections", s.ClientOutBufLimit)
	// Replies have no buffer of the client's own that could be resized.
	t.nums("reply_buffer_shrinks", 0, "reply_buffer_expands", 0)
	infoLoop(t)
	denied := func(r acl.Reason) int { return int(e.Stats.Denied[r]) }
	t.nums("acl_access_denied_auth", denied(acl.DeniedAuth),
		"acl_access_denied_cmd", denied(acl.DeniedCommand),
		"acl_access_denied_key", denied(acl.DeniedKey),
		"acl_access_denied_channel", denied(acl.DeniedChannel),
		"acl_access_denied_tls_cert", denied(acl.DeniedCert),
		"acl_access_denied_db", denied(acl.DeniedDatabase))
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
