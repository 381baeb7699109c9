package spec

// memoryCommands report what takes memory.
var memoryCommands = []*Command{
	{
		Name: "memory", Arity: -2, Since: "4.0.0",
		Summary:    "What takes memory.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "usage", Arity: -3, Flags: ReadOnly, Since: "4.0.0",
				Summary:    "Tells how much memory a key and its value take.",
				Complexity: "O(N) in the number of samples",
				Keys:       []KeySpec{keyAt(2, RO)},
				Args:       []Arg{Key("key", 0), Int("count").Tokened("SAMPLES").Opt()},
			},
			{
				Name: "stats", Arity: 2, Since: "4.0.0",
				Summary:    "Shows where the memory is.",
				Complexity: "O(N) in the number of clients",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "doctor", Arity: 2, Since: "4.0.0",
				Summary:    "Says what looks wrong with the memory.",
				Complexity: "O(N) in the number of clients",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "malloc-stats", Arity: 2, Since: "4.0.0",
				Summary: "Shows the allocators' own figures.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "purge", Arity: 2, Since: "4.0.0",
				Summary:    "Gives free memory back to the system.",
				Complexity: "O(N) in the memory that is mapped",
				Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "4.0.0",
				Summary: "Lists the subcommands.",
			},
		},
	},
}
