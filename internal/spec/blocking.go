package spec

// blockingCommands wait for a key if they find nothing.
var blockingCommands = []*Command{
	{
		Name: "blpop", Arity: -3, Flags: Write | NoScript | Blocking, Since: "2.0.0",
		Summary: "Takes the first element out of the first list that has any; waits for one if " +
			"none has.",
		Complexity: "O(N) in the number of keys",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "brpop", Arity: -3, Flags: Write | NoScript | Blocking, Since: "2.0.0",
		Summary: "Takes the last element out of the first list that has any; waits for one if " +
			"none has.",
		Complexity: "O(N) in the number of keys",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "blmove", Arity: 6, Flags: Write | DenyOOM | NoScript | Blocking, Since: "6.2.0",
		Summary: "Moves an element from an end of one list to an end of another; waits for one " +
			"if there is none.",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args: []Arg{
			Key("source", 0), Key("destination", 1), OneOf("wherefrom", Tok("left"), Tok("right")),
			OneOf("whereto", Tok("left"), Tok("right")), Dbl("timeout"),
		},
	},
	{
		Name: "brpoplpush", Arity: 4, Flags: Write | DenyOOM | NoScript | Blocking, Since: "2.2.0",
		Summary: "Moves the last element of a list to the head of another; waits for one if " +
			"there is none.",
		DeprecatedSince: "6.2.0", ReplacedBy: "`BLMOVE` with `RIGHT` and `LEFT`",
		History: []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args:    []Arg{Key("source", 0), Key("destination", 1), Dbl("timeout")},
	},
	{
		Name: "blmpop", Arity: -5, Flags: Write | Blocking, Since: "7.0.0",
		Summary:    "Takes elements out of the first list that has any; waits for one if none has.",
		Complexity: "O(N+M) for N keys and M elements",
		Keys:       []KeySpec{countedKeys(2, RW|AccessFlag|Delete)},
		Args: []Arg{
			Dbl("timeout"), Int("numkeys"), Key("key", 0).Many(),
			OneOf("where", Tok("left"), Tok("right")), Int("count").Tokened("COUNT").Opt(),
		},
	},
	{
		Name: "bzpopmin", Arity: -3, Flags: Write | NoScript | Blocking | Fast,
		Group: GroupSortedSet, Since: "5.0.0",
		Summary: "Takes the member with the lowest score out of the first sorted set that has " +
			"any; waits for one if none has.",
		Complexity: "O(log N) in the number of members",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "bzpopmax", Arity: -3, Flags: Write | NoScript | Blocking | Fast,
		Group: GroupSortedSet, Since: "5.0.0",
		Summary: "Takes the member with the highest score out of the first sorted set that has " +
			"any; waits for one if none has.",
		Complexity: "O(log N) in the number of members",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "bzmpop", Arity: -5, Flags: Write | Blocking, Group: GroupSortedSet, Since: "7.0.0",
		Summary: "Takes members with the lowest or highest scores out of the first sorted set " +
			"that has any; waits for one if none has.",
		Complexity: "O(K + M log N) for K keys and M members taken out of N",
		Keys:       []KeySpec{countedKeys(2, RW|AccessFlag|Delete)},
		Args: []Arg{
			Dbl("timeout"), Int("numkeys"), Key("key", 0).Many(),
			OneOf("where", Tok("min"), Tok("max")), Int("count").Tokened("COUNT").Opt(),
		},
	},
}
