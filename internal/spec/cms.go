package spec

var _ = family(GroupModule, cmsCommands)

// cmsCommands are RedisBloom's commands for count-min sketches.
var cmsCommands = []*Command{
	{
		Name: "cms.initbydim", Arity: 4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary: "Creates an empty count-min sketch of a width and a depth.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args:    []Arg{Key("key", 0), Int("width"), Int("depth")},
	},
	{
		Name: "cms.initbyprob", Arity: 4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary: "Creates an empty count-min sketch for an error and its probability.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args:    []Arg{Key("key", 0), Dbl("error"), Dbl("probability")},
	},
	{
		Name: "cms.incrby", Arity: -4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary:    "Increments the counts of items in a count-min sketch.",
		Complexity: "O(N * D) in the number N of items and the depth D",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args:       []Arg{Key("key", 0), Block("items", Str("item"), Int("increment")).Many()},
	},
	{
		Name: "cms.query", Arity: -3, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary:    "Returns the estimated counts of items in a count-min sketch.",
		Complexity: "O(N * D) in the number N of items and the depth D",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Str("item").Many()},
	},
	{
		Name: "cms.merge", Arity: -4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary:    "Sets a count-min sketch to the weighted sum of others.",
		Complexity: "O(N * W * D) in the number N of sources, the width W and the depth D",
		Keys:       []KeySpec{keyAt(1, RW|Update), countedKeys(2, RO|AccessFlag)},
		Args: []Arg{
			Key("destination", 0), Int("numkeys"), Key("source", 1).Many(),
			Int("weight").Tokened("WEIGHTS").Many().Opt(),
		},
	},
	{
		Name: "cms.info", Arity: 2, Flags: ReadOnly | Fast, Since: "2.0.0",
		Summary: "Returns the dimensions and the total count of a count-min sketch.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
}
