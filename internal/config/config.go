// Package config knows every directive of the server. One table holds each directive's name,
// syntax, bounds, default and status. Everything else is derived from the table: reading redis.conf
// and the command line, CONFIG GET, SET and REWRITE, and the test of conf/godwit.conf.
//
// The package is data only: it opens no socket and starts nothing. Whoever acts on a directive
// reads its field of Config, and hears of changes through the function given to Set.
//
// # Ownership
//
// A Config belongs to the executor once the server runs. Immutable directives never change after
// Load, so any goroutine may read their fields. A goroutine that needs another directive outside
// the executor keeps its own copy and refreshes it from the apply function of Set.
package config

import (
	"os"

	"godwit/internal/logging"
)

// Config holds the values of all directives. Sizes are in bytes. Default and Load make one; fields
// are read directly.
type Config struct {
	// File is the absolute path of the configuration file; empty when the server has none.
	File string

	// Network.
	Bind            []string // addresses with their "-" (optional address) prefix; empty: no TCP
	Port            int      // 0: no plain TCP
	TCPBacklog      int
	ProtectedMode   bool
	UnixSocket      string
	UnixSocketGroup string
	UnixSocketPerm  int // 0: leave it to the umask
	Timeout         int // seconds a client may idle; 0: for ever
	TCPKeepalive    int // seconds; 0: off
	MaxClients      int
	IOThreads       int
	ProtoMaxBulkLen int64
	QueryBufLimit   int64
	OutputLimits    [3]OutputLimit // by ClientClass

	// TLS.
	TLSPort           int
	TLSCertFile       string
	TLSKeyFile        string
	TLSCACertFile     string
	TLSCACertDir      string
	TLSAuthClients    TLSAuth
	TLSProtocols      string // words of TLSv1.2, TLSv1.3 …; empty: the safe ones
	TLSSessionCaching bool

	// General.
	Daemonize          bool
	Supervised         Supervision
	PidFile            string
	CompatVersion      string // of Redis, "8.0.6"
	LogLevel           logging.Level
	LogFile            string
	SyslogEnabled      bool
	SyslogIdent        string
	SyslogFacility     string
	LogFormat          logging.Format
	LogStamp           logging.Stamp
	AlwaysShowLogo     bool
	TLSAuthClientsUser string // CN, URI or off
	TLSAutoReload      int    // seconds; 0: never
	ImportMode         bool
	AvailabilityZone   string
	SetProcTitle       bool // show a title in place of the command line
	ProcTitleTemplate  string
	Databases          int
	Hz                 int
	DynamicHz          bool
	ShutdownTimeout    int // seconds
	ShutdownOnSigterm  ShutdownFlags
	ShutdownOnSigint   ShutdownFlags

	// Security.
	RequirePass            string
	Renames                []Rename
	Users                  []UserLine
	ACLFile                string
	ACLLogMaxLen           int64
	ACLPubsubDefault       string // allchannels or resetchannels
	EnableDebugCommand     Guard
	EnableModuleCommand    Guard
	EnableProtectedConfigs Guard

	// Files.
	Dir                     string // absolute
	DBFilename              string
	Save                    []SavePoint
	StopWritesOnBgsaveError bool
	RDBCompression          bool
	RDBChecksum             bool
	SanitizeDumpPayload     Sanitizing
	RDBVersion              RDBVersion
	RDBSaveIncrementalFsync bool
	RDBKeySaveDelay         int // µs to sleep after each key; negative: that fraction of a µs
	KeyLoadDelay            int // the same while loading

	// The append-only file.
	AppendOnly                 bool
	AppendFilename             string
	AppendDirname              string
	AppendFsync                Fsync
	NoAppendfsyncOnRewrite     bool
	AutoAOFRewritePercentage   int64
	AutoAOFRewriteMinSize      int64
	AOFLoadTruncated           bool
	AOFUseRDBPreamble          bool
	AOFTimestampEnabled        bool
	AOFRewriteIncrementalFsync bool
	AOFDisableAutoGC           bool

	// Memory.
	Maxmemory                 int64 // 0: no limit
	DisableTHP                bool
	MaxmemoryPolicy           Policy
	MaxmemorySamples          int
	MaxmemoryEvictionTenacity int
	MaxmemoryClients          int64 // negative: a percentage of Maxmemory, see ClientsLimit
	LFULogFactor              int
	LFUDecayTime              int // minutes
	LazyfreeEviction          bool
	LazyfreeExpire            bool
	LazyfreeServerDel         bool
	LazyfreeUserDel           bool
	LazyfreeUserFlush         bool
	ActiveExpireEffort        int
	ActiveRehashing           bool

	// Active defragmentation: percentages, and one size.
	ActiveDefrag               bool
	ActiveDefragIgnoreBytes    int64
	ActiveDefragThresholdLower int
	ActiveDefragThresholdUpper int
	ActiveDefragCycleMin       int
	ActiveDefragCycleMax       int

	// Observation.
	SlowlogLogSlowerThan    int64 // µs; negative: off
	SlowlogMaxLen           int64
	SlowlogEntryArgc        int
	SlowlogEntryLen         int64
	LargeRequest            int64 // bytes; negative: off
	LargeRequestMaxLen      int64
	LargeReply              int64 // bytes; negative: off
	LargeReplyMaxLen        int64
	LatencyMonitorThreshold int64 // ms; 0: off
	LatencyTracking         bool
	LatencyPercentiles      []float64
	NotifyKeyspaceEvents    NotifyFlags
	TrackingTableMaxKeys    int64 // 0: no limit

	// Encodings.
	HashMaxListpackEntries int64
	HashMaxListpackValue   int64
	ListMaxListpackSize    int
	ListCompressDepth      int
	SetMaxIntsetEntries    int64
	SetMaxListpackEntries  int64
	SetMaxListpackValue    int64
	ZsetMaxListpackEntries int64
	ZsetMaxListpackValue   int64
	HLLSparseMaxBytes      int64
	StreamNodeMaxBytes     int64
	StreamNodeMaxEntries   int64
	StreamIDMPDuration     int64 // seconds
	StreamIDMPMaxSize      int64

	// Bloom filters that are created without these options.
	BFErrorRate       float64
	BFInitialSize     int64
	BFExpansionFactor int64  // 0: they do not scale
	BFHash            string // murmur3 or murmur64a

	// Cuckoo filters that are created without these options, and how far any may grow.
	CFInitialSize, CFBucketSize, CFMaxIterations int64
	CFExpansionFactor                            int64 // 0: they do not scale
	CFMaxExpansions                              int64

	// Replicas that writes wait for. There are none yet, so writes are refused while both values
	// are above 0.
	MinReplicasToWrite, MinReplicasMaxLag int

	// Replication, see table_replication.go.
	ReplicaOf                   string // the master: "host port", "" if this server is one
	MasterAuth                  string
	MasterUser                  string
	ReplicaServeStaleData       bool
	ReplicaReadOnly             bool
	ReplicaPriority             int64
	ReplicaAnnounced            bool
	ReplicaAnnounceIP           string
	ReplicaAnnouncePort         int64
	ReplicaIgnoreMaxmemory      bool
	ReplicaIgnoreDiskErrors     bool
	ReplicaLazyFlush            bool
	TLSReplication              bool
	ReplPingPeriod              int64 // seconds
	ReplTimeout                 int64 // seconds
	ReplDisableTCPNoDelay       bool
	ReplBacklogSize             int64 // bytes
	ReplBacklogTTL              int64 // seconds
	ReplDisklessSync            bool
	ReplDisklessSyncDelay       int64 // seconds
	ReplDisklessSyncMaxReplicas int64
	ReplDisklessLoad            string
	ReplRDBChannel              bool
	ReplicaFullSyncBufferLimit  int64 // bytes
	PropagationErrorBehavior    string
	BindSourceAddr              string
	ReplForeignSketches         string

	// Replies that wait for replicas, see engine/confirm.go.
	MinReplicasToAck      int
	MinReplicasAckTimeout int64 // ms
	MinReplicasAckFsync   bool
	MinReplicasAckReads   bool

	Cluster Cluster

	BusyReplyThreshold int64 // ms a script may run before others are answered BUSY

	held     map[string]any  // values of directives without a field, as pointers
	given    map[string]bool // directives named in the file or on the command line
	warnings []string
}

