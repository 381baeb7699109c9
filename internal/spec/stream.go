package spec

var _ = family(GroupStream, streamCommands)

// These arguments belong to several commands of streams.
var (
	// refsArg says what becomes of references to entries that are deleted.
	refsArg = OneOf("condition", Tok("keepref"), Tok("delref"), Tok("acked")).Opt().From("8.2.0")
	idsArg  = Block("ids", Int("numids"), Str("id").Many()).Tokened("IDS")
	trimArg = Block("trim",
		OneOf("strategy", Tok("maxlen"), Tok("minid").From("6.2.0")),
		OneOf("operator", Tok("equal").Tokened("="), Tok("approximately").Tokened("~")).Opt(),
		Str("threshold"), Int("count").Tokened("LIMIT").From("6.2.0").Opt())
	idmpArg = OneOf("idmp",
		Block("idmpauto", Str("pid")).Tokened("IDMPAUTO"),
		Block("idmp-explicit", Str("pid"), Str("iid")).Tokened("IDMP")).Opt().From("8.6.0")
)

// streamCommands add, remove and return entries of streams.
var streamCommands = []*Command{
	{
		Name: "xadd", Arity: -5, Flags: Write | DenyOOM | Fast, Since: "5.0.0",
		Summary:    "Appends an entry to a stream, which it creates if there is none.",
		Complexity: "O(1), and O(N) in the number N of entries that are trimmed",
		Tips:       []string{"nondeterministic_output"},
		History: []History{
			{"6.2.0", "Takes `NOMKSTREAM`, `MINID` and `LIMIT`."},
			{"7.0.0", "Takes IDs of the form `<ms>-*`."},
			{"8.2.0", "Takes `KEEPREF`, `DELREF` and `ACKED`."},
			{"8.6.0", "Takes `IDMP` and `IDMPAUTO`."},
		},
		Keys: []KeySpec{keyAt(1, RW|Update).noted("an update, because the command may trim")},
		Args: []Arg{
			Key("key", 0), Tok("nomkstream").From("6.2.0").Opt(), refsArg, idmpArg, trimArg.Opt(),
			OneOf("id-selector", Tok("auto-id").Tokened("*"), Str("id")),
			Block("data", Str("field"), Str("value")).Many(),
		},
	},
	{
		Name: "xtrim", Arity: -4, Flags: Write, Since: "5.0.0",
		Summary:    "Deletes the oldest entries of a stream.",
		Complexity: "O(N) in the number N of entries that are deleted, whole nodes at a time",
		Tips:       []string{"nondeterministic_output"},
		History: []History{
			{"6.2.0", "Takes `MINID` and `LIMIT`."},
			{"8.2.0", "Takes `KEEPREF`, `DELREF` and `ACKED`."},
		},
		Keys: []KeySpec{keyAt(1, RW|Delete)},
		Args: []Arg{Key("key", 0), trimArg, refsArg},
	},
	{
		Name: "xdel", Arity: -3, Flags: Write | Fast, Since: "5.0.0",
		Summary:    "Deletes entries of a stream and returns how many there were.",
		Complexity: "O(1) for each entry, whatever the length of the stream",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), Str("id").Many()},
	},
	{
		Name: "xdelex", Arity: -5, Flags: Write | Fast, Since: "8.2.0",
		Summary: "Deletes entries of a stream, with the references that groups have to them or " +
			"only if there are none.",
		Complexity: "O(1) for each entry, whatever the length of the stream",
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args:       []Arg{Key("key", 0), refsArg, idsArg},
	},
	{
		Name: "xlen", Arity: 2, Flags: ReadOnly | Fast, Since: "5.0.0",
		Summary: "Returns the number of entries of a stream.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "xrange", Arity: -4, Flags: ReadOnly, Since: "5.0.0",
		Summary:    "Returns the entries of a stream between two IDs.",
		Complexity: "O(N) in the number N of entries that are returned",
		History:    []History{{"6.2.0", "A bound may be exclusive."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Str("start"), Str("end"), Int("count").Tokened("COUNT").Opt(),
		},
	},
	{
		Name: "xrevrange", Arity: -4, Flags: ReadOnly, Since: "5.0.0",
		Summary:    "Returns the entries of a stream between two IDs, the last one first.",
		Complexity: "O(N) in the number N of entries that are returned",
		History:    []History{{"6.2.0", "A bound may be exclusive."}},
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Str("end"), Str("start"), Int("count").Tokened("COUNT").Opt(),
		},
	},
	{
		Name: "xread", Arity: -4, Flags: ReadOnly | Blocking, Since: "5.0.0",
		Summary: "Returns entries of several streams that follow the given IDs. Blocks until " +
			"there are some.",
		Complexity: noComplexity,
		History:    []History{{"8.10.0", "Takes `MAXCOUNT` and `MAXSIZE`."}},
		Keys: []KeySpec{
			{Begin: After("STREAMS", 1), Find: Range(-1, 1, 2), Access: RO | AccessFlag},
		},
		Args: []Arg{
			Int("count").Tokened("COUNT").Opt(), maxCountArg, maxSizeArg,
			Int("milliseconds").Tokened("BLOCK").Opt(), streamsArg,
		},
	},
	{
		Name: "xsetid", Arity: -3, Flags: Write | DenyOOM | Fast, Since: "5.0.0",
		Summary: "Sets the last ID of a stream. Replicas and the append-only file are sent it.",
		History: []History{{"7.0.0", "Takes `ENTRIESADDED` and `MAXDELETEDID`."}},
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), Str("last-id"),
			Int("entries-added").Tokened("ENTRIESADDED").From("7.0.0").Opt(),
			Str("max-deleted-id").Tokened("MAXDELETEDID").From("7.0.0").Opt(),
		},
	},
	{
		Name: "xcfgset", Arity: -2, Flags: Write | Fast, Since: "8.6.0",
		Summary: "Sets how long and how many idempotent IDs of a stream's producers are kept.",
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), Int("duration").Tokened("IDMP-DURATION").Opt(),
			Int("maxsize").Tokened("IDMP-MAXSIZE").Opt(),
		},
	},
	{
		Name: "xidmprecord", Arity: 5, Flags: Write | DenyOOM | Fast, Since: "8.6.2",
		Summary: "Records the idempotent ID of an entry. A rewritten append-only file has it.",
		Keys:    []KeySpec{keyAt(1, RW|Update)},
		Args:    []Arg{Key("key", 0), Str("pid"), Str("iid"), Str("stream-id")},
	},
}
