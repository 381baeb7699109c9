package config

import (
	"slices"

	"godwit/internal/logging"
)

// The directives below came with Redis versions after 7.0, or with Valkey. CONFIG GET shows those
// of Valkey only when asked for them by name, since Redis has no such rows.

func newerTable() []Directive {
	return []Directive{
		ignored("max-new-connections-per-cycle", "10", 0,
			"connections are accepted in turn with commands",
			integer(1, 1000, held[int64]("max-new-connections-per-cycle"))),
		ignored("max-new-tls-connections-per-cycle", "1", 0, "handshakes run beside commands",
			integer(1, 1000, held[int64]("max-new-tls-connections-per-cycle"))),
		ignored("hide-user-data-from-log", "no", 0, "no keys or values are logged",
			yesNo(held[bool]("hide-user-data-from-log"))),
		ignored("locale-collate", "", 0, "strings are compared byte by byte",
			str(held[string]("locale-collate"))),
		{Name: "replica-full-sync-buffer-limit", Default: "0",
			Doc: "Bytes of changes that a replica keeps during a full sync.",
			value: memory(0, maxLong,
				func(c *Config) *int64 { return &c.ReplicaFullSyncBufferLimit })},
		later("cluster-compatibility-sample-ratio", "0", 0,
			"Percentage of commands that are checked for use with a cluster.",
			integer(0, 100, held[int64]("cluster-compatibility-sample-ratio"))),
		later("cluster-ping-interval", "0", Hidden, "Milliseconds between pings of nodes.",
			integer(0, maxLong, held[int64]("cluster-ping-interval"))),
	}
}

func valkeyTable() []Directive {
	rows := slices.Concat(valkeyActingTable(), valkeyServerTable(), valkeyClusterTable())
	for i := range rows {
		rows[i].Flags |= Hidden
	}
	return rows
}

// Reasons that several of Valkey's directives share.
const (
	noRDMA          = "there is no RDMA"
	noCopyAvoidance = "replies are not handed to other threads"
)

func valkeyServerTable() []Directive {
	small := func(name, def, why string, high int64) Directive {
		return ignored(name, def, 0, why, integer(0, high, held[int64](name)))
	}
	return []Directive{
		small("active-defrag-cycle-us", "500",
			"its duty is set by active-defrag-cycle-min and -max", 100000),
		ignored("debug-context", "", 0, "it is for tests of Valkey",
			str(held[string]("debug-context"))),
		ignored("enable-debug-assert", "no", Immutable, "it is for tests of Valkey",
			yesNo(held[bool]("enable-debug-assert"))),
		ignored("extended-redis-compatibility", "no", 0, "answers are Redis's anyway",
			yesNo(held[bool]("extended-redis-compatibility"))),
		ignored("hash-seed", "", Immutable, "every start chooses its own",
			str(held[string]("hash-seed"))),
		ignored("io-threads-always-active", "no", 0, "every event loop serves its own clients",
			yesNo(held[bool]("io-threads-always-active"))),
		ignored("lua-enable-insecure-api", "no", Protected,
			"newproxy, getfenv and setfenv are not there",
			yesNo(held[bool]("lua-enable-insecure-api"))),
		small("min-io-threads-avoid-copy-reply", "7", noCopyAvoidance, maxInt),
		small("min-string-size-avoid-copy-reply", "16384", noCopyAvoidance, maxInt),
		small("min-string-size-avoid-copy-reply-threaded", "65536", noCopyAvoidance, maxInt),
		ignored("mptcp", "no", Immutable, "TCP has one path", yesNo(held[bool]("mptcp"))),
		small("prefetch-batch-max-size", "16", "every batch of commands is fetched ahead", 128),
		ignored("rdb-version-check", "strict", 0,
			"a newer snapshot is read as far as it is understood",
			choice([]string{"strict", "relaxed"}, held[string]("rdb-version-check"))),
		ignored("rdma-bind", "", 0, noRDMA, str(held[string]("rdma-bind"))),
		small("rdma-port", "0", noRDMA, 65535),
		ignored("rdma-rx-size", "1048576", Immutable, noRDMA,
			integer(65536, 16<<20, held[int64]("rdma-rx-size"))),
		ignored("rdma-completion-vector", "-1", Immutable, noRDMA,
			integer(-1, 1024, held[int64]("rdma-completion-vector"))),
	}
}

