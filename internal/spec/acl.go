package spec

var _ = family(GroupServer, aclCommands)

// aclCommands manage users and their rights.
var aclCommands = []*Command{
	{
		Name: "acl", Arity: -2, Since: "6.0.0",
		Summary:    "Manages users and their permissions.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "cat", Arity: -2, Flags: NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Returns the command categories, or the commands of one.",
				Complexity: "O(N) in the number of commands",
				Args:       []Arg{Str("category").Opt()},
			},
			{
				Name: "deluser", Arity: -3, Flags: Admin | NoScript | Loading | Stale,
				Since:      "6.0.0",
				Summary:    "Deletes users and closes their connections.",
				Complexity: "O(N) in the number of connections",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:       []Arg{Str("username").Many()},
			},
			{
				Name: "dryrun", Arity: -4, Flags: Admin | NoScript | Loading | Stale,
				Since:   "7.0.0",
				Summary: "Returns whether a user may run a command, without running it.",
				Args:    []Arg{Str("username"), Str("command"), Str("arg").Many().Opt()},
			},
			{
				Name: "genpass", Arity: -2, Flags: NoScript | Loading | Stale, Since: "6.0.0",
				Summary: "Returns a random password.",
				Args:    []Arg{Int("bits").Opt()},
			},
			{
				Name: "getuser", Arity: 3, Flags: Admin | NoScript | Loading | Stale,
				Since:      "6.0.0",
				Summary:    "Returns the rules of a user.",
				Complexity: "O(N) in the number of the user's rules",
				History: []History{
					{"6.2.0", "Shows channels."},
					{"7.0.0", "Shows selectors; keys and channels are written as rules, no " +
						"longer as lists."},
				},
				Args: []Arg{Str("username")},
			},
			{
				Name: "list", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Returns all users in the format of the ACL file.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "load", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Reloads the users from the ACL file.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "log", Arity: -2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Returns or resets the log of refused commands and logins.",
				Complexity: "O(N) in the number of entries shown",
				History:    []History{{"7.2.0", "Shows each entry's ID and times."}},
				Args:       []Arg{OneOf("operation", Int("count"), Tok("reset")).Opt()},
			},
			{
				Name: "save", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Writes the users to the ACL file.",
				Complexity: "O(N) in the number of users",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "setuser", Arity: -3, Flags: Admin | NoScript | Loading | Stale,
				Since:      "6.0.0",
				Summary:    "Creates or changes a user.",
				Complexity: "O(N) in the number of rules",
				History: []History{
					{"6.2.0", "Takes rules about channels."},
					{"7.0.0", "Takes selectors, and rules about reading and writing keys."},
				},
				Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args: []Arg{Str("username"), Str("rule").Many().Opt()},
			},
			{
				Name: "users", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Returns the names of all users.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "whoami", Arity: 2, Flags: NoScript | Loading | Stale, Since: "6.0.0",
				Summary: "Returns the name of the connection's user.",
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
