package spec

var _ = family(GroupServer, memoryCommands)

// memoryCommands report the use of memory.
var memoryCommands = []*Command{
	{
		Name: "memory", Arity: -2, Since: "4.0.0",
		Summary:    "Inspects memory usage.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "usage", Arity: -3, Flags: ReadOnly, Since: "4.0.0",
				Summary:    "Returns the bytes that a key and its value take.",
				Complexity: "O(N) in the number of samples",
				Keys:       []KeySpec{keyAt(2, RO)},
				Args:       []Arg{Key("key", 0), Int("count").Tokened("SAMPLES").Opt()},
			},
			{
				Name: "stats", Arity: 2, Since: "4.0.0",
				Summary:    "Returns memory usage by purpose.",
				Complexity: "O(N) in the number of clients",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "doctor", Arity: 2, Since: "4.0.0",
				Summary:    "Returns a diagnosis of memory problems.",
				Complexity: "O(N) in the number of clients",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "malloc-stats", Arity: 2, Since: "4.0.0",
				Summary: "Returns the statistics of the allocators.",
				Tips: []string{
					"nondeterministic_output", "request_policy:all_shards",
					"response_policy:special",
				},
			},
			{
				Name: "purge", Arity: 2, Since: "4.0.0",
				Summary:    "Returns free memory to the system.",
				Complexity: "O(N) in the memory that is mapped",
				Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "4.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
