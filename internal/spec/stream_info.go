package spec

var _ = family(GroupStream, streamInfoCommands)

// streamInfoCommands look into streams.
var streamInfoCommands = []*Command{
	{
		Name: "xinfo", Arity: -2, Since: "5.0.0",
		Summary:    "Inspects streams.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "stream", Arity: -3, Flags: ReadOnly, Since: "5.0.0",
				Summary: "Returns what there is to say of a stream.",
				History: []History{
					{"6.0.0", "Takes `FULL`."},
					{
						"7.0.0", "Shows `max-deleted-entry-id`, `entries-added`, " +
							"`recorded-first-entry-id`, `entries-read` and `lag`.",
					},
					{"7.2.0", "Shows `active-time`, and `seen-time` has another meaning."},
					{"8.6.0", "Shows the settings and counts of idempotent IDs."},
					{"8.8.0", "Shows `nacked-count`."},
				},
				Keys: []KeySpec{keyAt(2, RO|AccessFlag)},
				Args: []Arg{
					Key("key", 0),
					Block("full-block", Tok("full"), Int("count").Tokened("COUNT").Opt()).Opt(),
				},
			},
			{
				Name: "groups", Arity: 3, Flags: ReadOnly, Since: "5.0.0",
				Summary: "Returns the consumer groups of a stream.",
				History: []History{{"7.0.0", "Shows `entries-read` and `lag`."}},
				Keys:    []KeySpec{keyAt(2, RO|AccessFlag)},
				Args:    []Arg{Key("key", 0)},
			},
			{
				Name: "consumers", Arity: 4, Flags: ReadOnly, Since: "5.0.0",
				Summary: "Returns the consumers of a consumer group.",
				Tips:    []string{"nondeterministic_output"},
				History: []History{{"7.2.0", "Shows `inactive`, and `idle` has another meaning."}},
				Keys:    []KeySpec{keyAt(2, RO|AccessFlag)},
				Args:    []Arg{Key("key", 0), Str("group")},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
