package spec

var _ = family(GroupScripting, functionCommands)

// functionCommands run functions and manage their libraries.
var functionCommands = []*Command{
	{
		Name: "fcall", Arity: -3,
		Flags: NoScript | Stale | SkipMonitor | MayReplicate | NoMandatoryKeys, Since: "7.0.0",
		Summary:    "Calls a function.",
		Complexity: "Depends on the function.",
		Keys: []KeySpec{
			countedKeys(2, RW|AccessFlag|Update).noted("what a function does with its keys " +
				"cannot be known: the worst is assumed"),
		},
		Args: []Arg{
			Str("function"), Int("numkeys"), Key("key", 0).Many().Opt(), Str("arg").Many().Opt(),
		},
	},
	{
		Name: "fcall_ro", Arity: -3,
		Flags: ReadOnly | NoScript | Stale | SkipMonitor | NoMandatoryKeys, Since: "7.0.0",
		Summary:    "Calls a read-only function.",
		Complexity: "Depends on the function.",
		Keys: []KeySpec{
			countedKeys(2, RO|AccessFlag).noted("what a function does with its keys cannot be " +
				"known, but that it writes none"),
		},
		Args: []Arg{
			Str("function"), Int("numkeys"), Key("key", 0).Many().Opt(), Str("arg").Many().Opt(),
		},
	},
	{
		Name: "function", Arity: -2, Since: "7.0.0",
		Summary:    "Manages libraries of functions.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "load", Arity: -3, Flags: Write | DenyOOM | NoScript, Since: "7.0.0",
				Summary:    "Loads a library of functions.",
				Complexity: "O(1), and what the library's code does when it is loaded",
				Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				Args:       []Arg{Tok("replace").Opt(), Str("function-code")},
			},
			{
				Name: "delete", Arity: 3, Flags: Write | NoScript, Since: "7.0.0",
				Summary: "Deletes a library with its functions.",
				Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				Args:    []Arg{Str("library-name")},
			},
			{
				Name: "flush", Arity: -2, Flags: Write | NoScript, Since: "7.0.0",
				Summary:    "Deletes all libraries.",
				Complexity: "O(N) in the number of functions",
				Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				Args:       []Arg{OneOf("flush-type", Tok("async"), Tok("sync")).Opt()},
			},
			{
				Name: "list", Arity: -2, Flags: NoScript, Since: "7.0.0",
				Summary:    "Returns the libraries and their functions.",
				Complexity: "O(N) in the number of functions",
				Tips:       []string{"nondeterministic_output_order"},
				Args: []Arg{
					Str("library-name-pattern").Tokened("LIBRARYNAME").Opt(), Tok("withcode").Opt(),
				},
			},
			{
				Name: "stats", Arity: 2, Flags: NoScript | AllowBusy, Since: "7.0.0",
				Summary: "Returns the running function and the number of libraries and " +
					"functions.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "kill", Arity: 2, Flags: NoScript | AllowBusy, Since: "7.0.0",
				Summary: "Kills the running function if it has not written yet.",
				Tips:    []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				Name: "dump", Arity: 2, Flags: NoScript, Since: "7.0.0",
				Summary:    "Returns all libraries in serialized form for FUNCTION RESTORE.",
				Complexity: "O(N) in the number of functions",
			},
			{
				Name: "restore", Arity: -3, Flags: Write | DenyOOM | NoScript, Since: "7.0.0",
				Summary:    "Loads the libraries that FUNCTION DUMP returned.",
				Complexity: "O(N) in the number of functions",
				Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				Args: []Arg{
					Str("serialized-value"),
					OneOf("policy", Tok("flush"), Tok("append"), Tok("replace")).Opt(),
				},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "7.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
