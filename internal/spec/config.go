package spec

// configCommands read and change the configuration.
var configCommands = []*Command{
	{
		Name: "config", Arity: -2, Since: "2.0.0",
		Summary:    "Reads and changes the configuration.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "get", Arity: -3, Flags: Admin | NoScript | Loading | Stale, Since: "2.0.0",
				Summary:    "Shows directives and their values.",
				Complexity: "O(N) in the number of directives",
				History:    []History{{"7.0.0", "Takes several patterns."}},
				Args:       []Arg{Block("parameter", Str("parameter")).Many()},
			},
			{
				Name: "set", Arity: -4, Flags: Admin | NoScript | Loading | Stale, Since: "2.0.0",
				Summary:    "Changes directives, all of the given ones or none.",
				Complexity: "O(N) in the number of directives",
				History:    []History{{"7.0.0", "Takes several directives."}},
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:       []Arg{Block("parameter_value", Str("parameter"), Str("value")).Many()},
			},
			{
				Name: "rewrite", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
				Since:      "2.8.0",
				Summary:    "Brings the configuration file up to date.",
				Complexity: "O(N) in the size of the file",
			},
			{
				Name: "resetstat", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
				Since:   "2.0.0",
				Summary: "Sets the counters of INFO back to zero.",
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Lists the subcommands.",
			},
		},
	},
}
