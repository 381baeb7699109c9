package config

// The directives of replication. Those that are marked later are read by nobody yet, see
// table_later.go.

func replicationTable() []Directive {
	return append(append(masterTable(), replicaTable()...), []Directive{
		{Name: "repl-diskless-load", Default: "disabled",
			Doc: "Load a full sync without a file.",
			value: choice([]string{"disabled", "on-empty-db", "swapdb"},
				func(c *Config) *string { return &c.ReplDisklessLoad })},
		{Name: "repl-rdb-channel", Default: "yes", Flags: Hidden,
			Doc:   "Send a full sync over a connection of its own.",
			value: yesNo(func(c *Config) *bool { return &c.ReplRDBChannel })},
		{Name: "propagation-error-behavior", Default: "ignore",
			Doc: "What to do when a replicated command fails.",
			value: choice([]string{"ignore", "panic", "panic-on-replicas"},
				func(c *Config) *string { return &c.PropagationErrorBehavior })},
		{Name: "bind-source-addr",
			Doc:   "Address to connect to other servers from.",
			value: str(func(c *Config) *string { return &c.BindSourceAddr })},
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
		{Name: "repl-backlog-size", Default: "10485760",
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
		{Name: "replicaof", Alias: "slaveof", Default: "no one", Flags: Immutable | Multi,
			Doc:   "Primary to copy.",
			value: primary(func(c *Config) *string { return &c.ReplicaOf })},
		{Name: "masterauth", Valkey: "primaryauth", Flags: Sensitive,
			Doc:   "Password for the primary.",
			value: secret(func(c *Config) *string { return &c.MasterAuth })},
		{Name: "masteruser", Valkey: "primaryuser", Flags: Sensitive,
			Doc:   "User for the primary.",
			value: str(func(c *Config) *string { return &c.MasterUser })},
		{Name: "replica-serve-stale-data", Alias: "slave-serve-stale-data", Default: "yes",
			Doc:   "Answer from old data while the primary is away.",
			value: yesNo(func(c *Config) *bool { return &c.ReplicaServeStaleData })},
		{Name: "replica-read-only", Alias: "slave-read-only", Default: "yes",
			Doc:   "Refuse writes from clients of a replica.",
			value: yesNo(func(c *Config) *bool { return &c.ReplicaReadOnly })},
		{Name: "replica-priority", Alias: "slave-priority", Default: "100",
			Doc:   "Rank among replicas that Sentinel may promote.",
			value: integer(0, maxInt, func(c *Config) *int64 { return &c.ReplicaPriority })},
		{Name: "replica-announced", Default: "yes",
			Doc:   "Let Sentinel list this replica.",
			value: yesNo(func(c *Config) *bool { return &c.ReplicaAnnounced })},
		{Name: "replica-announce-ip", Alias: "slave-announce-ip",
			Doc:   "Address that a replica gives of itself.",
			value: str(func(c *Config) *string { return &c.ReplicaAnnounceIP })},
		{Name: "replica-announce-port", Alias: "slave-announce-port", Default: "0",
			Doc:   "Port that a replica gives of itself.",
			value: integer(0, 65535, func(c *Config) *int64 { return &c.ReplicaAnnouncePort })},
		{Name: "replica-ignore-maxmemory", Alias: "slave-ignore-maxmemory", Default: "yes",
			Doc:   "Leave eviction to the primary.",
			value: yesNo(func(c *Config) *bool { return &c.ReplicaIgnoreMaxmemory })},
		{Name: "replica-ignore-disk-write-errors", Default: "no",
			Doc:   "Go on as a replica when the disk fails.",
			value: yesNo(func(c *Config) *bool { return &c.ReplicaIgnoreDiskErrors })},
		{Name: "replica-lazy-flush", Alias: "slave-lazy-flush", Default: "no",
			Doc:   "Free the old data in the background before a full sync.",
			value: yesNo(func(c *Config) *bool { return &c.ReplicaLazyFlush })},
	}
}

// confirmTable holds directives that Redis does not have.
func confirmTable() []Directive {
	return []Directive{
		{Name: "repl-foreign-sketches", Default: "refuse",
			Doc: "What to do with replicas that may not know sketches and other newer data.",
			value: choice([]string{"refuse", "send"},
				func(c *Config) *string { return &c.ReplForeignSketches })},
		{Name: "min-replicas-to-ack", Default: "0",
			Doc:   "Replicas that must have a write before its reply is sent.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.MinReplicasToAck })},
		{Name: "min-replicas-ack-timeout", Default: "1000",
			Doc: "Milliseconds after which the reply is an error instead.",
			value: integer(1, maxLong,
				func(c *Config) *int64 { return &c.MinReplicasAckTimeout })},
		{Name: "min-replicas-ack-fsync", Default: "no",
			Doc:   "Count replicas only when they have a write on disk.",
			value: yesNo(func(c *Config) *bool { return &c.MinReplicasAckFsync })},
		{Name: "min-replicas-ack-reads", Default: "no",
			Doc:   "Let reads of keys wait for the writes before them too.",
			value: yesNo(func(c *Config) *bool { return &c.MinReplicasAckReads })},
	}
}
