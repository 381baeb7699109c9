package spec

var _ = family(GroupServer, hotkeysCommands)

// hotkeysCommands find the keys that cost the most. They are of Redis 8.6.
var hotkeysCommands = []*Command{
	{
		Name: "hotkeys", Arity: -2, Since: "8.6.0",
		Summary:    "Finds the keys that cost the most.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "start", Arity: -2, Flags: Admin | NoScript, Since: "8.6.0",
				Summary:    "Begins to look for keys that cost the most.",
				Complexity: "O(1)",
				Args: []Arg{
					Block("metrics", Int("count"), Tok("cpu").Opt(), Tok("net").Opt()).
						Tokened("METRICS"),
					Int("k").Tokened("COUNT").Opt(),
					Int("seconds").Tokened("DURATION").Opt(),
					Int("ratio").Tokened("SAMPLE").Opt(),
					Block("slots", Int("count"), Int("slot").Many()).Tokened("SLOTS").Opt(),
				},
			},
			{
				Name: "stop", Arity: 2, Flags: Admin | NoScript, Since: "8.6.0",
				Summary:    "Stops looking for keys that cost the most.",
				Complexity: "O(1)",
			},
			{
				Name: "get", Arity: 2, Flags: Admin | NoScript, Since: "8.6.0",
				Summary:    "Returns the keys that cost the most, and what was measured.",
				Complexity: "O(K) in the number of keys shown",
			},
			{
				Name: "reset", Arity: 2, Flags: Admin | NoScript, Since: "8.6.0",
				Summary:    "Forgets which keys cost the most.",
				Complexity: "O(1)",
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "8.6.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
