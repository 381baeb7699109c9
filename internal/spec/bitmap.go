package spec

var _ = family(GroupBitmap, bitmapCommands)

// bitmapCommands treat strings as bits and as integers of any width. Bit 0 is the most significant
// bit of the first byte.
var bitmapCommands = []*Command{
	{
		Name: "setbit", Arity: 4, Flags: Write | DenyOOM, Since: "2.2.0",
		Summary: "Sets or clears the bit at an offset of a string and returns its previous " +
			"value.",
		Keys: []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args: []Arg{Key("key", 0), Int("offset"), Int("value")},
	},
	{
		Name: "getbit", Arity: 3, Flags: ReadOnly | Fast, Since: "2.2.0",
		Summary: "Returns the bit at an offset of a string.",
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0), Int("offset")},
	},
	{
		Name: "bitcount", Arity: -2, Flags: ReadOnly, Since: "2.6.0",
		Summary:    "Counts the set bits of a string, or of a range of it.",
		Complexity: "O(N)",
		History:    []History{{"7.0.0", "Takes `BYTE` and `BIT`."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0),
			Block("range",
				Int("start"), Int("end"),
				OneOf("unit", Tok("byte"), Tok("bit")).Opt().From("7.0.0"),
			).Opt(),
		},
	},
	{
		Name: "bitpos", Arity: -3, Flags: ReadOnly, Since: "2.8.7",
		Summary:    "Returns the position of the first set or clear bit of a string.",
		Complexity: "O(N)",
		History:    []History{{"7.0.0", "Takes `BYTE` and `BIT`."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Int("bit"),
			Block("range",
				Int("start"),
				Block("end-unit-block",
					Int("end"), OneOf("unit", Tok("byte"), Tok("bit")).Opt().From("7.0.0"),
				).Opt(),
			).Opt(),
		},
	},
	{
		Name: "bitop", Arity: -4, Flags: Write | DenyOOM, Since: "2.6.0",
		Summary:    "Combines strings with a bitwise operation and stores the result.",
		Complexity: "O(N)",
		History:    []History{{"8.2.0", "Takes `DIFF`, `DIFF1`, `ANDOR` and `ONE`."}},
		Keys:       []KeySpec{keyAt(2, OW|Update), keysFrom(3, RO|AccessFlag)},
		Args: []Arg{
			OneOf("operation",
				Tok("and"), Tok("or"), Tok("xor"), Tok("not"), Tok("diff").From("8.2.0"),
				Tok("diff1").From("8.2.0"), Tok("andor").From("8.2.0"), Tok("one").From("8.2.0"),
			),
			Key("destkey", 0), Key("key", 1).Many(),
		},
	},
	{
		Name: "bitfield", Arity: -2, Flags: Write | DenyOOM, Since: "3.2.0",
		Summary:    "Reads, sets and increments integers of arbitrary width within a string.",
		Complexity: "O(1) for each operation",
		Keys: []KeySpec{
			keyAt(1, RW|AccessFlag|Update|VariableFlags).noted("Only reads the value when every " +
				"operation is `GET`"),
		},
		KeysFn: bitfieldKeys,
		Args: []Arg{
			Key("key", 0),
			OneOf("operation",
				Block("get-block", Str("encoding"), Int("offset")).Tokened("GET"),
				Block("write",
					OneOf("overflow-block",
						Tok("wrap"), Tok("sat"), Tok("fail"),
					).Tokened("OVERFLOW").Opt(),
					OneOf("write-operation",
						Block("set-block",
							Str("encoding"), Int("offset"), Int("value"),
						).Tokened("SET"),
						Block("incrby-block",
							Str("encoding"), Int("offset"), Int("increment"),
						).Tokened("INCRBY"),
					),
				),
			).Many().Opt(),
		},
	},
	{
		Name: "bitfield_ro", Arity: -2, Flags: ReadOnly | Fast, Since: "6.0.0",
		Summary:    "Reads integers of arbitrary width within a string.",
		Complexity: "O(1) for each operation",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0),
			Block("get-block",
				Str("encoding"), Int("offset"),
			).Tokened("GET").ManyTokens().Opt(),
		},
	},
}

// bitfieldKeys returns how BITFIELD uses its key: it only reads it if every operation is a GET.
func bitfieldKeys(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
	for i := 2; i < len(argv); i++ {
		switch left := len(argv) - i - 1; {
		case is(argv[i], "GET") && left >= 2:
			i += 2
		case is(argv[i], "OVERFLOW") && left >= 1:
			i++
		default:
			return append(refs, KeyRef{Pos: 1, Access: RW | AccessFlag | Update}), nil
		}
	}
	return append(refs, KeyRef{Pos: 1, Access: RO | AccessFlag}), nil
}
