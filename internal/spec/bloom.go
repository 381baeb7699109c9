package spec

var _ = family(GroupModule, bloomCommands)

// bloomCommands are RedisBloom's commands for Bloom filters.
var bloomCommands = []*Command{
	{
		Name: "bf.reserve", Arity: -4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Creates an empty Bloom filter with an error rate and a capacity.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Dbl("error_rate"), Int("capacity"),
			Int("expansion").Tokened("EXPANSION").Opt(), Tok("nonscaling").Opt(),
		},
	},
	{
		Name: "bf.add", Arity: 3, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Adds an item to a Bloom filter. Creates the key if it does not exist.",
		Complexity: "O(K) in the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "bf.madd", Arity: -3, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Adds several items to a Bloom filter. Creates the key if it does not exist.",
		Complexity: "O(N*K) in the number N of items and the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "bf.insert", Arity: -4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Adds items to a Bloom filter. Creates it with the given options if it does not " +
			"exist.",
		Complexity: "O(N*K) in the number N of items and the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Int("capacity").Tokened("CAPACITY").Opt(),
			Dbl("error").Tokened("ERROR").Opt(), Int("expansion").Tokened("EXPANSION").Opt(),
			Tok("nocreate").Opt(), Tok("nonscaling").Opt(), Str("item").Tokened("ITEMS").Many(),
		},
	},
	{
		Name: "bf.exists", Arity: 3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns whether an item may be in a Bloom filter.",
		Complexity: "O(K) in the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "bf.mexists", Arity: -3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns for each of several items whether it may be in a Bloom filter.",
		Complexity: "O(N*K) in the number N of items and the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "bf.card", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.4",
		Summary: "Returns the number of items that a Bloom filter has counted as new.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "bf.info", Arity: -2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns the parameters and the fill of a Bloom filter.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args: []Arg{
			Key("key", 0),
			OneOf("single_value",
				Tok("capacity"), Tok("size"), Tok("filters"), Tok("items"), Tok("expansion"),
			).Opt(),
		},
	},
	{
		Name: "bf.debug", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns the parameters of each layer of a Bloom filter.",
		Complexity: "O(N) in the number N of layers",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0)},
	},
	{
		Name: "bf.scandump", Arity: 3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns a Bloom filter in chunks for BF.LOADCHUNK.",
		Complexity: "O(N) in the size of the chunk",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Int("iterator")},
	},
	{
		Name: "bf.loadchunk", Arity: 4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Restores a chunk that BF.SCANDUMP returned.",
		Complexity: "O(N) in the size of the chunk",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args:       []Arg{Key("key", 0), Int("iterator"), Str("data")},
	},
}
