package spec

var _ = family(GroupSentinel, sentinelCommands)

// sentinelFlags are those of commands that ask a node what a Sentinel would be asked. It answers
// whatever the state of its data set.
const sentinelFlags = Admin | Loading | Stale

// sentinelCommands are what clients ask Sentinels. Only nodes of a cluster have them: see
// Table.LeaveOut.
var sentinelCommands = []*Command{
	{
		Name: "sentinel", Arity: -2, Flags: Admin, Since: "2.8.4",
		Summary:    "Tells clients of Sentinel where masters and replicas are.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "ckquorum", Arity: 3, Flags: sentinelFlags, Since: "2.8.4",
				Summary:    "Returns whether there are enough voters to replace a master.",
				Complexity: noComplexity,
				Args:       []Arg{Str("master-name")},
			},
			{
				Name: "get-master-addr-by-name", Arity: 3, Flags: sentinelFlags, Since: "2.8.4",
				Summary: "Returns the address and port of a master.",
				Args:    []Arg{Str("master-name")},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.2.0",
				Summary: "Returns help about the subcommands.",
			},
			{
				Name: "master", Arity: 3, Flags: sentinelFlags, Since: "2.8.4",
				Summary: "Returns the state of a master.",
				Args:    []Arg{Str("master-name")},
			},
			{
				Name: "masters", Arity: 2, Flags: sentinelFlags, Since: "2.8.4",
				Summary:    "Returns the state of all masters.",
				Complexity: "O(N) in the number of masters",
			},
			{
				Name: "myid", Arity: 2, Flags: sentinelFlags, Since: "6.2.0",
				Summary: "Returns the ID of the node.",
			},
			{
				Name: "replicas", Arity: 3, Flags: sentinelFlags, Since: "5.0.0",
				Summary:    "Returns the state of a master's replicas.",
				Complexity: "O(N) in the number of replicas",
				Args:       []Arg{Str("master-name")},
			},
			{
				Name: "sentinels", Arity: 3, Flags: sentinelFlags, Since: "2.8.4",
				Summary:    "Returns the other nodes, which can be asked the same.",
				Complexity: "O(N) in the number of nodes",
				Args:       []Arg{Str("master-name")},
			},
			{
				Name: "slaves", Arity: 3, Flags: sentinelFlags, Since: "2.8.0",
				Summary:         "Returns the state of a master's replicas.",
				Complexity:      "O(N) in the number of replicas",
				DeprecatedSince: "5.0.0", ReplacedBy: "`SENTINEL REPLICAS`",
				Args: []Arg{Str("master-name")},
			},
		},
	},
}

// ClusterOnly are the commands that only a node of a cluster has.
var ClusterOnly = []string{"sentinel"}
