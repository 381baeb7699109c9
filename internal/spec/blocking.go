package spec

var _ = family(GroupList, blockingCommands)

// blockingCommands wait for a key if they find nothing.
var blockingCommands = []*Command{
	{
		Name: "blpop", Arity: -3, Flags: Write | Blocking, Since: "2.0.0",
		Summary: "Removes and returns the first element of the first non-empty list. Blocks " +
			"until there is one.",
		Complexity: "O(N) in the number of keys",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "brpop", Arity: -3, Flags: Write | Blocking, Since: "2.0.0",
		Summary: "Removes and returns the last element of the first non-empty list. Blocks until " +
			"there is one.",
		Complexity: "O(N) in the number of keys",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "blmove", Arity: 6, Flags: Write | DenyOOM | Blocking, Since: "6.2.0",
		Summary: "Moves an element from one end of a list to one end of another. Blocks until " +
			"there is one.",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args: moveArgs(Dbl("timeout")),
	},
	{
		Name: "blmovem", Arity: -6, Flags: Write | DenyOOM | Blocking, Since: "8.10.0",
		Summary: "Moves several elements from one end of a list to one end of another. Blocks " +
			"until there are enough.",
		Complexity: "O(N) in the number N of elements that are moved",
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args:       moveArgs(Dbl("timeout"), howMany),
	},
	{
		Name: "brpoplpush", Arity: 4, Flags: Write | DenyOOM | Blocking, Since: "2.2.0",
		Summary: "Moves the last element of a list to the front of another. Blocks until there " +
			"is one.",
		DeprecatedSince: "6.2.0", ReplacedBy: "`BLMOVE` with `RIGHT` and `LEFT`",
		History: []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args:    []Arg{Key("source", 0), Key("destination", 1), Dbl("timeout")},
	},
	{
		Name: "blmpop", Arity: -5, Flags: Write | Blocking, Since: "7.0.0",
		Summary: "Removes and returns elements of the first non-empty list. Blocks until there " +
			"is one.",
		Complexity: "O(N+M) for N keys and M elements",
		Keys:       []KeySpec{countedKeys(2, RW|AccessFlag|Delete)},
		Args: []Arg{
			Dbl("timeout"), Int("numkeys"), Key("key", 0).Many(),
			OneOf("where", Tok("left"), Tok("right")), Int("count").Tokened("COUNT").Opt(),
		},
	},
	{
		Name: "bzpopmin", Arity: -3, Flags: Write | Blocking | Fast,
		Group: GroupSortedSet, Since: "5.0.0",
		Summary: "Removes and returns the lowest-scored member of the first non-empty sorted " +
			"set. Blocks until there is one.",
		Complexity: "O(log N) in the number of members",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "bzpopmax", Arity: -3, Flags: Write | Blocking | Fast,
		Group: GroupSortedSet, Since: "5.0.0",
		Summary: "Removes and returns the highest-scored member of the first non-empty sorted " +
			"set. Blocks until there is one.",
		Complexity: "O(log N) in the number of members",
		History:    []History{{"6.0.0", "The timeout may be a fraction."}},
		Keys:       []KeySpec{keysBeforeLast(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0).Many(), Dbl("timeout")},
	},
	{
		Name: "bzmpop", Arity: -5, Flags: Write | Blocking, Group: GroupSortedSet, Since: "7.0.0",
		Summary: "Removes and returns members with the lowest or highest scores of the first " +
			"non-empty sorted set. Blocks until there is one.",
		Complexity: "O(K + M log N) for K keys and M members taken out of N",
		Keys:       []KeySpec{countedKeys(2, RW|AccessFlag|Delete)},
		Args: []Arg{
			Dbl("timeout"), Int("numkeys"), Key("key", 0).Many(),
			OneOf("where", Tok("min"), Tok("max")), Int("count").Tokened("COUNT").Opt(),
		},
	},
}
