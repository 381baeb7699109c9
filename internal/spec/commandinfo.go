package spec

var _ = family(GroupServer, commandInfoCommands)

// commandInfoCommands describe the commands themselves.
var commandInfoCommands = []*Command{
	{
		Name: "command", Arity: -1, Flags: Loading | Stale, Since: "2.8.13",
		Categories: []string{"connection"},
		Summary:    "Returns the arity, flags, keys and categories of all commands.",
		Complexity: "O(N) in the number of commands",
		Tips:       []string{"nondeterministic_output_order"},
		Sub: []*Command{
			{
				Name: "count", Arity: 2, Flags: Loading | Stale, Since: "2.8.13",
				Categories: []string{"connection"},
				Summary:    "Returns the number of commands.",
			},
			{
				Name: "docs", Arity: -2, Flags: Loading | Stale, Since: "7.0.0",
				Categories: []string{"connection"},
				Summary:    "Returns the documentation of the given commands, or of all.",
				Complexity: "O(N) in the number of commands",
				Tips:       []string{"nondeterministic_output_order"},
				Args:       []Arg{Str("command-name").Many().Opt()},
			},
			{
				Name: "info", Arity: -2, Flags: Loading | Stale, Since: "2.8.13",
				Categories: []string{"connection"},
				Summary:    "Returns detailed information about the given commands, or about all.",
				Complexity: "O(N) in the number of commands",
				History:    []History{{"7.0.0", "Without a name, describes every command."}},
				Tips:       []string{"nondeterministic_output_order"},
				Args:       []Arg{Str("command-name").Many().Opt()},
			},
			{
				Name: "list", Arity: -2, Flags: Loading | Stale, Since: "7.0.0",
				Categories: []string{"connection"},
				Summary:    "Returns the names of commands, optionally filtered.",
				Complexity: "O(N) in the number of commands",
				Tips:       []string{"nondeterministic_output_order"},
				Args: []Arg{
					OneOf("filterby",
						Str("module-name").Tokened("MODULE"), Str("category").Tokened("ACLCAT"),
						Pattern("pattern").Tokened("PATTERN"),
					).Tokened("FILTERBY").Opt(),
				},
			},
			{
				Name: "getkeys", Arity: -3, Flags: Loading | Stale, Since: "2.8.13",
				Categories: []string{"connection"},
				Summary:    "Returns the keys in a full command.",
				Complexity: "O(N) in the number of arguments",
				Args:       []Arg{Str("command"), Str("arg").Many().Opt()},
			},
			{
				Name: "getkeysandflags", Arity: -3, Flags: Loading | Stale, Since: "7.0.0",
				Categories: []string{"connection"},
				Summary:    "Returns the keys in a full command with their access flags.",
				Complexity: "O(N) in the number of arguments",
				Args:       []Arg{Str("command"), Str("arg").Many().Opt()},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Categories: []string{"connection"},
				Summary:    "Returns help about the subcommands.",
			},
		},
	},
}
