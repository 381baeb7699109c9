package spec

var _ = family(GroupServer, debugCommands)

// debugCommands are tools for tests. As in Redis, the subcommands of DEBUG are not in the table.
var debugCommands = []*Command{
	{
		Name: "debug", Arity: -2, Flags: Admin | NoScript | Loading | Stale, Since: "1.0.0",
		Protected:  ByDebugCommand,
		Summary:    "Provides tools for testing the server and clients.",
		Complexity: "Depends on the subcommand.",
		DocFlags:   []string{"syscmd"},
	},
}
