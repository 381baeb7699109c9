package spec

var _ = family(GroupCluster, clusterCommands)

// topologyFlags are those of commands that change the topology.
const topologyFlags = Admin | Stale | NoAsyncLoading | AwaitsCluster

// clusterCommands are the commands of Redis Cluster. A server that is in no cluster has them too: a
// client learns just that, rather than that there is no such command.
var clusterCommands = []*Command{
	{
		Name: "cluster", Arity: -2, Since: "3.0.0",
		Summary:    "Inspects and manages a cluster.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "info", Arity: 2, Flags: Stale, Since: "3.0.0",
				Summary: "Returns the state of the cluster as this node sees it.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "nodes", Arity: 2, Flags: Stale, Since: "3.0.0",
				Summary: "Returns the nodes in the format of the node's configuration file.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "shards", Arity: 2, Flags: Loading | Stale, Since: "7.0.0",
				Summary: "Returns the slots and nodes of each shard.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "links", Arity: 2, Flags: Stale, Since: "7.0.0",
				Summary: "Returns the connections to other nodes.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "replicas", Arity: 3, Flags: Admin | Stale, Since: "5.0.0",
				Summary: "Returns the replicas of a node.",
				Tips:    []string{"nondeterministic_output"},
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "count-failure-reports", Arity: 3, Flags: Admin | Stale, Since: "3.0.0",
				Summary: "Returns the number of nodes that report a node as failing.",
				Tips:    []string{"nondeterministic_output"},
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "getkeysinslot", Arity: 4, Flags: Stale, Since: "3.0.0",
				Summary: "Returns keys of a slot.",
				Tips:    []string{"nondeterministic_output"},
				Args:    []Arg{Int("slot"), Int("count")},
			},
			{
				Name: "myshardid", Arity: 2, Flags: Stale, Since: "7.2.0",
				Summary: "Returns the ID of the node's shard.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "myid", Arity: 2, Flags: Stale, Since: "3.0.0",
				Summary: "Returns the ID of the node.",
			},
			{
				Name: "keyslot", Arity: 3, Flags: Stale, Since: "3.0.0",
				Summary: "Returns the slot of a key.",
				Args:    []Arg{Str("key")},
			},
			{
				Name: "countkeysinslot", Arity: 3, Flags: Stale, Since: "3.0.0",
				Summary: "Returns the number of keys in a slot.",
				Args:    []Arg{Int("slot")},
			},
			{
				Name: "flushslot", Arity: -3, Flags: Write | Admin | NoAsyncLoading,
				Since:      "9.0.0",
				Categories: []string{"keyspace"},
				Summary:    "Deletes all keys of a slot.",
				Complexity: "O(N) in the number of keys in the slot",
				Args: []Arg{Int("slot"),
					OneOf("flush-type", Tok("async"), Tok("sync")).Opt()},
			},
			{
				Name: "syncslots", Arity: -3, Flags: Admin | Stale | NoAsyncLoading,
				Since:   "9.0.0",
				Summary: "Sends the keys of slots to another node. Nodes use it.",
				Args:    []Arg{Str("message"), Str("arg").Many().Opt()},
			},
			{
				Name: "slot-stats", Arity: -4, Flags: Loading | Stale, Since: "8.2.0",
				Summary:    "Returns statistics of slots that the node's shard owns.",
				Complexity: "O(N) in the number of slots, O(N log N) with ORDERBY",
				Tips:       []string{"nondeterministic_output", "request_policy:all_shards"},
				Args: []Arg{OneOf("filter",
					Block("slotsrange", Int("start-slot"), Int("end-slot")).Tokened("SLOTSRANGE"),
					Block("orderby", Str("metric"), Int("limit").Tokened("LIMIT").Opt(),
						OneOf("order", Tok("asc"), Tok("desc")).Opt()).Tokened("ORDERBY"),
				)},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
			{
				Name: "slots", Arity: 2, Flags: Loading | Stale, Since: "3.0.0",
				Summary:         "Returns the slots and the nodes that serve them.",
				DeprecatedSince: "7.0.0", ReplacedBy: "`CLUSTER SHARDS`",
				History: []History{
					{"4.0.0", "Tells the nodes' ids."},
					{"7.0.0", "Tells more of the network."},
				},
				Tips: []string{"nondeterministic_output"},
			},
			{
				Name: "slaves", Arity: 3, Flags: Admin | Stale, Since: "3.0.0",
				Summary:         "Returns the replicas of a node.",
				DeprecatedSince: "5.0.0", ReplacedBy: "`CLUSTER REPLICAS`",
				Tips: []string{"nondeterministic_output"},
				Args: []Arg{Str("node-id")},
			},
			{
				Name: "addslots", Arity: -3, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Assigns slots to the node.",
				Args:    []Arg{Int("slot").Many()},
			},
			{
				Name: "addslotsrange", Arity: -4, Flags: topologyFlags, Since: "7.0.0",
				Summary: "Assigns ranges of slots to the node.",
				Args:    []Arg{Block("range", Int("start-slot"), Int("end-slot")).Many()},
			},
			{
				Name: "delslots", Arity: -3, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Removes slots from the node.",
				Args:    []Arg{Int("slot").Many()},
			},
			{
				Name: "delslotsrange", Arity: -4, Flags: topologyFlags, Since: "7.0.0",
				Summary: "Removes ranges of slots from the node.",
				Args:    []Arg{Block("range", Int("start-slot"), Int("end-slot")).Many()},
			},
			{
				Name: "flushslots", Arity: 2, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Removes all slots from the node.",
			},
			{
				Name: "setslot", Arity: -4, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Assigns a slot to a node, or marks it as migrating or importing.",
				Args: []Arg{
					Int("slot"),
					OneOf("subcommand",
						Str("importing").Tokened("IMPORTING").Shown("node-id"),
						Str("migrating").Tokened("MIGRATING").Shown("node-id"),
						Str("node").Tokened("NODE").Shown("node-id"), Tok("stable"),
					),
					Int("timeout").Tokened("TIMEOUT").Opt().From("8.0.0"),
				},
			},
			{
				Name: "migrateslots", Arity: -4, Flags: topologyFlags, Since: "9.0.0",
				Summary:    "Moves slots of this node to others, with their keys.",
				Complexity: "O(N) in the number of slots",
				Args: []Arg{Block("migration-group",
					Tok("slotsrange-token").Tokened("SLOTSRANGE"),
					Block("range", Int("start-slot"), Int("end-slot")).Many(),
					Tok("node-token").Tokened("NODE"), Str("node-id")).Many()},
			},
			{
				Name: "getslotmigrations", Arity: 2, Flags: Admin | Stale | NoAsyncLoading,
				Since:      "9.0.0",
				Summary:    "Returns the moves of slots from and to this node, the newest first.",
				Complexity: "O(N) in the number of moves",
			},
			{
				Name: "cancelslotmigrations", Arity: 2, Flags: topologyFlags, Since: "9.0.0",
				Summary:    "Ends all moves of slots from this node.",
				Complexity: "O(N) in the number of moves that are ended",
			},
			{
				Name: "migration", Arity: -4, Flags: topologyFlags, Since: "8.4.0",
				Summary:    "Moves slots to this node with their keys, and tells how far that is.",
				Complexity: "O(N) in the number of slots",
				Args: []Arg{OneOf("subcommand",
					Block("import", Int("start-slot"), Int("end-slot")).Tokened("IMPORT").Many(),
					OneOf("cancel", Str("task-id").Tokened("ID"), Tok("all")).Tokened("CANCEL"),
					OneOf("status", Str("task-id").Tokened("ID").Opt(), Tok("all").Opt()).
						Tokened("STATUS"),
				)},
			},
			{
				Name: "failover", Arity: -2, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Promotes a replica to the master of its shard.",
				Args:    []Arg{OneOf("options", Tok("force"), Tok("takeover")).Opt()},
			},
			{
				Name: "follow", Arity: -4, Flags: Admin | NoScript | Stale | NoAsyncLoading,
				Since: "8.8.0",
				Summary: "Copies a shard of another cluster from its master, or with NO ONE ends" +
					" that.",
				Args: []Arg{OneOf("args",
					Block("host-port", Str("host"), Int("port"),
						Block("slotsrange", Int("start-slot"), Int("end-slot")).Many().
							Tokened("SLOTSRANGE"),
						Tok("tls").Opt(),
						OneOf("authentication", Str("password").Tokened("AUTH"),
							Block("auth2", Str("username"), Str("password")).
								Tokened("AUTH2")).Opt()),
					Block("no-one", Tok("no"), Tok("one")),
				)},
			},
			{
				Name: "forget", Arity: 3, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Removes another node from the node's table.",
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "replicate", Arity: -3, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Makes the node a replica of another, or a master without slots.",
				History: []History{{"9.0.0", "Takes NO ONE, as Valkey does."}},
				Args: []Arg{OneOf("target", Str("node-id"),
					Block("no-one", Tok("no"), Tok("one")).From("9.0.0"))},
			},
			{
				Name: "reset", Arity: -2, Flags: Admin | NoScript | Stale | AwaitsCluster,
				Since:   "3.0.0",
				Summary: "Resets the node's cluster state.",
				Args:    []Arg{OneOf("reset-type", Tok("hard"), Tok("soft")).Opt()},
			},
			{
				Name: "saveconfig", Arity: 2, Flags: Admin | Stale | NoAsyncLoading, Since: "3.0.0",
				Summary: "Writes the node's configuration file.",
			},
			{
				Name: "set-config-epoch", Arity: 3, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Sets the configuration epoch of a new node.",
				Args:    []Arg{Int("config-epoch")},
			},
			{
				Name: "addvoter", Arity: 3, Flags: topologyFlags, Since: "8.8.0",
				Summary: "Makes a node a voter of the Raft group that decides the topology.",
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "delvoter", Arity: 3, Flags: topologyFlags, Since: "8.8.0",
				Summary: "Keeps a node from being a voter of the Raft group.",
				Args:    []Arg{Str("node-id")},
			},
			{
				Name: "meet", Arity: -4, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Adds another node to the cluster.",
				History: []History{{"4.0.0", "Takes the port of the bus."}},
				Args:    []Arg{Str("ip"), Int("port"), Int("cluster-bus-port").Opt().From("4.0.0")},
			},
			{
				Name: "bumpepoch", Arity: 2, Flags: topologyFlags, Since: "3.0.0",
				Summary: "Increments the configuration epoch.",
				Tips:    []string{"nondeterministic_output"},
			},
		},
	},
	{
		Name: "clusterscan", Arity: -2, Flags: ReadOnly, Since: "9.1.0",
		Categories: []string{"keyspace"},
		Summary:    "Walks the keys of all nodes.",
		Complexity: "O(N) in the number of keys that are returned",
		Tips: []string{
			"nondeterministic_output", "request_policy:special", "response_policy:special",
		},
		Keys: []KeySpec{keyAt(1, NotKey)},
		Args: []Arg{
			Str("cursor"), Pattern("match-pattern").Tokened("MATCH").Opt(),
			Int("count").Tokened("COUNT").Opt(), Str("type").Tokened("TYPE").Opt(),
			Int("slot").Tokened("SLOT").Opt(),
		},
	},
	{
		Name: "asking", Arity: 1, Flags: Fast, Since: "3.0.0", Categories: []string{"connection"},
		Summary: "Lets the next command pass after an ASK redirection.",
	},
	{
		Name: "readonly", Arity: 1, Flags: Loading | Stale | Fast, Since: "3.0.0",
		Categories: []string{"connection"},
		Summary:    "Allows the connection to read from a cluster replica.",
	},
	{
		Name: "readwrite", Arity: 1, Flags: Loading | Stale | Fast, Since: "3.0.0",
		Categories: []string{"connection"},
		Summary:    "Undoes READONLY for the connection.",
	},
}
