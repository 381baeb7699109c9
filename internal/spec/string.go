package spec

var _ = family(GroupString, stringCommands)

// stringCommands read and change strings as bytes and as numbers.
var stringCommands = []*Command{
	{
		Name: "get", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns the string at a key.",
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "strlen", Arity: 2, Flags: ReadOnly | Fast, Since: "2.2.0",
		Summary: "Returns the length in bytes of a key's string value.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "mget", Arity: -2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns the string values of several keys.",
		Complexity: "O(N) in the number N of keys",
		Tips:       []string{"request_policy:multi_shard"},
		Keys:       []KeySpec{keysFrom(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "getrange", Arity: 4, Flags: ReadOnly, Since: "2.4.0",
		Summary:    "Returns the part of a string between two byte offsets.",
		Complexity: "O(N) in the length N of the part",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Int("start"), Int("end")},
	},
	{
		Name: "substr", Arity: 4, Flags: ReadOnly, Since: "1.0.0",
		Summary:         "Returns the part of a string between two byte offsets.",
		Complexity:      "O(N) in the length N of the part",
		DeprecatedSince: "2.0.0", ReplacedBy: "`GETRANGE`",
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{Key("key", 0), Int("start"), Int("end")},
	},
	{
		Name: "append", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "2.0.0",
		Summary:    "Appends to a key's string value. Creates the key if it does not exist.",
		Complexity: "O(1) amortized for short additions: strings grow with room to spare",
		Keys:       []KeySpec{keyAt(1, RW|Insert)},
		Args:       []Arg{Key("key", 0), Str("value")},
	},
	{
		Name: "setrange", Arity: 4, Flags: Write | DenyOOM, Since: "2.2.0",
		Summary: "Overwrites part of a string from a byte offset on, padding with zero bytes as " +
			"needed.",
		Complexity: "O(N) in the length N of what is written",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args:       []Arg{Key("key", 0), Int("offset"), Str("value")},
	},
	{
		Name: "set", Arity: -3, Flags: Write | DenyOOM, Since: "1.0.0",
		Summary: "Sets the string value of a key, replacing any value and its time to live.",
		History: []History{
			{"2.6.12", "Takes `EX`, `PX`, `NX` and `XX`."},
			{"6.0.0", "Takes `KEEPTTL`."},
			{"6.2.0", "Takes `GET`, `EXAT` and `PXAT`."},
			{"7.0.0", "`NX` and `GET` go together."},
			{"8.4.0", "Takes `IFEQ`, `IFNE`, `IFDEQ` and `IFDNE`."},
		},
		Keys: []KeySpec{
			keyAt(1, RW|AccessFlag|Update|VariableFlags).noted("Reads the value only with `GET` " +
				"or when it compares it"),
		},
		KeysFn: setKeys,
		Args: []Arg{
			Key("key", 0), Str("value"),
			OneOf("condition",
				Tok("nx"), Tok("xx"), Str("ifeq-value").Tokened("IFEQ").From("8.4.0"),
				Str("ifne-value").Tokened("IFNE").From("8.4.0"),
				Int("ifdeq-digest").Tokened("IFDEQ").From("8.4.0"),
				Int("ifdne-digest").Tokened("IFDNE").From("8.4.0"),
			).Opt().From("2.6.12"),
			Tok("get").Opt().From("6.2.0"),
			OneOf("expiration",
				Int("seconds").Tokened("EX").From("2.6.12"),
				Int("milliseconds").Tokened("PX").From("2.6.12"),
				UnixTime("unix-time-seconds").Tokened("EXAT").From("6.2.0"),
				UnixTime("unix-time-milliseconds").Tokened("PXAT").From("6.2.0"),
				Tok("keepttl").From("6.0.0"),
			).Opt(),
		},
	},
	{
		Name: "setnx", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary:         "Sets the string value of a key only if the key does not exist.",
		DeprecatedSince: "2.6.12", ReplacedBy: "`SET` with `NX`",
		Keys: []KeySpec{keyAt(1, OW|Insert)},
		Args: []Arg{Key("key", 0), Str("value")},
	},
	{
		Name: "setex", Arity: 4, Flags: Write | DenyOOM, Since: "2.0.0",
		Summary:         "Sets a key's string value together with a time to live in seconds.",
		DeprecatedSince: "2.6.12", ReplacedBy: "`SET` with `EX`",
		Keys: []KeySpec{keyAt(1, OW|Update)},
		Args: []Arg{Key("key", 0), Int("seconds"), Str("value")},
	},
	{
		Name: "psetex", Arity: 4, Flags: Write | DenyOOM, Since: "2.6.0",
		Summary:         "Sets a key's string value together with a time to live in milliseconds.",
		DeprecatedSince: "2.6.12", ReplacedBy: "`SET` with `PX`",
		Keys: []KeySpec{keyAt(1, OW|Update)},
		Args: []Arg{Key("key", 0), Int("milliseconds"), Str("value")},
	},
	{
		Name: "getset", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary:         "Sets a key's string value and returns the previous one.",
		DeprecatedSince: "6.2.0", ReplacedBy: "`SET` with the `!GET` argument",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args: []Arg{Key("key", 0), Str("value")},
	},
	{
		Name: "getdel", Arity: 2, Flags: Write | Fast, Since: "6.2.0",
		Summary: "Returns the string value of a key and deletes the key.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Delete)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "getex", Arity: -2, Flags: Write | Fast, Since: "6.2.0",
		Summary: "Returns the string value of a key and optionally sets or removes its time to " +
			"live.",
		Keys: []KeySpec{
			keyAt(1, RW|AccessFlag|Update).noted("Updates the time to live, not the value"),
		},
		Args: []Arg{
			Key("key", 0),
			OneOf("expiration",
				Int("seconds").Tokened("EX"), Int("milliseconds").Tokened("PX"),
				UnixTime("unix-time-seconds").Tokened("EXAT"),
				UnixTime("unix-time-milliseconds").Tokened("PXAT"), Tok("persist"),
			).Opt(),
		},
	},
	{
		Name: "mset", Arity: -3, Flags: Write | DenyOOM, Since: "1.0.1",
		Summary:    "Sets the string values of several keys.",
		Complexity: "O(N) in the number N of keys",
		Tips:       []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Keys:       []KeySpec{{Begin: At(1), Find: Range(-1, 2, 0), Access: OW | Update}},
		Args:       []Arg{Block("data", Key("key", 0), Str("value")).Many()},
	},
	{
		Name: "msetnx", Arity: -3, Flags: Write | DenyOOM, Since: "1.0.1",
		Summary:    "Sets the string values of several keys only if none of the keys exists.",
		Complexity: "O(N) in the number N of keys",
		Keys:       []KeySpec{{Begin: At(1), Find: Range(-1, 2, 0), Access: OW | Insert}},
		Args:       []Arg{Block("data", Key("key", 0), Str("value")).Many()},
	},
	{
		Name: "msetex", Arity: -4, Flags: Write | DenyOOM, Since: "8.4.0",
		Summary: "Sets the string values of several keys with an optional condition and a shared " +
			"time to live.",
		Complexity: "O(N) in the number N of keys",
		Tips:       []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Keys:       []KeySpec{{Begin: At(1), Find: KeyNum(0, 1, 2), Access: OW | Update}},
		Args: []Arg{
			Int("numkeys"), Block("data", Key("key", 0), Str("value")).Many(),
			OneOf("condition", Tok("nx"), Tok("xx")).Opt(),
			OneOf("expiration",
				Int("seconds").Tokened("EX"), Int("milliseconds").Tokened("PX"),
				UnixTime("unix-time-seconds").Tokened("EXAT"),
				UnixTime("unix-time-milliseconds").Tokened("PXAT"), Tok("keepttl"),
			).Opt(),
		},
	},
	{
		Name: "incr", Arity: 2, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Increments the integer value of a key by one.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "decr", Arity: 2, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Decrements the integer value of a key by one.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "incrby", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Increments the integer value of a key by a number.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:    []Arg{Key("key", 0), Int("increment")},
	},
	{
		Name: "decrby", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Decrements the integer value of a key by a number.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:    []Arg{Key("key", 0), Int("decrement")},
	},
	{
		Name: "incrbyfloat", Arity: 3, Flags: Write | DenyOOM | Fast, Since: "2.6.0",
		Summary: "Increments the numeric value of a key by a floating-point number.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:    []Arg{Key("key", 0), Dbl("increment")},
	},
	{
		Name: "delex", Arity: -2, Flags: Write | Fast, Since: "8.4.0",
		Summary:    "Deletes a key if its string value, or the digest of it, meets a condition.",
		Complexity: "O(1); O(N) in the length N of the string when digests are compared",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args: []Arg{
			Key("key", 0),
			OneOf("condition",
				Str("ifeq-value").Tokened("IFEQ"), Str("ifne-value").Tokened("IFNE"),
				Int("ifdeq-digest").Tokened("IFDEQ"), Int("ifdne-digest").Tokened("IFDNE"),
			).Opt(),
		},
	},
	{
		Name: "delifeq", Arity: 3, Flags: Write | Fast, Since: "9.0.0",
		Summary: "Deletes a key if its string value equals the given one.",
		Keys:    []KeySpec{keyAt(1, RM|Delete)},
		Args:    []Arg{Key("key", 0), Str("value")},
	},
	{
		Name: "digest", Arity: 2, Flags: ReadOnly | Fast, Since: "8.4.0",
		Summary:    "Returns the XXH3 digest of a key's string value in hexadecimal.",
		Complexity: "O(N) in the length N of the string",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0)},
	},
	{
		Name: "increx", Arity: -2, Flags: Write | DenyOOM | Fast, Since: "8.8.0",
		Summary: "Increments the number at a key within bounds and optionally sets its time to " +
			"live.",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args: []Arg{
			Key("key", 0),
			OneOf("increment",
				Dbl("float").Tokened("BYFLOAT"), Int("integer").Tokened("BYINT"),
			).Opt(),
			Str("lowerbound").Tokened("LBOUND").Opt(), Str("upperbound").Tokened("UBOUND").Opt(),
			Tok("saturate").Opt(),
			OneOf("expiration",
				Int("seconds").Tokened("EX"), Int("milliseconds").Tokened("PX"),
				UnixTime("unix-time-seconds").Tokened("EXAT"),
				UnixTime("unix-time-milliseconds").Tokened("PXAT"), Tok("persist"),
			).Opt(),
			Tok("enx").Opt(),
		},
	},
	{
		Name: "lcs", Arity: -3, Flags: ReadOnly, Since: "7.0.0",
		Summary:    "Returns the longest common subsequence of two strings.",
		Complexity: "O(N*M) in the lengths N and M of the strings",
		Keys:       []KeySpec{{Begin: At(1), Find: Range(1, 1, 0), Access: RO | AccessFlag}},
		Args: []Arg{
			Key("key1", 0), Key("key2", 0), Tok("len").Opt(), Tok("idx").Opt(),
			Int("min-match-len").Tokened("MINMATCHLEN").Opt(), Tok("withmatchlen").Opt(),
		},
	},
}

// setKeys returns how SET uses its key: it reads it only with GET or to compare the value.
func setKeys(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
	access := OW | Update
	for _, arg := range argv[min(3, len(argv)):] {
		for _, option := range []string{"GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"} {
			if is(arg, option) {
				access = RW | AccessFlag | Update
			}
		}
	}
	return append(refs, KeyRef{Pos: 1, Access: access}), nil
}
