package spec

var _ = family(GroupServer, infoCommands)

// infoCommands report statistics.
var infoCommands = []*Command{
	{
		Name: "info", Arity: -1, Flags: Loading | Stale, Since: "1.0.0",
		Categories: []string{"dangerous"},
		Summary:    "Returns the server's state and statistics.",
		History:    []History{{"7.0.0", "Takes several sections."}},
		Tips: []string{
			"nondeterministic_output", "request_policy:all_shards", "response_policy:special",
		},
		Args: []Arg{Str("section").Many().Opt()},
	},
}
