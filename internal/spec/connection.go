package spec

var _ = family(GroupConnection, connectionCommands)

// connectionCommands act on the connection that sends them.
var connectionCommands = []*Command{
	{
		Name: "ping", Arity: -1, Flags: Fast | TellsDiskErrors | WhileSubscribed, Since: "1.0.0",
		Summary: "Returns PONG, or the given message.",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Args:    []Arg{Str("message").Opt()},
	},
	{
		Name: "echo", Arity: 2, Flags: Loading | Stale | Fast, Since: "1.0.0",
		Summary: "Returns the given message.",
		Args:    []Arg{Str("message")},
	},
	{
		Name: "auth", Arity: -2, Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy,
		Since:      "1.0.0",
		Summary:    "Authenticates the connection as a user.",
		Complexity: "O(N) in the number of the user's passwords",
		History:    []History{{"6.0.0", "Takes a user name as well."}},
		Args:       []Arg{Str("username").Opt().From("6.0.0"), Str("password")},
	},
	{
		Name: "hello", Arity: -1, Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy,
		Since:   "6.0.0",
		Summary: "Sets the protocol version. Optionally authenticates and names the connection.",
		History: []History{
			{"6.2.0", "The protocol version may be left out: only the connection's state is " +
				"shown then."},
		},
		Args: []Arg{
			Block("arguments",
				Int("protover"),
				Block("auth", Str("username"), Str("password")).Tokened("AUTH").Opt(),
				Str("clientname").Tokened("SETNAME").Opt(),
			).Opt(),
		},
	},
	{
		Name: "quit", Arity: -1,
		Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy | WhileSubscribed |
			LeavesMulti,
		Since:           "1.0.0",
		Summary:         "Closes the connection after all replies are sent.",
		DeprecatedSince: "7.2.0", ReplacedBy: "closing the connection",
	},
	{
		Name: "reset", Arity: 1,
		Flags: NoScript | Loading | Stale | Fast | NoAuth | AllowBusy | WhileSubscribed |
			LeavesMulti,
		Since:   "6.2.0",
		Summary: "Resets the connection to the state of a new one.",
	},
	{
		Name: "select", Arity: 2, Flags: Loading | Stale | Fast, Since: "1.0.0",
		Databases: NamedDB,
		Summary:   "Selects the database of the connection.",
		Args:      []Arg{Int("index")},
	},
}
