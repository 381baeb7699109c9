package spec

// replicationCommands are those of replicas and of their master.
var replicationCommands = []*Command{
	{
		Name: "replicaof", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading,
		Since:   "5.0.0",
		Summary: "Ends being a replica, which the server never is.",
		Args: []Arg{
			OneOf("args",
				Block("host-port", Str("host"), Int("port")),
				Block("no-one", Tok("no"), Tok("one")),
			),
		},
	},
	{
		Name: "slaveof", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading, Since: "1.0.0",
		Summary:         "An older name of REPLICAOF.",
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
		Summary: "Would hand over to a replica.",
		Args: []Arg{
			Block("target", Str("host"), Int("port"), Tok("force").Opt()).Tokened("TO").Opt(),
			Tok("abort").Opt(), Int("milliseconds").Tokened("TIMEOUT").Opt(),
		},
	},
	{
		Name: "psync", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Since:      "2.8.0",
		Summary:    "What a replica asks for the changes with.",
		Complexity: noComplexity,
		Args:       []Arg{Str("replicationid"), Int("offset")},
	},
	{
		Name: "sync", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti, Since: "1.0.0",
		Summary:    "What an old replica asks for the data set with.",
		Complexity: noComplexity,
	},
	{
		Name: "replconf", Arity: -1, Flags: Admin | NoScript | Loading | Stale | AllowBusy,
		Since:    "3.0.0",
		Summary:  "What a replica tells of itself with.",
		DocFlags: []string{"syscmd"},
	},
}
