package spec

// transactionCommands are MULTI and what belongs to it.
var transactionCommands = []*Command{
	{
		Name: "multi", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti,
		Since:   "1.2.0",
		Summary: "Begins a transaction: commands are queued from here on.",
	},
	{
		Name: "exec", Arity: 1,
		Flags: NoScript | Loading | Stale | SkipSlowlog | LeavesMulti | RunsQueue, Since: "1.2.0",
		Summary:    "Runs the queued commands, and nothing in between.",
		Complexity: "Depends on the queued commands",
	},
	{
		Name: "discard", Arity: 1,
		Flags: NoScript | Loading | Stale | Fast | AllowBusy | LeavesMulti, Since: "2.0.0",
		Summary:    "Drops the queued commands and ends the transaction.",
		Complexity: "O(N) in the number of queued commands",
	},
	{
		Name: "watch", Arity: -2, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti,
		Since:      "2.2.0",
		Summary:    "Has the next transaction run only if the keys do not change before it.",
		Complexity: "O(1) for each key",
		Keys:       []KeySpec{keysFrom(1, RO)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "unwatch", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy,
		Since:      "2.2.0",
		Summary:    "Forgets the watched keys, and whether they have changed.",
		Complexity: "O(N) in the number of watched keys",
	},
}
