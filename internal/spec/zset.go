package spec

var _ = family(GroupSortedSet, zsetCommands)

// zsetCommands are the sorted set commands for single members.
var zsetCommands = []*Command{
	{
		Name: "zadd", Arity: -4, Flags: Write | DenyOOM | Fast, Since: "1.2.0",
		Summary:    "Adds members to a sorted set, or updates their scores.",
		Complexity: "O(log N) a member, N being the set's size",
		History: []History{
			{"2.4.0", "Takes several members."},
			{"3.0.2", "Takes `XX`, `NX`, `CH` and `INCR`."},
			{"6.2.0", "Takes `GT` and `LT`."},
		},
		Keys: []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), OneOf("condition", Tok("nx"), Tok("xx")).Opt().From("3.0.2"),
			OneOf("comparison", Tok("gt"), Tok("lt")).Opt().From("6.2.0"),
			Tok("change").Tokened("CH").Opt().From("3.0.2"),
			Tok("increment").Tokened("INCR").Opt().From("3.0.2"),
			Block("data", Dbl("score"), Str("member")).Many(),
		},
	},
	{
		Name: "zincrby", Arity: 4, Flags: Write | DenyOOM | Fast, Since: "1.2.0",
		Summary:    "Increments the score of a member of a sorted set.",
		Complexity: "O(log N) in the size of the set",
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:       []Arg{Key("key", 0), Int("increment"), Str("member")},
	},
	{
		Name: "zrem", Arity: -3, Flags: Write | Fast, Since: "1.2.0",
		Summary:    "Removes members from a sorted set. Deletes the key when no member remains.",
		Complexity: "O(M log N) for M members of a set of N",
		History:    []History{{"2.4.0", "Takes several members."}},
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Str("member").Many()},
	},
	{
		Name: "zpopmin", Arity: -2, Flags: Write | Fast, Since: "5.0.0",
		Summary:    "Removes and returns the members of a sorted set with the lowest scores.",
		Complexity: "O(M log N) for M members of a set of N",
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0), Int("count").Opt()},
	},
	{
		Name: "zpopmax", Arity: -2, Flags: Write | Fast, Since: "5.0.0",
		Summary:    "Removes and returns the members of a sorted set with the highest scores.",
		Complexity: "O(M log N) for M members of a set of N",
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0), Int("count").Opt()},
	},
	{
		Name: "zmpop", Arity: -4, Flags: Write, Since: "7.0.0",
		Summary: "Removes and returns members with the lowest or highest scores of the first " +
			"non-empty sorted set.",
		Complexity: "O(K + M log N) for M members of a set of N, K sets being given",
		Keys:       []KeySpec{countedKeys(1, RW|AccessFlag|Delete)},
		Args: []Arg{
			Int("numkeys"), Key("key", 0).Many(), OneOf("where", Tok("min"), Tok("max")),
			Int("count").Tokened("COUNT").Opt(),
		},
	},
	{
		Name: "zcard", Arity: 2, Flags: ReadOnly | Fast, Since: "1.2.0",
		Summary: "Returns the number of members of a sorted set.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "zscore", Arity: 3, Flags: ReadOnly | Fast, Since: "1.2.0",
		Summary: "Returns the score of a member of a sorted set.",
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0), Str("member")},
	},
	{
		Name: "zmscore", Arity: -3, Flags: ReadOnly | Fast, Since: "6.2.0",
		Summary:    "Returns the scores of several members of a sorted set.",
		Complexity: "O(N) in the number of members asked for",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Str("member").Many()},
	},
	{
		Name: "zrank", Arity: -3, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary:    "Returns a member's rank, lowest score first.",
		Complexity: "O(log N)",
		History:    []History{{"7.2.0", "Takes `WITHSCORE`."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Str("member"), Tok("withscore").Opt()},
	},
	{
		Name: "zrevrank", Arity: -3, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary:    "Returns a member's rank, highest score first.",
		Complexity: "O(log N)",
		History:    []History{{"7.2.0", "Takes `WITHSCORE`."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Str("member"), Tok("withscore").Opt()},
	},
	{
		Name: "zrandmember", Arity: -2, Flags: ReadOnly, Since: "6.2.0",
		Summary:    "Returns random members of a sorted set.",
		Complexity: "O(M log N) for M members of a set of N",
		Tips:       []string{"nondeterministic_output"},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Block("options", Int("count"), Tok("withscores").Opt()).Opt(),
		},
	},
	{
		Name: "zscan", Arity: -3, Flags: ReadOnly, Since: "2.8.0",
		Summary:    "Iterates over the members of a sorted set with a cursor.",
		Complexity: "O(1) a call, O(N) for a full walk",
		Tips:       []string{"nondeterministic_output"},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Int("cursor"), Pattern("pattern").Tokened("MATCH").Opt(),
			Int("count").Tokened("COUNT").Opt(), Tok("noscores").Opt(),
		},
	},
}
