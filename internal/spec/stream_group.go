package spec

var _ = family(GroupStream, streamGroupCommands)

// These arguments belong to both XREAD and XREADGROUP.
var (
	maxCountArg = Int("maxcount").Tokened("MAXCOUNT").Opt().From("8.10.0")
	maxSizeArg  = Int("maxsize").Tokened("MAXSIZE").Opt().From("8.10.0")
	streamsArg  = Block("streams", Key("key", 0).Many(), Str("id").Many()).Tokened("STREAMS")
)

// streamGroupCommands are those of consumer groups.
var streamGroupCommands = []*Command{
	{
		Name: "xgroup", Arity: -2, Since: "5.0.0",
		Summary:    "Manages consumer groups.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "create", Arity: -5, Flags: Write | DenyOOM, Since: "5.0.0",
				Summary: "Creates a consumer group.",
				History: []History{{"7.0.0", "Takes `ENTRIESREAD`."}},
				Keys:    []KeySpec{keyAt(2, RW|Insert)},
				Args: []Arg{
					Key("key", 0), Str("group"), groupIDArg, Tok("mkstream").Opt(), entriesReadArg,
				},
			},
			{
				Name: "setid", Arity: -5, Flags: Write, Since: "5.0.0",
				Summary: "Sets the ID of the last entry that a consumer group was delivered.",
				History: []History{{"7.0.0", "Takes `ENTRIESREAD`."}},
				Keys:    []KeySpec{keyAt(2, RW|Update)},
				Args:    []Arg{Key("key", 0), Str("group"), groupIDArg, entriesReadArg},
			},
			{
				Name: "destroy", Arity: 4, Flags: Write, Since: "5.0.0",
				Summary:    "Deletes a consumer group.",
				Complexity: "O(N) in the number N of its pending entries",
				Keys:       []KeySpec{keyAt(2, RW|Delete)},
				Args:       []Arg{Key("key", 0), Str("group")},
			},
			{
				Name: "createconsumer", Arity: 5, Flags: Write | DenyOOM, Since: "6.2.0",
				Summary: "Creates a consumer in a consumer group.",
				Keys:    []KeySpec{keyAt(2, RW|Insert)},
				Args:    []Arg{Key("key", 0), Str("group"), Str("consumer")},
			},
			{
				Name: "delconsumer", Arity: 5, Flags: Write, Since: "5.0.0",
				Summary: "Deletes a consumer from a consumer group.",
				Keys:    []KeySpec{keyAt(2, RW|Delete)},
				Args:    []Arg{Key("key", 0), Str("group"), Str("consumer")},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "5.0.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
	{
		Name: "xreadgroup", Arity: -7, Flags: Write | Blocking, Since: "5.0.0",
		Summary: "Returns entries of several streams that are new to a consumer group, or those " +
			"that a consumer has pending. Blocks until there are some.",
		Complexity: "O(M) for each stream, in the number M of entries that are returned",
		History: []History{
			{"8.4.0", "Takes `CLAIM`."},
			{"8.10.0", "Takes `MAXCOUNT` and `MAXSIZE`."},
		},
		Keys: []KeySpec{
			{Begin: After("STREAMS", 4), Find: Range(-1, 1, 2), Access: RO | AccessFlag},
		},
		Args: []Arg{
			Block("group-block", Str("group"), Str("consumer")).Tokened("GROUP"),
			Int("count").Tokened("COUNT").Opt(), maxCountArg, maxSizeArg,
			Int("milliseconds").Tokened("BLOCK").Opt(),
			Int("min-idle-time").Tokened("CLAIM").Opt().From("8.4.0"),
			Tok("noack").Opt(), streamsArg,
		},
	},
	{
		Name: "xack", Arity: -4, Flags: Write | Fast, Since: "5.0.0",
		Summary:    "Acknowledges entries and returns how many were pending.",
		Complexity: "O(1) for each ID",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args:       []Arg{Key("key", 0), Str("group"), Str("id").Many()},
	},
	{
		Name: "xackdel", Arity: -6, Flags: Write | Fast, Since: "8.2.0",
		Summary:    "Acknowledges entries and deletes them from the stream.",
		Complexity: "O(1) for each ID",
		Keys:       []KeySpec{keyAt(1, RW|Update|Delete)},
		Args:       []Arg{Key("key", 0), Str("group"), refsArg, idsArg},
	},
	{
		Name: "xnack", Arity: -7, Flags: Write | Fast, Since: "8.8.0",
		Summary:    "Gives pending entries back to their group, to be delivered again at once.",
		Complexity: "O(1) for each ID",
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), Str("group"), OneOf("mode", Tok("silent"), Tok("fail"), Tok("fatal")),
			idsArg, Int("count").Tokened("RETRYCOUNT").Opt(), Tok("force").Opt(),
		},
	},
	{
		Name: "xpending", Arity: -3, Flags: ReadOnly, Since: "5.0.0",
		Summary: "Returns the pending entries of a consumer group, or a summary of them.",
		Complexity: "O(N) in the number N of entries that are returned, or passed because of " +
			"IDLE; the summary is O(N) in the number of consumers",
		Tips:    []string{"nondeterministic_output"},
		History: []History{{"6.2.0", "Takes `IDLE`, and a bound may be exclusive."}},
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Str("group"),
			Block("filters", Int("min-idle-time").Tokened("IDLE").From("6.2.0").Opt(), Str("start"),
				Str("end"), Int("count"), Str("consumer").Opt()).Opt(),
		},
	},
	{
		Name: "xclaim", Arity: -6, Flags: Write | Fast, Since: "5.0.0",
		Summary: "Makes a consumer the owner of pending entries, as if they were delivered to " +
			"it.",
		Complexity: "O(log N) in the number N of pending entries",
		Tips:       []string{"nondeterministic_output"},
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), Str("group"), Str("consumer"), Str("min-idle-time"), Str("id").Many(),
			Int("ms").Tokened("IDLE").Opt(),
			UnixTime("unix-time-milliseconds").Tokened("TIME").Opt(),
			Int("count").Tokened("RETRYCOUNT").Opt(), Tok("force").Opt(), Tok("justid").Opt(),
			Str("lastid").Tokened("LASTID").Opt(),
		},
	},
	{
		Name: "xautoclaim", Arity: -6, Flags: Write | Fast, Since: "6.2.0",
		Summary: "Makes a consumer the owner of the next entries that have been pending for long " +
			"enough.",
		Complexity: "O(1) if COUNT is small",
		Tips:       []string{"nondeterministic_output"},
		History:    []History{{"7.0.0", "The reply lists pending entries that were deleted."}},
		Keys:       []KeySpec{keyAt(1, RW|Delete)},
		Args: []Arg{
			Key("key", 0), Str("group"), Str("consumer"), Str("min-idle-time"), Str("start"),
			Int("count").Tokened("COUNT").Opt(), Tok("justid").Opt(),
		},
	},
}

// These arguments belong to both XGROUP CREATE and XGROUP SETID.
var (
	groupIDArg     = OneOf("id-selector", Str("id"), Tok("new-id").Tokened("$"))
	entriesReadArg = Int("entriesread").Tokened("ENTRIESREAD").Shown("entries-read").Opt()
)
