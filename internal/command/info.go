package command

import (
	"fmt"
	"strconv"
	"strings"

	"godwit/internal/engine"
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
		switch n := pairs[i+1].(type) {
		case int:
			t.num(pairs[i].(string), int64(n))
		case int64:
			t.num(pairs[i].(string), n)
		}
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
	named    bool // Shown only under its own name.
	write    func(t *infoText)
}

var _ = family(infoHandlers)

func infoHandlers() engine.Handlers {
	sections := []infoSection{
		{name: "server", title: "Server", write: infoServer(engine.ReadBuild())},
		{name: "tls", title: "TLS", named: true, write: infoTLS},
		{name: "clients", title: "Clients", write: infoClients},
		{name: "memory", title: "Memory", write: infoMemory},
		{name: "persistence", title: "Persistence", write: infoPersistence},
		{name: "threads", title: "Threads", write: infoThreads},
		{name: "stats", title: "Stats", write: infoStats},
		{name: "replication", title: "Replication", write: infoReplication},
		{name: "cpu", title: "CPU", write: infoCPU},
		{name: "modules", title: "Modules", write: infoModules},
		{name: "commandstats", title: "Commandstats", optional: true, write: infoCommandstats},
		{name: "errorstats", title: "Errorstats", write: infoErrorstats},
		{name: "latencystats", title: "Latencystats", optional: true, write: infoLatencystats},
		{name: "cluster", title: "Cluster",
			write: func(t *infoText) {
				t.num("cluster_enabled", boolInt(t.e.ClusterEnabled()))
			}},
		{name: "keyspace", title: "Keyspace", write: infoKeyspace},
		{name: "debug", title: "Debug", named: true, write: infoDebug},
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
		return !s.optional && !s.named
	}
	for _, a := range args {
		switch {
		case is(a, s.name):
			return true
		case s.named:
		case is(a, "all"), is(a, "everything"), is(a, "default") && !s.optional:
			return true
		}
	}
	return false
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func infoClients(t *infoText) {
	in, out := t.e.RecentBuffers()
	t.nums("connected_clients", t.e.ClientCount()-t.e.ReplicaCount(), "cluster_connections", 0,
		"maxclients", t.e.Cfg.MaxClients,
		"client_recent_max_input_buffer", in, "client_recent_max_output_buffer", out,
		"blocked_clients", t.e.BlockedClients(), "tracking_clients", t.e.TrackingInfo().Clients,
		"pubsub_clients", t.e.Hub().Subscribers(), "watching_clients", t.e.WatchingClients(),
		"clients_in_timeout_table", t.e.TimedClients(),
		"total_watched_keys", t.e.TotalWatchedKeys(),
		"total_blocking_keys", t.e.BlockingKeys(), "total_blocking_keys_on_nokey",
		t.e.BlockingKeysOnLoss())
	reason, actions := "none", "none"
	why, left, all := t.e.Paused()
	if left > 0 {
		reason, actions = why.String(), "write"
	}
	if all {
		actions = "all"
	}
	t.str("paused_reason", reason)
	t.str("paused_actions", actions)
	t.num("paused_timeout_milliseconds", left)
}

// infoReplication shows the server's role, its replicas and its history.
func infoReplication(t *infoText) {
	if t.e.IsReplica() {
		t.str("role", "slave")
		infoReplica(t)
	} else {
		t.str("role", "master")
	}
	infoReplicas(t)
}

func infoKeyspace(t *infoText) {
	for i := range t.e.KS.Databases() {
		db := t.e.KS.DB(i)
		if db.Shown() == 0 {
			continue
		}
		fmt.Fprintf(&t.b, "db%d:keys=%d,expires=%d,avg_ttl=%d,subexpiry=%d\r\n", i, db.Shown(),
			db.ShownExpires(), db.AvgTTL(), db.TimedHashes())
	}
}
