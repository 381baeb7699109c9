package spec

var _ = family(GroupGeneric, scanCommands)

// scanCommands list keys.
var scanCommands = []*Command{
	{
		Name: "scan", Arity: -2, Flags: ReadOnly, Since: "2.8.0",
		Summary:    "Iterates over the keys of the selected database with a cursor.",
		Complexity: "O(1) a call, O(N) for a full walk",
		History:    []History{{"6.0.0", "Takes `TYPE`."}},
		Tips: []string{
			"nondeterministic_output", "request_policy:special", "response_policy:special",
		},
		Args: []Arg{
			Int("cursor"), Pattern("pattern").Tokened("MATCH").Opt(),
			Int("count").Tokened("COUNT").Opt(), Str("type").Tokened("TYPE").Opt().From("6.0.0"),
		},
	},
	{
		Name: "keys", Arity: 2, Flags: ReadOnly, Since: "1.0.0", Categories: []string{"dangerous"},
		Summary:    "Returns all keys that match a glob pattern.",
		Complexity: "O(N) in the number of keys of the database",
		Tips:       []string{"request_policy:all_shards", "nondeterministic_output_order"},
		Args:       []Arg{Pattern("pattern")},
	},
}
