package spec

var _ = family(GroupServer, commandlogCommands)

// commandlogCommands show the commands that were slow, or had large requests or replies. They are
// Valkey's.
var commandlogCommands = []*Command{
	{
		Name: "commandlog", Arity: -2, Since: "8.1.0",
		Summary:    "Manages the logs of slow and large commands.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "get", Arity: 4, Flags: Admin | Loading | Stale, Since: "8.1.0",
				Summary:    "Returns entries of a log, newest first.",
				Complexity: "O(N) in the number of entries shown",
				Tips:       []string{"request_policy:all_nodes", "nondeterministic_output"},
				Args:       []Arg{Int("count"), commandlogType},
			},
			{
				Name: "len", Arity: 3, Flags: Admin | Loading | Stale, Since: "8.1.0",
				Summary: "Returns how many entries a log has.",
				Tips: []string{
					"request_policy:all_nodes", "response_policy:agg_sum",
					"nondeterministic_output",
				},
				Args: []Arg{commandlogType},
			},
			{
				Name: "reset", Arity: 3, Flags: Admin | Loading | Stale, Since: "8.1.0",
				Summary:    "Removes all entries of a log.",
				Complexity: "O(N) in the number of entries",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:       []Arg{commandlogType},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "8.1.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}

var commandlogType = OneOf("type", Tok("slow"), Tok("large-request"), Tok("large-reply"))
