package config

import "strings"

// Cluster is the part of a Config that says what a node of a cluster goes by.
type Cluster struct {
	Enabled     bool
	File        string
	NodeTimeout int64 // ms
	Port        int   // of the bus; 0: the port for clients + 10000
	TLS         bool
	Secret      string
	LinkLimit   int64 // bytes; 0: no limit

	// What the node tells of itself. Ports of 0 are those that are listened on.
	AnnounceIP       string
	AnnounceHostname string
	AnnouncePort     int
	AnnounceTLSPort  int
	AnnounceBusPort  int
	AnnounceName     string // for people
	Endpoint         Endpoint

	FullCoverage  bool
	ReadsWhenDown bool
	// ShardsWhenDown lets sharded channels be served while the cluster is down.
	ShardsWhenDown bool

	NoFailover       bool
	FailoverTimeout  int64 // ms, of CLUSTER FAILOVER
	HandOver         bool  // at a shutdown
	ValidityFactor   int   // in units of NodeTimeout; 0: any age
	MigrationBarrier int
	ReplicasMove     bool

	// MasterName names the only shard, and begins the names of several, for clients of Sentinel.
	MasterName string
	// SentinelClients has replicas treat clients as without a cluster.
	SentinelClients bool

	Databases       int
	SlotStats       SlotStats
	MigrationLogLen int64
	// HandoffLag is how many bytes of changes may be on their way when a migration closes its
	// slots. WritePause is for how many ms clients of the slots wait then.
	HandoffLag, WritePause int64
}

// Endpoint says what a node of a cluster gives clients to connect to.
type Endpoint int

// The values of cluster-preferred-endpoint-type.
const (
	EndpointIP Endpoint = iota
	EndpointHostname
	EndpointUnknown // clients keep the address that they know
)

// ClusterBusOffset is the distance of the bus's port from that for clients, where cluster-port does
// not say otherwise.
const ClusterBusOffset = 10000

// leastNodeTimeout is the lowest cluster-node-timeout, in ms: the leases of masters, half as long,
// must outlast a few turns of the loops.
const leastNodeTimeout = 500

// longestNodeTimeout is the highest one: a day. Longer ones are refused by the log.
const longestNodeTimeout = 24 * 60 * 60 * 1000

