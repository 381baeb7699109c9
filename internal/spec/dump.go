package spec

var _ = family(GroupGeneric, dumpCommands)

// dumpCommands convert values to bytes and back.
var dumpCommands = []*Command{
	{
		Name: "dump", Arity: 2, Flags: ReadOnly, Since: "2.6.0",
		Summary:    "Returns the value of a key in serialized form for RESTORE.",
		Complexity: "O(N) in the size of the value",
		Tips:       []string{"nondeterministic_output"},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0)},
	},
	{
		Name: "restore", Arity: -4, Flags: Write | DenyOOM, Since: "2.6.0",
		Categories: []string{"dangerous"},
		Summary:    "Creates a key from a value that DUMP returned.",
		Complexity: "O(N) in the size of the value; O(N log N) for a sorted set",
		History: []History{
			{"3.0.0", "Takes `REPLACE`."},
			{"5.0.0", "Takes `ABSTTL`."},
			{"5.0.0", "Takes `IDLETIME` and `FREQ`."},
		},
		Keys: []KeySpec{keyAt(1, OW|Update)},
		Args: []Arg{
			Key("key", 0), Int("ttl"), Str("serialized-value"), Tok("replace").Opt().From("3.0.0"),
			Tok("absttl").Opt().From("5.0.0"),
			Int("seconds").Tokened("IDLETIME").Opt().From("5.0.0"),
			Int("frequency").Tokened("FREQ").Opt().From("5.0.0"),
		},
	},
	{
		Name: "restore-asking", Arity: -4, Flags: Write | DenyOOM | Asking, Group: GroupServer,
		Since: "3.0.0", Categories: []string{"keyspace", "dangerous"},
		Summary:    "Creates a key that a cluster node hands over. Used between nodes.",
		Complexity: "O(N) in the size of the value; O(N log N) for a sorted set",
		DocFlags:   []string{"syscmd"},
		History: []History{
			{"3.0.0", "Takes `REPLACE`."},
			{"5.0.0", "Takes `ABSTTL`."},
			{"5.0.0", "Takes `IDLETIME` and `FREQ`."},
		},
		Keys: []KeySpec{keyAt(1, OW|Update)},
		Args: []Arg{
			Key("key", 0), Int("ttl"), Str("serialized-value"), Tok("replace").Opt().From("3.0.0"),
			Tok("absttl").Opt().From("5.0.0"),
			Int("seconds").Tokened("IDLETIME").Opt().From("5.0.0"),
			Int("frequency").Tokened("FREQ").Opt().From("5.0.0"),
		},
	},
}
