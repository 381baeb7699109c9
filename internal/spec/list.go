package spec

var _ = family(GroupList, listCommands)

// moveArgs are the arguments of the commands that move elements between the ends of lists.
func moveArgs(more ...Arg) []Arg {
	side := func(name string) Arg { return OneOf(name, Tok("left"), Tok("right")) }
	return append([]Arg{
		Key("source", 0), Key("destination", 1), side("wherefrom"), side("whereto"),
	}, more...)
}

// howMany says which elements LMOVEM and BLMOVEM move.
var howMany = Block("how-many",
	OneOf("selector", Int("count").Tokened("COUNT"), Int("exactly").Tokened("EXACTLY")),
	OneOf("ordering", Tok("obo"), Tok("bulk")),
).Opt()

// listCommands are the list commands that do not block.
var listCommands = []*Command{
	{
		Name: "lpush", Arity: -3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary:    "Prepends elements to a list. Creates the key if it does not exist.",
		Complexity: "O(N) in the number N of elements that are added",
		History:    []History{{"2.4.0", "Takes several elements."}},
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("element").Many()},
	},
	{
		Name: "rpush", Arity: -3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary:    "Appends elements to a list. Creates the key if it does not exist.",
		Complexity: "O(N) in the number N of elements that are added",
		History:    []History{{"2.4.0", "Takes several elements."}},
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("element").Many()},
	},
	{
		Name: "lpushx", Arity: -3, Flags: Write | DenyOOM | Fast, Since: "2.2.0",
		Summary:    "Prepends elements to a list only if the list exists.",
		Complexity: "O(N) in the number N of elements that are added",
		History:    []History{{"4.0.0", "Takes several elements."}},
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("element").Many()},
	},
	{
		Name: "rpushx", Arity: -3, Flags: Write | DenyOOM | Fast, Since: "2.2.0",
		Summary:    "Appends elements to a list only if the list exists.",
		Complexity: "O(N) in the number N of elements that are added",
		History:    []History{{"4.0.0", "Takes several elements."}},
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("element").Many()},
	},
	{
		Name: "lpop", Arity: -2, Flags: Write | Fast, Since: "1.0.0",
		Summary:    "Removes and returns the first elements of a list.",
		Complexity: "O(N) in the number N of elements that are removed",
		History:    []History{{"6.2.0", "Takes `count`."}},
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0), Int("count").Opt().From("6.2.0")},
	},
	{
		Name: "rpop", Arity: -2, Flags: Write | Fast, Since: "1.0.0",
		Summary:    "Removes and returns the last elements of a list.",
		Complexity: "O(N) in the number N of elements that are removed",
		History:    []History{{"6.2.0", "Takes `count`."}},
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Delete)},
		Args:       []Arg{Key("key", 0), Int("count").Opt().From("6.2.0")},
	},
	{
		Name: "llen", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns how many elements a list has.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "lindex", Arity: 3, Flags: ReadOnly, Since: "1.0.0",
		Summary:    "Returns the element at an index of a list.",
		Complexity: "O(N) in the distance N from the nearer end; whole nodes are skipped",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Int("index")},
	},
	{
		Name: "lrange", Arity: 4, Flags: ReadOnly, Since: "1.0.0",
		Summary: "Returns the elements of a list between two indexes.",
		Complexity: "O(S+N), S being the distance of the start from the nearer end and N the " +
			"number of elements",
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{Key("key", 0), Int("start"), Int("stop")},
	},
	{
		Name: "ltrim", Arity: 4, Flags: Write, Since: "1.0.0",
		Summary:    "Removes all elements of a list outside a range of indexes.",
		Complexity: "O(N) in the number N of elements that are removed",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Int("start"), Int("stop")},
	},
	{
		Name: "lset", Arity: 4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Sets the element at an index of a list.",
		Complexity: "O(N) in the distance N from the nearer end; whole nodes are skipped",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args:       []Arg{Key("key", 0), Int("index"), Str("element")},
	},
	{
		Name: "linsert", Arity: 5, Flags: Write | DenyOOM, Since: "2.2.0",
		Summary:    "Inserts an element before or after another element of a list.",
		Complexity: "O(N) in the number N of elements before the one that is looked for",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), OneOf("where", Tok("before"), Tok("after")), Str("pivot"),
			Str("element"),
		},
	},
	{
		Name: "lrem", Arity: 4, Flags: Write, Since: "1.0.0",
		Summary: "Removes elements equal to a value from a list.",
		Complexity: "O(N+M) in the length N of the list and the number M of elements that are " +
			"removed",
		Keys: []KeySpec{keyAt(1, RW|Delete)},
		Args: []Arg{Key("key", 0), Int("count"), Str("element")},
	},
	{
		Name: "lmove", Arity: 5, Flags: Write | DenyOOM, Since: "6.2.0",
		Summary: "Moves an element from one end of a list to one end of another, and returns " +
			"it.",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args: moveArgs(),
	},
	{
		Name: "lmovem", Arity: -5, Flags: Write | DenyOOM, Since: "8.10.0",
		Summary: "Moves several elements from one end of a list to one end of another, and " +
			"returns them.",
		Complexity: "O(N) in the number N of elements that are moved",
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args:       moveArgs(howMany),
	},
	{
		Name: "rpoplpush", Arity: 3, Flags: Write | DenyOOM, Since: "1.2.0",
		Summary:         "Moves the last element of a list to the front of another and returns it.",
		DeprecatedSince: "6.2.0", ReplacedBy: "`LMOVE` with `RIGHT` and `LEFT`",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, RW|Insert)},
		Args: []Arg{Key("source", 0), Key("destination", 1)},
	},
	{
		Name: "lmpop", Arity: -4, Flags: Write, Since: "7.0.0",
		Summary: "Removes and returns elements from the first non-empty list among several " +
			"keys.",
		Complexity: "O(N+M) in the number N of keys and the number M of elements that are removed",
		Keys:       []KeySpec{countedKeys(1, RW|AccessFlag|Delete)},
		Args: []Arg{
			Int("numkeys"), Key("key", 0).Many(), OneOf("where", Tok("left"), Tok("right")),
			Int("count").Tokened("COUNT").Opt(),
		},
	},
	{
		Name: "lpos", Arity: -3, Flags: ReadOnly, Since: "6.0.6",
		Summary:    "Returns the indexes of elements equal to a value in a list.",
		Complexity: "O(N) in the number N of elements that are compared; MAXLEN bounds it",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Str("element"), Int("rank").Tokened("RANK").Opt(),
			Int("num-matches").Tokened("COUNT").Opt(), Int("len").Tokened("MAXLEN").Opt(),
		},
	},
}
