package spec

var _ = family(GroupConnection, clientCommands)

// clientCommands are the subcommands of CLIENT. As in Redis, all but SETINFO keep the effect of
// CLIENT CACHING for the next command.
var clientCommands = []*Command{
	{
		Name: "client", Arity: -2, Since: "2.4.0",
		Summary:    "Inspects and controls client connections.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "id", Arity: 2, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "5.0.0",
				Summary: "Returns the ID of the connection.",
			},
			{
				Name: "info", Arity: 2, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "6.2.0",
				Summary: "Returns the connection's line of CLIENT LIST.",
				Tips:    []string{"nondeterministic_output"},
			},
			{
				Name: "setname", Arity: 3, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "2.6.9",
				Summary: "Sets the name of the connection.",
				Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:    []Arg{Str("connection-name")},
			},
			{
				Name: "getname", Arity: 2, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "2.6.9",
				Summary: "Returns the connection's name.",
			},
			{
				Name: "setinfo", Arity: 4, Flags: NoScript | Loading | Stale, Since: "7.2.0",
				Summary: "Sets the name or version of the connection's client library.",
				Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args: []Arg{
					OneOf("attr",
						Str("libname").Tokened("LIB-NAME"), Str("libver").Tokened("LIB-VER"),
					),
				},
			},
			{
				Name: "reply", Arity: 3, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "3.2.0",
				Summary: "Enables or disables the replies to the connection.",
				Args:    []Arg{OneOf("action", Tok("on"), Tok("off"), Tok("skip"))},
			},
			{
				Name: "no-evict", Arity: 3,
				Flags: Admin | NoScript | Loading | Stale | KeepsCaching, Since: "7.0.0",
				Summary: "Exempts the connection from eviction by maxmemory-clients.",
				Args:    []Arg{OneOf("enabled", Tok("on"), Tok("off"))},
			},
			{
				Name: "no-touch", Arity: 3, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since: "7.2.0",
				Summary: "Makes the connection's commands leave the access times of keys " +
					"unchanged.",
				Args: []Arg{OneOf("enabled", Tok("on"), Tok("off"))},
			},
			{
				Name: "getredir", Arity: 2, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since: "6.0.0",
				Summary: "Returns the ID of the client that receives the connection's " +
					"invalidation messages.",
			},
			{
				Name: "tracking", Arity: -3, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:      "6.0.0",
				Summary:    "Enables or disables client-side caching for the connection.",
				Complexity: "O(1), and O(N) in the number of prefixes",
				Args: []Arg{
					OneOf("status", Tok("on"), Tok("off")),
					Int("client-id").Tokened("REDIRECT").Opt(),
					Str("prefix").Tokened("PREFIX").ManyTokens().Opt(), Tok("bcast").Opt(),
					Tok("optin").Opt(), Tok("optout").Opt(), Tok("noloop").Opt(),
				},
			},
			{
				Name: "caching", Arity: 3, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "6.0.0",
				Summary: "Sets whether the keys of the next command are tracked.",
				Args:    []Arg{OneOf("mode", Tok("yes"), Tok("no"))},
			},
			{
				Name: "trackinginfo", Arity: 2, Flags: NoScript | Loading | Stale | KeepsCaching,
				Since:   "6.2.0",
				Summary: "Returns the state of client-side caching for the connection.",
			},
			{
				Name: "list", Arity: -2, Flags: Admin | NoScript | Loading | Stale | KeepsCaching,
				Since:      "2.4.0",
				Summary:    "Returns information about client connections.",
				Complexity: "O(N) in the number of clients",
				History: []History{
					{"2.8.12", "Shows the field `id`."},
					{"5.0.0", "Takes the filter `TYPE`."},
					{"6.0.0", "Shows the field `user`."},
					{"6.2.0", "Shows the fields `argv-mem`, `tot-mem`, `laddr` and `redir`; " +
						"takes the filter `ID`."},
					{"7.0.0", "Shows the fields `resp`, `multi-mem`, `rbs` and `rbp`."},
					{"7.0.3", "Shows the field `ssub`."},
					{"7.2.0", "Shows the fields `lib-name` and `lib-ver`."},
					{"7.4.0", "Shows the field `watch`."},
					{"8.0.0", "Shows the field `io-thread`."},
					{"8.1.0", "Takes the filters of `CLIENT KILL`, as Valkey does."},
					{"9.0.0", "Takes more filters, and each also as its opposite " +
						"with `NOT-` before the name."},
				},
				Tips: []string{"nondeterministic_output"},
				Args: withFilters(notListedType,
					listedType.From("5.0.0"),
					Int("client-id").Tokened("ID").Many().Opt().From("6.2.0"),
					Str("username").Tokened("USER").Opt().From("8.1.0"),
					Str("addr").Tokened("ADDR").Opt().From("8.1.0").Shown("ip:port"),
					Str("laddr").Tokened("LADDR").Opt().From("8.1.0").Shown("ip:port"),
					skipMe.From("8.1.0"), Int("maxage").Tokened("MAXAGE").Opt().From("8.1.0"),
				),
			},
			{
				Name: "kill", Arity: -3, Flags: Admin | NoScript | Loading | Stale | KeepsCaching,
				Since:      "2.4.0",
				Summary:    "Closes client connections that match a filter.",
				Complexity: "O(N) in the number of clients",
				History: []History{
					{"2.8.12", "Takes filters."},
					{"2.8.12", "Takes the filter `ID`."},
					{"3.2.0", "`TYPE` knows `master`."},
					{"5.0.0", "`TYPE` knows `replica`, the new name of `slave`."},
					{"6.2.0", "Takes the filter `LADDR`."},
					{"7.4.0", "Takes the filter `MAXAGE`."},
					{"9.0.0", "Takes more filters, as Valkey does, and each also as its opposite " +
						"with `NOT-` before the name."},
				},
				Args: []Arg{
					OneOf("filter",
						Str("old-format").DeprecatedIn("2.8.12").Shown("ip:port"),
						OneOf("new-format", withFilters(notKilledType,
							Int("client-id").Tokened("ID").Opt().From("2.8.12"),
							killedType.From("2.8.12"),
							Str("username").Tokened("USER").Opt(),
							Str("addr").Tokened("ADDR").Opt().Shown("ip:port"),
							Str("laddr").Tokened("LADDR").Opt().From("6.2.0").Shown("ip:port"),
							skipMe, Int("maxage").Tokened("MAXAGE").Opt().From("7.4.0"),
						)...).Many(),
					),
				},
			},
			{
				Name: "pause", Arity: -3, Flags: Admin | NoScript | Loading | Stale | KeepsCaching,
				Since:   "3.0.0",
				Summary: "Suspends commands of clients for a time.",
				History: []History{{"6.2.0", "Takes a mode; `WRITE` lets reads pass."}},
				Args: []Arg{
					Int("timeout"), OneOf("mode", Tok("write"), Tok("all")).Opt().From("6.2.0"),
				},
			},
			{
				Name: "unpause", Arity: 2, Flags: Admin | NoScript | Loading | Stale | KeepsCaching,
				Since:      "6.2.0",
				Summary:    "Resumes the commands that CLIENT PAUSE suspended.",
				Complexity: "O(N) in the number of paused clients",
			},
			{
				Name: "unblock", Arity: -3,
				Flags: Admin | NoScript | Loading | Stale | KeepsCaching, Since: "5.0.0",
				Summary: "Unblocks a client that waits in a blocking command.",
				Args: []Arg{
					Int("client-id"), OneOf("unblock-type", Tok("timeout"), Tok("error")).Opt(),
				},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale | KeepsCaching, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
