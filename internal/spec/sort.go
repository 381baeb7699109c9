package spec

// These are the patterns of SORT.
var (
	sortBy  = Pattern("by-pattern").InSpec(1).Tokened("BY").Opt().Shown("pattern")
	sortGet = Pattern("get-pattern").InSpec(1).Tokened("GET").ManyTokens().Opt().Shown("pattern")
)

var _ = family(GroupGeneric, sortCommands)

// sortCommands sort lists, sets and sorted sets.
var sortCommands = []*Command{
	{
		Name: "sort", Arity: -2, Flags: Write | DenyOOM, Since: "1.0.0",
		Categories: []string{"set", "sortedset", "list", "dangerous"},
		Summary: "Returns or stores the elements of a list, a set or a sorted set in sorted " +
			"order.",
		Complexity: "O(N+M log M) for N elements of which M are returned; O(N) when nothing is " +
			"sorted",
		Keys: []KeySpec{
			keyAt(1, RO|AccessFlag),
			{
				Access: RO | AccessFlag,
				Notes: "keys that BY and GET make from the elements are not known before the " +
					"value is read",
			},
			{Access: OW | Update, Notes: "STORE may stand anywhere among the options"},
		},
		KeysFn: sortKeys,
		Args: []Arg{
			Key("key", 0), sortBy, limitArg, sortGet, orderArg,
			Tok("sorting").Tokened("ALPHA").Opt(), Key("destination", 2).Tokened("STORE").Opt(),
		},
	},
	{
		Name: "sort_ro", Arity: -2, Flags: ReadOnly, Since: "7.0.0",
		Categories: []string{"set", "sortedset", "list", "dangerous"},
		Summary:    "Returns the elements of a list, a set or a sorted set in sorted order.",
		Complexity: "O(N+M log M) for N elements of which M are returned; O(N) when nothing is " +
			"sorted",
		Keys: []KeySpec{
			keyAt(1, RO|AccessFlag),
			{
				Access: RO | AccessFlag,
				Notes: "keys that BY and GET make from the elements are not known before the " +
					"value is read",
			},
		},
		KeysFn: sortROKeys,
		Args: []Arg{
			Key("key", 0), sortBy, limitArg, sortGet, orderArg,
			Tok("sorting").Tokened("ALPHA").Opt(),
		},
	},
}

// sortKeys finds the key that is sorted and the key of the last STORE.
func sortKeys(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
	refs = append(refs, KeyRef{Pos: 1, Access: RO | AccessFlag})
	store := 0
	for i := 2; i < len(argv); i++ {
		switch {
		case is(argv[i], "LIMIT"):
			i += 2
		case is(argv[i], "GET"), is(argv[i], "BY"):
			i++
		case is(argv[i], "STORE") && i+1 < len(argv):
			i++
			store = i
		}
	}
	if store > 0 {
		refs = append(refs, KeyRef{Pos: store, Access: OW | Update})
	}
	return refs, nil
}

// sortROKeys finds the key that is sorted.
func sortROKeys(refs []KeyRef, _ [][]byte) ([]KeyRef, error) {
	return append(refs, KeyRef{Pos: 1, Access: RO | AccessFlag}), nil
}
