package spec

var _ = family(GroupGeneric, genericCommands)

// genericCommands work on keys of any type, and on whole databases.
var genericCommands = []*Command{
	{
		Name: "del", Arity: -2, Flags: Write, Since: "1.0.0",
		Summary:    "Deletes keys.",
		Complexity: "O(N) in the number of keys; big values are freed in slices",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:       []KeySpec{keysFrom(1, RM|Delete)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "unlink", Arity: -2, Flags: Write | Fast, Since: "4.0.0",
		Summary:    "Deletes keys and frees their memory in the background.",
		Complexity: "O(1) a key",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:       []KeySpec{keysFrom(1, RM|Delete)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "exists", Arity: -2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary:    "Returns how many of the given keys exist.",
		Complexity: "O(N) in the number of keys",
		History:    []History{{"3.0.3", "Takes several keys."}},
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:       []KeySpec{keysFrom(1, RO)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "touch", Arity: -2, Flags: ReadOnly | Fast, Since: "3.2.1",
		Summary:    "Updates the access time of keys and returns how many exist.",
		Complexity: "O(N) in the number of keys",
		Tips:       []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:       []KeySpec{keysFrom(1, RO)},
		Args:       []Arg{Key("key", 0).Many()},
	},
	{
		Name: "type", Arity: 2, Flags: ReadOnly | Fast, Since: "1.0.0",
		Summary: "Returns the type of a key's value.",
		Keys:    []KeySpec{keyAt(1, RO)},
		Args:    []Arg{Key("key", 0)},
	},
	{
		Name: "rename", Arity: 3, Flags: Write, Since: "1.0.0",
		Summary: "Renames a key, overwriting the new name.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, OW|Update)},
		Args:    []Arg{Key("key", 0), Key("newkey", 1)},
	},
	{
		Name: "renamenx", Arity: 3, Flags: Write | Fast, Since: "1.0.0",
		Summary: "Renames a key only if the new name does not exist.",
		History: []History{{"3.2.0", "Equal names are no error any more."}},
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Delete), keyAt(2, OW|Insert)},
		Args:    []Arg{Key("key", 0), Key("newkey", 1)},
	},
	{
		Name: "copy", Arity: -3, Flags: Write | DenyOOM, Since: "6.2.0",
		Databases:  SelectedAndDB,
		Summary:    "Copies the value of a key to another key.",
		Complexity: "O(1) for a string, O(N) in the number of elements otherwise",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag), keyAt(2, OW|Update)},
		Args: []Arg{
			Key("source", 0), Key("destination", 1), Int("destination-db").Tokened("DB").Opt(),
			Tok("replace").Opt(),
		},
	},
	{
		Name: "move", Arity: -3, Flags: Write | Fast, Since: "1.0.0",
		Databases: SelectedAndTo,
		Summary:   "Moves a key into another database.",
		History:   []History{{"9.2.0", "Takes `REPLACE`, as Valkey does."}},
		Keys:      []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args:      []Arg{Key("key", 0), Int("db"), Tok("replace").Opt().From("9.2.0")},
	},
	{
		Name: "randomkey", Arity: 1, Flags: ReadOnly, Since: "1.0.0",
		Summary: "Returns a random key name from the selected database.",
		Tips: []string{
			"request_policy:all_shards", "response_policy:special", "nondeterministic_output",
		},
	},
	{
		Name: "swapdb", Arity: 3, Flags: Write | Fast, Group: GroupServer, Since: "4.0.0",
		Databases:  TwoNamedDBs,
		Categories: []string{"keyspace", "dangerous"},
		Summary:    "Exchanges two databases for all clients.",
		Complexity: "O(N) in the number of clients that watch or wait for keys of either",
		Args:       []Arg{Int("index1"), Int("index2")},
	},
	{
		Name: "dbsize", Arity: 1, Flags: ReadOnly | Fast, Group: GroupServer, Since: "1.0.0",
		Categories: []string{"keyspace"},
		Summary:    "Returns the number of keys in the selected database.",
		Tips:       []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		Name: "flushdb", Arity: -1, Flags: Write, Group: GroupServer, Since: "1.0.0",
		Categories: []string{"keyspace", "dangerous"},
		Summary:    "Deletes all keys of the selected database.",
		Complexity: "O(N) in the number of its keys",
		History:    []History{{"4.0.0", "Takes `ASYNC`."}, {"6.2.0", "Takes `SYNC`."}},
		Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Args: []Arg{
			OneOf("flush-type", Tok("async").From("4.0.0"), Tok("sync").From("6.2.0")).Opt(),
		},
	},
	{
		Name: "flushall", Arity: -1, Flags: Write, Group: GroupServer, Since: "1.0.0",
		Databases:  EveryDB,
		Categories: []string{"keyspace", "dangerous"},
		Summary:    "Deletes all keys of all databases.",
		Complexity: "O(N) in the number of keys",
		History:    []History{{"4.0.0", "Takes `ASYNC`."}, {"6.2.0", "Takes `SYNC`."}},
		Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Args: []Arg{
			OneOf("flush-type", Tok("async").From("4.0.0"), Tok("sync").From("6.2.0")).Opt(),
		},
	},
	{
		Name: "object", Arity: -2, Since: "2.2.3",
		Summary:    "Inspects how values are stored.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "encoding", Arity: 3, Flags: ReadOnly, Since: "2.2.3",
				Summary: "Returns the internal encoding of a value.",
				Tips:    []string{"nondeterministic_output"},
				Keys:    []KeySpec{keyAt(2, RO)},
				Args:    []Arg{Key("key", 0)},
			},
			{
				Name: "freq", Arity: 3, Flags: ReadOnly, Since: "4.0.0",
				Summary: "Returns the logarithmic access counter of a key, under an LFU policy.",
				Tips:    []string{"nondeterministic_output"},
				Keys:    []KeySpec{keyAt(2, RO)},
				Args:    []Arg{Key("key", 0)},
			},
			{
				Name: "idletime", Arity: 3, Flags: ReadOnly, Since: "2.2.3",
				Summary: "Returns the seconds since a key was last used.",
				Tips:    []string{"nondeterministic_output"},
				Keys:    []KeySpec{keyAt(2, RO)},
				Args:    []Arg{Key("key", 0)},
			},
			{
				Name: "refcount", Arity: 3, Flags: ReadOnly, Since: "2.2.3",
				Summary: "Returns the reference count of a value, which is always 1.",
				Tips:    []string{"nondeterministic_output"},
				Keys:    []KeySpec{keyAt(2, RO)},
				Args:    []Arg{Key("key", 0)},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.2.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
	{
		Name: "wait", Arity: 3, Flags: Blocking, Since: "3.0.0", Categories: []string{"connection"},
		Summary: "Blocks until replicas have acknowledged the connection's writes.",
		Tips:    []string{"request_policy:all_shards", "response_policy:agg_min"},
		Args:    []Arg{Int("numreplicas"), Int("timeout")},
	},
}
