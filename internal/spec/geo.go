package spec

const geoCost = "O(N+log(M)) for M members, N of which are in the cells around the area"

var lengthUnit = OneOf("unit", Tok("m"), Tok("km"), Tok("ft"), Tok("mi"))

// radiusStore is where GEORADIUS and GEORADIUSBYMEMBER store what they find.
var radiusStore = OneOf("store",
	Key("storekey", 1).Tokened("STORE").Shown("key"),
	Key("storedistkey", 2).Tokened("STOREDIST").Shown("key"),
).Opt()

// radiusCount is the COUNT of GEORADIUS.
var radiusCount = Block("count-block",
	Int("count").Tokened("COUNT"), Tok("any").Opt().From("6.2.0"),
).Opt()

var _ = family(GroupGeo, geoCommands)

// geoCommands work on places: members of sorted sets whose scores are geohashes.
var geoCommands = []*Command{
	{
		Name: "geoadd", Arity: -5, Flags: Write | DenyOOM, Since: "3.2.0",
		Summary:    "Adds members with a longitude and latitude to a sorted set, or moves them.",
		Complexity: "O(log N) a place, N being the size of the set",
		History:    []History{{"6.2.0", "Takes `CH`, `NX` and `XX`."}},
		Keys:       []KeySpec{keyAt(1, RW|Update)},
		Args: []Arg{
			Key("key", 0), OneOf("condition", Tok("nx"), Tok("xx")).Opt().From("6.2.0"),
			Tok("change").Tokened("CH").Opt().From("6.2.0"),
			Block("data",
				Dbl("longitude"), Dbl("latitude"), Str("member"),
			).Many(),
		},
	},
	{
		Name: "geodist", Arity: -4, Flags: ReadOnly, Since: "3.2.0",
		Summary: "Returns the distance between two members.",
		Keys:    []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:    []Arg{Key("key", 0), Str("member1"), Str("member2"), lengthUnit.Opt()},
	},
	{
		Name: "geohash", Arity: -2, Flags: ReadOnly, Since: "3.2.0",
		Summary:    "Returns the positions of members as standard geohash strings.",
		Complexity: "O(1) a member",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Str("member").Many().Opt()},
	},
	{
		Name: "geopos", Arity: -2, Flags: ReadOnly, Since: "3.2.0",
		Summary:    "Returns the longitudes and latitudes of members.",
		Complexity: "O(1) a member",
		Keys:       []KeySpec{keyAt(1, RO|AccessFlag)},
		Args:       []Arg{Key("key", 0), Str("member").Many().Opt()},
	},
	{
		Name: "georadius", Arity: -6, Flags: Write | DenyOOM, Since: "3.2.0",
		Summary:         "Returns or stores the members within a distance of a point.",
		Complexity:      geoCost,
		DeprecatedSince: "6.2.0", ReplacedBy: "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`",
		History: []History{
			{"6.2.0", "Takes `ANY` with `COUNT`."},
			{"7.0.0", "Takes units in upper case."},
		},
		Keys: []KeySpec{
			keyAt(1, RO|AccessFlag),
			{Begin: After("STORE", 6), Find: Range(0, 1, 0), Access: OW | Update},
			{Begin: After("STOREDIST", 6), Find: Range(0, 1, 0), Access: OW | Update},
		},
		KeysFn: geoRadiusKeys(6),
		Args: []Arg{
			Key("key", 0), Dbl("longitude"), Dbl("latitude"), Dbl("radius"), lengthUnit,
			Tok("withcoord").Opt(), Tok("withdist").Opt(), Tok("withhash").Opt(),
			radiusCount,
			orderArg, radiusStore,
		},
	},
	{
		Name: "georadius_ro", Arity: -6, Flags: ReadOnly, Since: "3.2.10",
		Summary:         "Returns the members within a distance of a point.",
		Complexity:      geoCost,
		DeprecatedSince: "6.2.0", ReplacedBy: "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`",
		History: []History{
			{"6.2.0", "Takes `ANY` with `COUNT`."},
			{"7.0.0", "Takes units in upper case."},
		},
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Dbl("longitude"), Dbl("latitude"), Dbl("radius"), lengthUnit,
			Tok("withcoord").Opt(), Tok("withdist").Opt(), Tok("withhash").Opt(),
			radiusCount,
			orderArg,
		},
	},
	{
		Name: "georadiusbymember", Arity: -5, Flags: Write | DenyOOM, Since: "3.2.0",
		Summary:         "Returns or stores the members within a distance of another member.",
		Complexity:      geoCost,
		DeprecatedSince: "6.2.0",
		ReplacedBy:      "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`",
		History: []History{
			{"6.2.0", "Takes `ANY` with `COUNT`."},
			{"7.0.0", "Takes units in upper case."},
		},
		Keys: []KeySpec{
			keyAt(1, RO|AccessFlag),
			{Begin: After("STORE", 5), Find: Range(0, 1, 0), Access: OW | Update},
			{Begin: After("STOREDIST", 5), Find: Range(0, 1, 0), Access: OW | Update},
		},
		KeysFn: geoRadiusKeys(5),
		Args: []Arg{
			Key("key", 0), Str("member"), Dbl("radius"), lengthUnit, Tok("withcoord").Opt(),
			Tok("withdist").Opt(), Tok("withhash").Opt(),
			Block("count-block", Int("count").Tokened("COUNT"), Tok("any").Opt()).Opt(), orderArg,
			radiusStore,
		},
	},
	{
		Name: "georadiusbymember_ro", Arity: -5, Flags: ReadOnly, Since: "3.2.10",
		Summary:         "Returns the members within a distance of another member.",
		Complexity:      geoCost,
		DeprecatedSince: "6.2.0",
		ReplacedBy:      "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`",
		History: []History{
			{"6.2.0", "Takes `ANY` with `COUNT`."},
			{"7.0.0", "Takes units in upper case."},
		},
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0), Str("member"), Dbl("radius"), lengthUnit, Tok("withcoord").Opt(),
			Tok("withdist").Opt(), Tok("withhash").Opt(),
			Block("count-block", Int("count").Tokened("COUNT"), Tok("any").Opt()).Opt(), orderArg,
		},
	},
	{
		Name: "geosearch", Arity: -7, Flags: ReadOnly, Since: "6.2.0",
		Summary:    "Returns the members inside a circle, a box or a polygon.",
		Complexity: geoCost,
		History: []History{
			{"7.0.0", "Takes units in upper case."},
			{"9.0.0", "Takes `BYPOLYGON`, as Valkey does."},
		},
		Keys: []KeySpec{keyAt(1, RO|AccessFlag)},
		Args: []Arg{
			Key("key", 0),
			OneOf("from",
				Str("member").Tokened("FROMMEMBER"),
				Block("fromlonlat",
					Dbl("longitude"), Dbl("latitude"),
				).Tokened("FROMLONLAT"),
			),
			OneOf("by",
				Block("circle", Dbl("radius").Tokened("BYRADIUS"), lengthUnit),
				Block("box", Dbl("width").Tokened("BYBOX"), Dbl("height"), lengthUnit),
				Block("polygon",
					Int("num-vertices").Tokened("BYPOLYGON"),
					Block("vertices", Dbl("longitude"), Dbl("latitude")).Many(),
				).From("9.0.0"),
			),
			orderArg, Block("count-block", Int("count").Tokened("COUNT"), Tok("any").Opt()).Opt(),
			Tok("withcoord").Opt(), Tok("withdist").Opt(), Tok("withhash").Opt(),
		},
	},
	{
		Name: "geosearchstore", Arity: -8, Flags: Write | DenyOOM, Since: "6.2.0",
		Summary:    "Stores the members inside a circle, a box or a polygon.",
		Complexity: geoCost,
		History: []History{
			{"7.0.0", "Takes units in upper case."},
			{"9.0.0", "Takes `BYPOLYGON`, as Valkey does."},
		},
		Keys: []KeySpec{keyAt(1, OW|Update), keyAt(2, RO|AccessFlag)},
		Args: []Arg{
			Key("destination", 0), Key("source", 1),
			OneOf("from",
				Str("member").Tokened("FROMMEMBER"),
				Block("fromlonlat",
					Dbl("longitude"), Dbl("latitude"),
				).Tokened("FROMLONLAT"),
			),
			OneOf("by",
				Block("circle", Dbl("radius").Tokened("BYRADIUS"), lengthUnit),
				Block("box", Dbl("width").Tokened("BYBOX"), Dbl("height"), lengthUnit),
				Block("polygon",
					Int("num-vertices").Tokened("BYPOLYGON"),
					Block("vertices", Dbl("longitude"), Dbl("latitude")).Many(),
				).From("9.0.0"),
			),
			orderArg, Block("count-block", Int("count").Tokened("COUNT"), Tok("any").Opt()).Opt(),
			Tok("storedist").Opt(),
		},
	},
}

// geoRadiusKeys returns a function that finds the keys of GEORADIUS: the source, and the arguments
// of STORE and STOREDIST, which it looks for from index options on. The command writes to the last
// of them, but the user needs the rights for all.
func geoRadiusKeys(options int) func(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
	return func(refs []KeyRef, argv [][]byte) ([]KeyRef, error) {
		refs = append(refs, KeyRef{Pos: 1, Access: RO | AccessFlag})
		for i := options; i+1 < len(argv); i++ {
			switch {
			case is(argv[i], "COUNT"):
				i++
			case is(argv[i], "STORE"), is(argv[i], "STOREDIST"):
				i++
				refs = append(refs, KeyRef{Pos: i, Access: OW | Update})
			}
		}
		return refs, nil
	}
}
