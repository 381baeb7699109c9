package spec

var _ = family(GroupServer, configCommands)

// configCommands read and change the configuration.
var configCommands = []*Command{
	{
		Name: "config", Arity: -2, Since: "2.0.0",
		Summary:    "Inspects and changes the configuration.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "get", Arity: -3, Flags: Admin | NoScript | Loading | Stale, Since: "2.0.0",
				Summary:    "Returns directives and their values by glob patterns.",
				Complexity: "O(N) in the number of directives",
				History:    []History{{"7.0.0", "Takes several patterns."}},
				Args:       []Arg{Str("parameter").Many()},
			},
			{
				Name: "set", Arity: -4, Flags: Admin | NoScript | Loading | Stale, Since: "2.0.0",
				Summary:    "Sets directives: all of the given ones, or none.",
				Complexity: "O(N) in the number of directives",
				History:    []History{{"7.0.0", "Takes several directives."}},
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:       []Arg{Block("data", Str("parameter"), Str("value")).Many()},
			},
			{
				Name: "rewrite", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
				Since:      "2.8.0",
				Summary:    "Rewrites the configuration file with the current settings.",
				Complexity: "O(N) in the size of the file",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "resetstat", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
				Since:   "2.0.0",
				Summary: "Resets the statistics that INFO reports.",
				Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
