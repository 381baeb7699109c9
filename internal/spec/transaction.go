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
		Name: "exec", Arity: -1,
		Flags: NoScript | Loading | Stale | SkipSlowlog | LeavesMulti | RunsQueue, Since: "1.2.0",
		Summary:    "Runs the queued commands of a transaction atomically, if conditions hold.",
		Complexity: "O(N) for N conditions, and that of the queued commands",
		Keys:       []KeySpec{{Access: RO | AccessFlag, Notes: "one behind each condition"}},
		KeysFn:     execKeys,
		Args: []Arg{
			OneOf("condition",
				Block("ifeq", Key("key", 0).Tokened("IFEQ"), Str("value")),
				Block("ifne", Key("key", 0).Tokened("IFNE"), Str("value")),
				Key("key", 0).Tokened("NX"), Key("key", 0).Tokened("XX"),
			).Opt().Many().From("9.2.0"),
		},
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

// execKeys finds the keys of the conditions. Each is behind the word that begins its condition.
func execKeys(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
	n := len(refs)
	for i := 1; i < len(argv); {
		ref, words := KeyRef{Pos: i + 1, Access: RO}, 2
		switch {
		case is(argv[i], "NX"), is(argv[i], "XX"):
		case is(argv[i], "IFEQ"), is(argv[i], "IFNE"):
			ref.Access, words = RO|AccessFlag, 3
		default:
			return refs[:n], ErrBadKeys
		}
		if i += words; i > len(argv) {
			return refs[:n], ErrBadKeys
		}
		refs = append(refs, ref)
	}
	return refs, nil
}