// TLSAuth says whether a TLS client must show a certificate.
type TLSAuth int

// The values of tls-auth-clients.
const (
	TLSAuthNo TLSAuth = iota
	TLSAuthYes
	TLSAuthOptional
)

// Supervision names who started the server.
type Supervision int

// The values of supervised.
const (
	SupervisedUpstart Supervision = iota
	SupervisedSystemd
	SupervisedAuto
	SupervisedNo
)

// Guard says which connections may use something dangerous.
type Guard int

// The values of enable-debug-command and its kin. GuardLocal admits loopback and unix sockets.
const (
	GuardNo Guard = iota
	GuardYes
	GuardLocal
)

// Allows reports whether a connection may pass. local says that it comes from this machine.
func (g Guard) Allows(local bool) bool { return g == GuardYes || g == GuardLocal && local }

// Sanitizing says which payloads are checked thoroughly.
type Sanitizing int

// The values of sanitize-dump-payload.
const (
	SanitizeNo Sanitizing = iota
	SanitizeYes
	SanitizeClients // payloads of RESTORE, but not of a primary or a file
)

// RDBVersion is the value of rdb-version: a Target of package rdb.
type RDBVersion int

// Fsync says when the append-only file is synced to disk.
type Fsync int

// The values of appendfsync.
const (
	FsyncEverysec Fsync = iota
	FsyncAlways
	FsyncNo
)

