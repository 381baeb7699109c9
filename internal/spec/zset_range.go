package spec

var _ = family(GroupSortedSet, zsetRangeCommands)

// zsetRangeCommands read, store, count or remove a range of a sorted set.
var zsetRangeCommands = []*Command{
	{
		Name: "zrange", Arity: -4, Flags: ReadOnly, Since: "1.2.0",
		Summary:    "Returns members of a sorted set by a range of ranks, scores or names.",
		Complexity: "O(log(N)+M) for N members, M of which are returned",
		History:    []History{{"6.2.0", "Takes `REV`, `BYSCORE`, `BYLEX` and `LIMIT`."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Str("start"), Str("stop"),
			OneOf("sortby", Tok("byscore"), Tok("bylex")).Opt().From("6.2.0"),
			Tok("rev").Opt().From("6.2.0"),
			Block("limit", Int("offset"), Int("count")).Tokened("LIMIT").Opt().From("6.2.0"),
			Tok("withscores").Opt(),
		},
	},
	{
		Name: "zrangestore", Arity: -5, Flags: Write | DenyOOM, Since: "6.2.0",
		Summary:    "Stores a range of members of a sorted set in another key.",
		Complexity: "O(log(N)+M) for N members, M of which are stored",
		Keys:       []KeySpec{keyAt(1, OW|Update), keyAt(2, RO|AccessFlag)},
		Args: []Arg{
			Key("dst", 0), Key("src", 1), Str("min"), Str("max"),
			OneOf("sortby", Tok("byscore"), Tok("bylex")).Opt(), Tok("rev").Opt(), limitArg,
		},
	},
	{
		Name: "zrevrange", Arity: -4, Flags: ReadOnly, Since: "1.2.0",
		Summary:         "Returns members of a sorted set by a range of ranks, highest first.",
		Complexity:      "O(log(N)+M) for N members, M of which are returned",
		DeprecatedSince: "6.2.0", ReplacedBy: "`ZRANGE` with `REV`",
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{Key("key", 0), Int("start"), Int("stop"), Tok("withscores").Opt()},
	},
	{
		Name: "zrangebyscore", Arity: -4, Flags: ReadOnly, Since: "1.0.5",
		Summary:         "Returns members of a sorted set by a range of scores, lowest first.",
		Complexity:      "O(log(N)+M) for N members, M of which are returned",
		DeprecatedSince: "6.2.0", ReplacedBy: "`ZRANGE` with `BYSCORE`",
		History: []History{{"2.0.0", "Takes `WITHSCORES`."}},
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Dbl("min"), Dbl("max"), Tok("withscores").Opt().From("2.0.0"), limitArg,
		},
	},
	{
		Name: "zrevrangebyscore", Arity: -4, Flags: ReadOnly, Since: "2.2.0",
		Summary:         "Returns members of a sorted set by a range of scores, highest first.",
		Complexity:      "O(log(N)+M) for N members, M of which are returned",
		DeprecatedSince: "6.2.0", ReplacedBy: "`ZRANGE` with `REV` and `BYSCORE`",
		History: []History{{"2.1.6", "Either bound may be exclusive."}},
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0), Dbl("max"), Dbl("min"), Tok("withscores").Opt(), limitArg},
	},
	{
		Name: "zrangebylex", Arity: -4, Flags: ReadOnly, Since: "2.8.9",
		Summary:         "Returns members of equal score by a range of names.",
		Complexity:      "O(log(N)+M) for N members, M of which are returned",
		DeprecatedSince: "6.2.0", ReplacedBy: "`ZRANGE` with `BYLEX`",
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{Key("key", 0), Str("min"), Str("max"), limitArg},
	},
	{
		Name: "zrevrangebylex", Arity: -4, Flags: ReadOnly, Since: "2.8.9",
		Summary:         "Returns members of equal score by a range of names, in reverse order.",
		Complexity:      "O(log(N)+M) for N members, M of which are returned",
		DeprecatedSince: "6.2.0", ReplacedBy: "`ZRANGE` with `REV` and `BYLEX`",
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{Key("key", 0), Str("max"), Str("min"), limitArg},
	},
	{
		Name: "zremrangebyrank", Arity: 4, Flags: Write, Since: "2.0.0",
		Summary:    "Removes members of a sorted set by a range of ranks.",
		Complexity: "O(log(N)+M) for N members, M of which are removed",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Int("start"), Int("stop")},
	},
	{
		Name: "zremrangebyscore", Arity: 4, Flags: Write, Since: "1.2.0",
		Summary:    "Removes members of a sorted set by a range of scores.",
		Complexity: "O(log(N)+M) for N members, M of which are removed",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Dbl("min"), Dbl("max")},
	},
	{
		Name: "zremrangebylex", Arity: 4, Flags: Write, Since: "2.8.9",
		Summary:    "Removes members of equal score by a range of names.",
		Complexity: "O(log(N)+M) for N members, M of which are removed",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Str("min"), Str("max")},
	},
	{
		Name: "zcount", Arity: 4, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary:    "Counts the members of a sorted set within a range of scores.",
		Complexity: "O(log(N)) for N members",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Dbl("min"), Dbl("max")},
	},
	{
		Name: "zlexcount", Arity: 4, Flags: ReadOnly | Fast, Since: "2.8.9",
		Summary:    "Counts the members of equal score within a range of names.",
		Complexity: "O(log(N)) for N members",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Str("min"), Str("max")},
	},
}
