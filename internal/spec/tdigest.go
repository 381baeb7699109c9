package spec

// tdigestCommands are those of RedisBloom for t-digests.
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
		Summary: "Empties a t-digest.",
		Keys:    []KeySpec{keyAt(1, RW|Delete)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "tdigest.merge", Arity: -4, Flags: Write | DenyOOM, Since: "2.4.0",
		Summary:    "Adds the values of t-digests to one, which is made if it is missing.",
		Complexity: "O(N * K) in the number N of nodes and the number K of sources",
		Keys:       []KeySpec{keyAt(1, RW|Insert), countedKeys(2, RO|AccessFlag)},
		Args: []Arg{
			Key("destination-key", 0), Int("numkeys"), Key("source-key", 1).Many(),
			Int("compression").Tokened("COMPRESSION").Opt(), Tok("override").Opt(),
		},
	},
	{
		Name: "tdigest.min", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.0",
		Summary: "Returns the least value of a t-digest.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "tdigest.max", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.0",
		Summary: "Returns the greatest value of a t-digest.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "tdigest.quantile", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates the values below which shares of all values lie.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("quantile").Many()},
	},
	{
		Name: "tdigest.cdf", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates the shares of values that are below values.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.rank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates how many values are below values.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.revrank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates how many values are above values.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("value").Many()},
	},
	{
		Name: "tdigest.byrank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates the values at ranks, the least value first.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("rank").Many()},
	},
	{
		Name: "tdigest.byrevrank", Arity: -3, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates the values at ranks, the greatest value first.",
		Complexity: "O(N * K) in the number N of values asked for and the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("reverse_rank").Many()},
	},
	{
		Name: "tdigest.trimmed_mean", Arity: 4, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Estimates the mean of the values between two quantiles.",
		Complexity: "O(K) in the number K of nodes",
		Keys:       []KeySpec{keyAt(1, RO)},
		Args:       []Arg{Key("key", 0), Dbl("low_cut_quantile"), Dbl("high_cut_quantile")},
	},
	{
		Name: "tdigest.info", Arity: 2, Flags: ReadOnly | Fast, Since: "2.4.0",
		Summary: "Shows what a t-digest was made for and what it holds.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
}
