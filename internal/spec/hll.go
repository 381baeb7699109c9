package spec

var _ = family(GroupHyperLogLog, hllCommands)

// hllCommands estimate the number of distinct elements.
var hllCommands = []*Command{
	{
		Name: "pfadd", Arity: -2, Flags: Write | DenyOOM | Fast, Since: "2.8.9",
		Summary:    "Adds elements to a HyperLogLog. Creates the key if it does not exist.",
		Complexity: "O(1) for each element",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("element").Many().Opt()},
	},
	{
		Name: "pfcount", Arity: -2, Flags: ReadOnly | MayReplicate, Since: "2.8.9",
		Summary: "Returns the estimated number of distinct elements in one or more " +
			"HyperLogLogs.",
		Complexity: "O(1) for one key, O(N) for the union of N keys",
		Keys: []KeySpec{
			keysFrom(1, RW|AccessFlag).noted("Keeps the estimate in the value of a single key"),
		},
		Args: []Arg{Key("key", 0).Many()},
	},
	{
		Name: "pfmerge", Arity: -2, Flags: Write | DenyOOM, Since: "2.8.9",
		Summary:    "Merges HyperLogLogs and stores the result.",
		Complexity: "O(N) in the number N of keys",
		Keys:       []KeySpec{keyAt(1, RW|AccessFlag|Insert), keysFrom(2, RO|AccessFlag)},
		Args:       []Arg{Key("destkey", 0), Key("sourcekey", 1).Many().Opt()},
	},
	{
		Name: "pfdebug", Arity: 3, Flags: Write | DenyOOM | Admin, Since: "2.8.9",
		Summary:    "Returns the registers, opcodes or encoding of a HyperLogLog.",
		Complexity: "O(1): the registers are always as many",
		DocFlags:   []string{"syscmd"},
		Keys:       []KeySpec{keyAt(2, RW|AccessFlag)},
		Args:       []Arg{Str("subcommand"), Key("key", 0)},
	},
	{
		Name: "pfselftest", Arity: 1, Flags: Admin, Since: "2.8.9",
		Summary:  "Tests the HyperLogLog implementation.",
		DocFlags: []string{"syscmd"},
	},
}
