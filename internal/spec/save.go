package spec

var _ = family(GroupServer, saveCommands)

// saveCommands write the data set to the disk.
var saveCommands = []*Command{
	{
		Name: "save", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti, Since: "1.0.0",
		Summary:    "Saves the data set to a snapshot file, blocking all clients.",
		Complexity: "O(N) in the number of keys",
	},
	{
		Name: "bgsave", Arity: -1, Flags: Admin | NoScript | NoAsyncLoading, Since: "1.0.0",
		Summary:    "Saves the data set to a snapshot file in the background.",
		Complexity: "O(1); the snapshot is O(N) in the number of keys",
		History: []History{
			{"3.2.2", "Takes `SCHEDULE`."}, {"8.1.0", "Takes `CANCEL`, as Valkey does."},
		},
		Args: []Arg{Tok("schedule").Opt().From("3.2.2"), Tok("cancel").Opt().From("8.1.0")},
	},
	{
		Name: "bgrewriteaof", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading, Since: "1.0.0",
		Summary:    "Rewrites the append-only file in the background.",
		Complexity: "O(1); the rewrite is O(N) in the number of keys",
	},
}
