package spec

var _ = family(GroupServer, replicationCommands)

// replicationCommands are the commands of replicas and of their master.
var replicationCommands = []*Command{
	{
		Name: "replicaof", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading,
		Since:   "5.0.0",
		Summary: "Makes the server a replica of another one, or with NO ONE a master.",
		Args: []Arg{
			OneOf("args",
				Block("host-port", Str("host"), Int("port")),
				Block("no-one", Tok("no"), Tok("one")),
			),
		},
	},
	{
		Name: "slaveof", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading, Since: "1.0.0",
		Summary:         "Makes the server a replica of another one, or with NO ONE a master.",
		DeprecatedSince: "5.0.0", ReplacedBy: "`REPLICAOF`",
		Args: []Arg{
			OneOf("args",
				Block("host-port", Str("host"), Int("port")),
				Block("no-one", Tok("no"), Tok("one")),
			),
		},
	},
	{
		Name: "failover", Arity: -1, Flags: Admin | NoScript | Stale, Since: "6.2.0",
		Summary: "Hands the role of the master over to a replica.",
		Args: []Arg{
			Block("target", Str("host"), Int("port"), Tok("force").Opt()).Tokened("TO").Opt(),
			Tok("abort").Opt(), Int("milliseconds").Tokened("TIMEOUT").Opt(),
		},
	},
	{
		Name: "psync", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Since:      "2.8.0",
		Summary:    "Requests a partial resynchronization. Used by replicas.",
		Complexity: noComplexity,
		Args:       []Arg{Str("replicationid"), Int("offset")},
	},
	{
		Name: "sync", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti, Since: "1.0.0",
		Summary:    "Requests a full synchronization. Used by old replicas.",
		Complexity: noComplexity,
	},
	{
		Name: "replconf", Arity: -1, Flags: Admin | NoScript | Loading | Stale | AllowBusy,
		Since:    "3.0.0",
		Summary:  "Exchanges replication settings. Used by replicas.",
		DocFlags: []string{"syscmd"},
	},
}
