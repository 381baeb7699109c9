package spec

var _ = family(GroupScripting, scriptCommands)

// scriptCommands run and manage scripts.
var scriptCommands = []*Command{
	{
		Name: "eval", Arity: -3,
		Flags: NoScript | Stale | SkipMonitor | MayReplicate | NoMandatoryKeys, Since: "2.6.0",
		Summary:    "Runs a Lua script.",
		Complexity: "Depends on the script.",
		Keys: []KeySpec{
			countedKeys(2, RW|AccessFlag|Update).noted("what a script does with its keys cannot " +
				"be known: the worst is assumed"),
		},
		Args: []Arg{
			Str("script"), Int("numkeys"), Key("key", 0).Many().Opt(), Str("arg").Many().Opt(),
		},
	},
	{
		Name: "evalsha", Arity: -3,
		Flags: NoScript | Stale | SkipMonitor | MayReplicate | NoMandatoryKeys, Since: "2.6.0",
		Summary:    "Runs a cached Lua script by its SHA1 digest.",
		Complexity: "Depends on the script.",
		Keys:       []KeySpec{countedKeys(2, RW|AccessFlag|Update)},
		Args: []Arg{
			Str("sha1"), Int("numkeys"), Key("key", 0).Many().Opt(), Str("arg").Many().Opt(),
		},
	},
	{
		Name: "eval_ro", Arity: -3,
		Flags: ReadOnly | NoScript | Stale | SkipMonitor | NoMandatoryKeys, Since: "7.0.0",
		Summary:    "Runs a read-only Lua script.",
		Complexity: "Depends on the script.",
		Keys: []KeySpec{
			countedKeys(2, RO|AccessFlag).noted("what a script does with its keys cannot be " +
				"known, but that it writes none"),
		},
		Args: []Arg{
			Str("script"), Int("numkeys"), Key("key", 0).Many().Opt(), Str("arg").Many().Opt(),
		},
	},
	{
		Name: "evalsha_ro", Arity: -3,
		Flags: ReadOnly | NoScript | Stale | SkipMonitor | NoMandatoryKeys, Since: "7.0.0",
		Summary:    "Runs a cached read-only Lua script by its SHA1 digest.",
		Complexity: "Depends on the script.",
		Keys:       []KeySpec{countedKeys(2, RO|AccessFlag)},
		Args: []Arg{
			Str("sha1"), Int("numkeys"), Key("key", 0).Many().Opt(), Str("arg").Many().Opt(),
		},
	},
	{
		Name: "script", Arity: -2, Since: "2.6.0",
		Summary:    "Manages the script cache and the running script.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "load", Arity: 3, Flags: NoScript | Stale, Since: "2.6.0",
				Summary:    "Caches a script for EVALSHA and returns its SHA1 digest.",
				Complexity: "O(N) in the length of the script",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:       []Arg{Str("script")},
			},
			{
				Name: "exists", Arity: -3, Flags: NoScript, Since: "2.6.0",
				Summary:    "Returns for each SHA1 digest whether its script is cached.",
				Complexity: "O(N) in the number of scripts asked for",
				Tips: []string{
					"request_policy:all_shards", "response_policy:agg_logical_and",
				},
				Args: []Arg{Str("sha1").Many()},
			},
			{
				Name: "flush", Arity: -2, Flags: NoScript, Since: "2.6.0",
				Summary:    "Removes all scripts from the cache.",
				Complexity: "O(N) in the number of scripts",
				History:    []History{{"6.2.0", "Takes `ASYNC` and `SYNC`."}},
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args: []Arg{
					OneOf("flush-type", Tok("async"), Tok("sync")).Opt().From("6.2.0"),
				},
			},
			{
				Name: "kill", Arity: 2, Flags: NoScript | AllowBusy, Since: "2.6.0",
				Summary: "Kills the running script if it has not written yet.",
				Tips:    []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				Name: "debug", Arity: 3, Flags: NoScript, Since: "3.2.0",
				Summary: "Sets the debug mode of the scripts that follow.",
				Args:    []Arg{OneOf("mode", Tok("yes"), Tok("sync"), Tok("no"))},
			},
			{
				Name: "show", Arity: 3, Flags: NoScript | Stale, Since: "8.0.0",
				Summary: "Returns the source of a cached script.",
				Args:    []Arg{Str("sha1")},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
