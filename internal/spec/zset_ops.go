package spec

var aggregateArg = OneOf("aggregate",
	Tok("sum"), Tok("min"), Tok("max"), Tok("count").From("8.8.0"),
).Tokened("AGGREGATE").Opt()

var takesCount = History{"8.8.0", "`AGGREGATE` knows `COUNT`."}

var _ = family(GroupSortedSet, zsetOpCommands)

// zsetOpCommands combine several sorted sets or sets.
var zsetOpCommands = []*Command{
	{
		Name: "zunion", Arity: -3, Flags: ReadOnly, Since: "6.2.0",
		Summary:    "Returns the union of sorted sets.",
		Complexity: "O(N) for N members in all, and O(M) to sort the M members of the result",
		History:    []History{takesCount},
		Keys:       []KeySpec{countedKeys(1, RO|AccessFlag)},
		Args: []Arg{
			Int("numkeys"), Key("key", 0).Many(), Int("weight").Tokened("WEIGHTS").Many().Opt(),
			aggregateArg, Tok("withscores").Opt(),
		},
	},
	{
		Name: "zinter", Arity: -3, Flags: ReadOnly, Since: "6.2.0",
		Summary: "Returns the intersection of sorted sets.",
		Complexity: "O(N*K) for K keys, the smallest of N members, and O(M) to sort the M " +
			"members of the result",
		History: []History{takesCount},
		Keys:    []KeySpec{countedKeys(1, RO|AccessFlag)},
		Args: []Arg{
			Int("numkeys"), Key("key", 0).Many(), Int("weight").Tokened("WEIGHTS").Many().Opt(),
			aggregateArg, Tok("withscores").Opt(),
		},
	},
	{
		Name: "zdiff", Arity: -3, Flags: ReadOnly, Since: "6.2.0",
		Summary:    "Returns the members of the first sorted set that are in none of the others.",
		Complexity: "O(N) for N members in all, and O(M) to sort the M members of the result",
		Keys:       []KeySpec{countedKeys(1, RO|AccessFlag)},
		Args:       []Arg{Int("numkeys"), Key("key", 0).Many(), Tok("withscores").Opt()},
	},
	{
		Name: "zunionstore", Arity: -4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary:    "Stores the union of sorted sets.",
		Complexity: "O(N) for N members in all, and O(M) to sort the M members of the result",
		History:    []History{takesCount},
		Keys:       []KeySpec{keyAt(1, OW|Update), countedKeys(2, RO|AccessFlag)},
		Args: []Arg{
			Key("destination", 0), Int("numkeys"), Key("key", 1).Many(),
			Int("weight").Tokened("WEIGHTS").Many().Opt(), aggregateArg,
		},
	},
	{
		Name: "zinterstore", Arity: -4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary: "Stores the intersection of sorted sets.",
		Complexity: "O(N*K) for K keys, the smallest of N members, and O(M) to sort the M " +
			"members of the result",
		History: []History{takesCount},
		Keys:    []KeySpec{keyAt(1, OW|Update), countedKeys(2, RO|AccessFlag)},
		Args: []Arg{
			Key("destination", 0), Int("numkeys"), Key("key", 1).Many(),
			Int("weight").Tokened("WEIGHTS").Many().Opt(), aggregateArg,
		},
	},
	{
		Name: "zdiffstore", Arity: -4, Flags: Write | DenyOOM, Since: "6.2.0",
		Summary:    "Stores the members of the first sorted set that are in none of the others.",
		Complexity: "O(N) for N members in all, and O(M) to sort the M members of the result",
		Keys:       []KeySpec{keyAt(1, OW|Update), countedKeys(2, RO|AccessFlag)},
		Args:       []Arg{Key("destination", 0), Int("numkeys"), Key("key", 1).Many()},
	},
	{
		Name: "zintercard", Arity: -3, Flags: ReadOnly, Since: "7.0.0",
		Summary:    "Returns the number of members in the intersection of sorted sets.",
		Complexity: "O(N*K) for K keys, the smallest of N members",
		Keys:       []KeySpec{countedKeys(1, RO|AccessFlag)},
		Args: []Arg{
			Int("numkeys"), Key("key", 0).Many(), Int("limit").Tokened("LIMIT").Opt(),
		},
	},
}
