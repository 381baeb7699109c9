package spec

var _ = family(GroupModule, topkCommands)

// topkCommands are RedisBloom's commands for top-k lists.
var topkCommands = []*Command{
	{
		Name: "topk.reserve", Arity: -3, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary: "Creates an empty top-k list.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Int("topk"),
			Block("params", Int("width"), Int("depth"), Dbl("decay")).Opt(),
		},
	},
	{
		Name: "topk.add", Arity: -3, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary: "Counts items in a top-k list and returns those that drop out of it.",
		Complexity: "O(N * D + N * log(K)) in the number N of items, the depth D and the length " +
			"K of the list",
		Keys: []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "topk.incrby", Arity: -4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary: "Increments the counts of items in a top-k list and returns those that drop out " +
			"of it.",
		Complexity: "O(N * D * I + N * log(K)) in the number N of items, the depth D, the " +
			"increment I and the length K of the list",
		Keys: []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{Key("key", 0), Block("items", Str("item"), Int("increment")).Many()},
	},
	{
		Name: "topk.query", Arity: -3, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary:    "Returns for each of several items whether it is in a top-k list.",
		Complexity: "O(N) in the number N of items",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "topk.count", Arity: -3, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary:         "Returns the estimated counts of items in a top-k list.",
		Complexity:      "O(N * D) in the number N of items and the depth D",
		DeprecatedSince: "2.4.0",
		Keys:            []KeySpec{keyAt(1, RO)},
		Args:            []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "topk.list", Arity: -2, Flags: ReadOnly, Since: "2.0.0",
		Summary:    "Returns the items of a top-k list, highest count first.",
		Complexity: "O(K * log(K)) in the length K of the list",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Tok("withcount").Opt()},
	},
	{
		Name: "topk.info", Arity: 2, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary: "Returns the parameters of a top-k list.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
}
