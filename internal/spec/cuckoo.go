package spec

var _ = family(GroupModule, cuckooCommands)

// cuckooCommands are RedisBloom's commands for cuckoo filters.
var cuckooCommands = []*Command{
	{
		Name: "cf.reserve", Arity: -3, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Creates an empty cuckoo filter with a capacity.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Int("capacity"), Int("bucketsize").Tokened("BUCKETSIZE").Opt(),
			Int("maxiterations").Tokened("MAXITERATIONS").Opt(),
			Int("expansion").Tokened("EXPANSION").Opt(),
		},
	},
	{
		Name: "cf.add", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Adds an item to a cuckoo filter. Creates the key if it does not exist.",
		Complexity: "O(F + I) in the number F of sub-filters and the number I of iterations " +
			"that make room",
		Keys: []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "cf.addnx", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Adds an item to a cuckoo filter only if it does not seem to be there already.",
		Complexity: "O(F + I) in the number F of sub-filters and the number I of iterations " +
			"that make room",
		Keys: []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "cf.insert", Arity: -4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Adds items to a cuckoo filter. Creates it with the given options if it does " +
			"not exist.",
		Complexity: "O(N * (F + I)) in the number N of items, the number F of sub-filters and " +
			"the number I of iterations that make room",
		Keys: []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Int("capacity").Tokened("CAPACITY").Opt(), Tok("nocreate").Opt(),
			Str("item").Tokened("ITEMS").Many(),
		},
	},
	{
		Name: "cf.insertnx", Arity: -4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Adds each item to a cuckoo filter only if it does not seem to be there " +
			"already.",
		Complexity: "O(N * (F + I)) in the number N of items, the number F of sub-filters and " +
			"the number I of iterations that make room",
		Keys: []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Int("capacity").Tokened("CAPACITY").Opt(), Tok("nocreate").Opt(),
			Str("item").Tokened("ITEMS").Many(),
		},
	},
	{
		Name: "cf.del", Arity: 3, Flags: Write | Fast, Since: "1.0.0",
		Summary:    "Deletes one occurrence of an item from a cuckoo filter.",
		Complexity: "O(F) in the number F of sub-filters",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "cf.compact", Arity: 2, Flags: Write, Since: "1.0.0",
		Summary:    "Moves items to earlier sub-filters of a cuckoo filter and drops empty ones.",
		Complexity: "O(N) in the number N of bytes of the filter",
		Keys:       []KeySpec{keyAt(1, RW)},
		Args:       []Arg{Key("key", 0)},
	},
	{
		Name: "cf.exists", Arity: 3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns whether an item may be in a cuckoo filter.",
		Complexity: "O(F) in the number F of sub-filters",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "cf.mexists", Arity: -3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns for each of several items whether it may be in a cuckoo filter.",
		Complexity: "O(N * F) in the number N of items and the number F of sub-filters",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "cf.count", Arity: 3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns the estimated number of times an item was added to a cuckoo filter.",
		Complexity: "O(F) in the number F of sub-filters",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "cf.info", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns the parameters and the fill of a cuckoo filter.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "cf.debug", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns the parameters of a cuckoo filter in one line.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "cf.scandump", Arity: 3, Flags: ReadOnly, Since: "1.0.0",
		Summary:    "Returns a cuckoo filter in chunks for CF.LOADCHUNK.",
		Complexity: "O(N) in the number N of bytes of the chunk",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Int("iterator")},
	},
	{
		Name: "cf.loadchunk", Arity: 4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Restores a chunk that CF.SCANDUMP returned.",
		Complexity: "O(N) in the number N of bytes of the chunk",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Int("iterator"), Str("data")},
	},
}
