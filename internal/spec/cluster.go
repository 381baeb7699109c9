package spec

// clusterCommands are those of Redis Cluster. They have their arity, flags and documentation, so
// that clients learn that there is no cluster, rather than no such command.
var clusterCommands = []*Command{
	{
		Name: "cluster", Arity: -2, Since: "3.0.0",
		Summary:    "Asks about a cluster and manages it.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "info", Arity: 2, Flags: Stale, Since: "3.0.0",
				Summary: "Reports on the cluster as a node sees it.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "nodes", Arity: 2, Flags: Stale, Since: "3.0.0",
				Summary: "Lists the nodes as a node's file has them.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "shards", Arity: 2, Flags: Loading | Stale, Since: "7.0.0",
				Summary: "Lists which nodes have which slots, by shard.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "links", Arity: 2, Flags: Stale, Since: "7.0.0",
				Summary: "Lists the connections to other nodes.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "replicas", Arity: 3, Flags: Admin | Stale, Since: "5.0.0",
				Summary: "Lists the replicas of a node.",
				Tips:    []string{"nondeterministic_output"},
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "count-failure-reports", Arity: 3, Flags: Admin | Stale, Since: "3.0.0",
				Summary: "Counts the nodes that think a node fails.",
				Tips:    []string{"nondeterministic_output"},
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "getkeysinslot", Arity: 4, Flags: Stale, Since: "3.0.0",
				Summary: "Lists keys of a slot.",
				Tips:    []string{"nondeterministic_output"},
				Args:    []Arg{Int("slot"), Int("count")},
			},
			{
				Name: "myshardid", Arity: 2, Flags: Stale, Since: "7.2.0",
				Summary: "Tells the id of the node's shard.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "myid", Arity: 2, Flags: Stale, Since: "3.0.0",
				Summary: "Tells the node's id.",
			},
			{
				Name: "keyslot", Arity: 3, Flags: Stale, Since: "3.0.0",
				Summary: "Tells the slot of a key.",
				Args:    []Arg{Str("key")},
			},
			{
				Name: "countkeysinslot", Arity: 3, Flags: Stale, Since: "3.0.0",
				Summary: "Counts the keys of a slot.",
				Args:    []Arg{Int("slot")},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Lists the subcommands.",
			},
			{
				Name: "slots", Arity: 2, Flags: Loading | Stale, Since: "3.0.0",
				Summary:         "Lists which nodes have which slots.",
				DeprecatedSince: "7.0.0", ReplacedBy: "`CLUSTER SHARDS`",
				History: []History{
					{"4.0.0", "Tells the nodes' ids."},
					{"7.0.0", "Tells more of the network."},
				},
				Tips: []string{"nondeterministic_output"},
			},
			{
				Name: "slaves", Arity: 3, Flags: Admin | Stale, Since: "3.0.0",
				Summary:         "Lists the replicas of a node.",
				DeprecatedSince: "5.0.0", ReplacedBy: "`CLUSTER REPLICAS`",
				Tips: []string{"nondeterministic_output"},
				Args: []Arg{Str("node-id")},
			},
			{
				Name: "addslots", Arity: -3, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Gives slots to the node.",
				Args:    []Arg{Int("slot").Many()},
			},
			{
				Name: "addslotsrange", Arity: -4, Flags: Admin | Stale | NoAsyncLoading,
				Since:   "7.0.0",
				Summary: "Gives ranges of slots to the node.",
				Args:    []Arg{Block("range", Int("start-slot"), Int("end-slot")).Many()},
			},
			{
				Name: "delslots", Arity: -3, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Takes slots from the node.",
				Args:    []Arg{Int("slot").Many()},
			},
			{
				Name: "delslotsrange", Arity: -4, Flags: Admin | Stale | NoAsyncLoading,
				Since:   "7.0.0",
				Summary: "Takes ranges of slots from the node.",
				Args:    []Arg{Block("range", Int("start-slot"), Int("end-slot")).Many()},
			},
			{
				Name: "flushslots", Arity: 2, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Takes all slots from the node.",
			},
			{
				Name: "setslot", Arity: -4, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Gives a slot to a node, or moves it.",
				Args: []Arg{
					Int("slot"),
					OneOf("subcommand",
						Str("importing").Tokened("IMPORTING").Shown("node-id"),
						Str("migrating").Tokened("MIGRATING").Shown("node-id"),
						Str("node").Tokened("NODE").Shown("node-id"), Tok("stable"),
					),
				},
			},
			{
				Name: "failover", Arity: -2, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Makes a replica take its primary's place.",
				Args:    []Arg{OneOf("options", Tok("force"), Tok("takeover")).Opt()},
			},
			{
				Name: "forget", Arity: 3, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Removes a node.",
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "replicate", Arity: 3, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Makes the node a replica.",
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "reset", Arity: -2, Flags: Admin | NoScript | Stale, Since: "3.0.0",
				Summary: "Makes the node as new.",
				Args:    []Arg{OneOf("reset-type", Tok("hard"), Tok("soft")).Opt()},
			},
			{
				Name: "saveconfig", Arity: 2, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Writes the node's file.",
			},
			{
				Name: "set-config-epoch", Arity: 3, Flags: Admin | Stale | NoAsyncLoading,
				Since:   "3.0.0",
				Summary: "Sets the epoch of a new node.",
				Args:    []Arg{Int("config-epoch")},
			},
			{
				Name: "meet", Arity: -4, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Makes another node known.",
				History: []History{{"4.0.0", "Takes the port of the bus."}},
				Args:    []Arg{Str("ip"), Int("port"), Int("cluster-bus-port").Opt().From("4.0.0")},
			},
			{
				Name: "bumpepoch", Arity: 2, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Moves the configuration epoch on.",
				Tips:    []string{"nondeterministic_output"},
			},
		},
	},
	{
		Name: "asking", Arity: 1, Flags: Fast, Since: "3.0.0", Categories: []string{"connection"},
		Summary: "Says that a client follows a redirection of ASK.",
	},
	{
		Name: "readonly", Arity: 1, Flags: Loading | Stale | Fast, Since: "3.0.0",
		Categories: []string{"connection"},
		Summary:    "Lets a connection read from a replica in a cluster.",
	},
	{
		Name: "readwrite", Arity: 1, Flags: Loading | Stale | Fast, Since: "3.0.0",
		Categories: []string{"connection"},
		Summary:    "Ends what READONLY began.",
	},
}