// clusterTable lists what a node of a cluster goes by.
func clusterTable() []Directive {
	rows := []Directive{
		{Name: "cluster-enabled", Default: "no", Flags: Immutable, Doc: "Be a node of a cluster.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.Enabled })},
		{Name: "cluster-config-file", Default: "nodes.conf", Flags: Immutable,
			Doc:   "File in which a node keeps the cluster's state.",
			value: str(func(c *Config) *string { return &c.Cluster.File })},
		{Name: "cluster-node-timeout", Default: "5000",
			Doc: "Milliseconds after which a silent node counts as failed.",
			value: integer(leastNodeTimeout, longestNodeTimeout,
				func(c *Config) *int64 { return &c.Cluster.NodeTimeout })},
		{Name: "cluster-port", Default: "0", Flags: Immutable, Doc: "Port of the cluster bus.",
			value: integer(0, 65535, func(c *Config) *int { return &c.Cluster.Port })},
	}
	return append(append(rows, clusterAnnounceTable()...), clusterServeTable()...)
}

// clusterAnnounceTable lists what a node tells of itself.
func clusterAnnounceTable() []Directive {
	return []Directive{
		{Name: "cluster-announce-ip", Doc: "Address that a node gives of itself.",
			value: str(func(c *Config) *string { return &c.Cluster.AnnounceIP }, announcedIP)},
		{Name: "cluster-announce-hostname", Doc: "Host name that a node gives of itself.",
			value: str(func(c *Config) *string { return &c.Cluster.AnnounceHostname }, hostName)},
		{Name: "cluster-announce-port", Default: "0", Doc: "Port that a node gives of itself.",
			value: integer(0, 65535, func(c *Config) *int { return &c.Cluster.AnnouncePort })},
		{Name: "cluster-announce-tls-port", Default: "0",
			Doc:   "TLS port that a node gives of itself.",
			value: integer(0, 65535, func(c *Config) *int { return &c.Cluster.AnnounceTLSPort })},
		{Name: "cluster-announce-bus-port", Default: "0",
			Doc:   "Bus port that a node gives of itself.",
			value: integer(0, 65535, func(c *Config) *int { return &c.Cluster.AnnounceBusPort })},
		{Name: "cluster-announce-human-nodename",
			Doc:   "Name that a node gives of itself to people.",
			value: nodeName(func(c *Config) *string { return &c.Cluster.AnnounceName })},
		{Name: "cluster-preferred-endpoint-type", Default: "ip",
			Doc: "How redirections name a node.",
			value: enum([]string{"ip", "hostname", "unknown-endpoint"},
				func(c *Config) *Endpoint { return &c.Cluster.Endpoint })},
	}
}

// clusterServeTable lists what a node serves when, and how shards keep replicas.
func clusterServeTable() []Directive {
	return []Directive{
		Directive{Name: "cluster-replica-validity-factor", Default: "10",
			Doc: "Age of a replica's data up to which it may take over.",
			value: integer(0, maxInt,
				func(c *Config) *int { return &c.Cluster.ValidityFactor })}.
			alias("cluster-slave-validity-factor"),
		Directive{Name: "cluster-replica-no-failover", Default: "no",
			Doc:   "Never take over by itself.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.NoFailover })}.
			alias("cluster-slave-no-failover"),
		{Name: "cluster-failover-on-shutdown", Default: "yes",
			Doc:   "Hand slots over to a replica before a shutdown.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.HandOver })},
		{Name: "cluster-migration-barrier", Default: "1",
			Doc: "Replicas that a primary keeps when one moves away.",
			value: integer(0, maxInt,
				func(c *Config) *int { return &c.Cluster.MigrationBarrier })},
		{Name: "cluster-allow-replica-migration", Default: "yes",
			Doc:   "Let replicas move to primaries without one.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.ReplicasMove })},
		{Name: "cluster-require-full-coverage", Default: "yes",
			Doc:   "Serve nothing while a slot has no node.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.FullCoverage })},
		{Name: "cluster-allow-reads-when-down", Default: "no",
			Doc:   "Serve reads while the cluster is down.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.ReadsWhenDown })},
		{Name: "cluster-allow-pubsubshard-when-down", Default: "yes",
			Doc:   "Serve sharded channels while the cluster is down.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.ShardsWhenDown })},
		{Name: "cluster-link-sendbuf-limit", Default: "0",
			Doc: "Bytes that may wait for another node.",
			value: memory(0, maxLong,
				func(c *Config) *int64 { return &c.Cluster.LinkLimit })},
		{Name: "cluster-sentinel-master-name", Default: "mymaster",
			Doc:   "Name of the master for clients of Sentinel.",
			value: str(func(c *Config) *string { return &c.Cluster.MasterName }, masterName)},
		{Name: "cluster-sentinel-clients", Default: "no",
			Doc:   "Let replicas treat clients as without a cluster.",
			value: yesNo(func(c *Config) *bool { return &c.Cluster.SentinelClients })},
		{Name: "cluster-secret", Flags: Sensitive,
			Doc:   "Secret that the nodes of a cluster share.",
			value: secret(func(c *Config) *string { return &c.Cluster.Secret })},
	}
}

// masterName accepts a name that Sentinel takes for a master.
func masterName(s string) error {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') &&
			!strings.Contains("-_.", s[i:i+1]) {
			return reason("Master names may only contain alphanumeric characters, hyphens, " +
				"underscores or dots")
		}
	}
	if s == "" {
		return reason("Master names may not be empty")
	}
	return nil
}
