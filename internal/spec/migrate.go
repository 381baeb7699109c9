package spec

var _ = family(GroupGeneric, migrateCommands)

// migrateCommands move keys to other servers.
var migrateCommands = []*Command{
	{
		Name: "migrate", Arity: -6, Flags: Write | TakesLocalKeys,
		Since: "2.6.0", Categories: []string{"dangerous"},
		Summary: "Moves keys to another server.",
		Complexity: "O(N) in the size of the values; everybody waits until the other server has " +
			"answered",
		History: []History{
			{"3.0.0", "Takes `COPY` and `REPLACE`."},
			{"3.0.6", "Takes `KEYS`."},
			{"4.0.7", "Takes `AUTH`."},
			{"6.0.0", "Takes `AUTH2`."},
		},
		Tips: []string{"nondeterministic_output"},
		Keys: []KeySpec{
			keyAt(3, RW|AccessFlag|Delete),
			{
				Begin: After("KEYS", -2), Find: Range(-1, 1, 0),
				Access: RW | AccessFlag | Delete | Incomplete,
			},
		},
		KeysFn: migrateKeys,
		Args: []Arg{
			Str("host"), Int("port"),
			OneOf("key-selector", Key("key", 0), Tok("empty-string").Tokened("")),
			Int("destination-db"), Int("timeout"), Tok("copy").Opt().From("3.0.0"),
			Tok("replace").Opt().From("3.0.0"),
			OneOf("authentication",
				Str("auth").Tokened("AUTH").From("4.0.7").Shown("password"),
				Block("auth2",
					Str("username"), Str("password"),
				).Tokened("AUTH2").From("6.0.0"),
			).Opt(),
			Key("keys", 1).Tokened("KEYS").Many().Opt().From("3.0.6").Shown("key"),
		},
	},
}

// migrateKeys finds MIGRATE's keys: a single one, or those after KEYS.
func migrateKeys(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
	first, end := 3, 4
	for i := 6; i < len(argv); i++ {
		switch a := argv[i]; {
		case is(a, "AUTH"):
			i++
		case is(a, "AUTH2"):
			i += 2
		case is(a, "KEYS"):
			if len(argv[3]) > 0 {
				return refs, ErrBadKeys
			}
			first, end, i = i+1, len(argv), len(argv)
		}
	}
	for i := first; i < end; i++ {
		refs = append(refs, KeyRef{Pos: i, Access: RW | AccessFlag | Delete})
	}
	return refs, nil
}
