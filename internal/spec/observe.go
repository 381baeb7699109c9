package spec

var _ = family(GroupServer, observeCommands)

// observeCommands show what the server does and what is slow.
var observeCommands = []*Command{
	{
		Name: "slowlog", Arity: -2, Since: "2.2.12",
		Summary:    "Manages the log of slow commands.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "get", Arity: -2, Flags: Admin | Loading | Stale, Since: "2.2.12",
				Summary:    "Returns entries of the slow log, newest first.",
				Complexity: "O(N) in the number of entries shown",
				History:    []History{{"4.0.0", "Shows the client's address and name."}},
				Tips:       []string{"request_policy:all_nodes", "nondeterministic_output"},
				Args:       []Arg{Int("count").Opt()},
			},
			{
				Name: "len", Arity: 2, Flags: Admin | Loading | Stale, Since: "2.2.12",
				Summary: "Returns how many entries the slow log has.",
				Tips: []string{
					"request_policy:all_nodes", "response_policy:agg_sum",
					"nondeterministic_output",
				},
			},
			{
				Name: "reset", Arity: 2, Flags: Admin | Loading | Stale, Since: "2.2.12",
				Summary:    "Removes all entries from the slow log.",
				Complexity: "O(N) in the number of entries",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.2.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
	{
		Name: "latency", Arity: -2, Since: "2.8.13",
		Summary:    "Inspects latency events.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "latest", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
				Since:   "2.8.13",
				Summary: "Returns the latest sample of each event.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_nodes",
					"response_policy:special",
				},
			},
			{
				Name: "history", Arity: 3, Flags: Admin | NoScript | Loading | Stale,
				Since:   "2.8.13",
				Summary: "Returns the samples of an event.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_nodes",
					"response_policy:special",
				},
				Args: []Arg{Str("event")},
			},
			{
				Name: "graph", Arity: 3, Flags: Admin | NoScript | Loading | Stale, Since: "2.8.13",
				Summary: "Returns a graph of an event's samples.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_nodes",
					"response_policy:special",
				},
				Args: []Arg{Str("event")},
			},
			{
				Name: "doctor", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
				Since:   "2.8.13",
				Summary: "Returns a diagnosis of latency problems.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_nodes",
					"response_policy:special",
				},
			},
			{
				Name: "histogram", Arity: -2, Flags: Admin | NoScript | Loading | Stale,
				Since:      "7.0.0",
				Summary:    "Returns the distribution of the running times of commands.",
				Complexity: "O(N) in the number of commands shown",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_nodes",
					"response_policy:special",
				},
				Args: []Arg{Str("command").Many().Opt()},
			},
			{
				Name: "reset", Arity: -2, Flags: Admin | NoScript | Loading | Stale,
				Since:   "2.8.13",
				Summary: "Removes the samples of the given events, or of all.",
				Tips:    []string{"request_policy:all_nodes", "response_policy:agg_sum"},
				Args:    []Arg{Str("event").Many().Opt()},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "2.8.13",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
	{
		Name: "monitor", Arity: 1, Flags: Admin | NoScript | Loading | Stale, Since: "1.0.0",
		Summary:    "Streams every command that the server processes.",
		Complexity: noComplexity,
	},
}
