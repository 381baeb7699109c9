package config

import (
	"math"

	"godwit/internal/logging"
)

const (
	maxInt  = math.MaxInt32 // Redis keeps these in a C int
	maxLong = math.MaxInt64
	maxUint = math.MaxUint32
)

var (
	logLevels  = []string{"debug", "verbose", "notice", "warning", "nothing"}
	facilities = []string{"user", "local0", "local1", "local2", "local3", "local4", "local5",
		"local6", "local7"}
	supervisors  = []string{"upstart", "systemd", "auto", "no"}
	guardNames   = []string{"no", "yes", "local"}
	tlsAuthNames = []string{"no", "yes", "optional"}
	fsyncNames   = []string{"everysec", "always", "no"}
	sanitizing   = []string{"no", "yes", "clients"}
	policyNames  = []string{"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
		"allkeys-lru", "allkeys-lfu", "allkeys-random", "noeviction"}
)

func networkTable() []Directive {
	return []Directive{
		{Name: "bind", Default: "* -::*", Flags: Multi,
			Doc:   "Addresses to listen on.",
			value: addresses(func(c *Config) *[]string { return &c.Bind })},
		{Name: "port", Default: "6379",
			Doc:   "TCP port; 0 opens none.",
			value: integer(0, 65535, func(c *Config) *int { return &c.Port })},
		{Name: "tcp-backlog", Default: "511", Flags: Immutable,
			Doc:   "Length of the queue of connections not yet accepted.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.TCPBacklog })},
		{Name: "protected-mode", Default: "yes",
			Doc:   "Without a password, serve this machine only.",
			value: yesNo(func(c *Config) *bool { return &c.ProtectedMode })},
		{Name: "unixsocket", Flags: Immutable,
			Doc:   "Path of a unix socket to listen on as well.",
			value: str(func(c *Config) *string { return &c.UnixSocket })},
		{Name: "unixsocketperm", Default: "0", Flags: Immutable,
			Doc:   "Permissions of the unix socket; 0 leaves them to the umask.",
			value: octal(0o777, func(c *Config) *int { return &c.UnixSocketPerm })},
		{Name: "timeout", Default: "0",
			Doc:   "Seconds after which an idle client is closed; 0 never.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.Timeout })},
		{Name: "tcp-keepalive", Default: "300",
			Doc:   "Seconds between keepalive probes; 0 sends none.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.TCPKeepalive })},
		{Name: "maxclients", Default: "10000",
			Doc:   "Clients served at once; more are turned away.",
			value: integer(1, maxUint, func(c *Config) *int { return &c.MaxClients })},
		{Name: "io-threads", Default: "1", Flags: Immutable,
			Doc:   "Event loops that read, parse and write.",
			value: integer(1, 128, func(c *Config) *int { return &c.IOThreads })},
		{Name: "proto-max-bulk-len", Default: "536870912",
			Doc:   "Longest argument a client may send, and so the longest string value.",
			value: memory(1<<20, maxLong, func(c *Config) *int64 { return &c.ProtoMaxBulkLen })},
		{Name: "client-query-buffer-limit", Default: "1073741824",
			Doc:   "Bytes of unfinished requests that a client may pile up.",
			value: memory(1<<20, maxLong, func(c *Config) *int64 { return &c.QueryBufLimit })},
		{Name: "client-output-buffer-limit", Flags: Multi,
			Default: "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
			Doc:     "Replies that may wait for a client of each class before it is disconnected.",
			value:   outputLimits(func(c *Config) *[3]OutputLimit { return &c.OutputLimits })},
	}
}

func tlsTable() []Directive {
	return []Directive{
		{Name: "tls-port", Default: "0",
			Doc:   "TCP port for TLS connections; 0 opens none.",
			value: integer(0, 65535, func(c *Config) *int { return &c.TLSPort })},
		{Name: "tls-cert-file", Flags: Volatile,
			Doc:   "Certificate of the server, PEM.",
			value: str(func(c *Config) *string { return &c.TLSCertFile })},
		{Name: "tls-key-file", Flags: Volatile,
			Doc:   "Private key of the certificate, PEM.",
			value: str(func(c *Config) *string { return &c.TLSKeyFile })},
		{Name: "tls-ca-cert-file", Flags: Volatile,
			Doc:   "Authorities that may sign a client's certificate, PEM.",
			value: str(func(c *Config) *string { return &c.TLSCACertFile })},
		{Name: "tls-ca-cert-dir", Flags: Volatile,
			Doc:   "Folder of such authorities, one file each.",
			value: str(func(c *Config) *string { return &c.TLSCACertDir })},
		{Name: "tls-auth-clients", Default: "yes",
			Doc:   "Whether a client must show a certificate.",
			value: enum(tlsAuthNames, func(c *Config) *TLSAuth { return &c.TLSAuthClients })},
		{Name: "tls-protocols",
			Doc:   "Versions of TLS to offer; empty offers 1.2 and 1.3.",
			value: str(func(c *Config) *string { return &c.TLSProtocols })},
		{Name: "tls-session-caching", Default: "yes",
			Doc:   "Let clients resume a session by ticket.",
			value: yesNo(func(c *Config) *bool { return &c.TLSSessionCaching })},
		later("tls-ciphers", "", 0, "Cipher suites of TLS 1.2.", str(held[string]("tls-ciphers"))),
		later("tls-ciphersuites", "", 0, "Cipher suites of TLS 1.3.",
			str(held[string]("tls-ciphersuites"))),
		later("tls-key-file-pass", "", Sensitive|Volatile, "Passphrase of the private key.",
			str(held[string]("tls-key-file-pass"))),
		later("tls-client-cert-file", "", Volatile,
			"Certificate for connections that the server opens.",
			str(held[string]("tls-client-cert-file"))),
		later("tls-client-key-file", "", Volatile, "Private key of that certificate.",
			str(held[string]("tls-client-key-file"))),
		later("tls-client-key-file-pass", "", Sensitive|Volatile, "Passphrase of that key.",
			str(held[string]("tls-client-key-file-pass"))),
		later("tls-replication", "no", 0, "Use TLS towards the primary.",
			yesNo(held[bool]("tls-replication"))),
		later("tls-cluster", "no", 0, "Use TLS on the cluster bus.",
			yesNo(held[bool]("tls-cluster"))),
	}
}

func generalTable() []Directive {
	return []Directive{
		{Name: "daemonize", Default: "no", Flags: Immutable,
			Doc:   "Run in the background.",
			value: yesNo(func(c *Config) *bool { return &c.Daemonize })},
		{Name: "supervised", Default: "no", Flags: Immutable,
			Doc:   "Tell the service manager when the server is ready.",
			value: enum(supervisors, func(c *Config) *Supervision { return &c.Supervised })},
		{Name: "pidfile", Flags: Immutable,
			Doc:   "File that holds the process id while the server runs.",
			value: str(func(c *Config) *string { return &c.PidFile })},
		{Name: "loglevel", Default: "notice",
			Doc:   "Least important lines to log.",
			value: enum(logLevels, func(c *Config) *logging.Level { return &c.LogLevel })},
		{Name: "logfile", Flags: Immutable,
			Doc:   "File to log to; empty logs to the standard output.",
			value: str(func(c *Config) *string { return &c.LogFile })},
		{Name: "syslog-enabled", Default: "no", Flags: Immutable,
			Doc:   "Log to the system log as well.",
			value: yesNo(func(c *Config) *bool { return &c.SyslogEnabled })},
		{Name: "syslog-ident", Default: "redis", Flags: Immutable,
			Doc:   "Name of the server in the system log.",
			value: str(func(c *Config) *string { return &c.SyslogIdent })},
		{Name: "syslog-facility", Default: "local0", Flags: Immutable,
			Doc:   "Facility of the system log.",
			value: choice(facilities, func(c *Config) *string { return &c.SyslogFacility })},
		{Name: "set-proc-title", Default: "yes", Flags: Immutable,
			Doc:   "Show a title in place of the command line.",
			value: yesNo(func(c *Config) *bool { return &c.SetProcTitle })},
		{Name: "proc-title-template", Default: "{title} {listen-addr} {server-mode}",
			Doc:   "What that title shows.",
			value: str(func(c *Config) *string { return &c.ProcTitleTemplate }, titleTemplate)},
		{Name: "databases", Default: "16", Flags: Immutable,
			Doc:   "Number of databases for SELECT.",
			value: integer(1, maxInt, func(c *Config) *int { return &c.Databases })},
		{Name: "hz", Default: "10",
			Doc:   "Rounds of background work a second, from 1 to 500.",
			value: clamped(0, maxInt, 1, 500, func(c *Config) *int { return &c.Hz })},
		{Name: "dynamic-hz", Default: "yes",
			Doc:   "Raise hz while many clients are connected.",
			value: yesNo(func(c *Config) *bool { return &c.DynamicHz })},
		{Name: "shutdown-timeout", Default: "10",
			Doc:   "Seconds that a shutdown waits for replicas that lag.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.ShutdownTimeout })},
		{Name: "shutdown-on-sigterm", Default: "default", Flags: Multi,
			Doc:   "How to shut down at SIGTERM.",
			value: shutdownFlags(func(c *Config) *ShutdownFlags { return &c.ShutdownOnSigterm })},
		{Name: "shutdown-on-sigint", Default: "default", Flags: Multi,
			Doc:   "How to shut down at SIGINT.",
			value: shutdownFlags(func(c *Config) *ShutdownFlags { return &c.ShutdownOnSigint })},
	}
}

func securityTable() []Directive {
	return []Directive{
		{Name: "requirepass", Flags: Sensitive,
			Doc:   "Password that AUTH wants; empty wants none.",
			value: str(func(c *Config) *string { return &c.RequirePass })},
		{Name: "enable-protected-configs", Default: "no", Flags: Immutable,
			Doc:   "Who may set dir and dbfilename at run time.",
			value: enum(guardNames, func(c *Config) *Guard { return &c.EnableProtectedConfigs })},
		{Name: "enable-debug-command", Default: "no", Flags: Immutable,
			Doc:   "Who may use DEBUG.",
			value: enum(guardNames, func(c *Config) *Guard { return &c.EnableDebugCommand })},
		{Name: "enable-module-command", Default: "no", Flags: Immutable,
			Doc:   "Who may ask for modules to be loaded, which none is.",
			value: enum(guardNames, func(c *Config) *Guard { return &c.EnableModuleCommand })},
		{Name: "aclfile", Flags: Immutable,
			Doc:   "File of users and their rights.",
			value: str(func(c *Config) *string { return &c.ACLFile })},
		{Name: "acllog-max-len", Default: "128",
			Doc:   "Refusals that ACL LOG remembers.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.ACLLogMaxLen })},
		{Name: "acl-pubsub-default", Default: "resetchannels",
			Doc: "Channels of a new user.",
			value: choice([]string{"allchannels", "resetchannels"}, func(c *Config) *string {
				return &c.ACLPubsubDefault
			})},
	}
}

func fileTable() []Directive {
	return []Directive{
		{Name: "dir", Default: "./", Flags: Protected,
			Doc:   "Folder of all data files.",
			value: folder(func(c *Config) *string { return &c.Dir })},
		{Name: "dbfilename", Default: "dump.rdb", Flags: Protected,
			Doc:   "Name of the snapshot file.",
			value: str(func(c *Config) *string { return &c.DBFilename }, fileName("dbfilename"))},
		{Name: "save", Default: "3600 1 300 100 60 10000", Flags: Multi,
			Doc:   "When to take a snapshot by itself.",
			value: savePoints(func(c *Config) *[]SavePoint { return &c.Save })},
		{Name: "min-replicas-to-write", Alias: "min-slaves-to-write", Default: "0",
			Doc:   "Replicas without which writes are refused.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.MinReplicasToWrite })},
		{Name: "min-replicas-max-lag", Alias: "min-slaves-max-lag", Default: "10",
			Doc:   "Seconds of lag up to which a replica counts.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.MinReplicasMaxLag })},
		{Name: "stop-writes-on-bgsave-error", Default: "yes",
			Doc:   "Refuse writes after a snapshot failed.",
			value: yesNo(func(c *Config) *bool { return &c.StopWritesOnBgsaveError })},
		{Name: "rdbcompression", Default: "yes",
			Doc:   "Compress strings in snapshots.",
			value: yesNo(func(c *Config) *bool { return &c.RDBCompression })},
		{Name: "rdbchecksum", Default: "yes", Flags: Immutable,
			Doc:   "Guard snapshots by a checksum.",
			value: yesNo(func(c *Config) *bool { return &c.RDBChecksum })},
		{Name: "sanitize-dump-payload", Default: "no",
			Doc:   "Check payloads of RESTORE and snapshots thoroughly.",
			value: enum(sanitizing, func(c *Config) *Sanitizing { return &c.SanitizeDumpPayload })},
		later("rdb-del-sync-files", "no", 0, "Delete snapshots made for replicas.",
			yesNo(held[bool]("rdb-del-sync-files"))),
		{Name: "rdb-save-incremental-fsync", Default: "yes",
			Doc:   "Sync a snapshot to disk as it grows.",
			value: yesNo(func(c *Config) *bool { return &c.RDBSaveIncrementalFsync })},
		{Name: "rdb-key-save-delay", Default: "0", Flags: Hidden,
			Doc: "Microseconds to pause after each key of a snapshot, for tests; " +
				"below 0 the pause is that part of 1 µs.",
			value: integer(math.MinInt32, maxInt, func(c *Config) *int {
				return &c.RDBKeySaveDelay
			})},
		{Name: "key-load-delay", Default: "0", Flags: Hidden,
			Doc: "Microseconds to pause after each key that is loaded, for tests; " +
				"below 0 the pause is that part of 1 µs.",
			value: integer(math.MinInt32, maxInt, func(c *Config) *int { return &c.KeyLoadDelay })},
	}
}

func aofTable() []Directive {
	return []Directive{
		{Name: "appendonly", Default: "no",
			Doc:   "Log every write to disk.",
			value: yesNo(func(c *Config) *bool { return &c.AppendOnly })},
		{Name: "appendfilename", Default: "appendonly.aof", Flags: Immutable,
			Doc: "Base of the names of the log's files.",
			value: str(func(c *Config) *string {
				return &c.AppendFilename
			}, fileName("appendfilename"))},
		{Name: "appenddirname", Default: "appendonlydir", Flags: Immutable,
			Doc: "Folder of the log's files.",
			value: str(func(c *Config) *string {
				return &c.AppendDirname
			}, fileName("appenddirname"))},
		{Name: "appendfsync", Default: "everysec",
			Doc:   "When to sync the log to disk.",
			value: enum(fsyncNames, func(c *Config) *Fsync { return &c.AppendFsync })},
		{Name: "no-appendfsync-on-rewrite", Default: "no",
			Doc:   "Do not sync while a snapshot is being written.",
			value: yesNo(func(c *Config) *bool { return &c.NoAppendfsyncOnRewrite })},
		{Name: "auto-aof-rewrite-percentage", Default: "100",
			Doc: "Growth from which the log is rewritten; 0 never.",
			value: integer(0, maxInt, func(c *Config) *int64 {
				return &c.AutoAOFRewritePercentage
			})},
		{Name: "auto-aof-rewrite-min-size", Default: "67108864",
			Doc:   "Size below which it never is.",
			value: memory(0, maxLong, func(c *Config) *int64 { return &c.AutoAOFRewriteMinSize })},
		{Name: "aof-load-truncated", Default: "yes",
			Doc:   "Accept a log whose last write is torn.",
			value: yesNo(func(c *Config) *bool { return &c.AOFLoadTruncated })},
		{Name: "aof-use-rdb-preamble", Default: "yes",
			Doc:   "Write the log's base as a snapshot.",
			value: yesNo(func(c *Config) *bool { return &c.AOFUseRDBPreamble })},
		{Name: "aof-timestamp-enabled", Default: "no",
			Doc:   "Note the time in the log.",
			value: yesNo(func(c *Config) *bool { return &c.AOFTimestampEnabled })},
		{Name: "aof-rewrite-incremental-fsync", Default: "yes",
			Doc:   "Sync a rewrite to disk as it grows.",
			value: yesNo(func(c *Config) *bool { return &c.AOFRewriteIncrementalFsync })},
		{Name: "aof-disable-auto-gc", Default: "no",
			Doc:   "Keep the log's old files.",
			value: yesNo(func(c *Config) *bool { return &c.AOFDisableAutoGC })},
	}
}

func observeTable() []Directive {
	return []Directive{
		{Name: "slowlog-log-slower-than", Valkey: "commandlog-execution-slower-than",
			Default: "10000",
			Doc:     "Microseconds from which a command enters the slow log; -1 none, 0 all.",
			value: integer(-1, maxLong, func(c *Config) *int64 {
				return &c.SlowlogLogSlowerThan
			})},
		{Name: "slowlog-max-len", Valkey: "commandlog-slow-execution-max-len", Default: "128",
			Doc:   "Commands that the slow log remembers.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.SlowlogMaxLen })},
		{Name: "latency-monitor-threshold", Default: "0",
			Doc: "Milliseconds from which LATENCY records an event; 0 records none.",
			value: integer(0, maxLong, func(c *Config) *int64 {
				return &c.LatencyMonitorThreshold
			})},
		{Name: "latency-tracking", Default: "yes",
			Doc:   "Keep a histogram of the time each command takes.",
			value: yesNo(func(c *Config) *bool { return &c.LatencyTracking })},
		{Name: "latency-tracking-info-percentiles", Default: "50 99 99.9", Flags: Multi,
			Doc:   "Percentiles of those histograms that INFO shows.",
			value: percentiles(func(c *Config) *[]float64 { return &c.LatencyPercentiles })},
		{Name: "notify-keyspace-events",
			Doc:   "Events about keys to publish.",
			value: notifyFlags(func(c *Config) *NotifyFlags { return &c.NotifyKeyspaceEvents })},
		{Name: "tracking-table-max-keys", Default: "1000000",
			Doc:   "Keys that client-side caching remembers.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.TrackingTableMaxKeys })},
		{Name: "busy-reply-threshold", Alias: "lua-time-limit", Default: "5000",
			Doc:   "Milliseconds a script may run before other clients are answered BUSY.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.BusyReplyThreshold })},
	}
}

func encodingTable() []Directive {
	return []Directive{
		{Name: "hash-max-listpack-entries", Alias: "hash-max-ziplist-entries", Default: "512",
			Doc: "Fields of a hash kept in one packed block.",
			value: integer(0, maxLong, func(c *Config) *int64 {
				return &c.HashMaxListpackEntries
			})},
		{Name: "hash-max-listpack-value", Alias: "hash-max-ziplist-value", Default: "64",
			Doc:   "Longest field or value in such a hash.",
			value: memory(0, maxLong, func(c *Config) *int64 { return &c.HashMaxListpackValue })},
		{Name: "list-max-listpack-size", Alias: "list-max-ziplist-size", Default: "-2",
			Doc: "Size of a list's nodes: elements, or -1 to -5 for 4 KiB to 64 KiB.",
			value: integer(math.MinInt32, maxInt, func(c *Config) *int {
				return &c.ListMaxListpackSize
			})},
		{Name: "list-compress-depth", Default: "0",
			Doc:   "Nodes at each end of a list that stay uncompressed; 0 compresses none.",
			value: integer(0, maxInt, func(c *Config) *int { return &c.ListCompressDepth })},
		{Name: "set-max-intset-entries", Default: "512",
			Doc:   "Members of a set of integers kept as a sorted array.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.SetMaxIntsetEntries })},
		{Name: "set-max-listpack-entries", Default: "128",
			Doc:   "Members of a set kept in one packed block.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.SetMaxListpackEntries })},
		{Name: "set-max-listpack-value", Default: "64",
			Doc:   "Longest member in such a set.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.SetMaxListpackValue })},
		{Name: "zset-max-listpack-entries", Alias: "zset-max-ziplist-entries", Default: "128",
			Doc: "Members of a sorted set kept in one packed block.",
			value: integer(0, maxLong, func(c *Config) *int64 {
				return &c.ZsetMaxListpackEntries
			})},
		{Name: "zset-max-listpack-value", Alias: "zset-max-ziplist-value", Default: "64",
			Doc:   "Longest member in such a sorted set.",
			value: memory(0, maxLong, func(c *Config) *int64 { return &c.ZsetMaxListpackValue })},
		{Name: "hll-sparse-max-bytes", Default: "3000",
			Doc:   "Bytes of a HyperLogLog from which it becomes dense.",
			value: memory(0, maxLong, func(c *Config) *int64 { return &c.HLLSparseMaxBytes })},
		{Name: "stream-node-max-bytes", Default: "4096",
			Doc:   "Bytes of a stream's node; 0 sets no limit.",
			value: memory(0, maxLong, func(c *Config) *int64 { return &c.StreamNodeMaxBytes })},
		{Name: "stream-node-max-entries", Default: "100",
			Doc:   "Entries of a stream's node; 0 sets no limit.",
			value: integer(0, maxLong, func(c *Config) *int64 { return &c.StreamNodeMaxEntries })},
	}
}
