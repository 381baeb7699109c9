package spec

var _ = family(GroupServer, serverCommands)

// serverCommands act on the server as a whole.
var serverCommands = []*Command{
	{
		Name: "time", Arity: 1, Flags: Loading | Stale | Fast, Since: "2.6.0",
		Summary: "Returns the server's Unix time.",
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "lastsave", Arity: 1, Flags: Loading | Stale | Fast, Since: "1.0.0",
		Categories: []string{"admin", "dangerous"},
		Summary:    "Returns the Unix time of the last successful save.",
		Tips:       []string{"nondeterministic_output"},
	},
	{
		Name: "role", Arity: 1, Flags: NoScript | Loading | Stale | Fast, Since: "2.8.12",
		Categories: []string{"admin", "dangerous"},
		Summary:    "Returns the server's role in replication.",
	},
	{
		Name: "shutdown", Arity: -1,
		Flags: Admin | NoScript | Loading | Stale | AllowBusy | NoMulti, Since: "1.0.0",
		Summary:    "Shuts the server down, saving the data set first if configured or asked to.",
		Complexity: "O(1), or O(N) in the number of keys when it saves them first",
		History:    []History{{"7.0.0", "Takes `NOW`, `FORCE` and `ABORT`."}},
		Args: []Arg{
			OneOf("save-selector", Tok("nosave"), Tok("save")).Opt(),
			Tok("now").Opt().From("7.0.0"), Tok("force").Opt().From("7.0.0"),
			Tok("abort").Opt().From("7.0.0"),
		},
	},
	{
		Name: "lolwut", Arity: -1, Flags: ReadOnly | Fast, Since: "5.0.0",
		Summary:    "Returns a small drawing and the version.",
		Complexity: noComplexity,
		Args:       []Arg{Int("version").Tokened("VERSION").Opt()},
	},
}
