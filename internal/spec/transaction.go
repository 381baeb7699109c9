package spec

var _ = family(GroupTransactions, transactionCommands)

// transactionCommands are MULTI and the commands around it.
var transactionCommands = []*Command{
	{
		Name: "multi", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti,
		Since:   "1.2.0",
		Summary: "Starts a transaction: the commands that follow are queued.",
	},
	{
		Name: "exec", Arity: 1,
		Flags: NoScript | Loading | Stale | SkipSlowlog | LeavesMulti | RunsQueue, Since: "1.2.0",
		Summary:    "Runs the queued commands of a transaction atomically.",
		Complexity: "Depends on the queued commands",
	},
	{
		Name: "discard", Arity: 1,
		Flags: NoScript | Loading | Stale | Fast | AllowBusy | LeavesMulti, Since: "2.0.0",
		Summary:    "Discards the queued commands and ends the transaction.",
		Complexity: "O(N) in the number of queued commands",
	},
	{
		Name: "watch", Arity: -2, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti,
		Since:      "2.2.0",
		Summary:    "Watches keys: the next EXEC runs nothing if one of them has changed.",
		Complexity: "O(1) for each key",
		Keys:       []KeySpec{keysFrom(1, RO)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "unwatch", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy,
		Since:      "2.2.0",
		Summary:    "Forgets all watched keys.",
		Complexity: "O(N) in the number of watched keys",
	},
}
