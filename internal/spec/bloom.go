package spec

// bloomCommands are those of RedisBloom for Bloom filters.
var bloomCommands = []*Command{
	{
		Name: "bf.reserve", Arity: -4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Creates an empty Bloom filter for an error rate and a number of items.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args: []Arg{
			Key("key", 0), Dbl("error_rate"), Int("capacity"),
			Int("expansion").Tokened("EXPANSION").Opt(), Tok("nonscaling").Opt(),
		},
	},
	{
		Name: "bf.add", Arity: 3, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Adds an item to a Bloom filter, which is made if it is missing.",
		Complexity: "O(K) in the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "bf.madd", Arity: -3, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Adds items to a Bloom filter, which is made if it is missing.",
		Complexity: "O(N*K) in the number N of items and the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "bf.insert", Arity: -4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Adds items to a Bloom filter, which is made as the options say if it is " +
			"missing.",
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
		Summary:    "Tells whether an item may be in a Bloom filter.",
		Complexity: "O(K) in the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item")},
	},
	{
		Name: "bf.mexists", Arity: -3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Tells of each of several items whether it may be in a Bloom filter.",
		Complexity: "O(N*K) in the number N of items and the number K of hash functions",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "bf.card", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.4",
		Summary: "Counts the items that were added to a Bloom filter and seemed new.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "bf.info", Arity: -2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Shows what a Bloom filter was made for and what it holds.",
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
		Summary:    "Describes each link of a Bloom filter.",
		Complexity: "O(N) in the number N of links",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0)},
	},
	{
		Name: "bf.scandump", Arity: 3, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Gives a Bloom filter out chunk by chunk, for BF.LOADCHUNK.",
		Complexity: "O(N) in the size of the chunk",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Int("iterator")},
	},
	{
		Name: "bf.loadchunk", Arity: 4, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary:    "Restores a Bloom filter from what BF.SCANDUMP gave out.",
		Complexity: "O(N) in the size of the chunk",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args:       []Arg{Key("key", 0), Int("iterator"), Str("data")},
	},
}