// valkeyActingTable lists the directives of Valkey that do here what they do there, and those of
// Redis versions after 8.0.
func valkeyActingTable() []Directive {
	return []Directive{
		{Name: "availability-zone",
			Doc:   "Where the server is, for clients that ask.",
			value: str(func(c *Config) *string { return &c.AvailabilityZone })},
		{Name: "import-mode", Default: "no",
			Doc:   "Let keys neither expire nor be evicted while data is copied to this server.",
			value: yesNo(func(c *Config) *bool { return &c.ImportMode })},
		{Name: "commandlog-request-larger-than", Default: "1048576",
			Doc:   "Bytes from which a command enters the log of large requests; -1 none.",
			value: integer(-1, maxLong, func(c *Config) *int64 { return &c.LargeRequest })},
		{Name: "commandlog-large-request-max-len", Default: "128",
			Doc:   "Commands that this log remembers.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.LargeRequestMaxLen })},
		{Name: "commandlog-reply-larger-than", Default: "1048576",
			Doc:   "Bytes from which a command enters the log of large replies; -1 none.",
			value: integer(-1, maxLong, func(c *Config) *int64 { return &c.LargeReply })},
		{Name: "commandlog-large-reply-max-len", Default: "128",
			Doc:   "Commands that this log remembers.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.LargeReplyMaxLen })},
		{Name: "slowlog-entry-max-argc", Default: "32",
			Doc:   "Arguments that an entry of these logs keeps.",
			value: integer(2, maxInt, func(c *Config) *int { return &c.SlowlogEntryArgc })},
		{Name: "slowlog-entry-max-string-len", Default: "128",
			Doc:   "Bytes that such an entry keeps of an argument.",
			value: integer(1, maxLong, func(c *Config) *int64 { return &c.SlowlogEntryLen })},
		{Name: "log-format", Default: "legacy",
			Doc: "Form of log lines.",
			value: enum([]string{"legacy", "logfmt", "json"},
				func(c *Config) *logging.Format { return &c.LogFormat })},
		{Name: "log-timestamp-format", Default: "legacy",
			Doc: "Form of the time in log lines.",
			value: enum([]string{"legacy", "iso8601", "milliseconds"},
				func(c *Config) *logging.Stamp { return &c.LogStamp })},
		{Name: "tls-auth-clients-user", Default: "off",
			Doc: "Log a client in as the user that its certificate names.",
			value: choice([]string{"CN", "URI", "off"},
				func(c *Config) *string { return &c.TLSAuthClientsUser })},
		{Name: "tls-auto-reload-interval", Default: "0",
			Doc:   "Seconds after which certificates that have changed are read again; 0 never.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.TLSAutoReload })},
		{Name: "unixsocketgroup", Flags: Immutable,
			Doc:   "Group of the unix socket; empty leaves it to the process.",
			value: str(func(c *Config) *string { return &c.UnixSocketGroup })},
	}
}

func valkeyClusterTable() []Directive {
	count := func(name, def string, low, high int64, doc string) Directive {
		return later(name, def, 0, doc, integer(low, high, held[int64](name)))
	}
	return []Directive{
		later("dual-channel-replication-enabled", "no", 0,
			"Send a full sync and changes side by side.",
			yesNo(held[bool]("dual-channel-replication-enabled"))),
		later("repl-mptcp", "no", Immutable, "Use several paths to the primary.",
			yesNo(held[bool]("repl-mptcp"))),
		later("cluster-announce-client-ipv4", "", 0, "Address that a node gives to clients.",
			str(held[string]("cluster-announce-client-ipv4"))),
		later("cluster-announce-client-ipv6", "", 0, "Address that a node gives to clients.",
			str(held[string]("cluster-announce-client-ipv6"))),
		count("cluster-announce-client-port", "0", 0, 65535, "Port that a node gives to clients."),
		count("cluster-announce-client-tls-port", "0", 0, 65535,
			"TLS port that a node gives to clients."),
		count("cluster-blacklist-ttl", "60", 0, maxLong,
			"Seconds for which a forgotten node stays out."),
		later("cluster-config-save-behavior", "sync", 0,
			"What to do when the cluster's state cannot be saved.",
			choice([]string{"sync", "best-effort"}, held[string]("cluster-config-save-behavior"))),
		{Name: "cluster-databases", Default: "1", Flags: Immutable, Doc: "Databases of a node.",
			value: integer(1, maxInt, func(c *Config) *int { return &c.Cluster.Databases })},
		{Name: "cluster-manual-failover-timeout", Default: "5000",
			Doc: "Milliseconds that a manual failover may take.",
			value: integer(1, maxInt,
				func(c *Config) *int64 { return &c.Cluster.FailoverTimeout })},
		count("cluster-message-gossip-perc", "10", 1, 100,
			"Percentage of the nodes that a message tells of."),
		{Name: "cluster-slot-migration-log-max-len", Default: "1000",
			Doc: "Migrations of slots that are remembered.",
			value: integer(0, maxLong,
				func(c *Config) *int64 { return &c.Cluster.MigrationLogLen })},
		{Name: "cluster-slot-migration-handoff-max-lag-bytes", Default: "1mb",
			Doc: "Bytes of changes that may be on their way when a migration closes its slots.",
			value: memory(0, maxLong,
				func(c *Config) *int64 { return &c.Cluster.HandoffLag })},
		{Name: "cluster-slot-migration-write-pause-timeout", Default: "10000",
			Doc: "Milliseconds that clients of slots wait while these change hands.",
			value: integer(1, maxLong,
				func(c *Config) *int64 { return &c.Cluster.WritePause })},
		{Name: "cluster-slot-stats-enabled", Default: "no",
			Doc:   "Keep statistics for each slot.",
			value: slotStats(func(c *Config) *SlotStats { return &c.Cluster.SlotStats })},
		ignored("slot-migration-max-failover-repl-bytes", "0", 0,
			"cluster-slot-migration-handoff-max-lag-bytes says when a migration may end",
			memory(-1, maxLong, held[int64]("slot-migration-max-failover-repl-bytes"))),
	}
}
