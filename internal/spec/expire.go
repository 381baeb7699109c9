package spec

var _ = family(GroupGeneric, expireCommands)

// expireCommands read and change the deadlines of keys.
var expireCommands = []*Command{
	{
		Name: "expire", Arity: -3, Flags: Write | Fast, Since: "1.0.0",
		Summary: "Sets the time to live of a key in seconds.",
		History: []History{{"7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`."}},
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), Int("seconds"),
			OneOf("condition", Tok("nx"), Tok("xx"), Tok("gt"), Tok("lt")).Opt().From("7.0.0"),
		},
	},
	{
		Name: "pexpire", Arity: -3, Flags: Write | Fast, Since: "2.6.0",
		Summary: "Sets the time to live of a key in milliseconds.",
		History: []History{{"7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`."}},
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), Int("milliseconds"),
			OneOf("condition", Tok("nx"), Tok("xx"), Tok("gt"), Tok("lt")).Opt().From("7.0.0"),
		},
	},
	{
		Name: "expireat", Arity: -3, Flags: Write | Fast, Since: "1.2.0",
		Summary: "Sets the Unix time in seconds at which a key expires.",
		History: []History{{"7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`."}},
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), UnixTime("unix-time-seconds"),
			OneOf("condition", Tok("nx"), Tok("xx"), Tok("gt"), Tok("lt")).Opt().From("7.0.0"),
		},
	},
	{
		Name: "pexpireat", Arity: -3, Flags: Write | Fast, Since: "2.6.0",
		Summary: "Sets the Unix time in milliseconds at which a key expires.",
		History: []History{{"7.0.0", "Takes the conditions `NX`, `XX`, `GT` and `LT`."}},
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), UnixTime("unix-time-milliseconds"),
			OneOf("condition", Tok("nx"), Tok("xx"), Tok("gt"), Tok("lt")).Opt().From("7.0.0"),
		},
	},
	{
		Name: "ttl", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns the remaining time to live of a key in seconds.",
		History: []History{{"2.8.0", "Answers -2 for a missing key."}},
		Tips:    []string{"nondeterministic_output"},
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "pttl", Arity: 2, Flags: ReadOnly | Fast, Since: "2.6.0",
		Summary: "Returns the remaining time to live of a key in milliseconds.",
		History: []History{{"2.8.0", "Answers -2 for a missing key."}},
		Tips:    []string{"nondeterministic_output"},
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "expiretime", Arity: 2, Flags: ReadOnly | Fast, Since: "7.0.0",
		Summary: "Returns the Unix time in seconds at which a key expires.",
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "pexpiretime", Arity: 2, Flags: ReadOnly | Fast, Since: "7.0.0",
		Summary: "Returns the Unix time in milliseconds at which a key expires.",
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "persist", Arity: 2, Flags: Write | Fast, Since: "2.2.0",
		Summary: "Removes the time to live of a key.",
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args:    []Arg{Key("key", 0)},
	},
}
