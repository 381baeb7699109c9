package config

// The directives of replication. Those that are marked later are read by nobody yet, see
// table_later.go.

func replicationTable() []Directive {
	return append(append(masterTable(), replicaTable()...), []Directive{
		later("repl-diskless-load", "disabled", 0, "Load a full sync without a file.",
			choice([]string{"disabled", "on-empty-db", "swapdb"},
				func(c *Config) *string { return &c.ReplDisklessLoad })),
		later("repl-rdb-channel", "yes", Hidden,
			"Send a full sync over a connection of its own.",
			yesNo(func(c *Config) *bool { return &c.ReplRDBChannel })),
		later("propagation-error-behavior", "ignore", 0,
			"What to do when a replicated command fails.",
			choice([]string{"ignore", "panic", "panic-on-replicas"},
				func(c *Config) *string { return &c.PropagationErrorBehavior })),
		later("bind-source-addr", "", 0, "Address to connect to other servers from.",
			str(func(c *Config) *string { return &c.BindSourceAddr })),
	}...)
}

// masterTable lists what a master goes by.
func masterTable() []Directive {
	return []Directive{
		{Name: "repl-ping-replica-period", Alias: "repl-ping-slave-period", Default: "10",
			Doc:   "Seconds between pings to replicas.",
			value: integer(1, maxInt, func(c *Config) *int64 { return &c.ReplPingPeriod })},
		{Name: "repl-timeout", Default: "60",
			Doc:   "Seconds without data after which the link is given up.",
			value: integer(1, maxInt, func(c *Config) *int64 { return &c.ReplTimeout })},
		{Name: "repl-disable-tcp-nodelay", Default: "no",
			Doc:   "Let the kernel gather small writes to replicas.",
			value: yesNo(func(c *Config) *bool { return &c.ReplDisableTCPNoDelay })},
		{Name: "repl-backlog-size", Default: "1048576",
			Doc: "Bytes of history kept for replicas that come back.",
			value: memoryFrom(1, maxLong, 16<<10,
				func(c *Config) *int64 { return &c.ReplBacklogSize })},
		{Name: "repl-backlog-ttl", Default: "3600",
			Doc:   "Seconds that history is kept without replicas.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.ReplBacklogTTL })},
		{Name: "repl-diskless-sync", Default: "yes", Doc: "Send a full sync without a file.",
			value: yesNo(func(c *Config) *bool { return &c.ReplDisklessSync })},
		{Name: "repl-diskless-sync-delay", Default: "5",
			Doc:   "Seconds to wait for more replicas before a full sync.",
			value: integer(0, maxInt, func(c *Config) *int64 { return &c.ReplDisklessSyncDelay })},
		{Name: "repl-diskless-sync-max-replicas", Default: "0",
			Doc: "Replicas from which it waits no longer.",
			value: integer(0, maxInt,
				func(c *Config) *int64 { return &c.ReplDisklessSyncMaxReplicas })},
	}
}

func replicaTable() []Directive {
	return []Directive{
		later("replicaof", "no one", Immutable|Multi|Refused, "Primary to copy.",
			primary(func(c *Config) *string { return &c.ReplicaOf })).
			alias("slaveof"),
		later("masterauth", "", Sensitive, "Password for the primary.",
			secret(func(c *Config) *string { return &c.MasterAuth })).valkey("primaryauth"),
		later("masteruser", "", Sensitive, "User for the primary.",
			str(func(c *Config) *string { return &c.MasterUser })).valkey("primaryuser"),
		later("replica-serve-stale-data", "yes", 0,
			"Answer from old data while the primary is away.",
			yesNo(func(c *Config) *bool { return &c.ReplicaServeStaleData })).
			alias("slave-serve-stale-data"),
		later("replica-read-only", "yes", 0, "Refuse writes from clients of a replica.",
			yesNo(func(c *Config) *bool { return &c.ReplicaReadOnly })).
			alias("slave-read-only"),
		later("replica-priority", "100", 0, "Rank among replicas that Sentinel may promote.",
			integer(0, maxInt, func(c *Config) *int64 { return &c.ReplicaPriority })).
			alias("slave-priority"),
		later("replica-announced", "yes", 0, "Let Sentinel list this replica.",
			yesNo(func(c *Config) *bool { return &c.ReplicaAnnounced })),
		later("replica-announce-ip", "", 0, "Address that a replica gives of itself.",
			str(func(c *Config) *string { return &c.ReplicaAnnounceIP })).
			alias("slave-announce-ip"),
		later("replica-announce-port", "0", 0, "Port that a replica gives of itself.",
			integer(0, 65535, func(c *Config) *int64 { return &c.ReplicaAnnouncePort })).
			alias("slave-announce-port"),
		later("replica-ignore-maxmemory", "yes", 0, "Leave eviction to the primary.",
			yesNo(func(c *Config) *bool { return &c.ReplicaIgnoreMaxmemory })).
			alias("slave-ignore-maxmemory"),
		later("replica-ignore-disk-write-errors", "no", 0,
			"Go on as a replica when the disk fails.",
			yesNo(func(c *Config) *bool { return &c.ReplicaIgnoreDiskErrors })),
		later("replica-lazy-flush", "no", 0,
			"Free the old data in the background before a full sync.",
			yesNo(func(c *Config) *bool { return &c.ReplicaLazyFlush })).
			alias("slave-lazy-flush"),
	}
}
