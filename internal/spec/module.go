package spec

var _ = family(GroupServer, moduleCommands)

// moduleCommands list modules. None can be loaded.
var moduleCommands = []*Command{
	{
		Name: "module", Arity: -2, Since: "4.0.0",
		Summary:    "Lists modules. None can be loaded.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "list", Arity: 2, Flags: Admin | NoScript, Since: "4.0.0",
				Summary: "Returns the built-in modules.",
				Tips:    []string{"nondeterministic_output_order"},
			},
			{
				Name: "load", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading, Since: "4.0.0",
				Protected: ByModuleCommand,
				Summary:   "Refuses to load a module.",
				Args:      []Arg{Str("path"), Str("arg").Many().Opt()},
			},
			{
				Name: "loadex", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading, Since: "7.0.0",
				Protected: ByModuleCommand,
				Summary:   "Refuses to load a module with directives.",
				Args: []Arg{
					Str("path"),
					Block("configs",
						Str("name"), Str("value"),
					).Tokened("CONFIG").ManyTokens().Opt(),
					Str("args").Tokened("ARGS").Many().Opt(),
				},
			},
			{
				Name: "unload", Arity: 3, Flags: Admin | NoScript | NoAsyncLoading, Since: "4.0.0",
				Protected: ByModuleCommand,
				Summary:   "Refuses to unload a module.",
				Args:      []Arg{Str("name")},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
