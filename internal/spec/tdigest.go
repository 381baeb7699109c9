package spec

var _ = family(GroupModule, tdigestCommands)

// tdigestCommands are RedisBloom's commands for t-digests.
var tdigestCommands = []*Command{
	{
		Name: "tdigest.create", Arity: -2, Flags: Write | DenyOOM, Since: "2.4.0",
		Summary: "Creates an empty t-digest.",
		Keys:    []KeySpec{keyAt(1, RW|Insert)},
		Args:    []Arg{Key("key", 0), Int("compression").Tokened("COMPRESSION").Opt()},
	},
	{
		Name: "tdigest.add", Arity: -3, Flags: Write | DenyOOM, Since: "2.4.0",
		Summary:    "Adds values to a t-digest.",
		Complexity: "O(N) in the number N of values",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.reset", Arity: 2, Flags: Write | DenyOOM, Since: "2.4.0",
		Summary: "Removes all values from a t-digest.",
		Keys:    []KeySpec{keyAt(1, RW|Delete)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "tdigest.merge", Arity: -4, Flags: Write | DenyOOM, Since: "2.4.0",
		Summary:    "Merges t-digests into one. Creates the key if it does not exist.",
		Complexity: "O(N * K) in the number N of nodes and the number K of sources",
		Keys:       []KeySpec{keyAt(1, RW|Insert), countedKeys(2, RO|AccessFlag)},
		Args: []Arg{
			Key("destination-key", 0), Int("numkeys"), Key("source-key", 1).Many(),
			Int("compression").Tokened("COMPRESSION").Opt(), Tok("override").Opt(),
		},
	},
	{
		Name: "tdigest.min", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.0",
		Summary: "Returns the lowest value of a t-digest.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "tdigest.max", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.0",
		Summary: "Returns the highest value of a t-digest.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "tdigest.quantile", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated values at quantiles.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("quantile").Many()},
	},
	{
		Name: "tdigest.cdf", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated fractions of values below the given ones.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.rank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated number of values below the given ones.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.revrank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated number of values above the given ones.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.byrank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated values at ranks, lowest first.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("rank").Many()},
	},
	{
		Name: "tdigest.byrevrank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated values at ranks, highest first.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("reverse_rank").Many()},
	},
	{
		Name: "tdigest.trimmed_mean", Arity: 4, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the estimated mean of the values between two quantiles.",
		Complexity: "O(K) in the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("low_cut_quantile"), Dbl("high_cut_quantile")},
	},
	{
		Name: "tdigest.info", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.0",
		Summary: "Returns the parameters and the fill of a t-digest.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
}