// Policy says what the server evicts when it reaches maxmemory.
type Policy int

// The values of maxmemory-policy.
const (
	VolatileLRU Policy = iota
	VolatileLFU
	VolatileLRM
	VolatileRandom
	VolatileTTL
	AllkeysLRU
	AllkeysLFU
	AllkeysLRM
	AllkeysRandom
	NoEviction
)

// String returns the policy's name in redis.conf.
func (p Policy) String() string { return policyNames[p] }

// LFU reports whether the policy keeps access counters instead of access times.
func (p Policy) LFU() bool { return p == VolatileLFU || p == AllkeysLFU }

// LRU reports whether the policy orders keys by their last access.
func (p Policy) LRU() bool { return p == VolatileLRU || p == AllkeysLRU }

// ShutdownFlags are the options of a shutdown that a signal causes.
type ShutdownFlags int

// The values of shutdown-on-sigterm and shutdown-on-sigint. 0 is "default".
const (
	ShutdownSave ShutdownFlags = 1 << iota
	ShutdownNosave
	ShutdownNow
	ShutdownForce
)

// ClientClass indexes Config.OutputLimits.
type ClientClass int

// The classes of client-output-buffer-limit.
const (
	ClassNormal ClientClass = iota
	ClassReplica
	ClassPubsub
)

// OutputLimit bounds the replies that may wait for a client. The client is disconnected above Hard,
// or after SoftSeconds above Soft. 0 means no bound.
type OutputLimit struct{ Hard, Soft, SoftSeconds int64 }

// SavePoint asks for a snapshot after Changes writes within Seconds.
type SavePoint struct{ Seconds, Changes int64 }

// Rename is one rename-command line. An empty To removes the command.
type Rename struct {
	From, To string
	Source   string // file or "command line", for LineError
	Line     int
	Text     string
}

// UserLine is one user line: a name and its rules. This package does not interpret them.
type UserLine struct {
	Words  []string
	Source string // file or "command line", for LineError
	Line   int
	Text   string
}

// Default returns a Config with the defaults of the table. It panics if the table is wrong, which
// TestTable rules out.
func Default() *Config {
	c := &Config{held: make(map[string]any), given: make(map[string]bool)}
	for _, d := range table {
		if err := d.value.parse(c, d.defaultArgs(), false); err != nil {
			panic("config: default of " + d.Name + ": " + err.Error())
		}
	}
	if wd, err := os.Getwd(); err == nil {
		c.Dir = wd
	}
	return c
}

// ClientsLimit returns how many bytes all clients together may use, from maxmemory-clients. 0 means
// no limit. A percentage is taken of maxmemory, and means no limit without maxmemory. The limit is
// at least leastForClients: below that, nobody could connect to raise it again.
func (c *Config) ClientsLimit() int64 {
	limit := c.MaxmemoryClients
	if limit < 0 && c.Maxmemory > 0 {
		limit = c.Maxmemory/100*-limit + c.Maxmemory%100*-limit/100
	} else if limit <= 0 {
		return 0
	}
	return max(limit, leastForClients)
}

const leastForClients = 128 << 10

// Warnings returns the log lines about directives that were accepted without effect. It clears
// them, so that a caller can ask again after each Set.
func (c *Config) Warnings() []string {
	w := c.warnings
	c.warnings = nil
	return w
}
