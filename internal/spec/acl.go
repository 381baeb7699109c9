package spec

// aclCommands manage users and their rights.
var aclCommands = []*Command{
	{
		Name: "acl", Arity: -2, Since: "6.0.0",
		Summary:    "Manages users and their rights.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "cat", Arity: -2, Flags: NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Lists the categories, or the commands of one.",
				Complexity: "O(N) in the number of commands",
				Args:       []Arg{Str("categoryname").Opt()},
			},
			{
				Name: "deluser", Arity: -3, Flags: Admin | NoScript | Loading | Stale,
				Since:      "6.0.0",
				Summary:    "Deletes users and closes their connections.",
				Complexity: "O(N) in the number of connections",
				Args:       []Arg{Str("username").Many()},
			},
			{
				Name: "dryrun", Arity: -4, Flags: Admin | NoScript | Loading | Stale,
				Since:   "7.0.0",
				Summary: "Tells whether a user might run a command, without running it.",
				Args:    []Arg{Str("username"), Str("command"), Str("arg").Many().Opt()},
			},
			{
				Name: "genpass", Arity: -2, Flags: NoScript | Loading | Stale, Since: "6.0.0",
				Summary: "Makes a random password.",
				Args:    []Arg{Int("bits").Opt()},
			},
			{
				Name: "getuser", Arity: 3, Flags: Admin | NoScript | Loading | Stale,
				Since:      "6.0.0",
				Summary:    "Shows a user's rules.",
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
				Summary:    "Shows all users as lines of a file.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "load", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Reads the users from the ACL file.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "log", Arity: -2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Shows what was refused lately.",
				Complexity: "O(N) in the number of entries shown",
				Args:       []Arg{OneOf("operation", Int("count"), Tok("reset")).Opt()},
			},
			{
				Name: "save", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Writes the users to the ACL file.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "setuser", Arity: -3, Flags: Admin | NoScript | Loading | Stale,
				Since:      "6.0.0",
				Summary:    "Makes or changes a user by rules.",
				Complexity: "O(N) in the number of rules",
				History: []History{
					{"6.2.0", "Takes rules about channels."},
					{"7.0.0", "Takes selectors, and rules about reading and writing keys."},
				},
				Args: []Arg{Str("username"), Str("rule").Many().Opt()},
			},
			{
				Name: "users", Arity: 2, Flags: Admin | NoScript | Loading | Stale, Since: "6.0.0",
				Summary:    "Names all users.",
				Complexity: "O(N) in the number of users",
			},
			{
				Name: "whoami", Arity: 2, Flags: NoScript | Loading | Stale, Since: "6.0.0",
				Summary: "Names the connection's user.",
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.0.0",
				Summary: "Lists the subcommands.",
			},
		},
	},
}
