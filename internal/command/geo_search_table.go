package command

import "godwit/internal/engine"

// geoSearchCommands share one geoSearch for its buffers: the table belongs to one engine, which runs one command at a time.
func geoSearchCommands() []*engine.Command {
	g := new(geoSearch)
	return append(geoRadiusFamily(g), geoSearchFamily(g)...)
}

const geoCost = "O(N+log(M)) for M members, N of which are in the cells around the area"

func geoSearchFamily(g *geoSearch) []*engine.Command {
	history := []engine.History{{Since: "7.0.0", Change: "Takes units in upper case."}, {Since: "9.0.0", Change: "Takes `BYPOLYGON`, as Valkey does."}}
	return []*engine.Command{
		geoCommand(engine.Command{
			Name: "geosearch", Arity: -7, Flags: engine.ReadOnly, Since: "6.2.0",
			Summary: "Finds the places of a sorted set that are in a circle, a box or a polygon.", Complexity: geoCost,
			History: history,
			Run:     func(c *engine.Ctx) { g.run(c, geoForm{key: 1, options: 2, search: true}) },
		}, engine.RO|engine.AccessFlag, append(areaArgs(), withArgs()...)...),
		{
			Name: "geosearchstore", Arity: -8, Flags: engine.Write | engine.DenyOOM, Group: engine.GroupGeo, Since: "6.2.0",
			Summary: "Stores the places of a sorted set that are in a circle, a box or a polygon.", Complexity: geoCost,
			History: history,
			Keys:    []engine.KeySpec{keyAt(1, engine.OW|engine.Update), keyAt(2, engine.RO|engine.AccessFlag)},
			Args: append(append([]engine.Arg{engine.Key("destination", 0), engine.Key("source", 1)}, areaArgs()...),
				engine.Tok("storedist").Opt()),
			Run: func(c *engine.Ctx) { g.run(c, geoForm{key: 2, options: 3, search: true, store: true}) },
		},
	}
}

// areaArgs say which places are searched for, and how they are ordered and counted.
func areaArgs() []engine.Arg {
	lonLat := []engine.Arg{engine.Dbl("longitude"), engine.Dbl("latitude")}
	return []engine.Arg{
		engine.OneOf("from", engine.Str("member").Tokened("FROMMEMBER"), engine.Block("longitude_latitude", lonLat...).Tokened("FROMLONLAT")),
		engine.OneOf("by",
			engine.Block("circle", engine.Dbl("radius").Tokened("BYRADIUS"), lengthUnitArg()),
			engine.Block("box", engine.Dbl("width").Tokened("BYBOX"), engine.Dbl("height"), lengthUnitArg()),
			engine.Block("polygon", engine.Int("num-vertices").Tokened("BYPOLYGON"), engine.Block("vertices", lonLat...).Many()).From("9.0.0")),
		orderArg(), geoCountArg(""),
	}
}

func orderArg() engine.Arg {
	return engine.OneOf("order", engine.Tok("asc"), engine.Tok("desc")).Opt()
}

func geoCountArg(anySince string) engine.Arg {
	return engine.Block("count", engine.Int("count").Tokened("COUNT"), engine.Tok("any").Opt().From(anySince)).Opt()
}

func withArgs() []engine.Arg {
	return []engine.Arg{engine.Tok("withcoord").Opt(), engine.Tok("withdist").Opt(), engine.Tok("withhash").Opt()}
}

// geoRadiusFamily are the commands that GEOSEARCH has replaced.
func geoRadiusFamily(g *geoSearch) []*engine.Command {
	radius := func(cmd engine.Command, form geoForm, instead, anySince string, from ...engine.Arg) *engine.Command {
		cmd.Arity, cmd.Group, cmd.Complexity = -form.options, engine.GroupGeo, geoCost
		cmd.DocFlags, cmd.DeprecatedSince, cmd.ReplacedBy = []string{"deprecated"}, "6.2.0", instead
		cmd.Keys = []engine.KeySpec{keyAt(1, engine.RO|engine.AccessFlag)}
		cmd.Args = append(append(append([]engine.Arg{engine.Key("key", 0)}, from...), engine.Dbl("radius"), lengthUnitArg()), withArgs()...)
		cmd.Args = append(cmd.Args, geoCountArg(anySince), orderArg())
		cmd.Flags = engine.ReadOnly
		if form.store {
			cmd.Flags = engine.Write | engine.DenyOOM
			for _, word := range []string{"STORE", "STOREDIST"} {
				cmd.Args = append(cmd.Args, engine.Key("key", len(cmd.Keys)).Tokened(word).Opt())
				cmd.Keys = append(cmd.Keys, engine.KeySpec{Begin: engine.After(word, form.options), Find: engine.Range(0, 1, 0), Access: engine.OW | engine.Update})
			}
			cmd.KeysFn = func(argv [][]byte) ([]engine.KeyRef, error) { return geoKeys(argv, form.options), nil }
		}
		cmd.Run = func(c *engine.Ctx) { g.run(c, form) }
		return &cmd
	}
	lonLat := []engine.Arg{engine.Dbl("longitude"), engine.Dbl("latitude")}
	member := engine.Str("member")
	anyCount := engine.History{Since: "6.2.0", Change: "Takes `ANY` with `COUNT`."}
	upper := engine.History{Since: "7.0.0", Change: "Takes units in upper case."}
	byPlace, byMember := "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`", "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`"
	return []*engine.Command{
		radius(engine.Command{Name: "georadius", Since: "3.2.0", History: []engine.History{anyCount, upper},
			Summary: "Finds the places of a sorted set within a distance of a point, answers or stores them."},
			geoForm{key: 1, options: 6, store: true}, byPlace, "6.2.0", lonLat...),
		radius(engine.Command{Name: "georadius_ro", Since: "3.2.10", History: []engine.History{anyCount},
			Summary: "Finds the places of a sorted set within a distance of a point."},
			geoForm{key: 1, options: 6}, byPlace, "6.2.0", lonLat...),
		radius(engine.Command{Name: "georadiusbymember", Since: "3.2.0", History: []engine.History{upper},
			Summary: "Finds the places of a sorted set within a distance of one of them, answers or stores them."},
			geoForm{key: 1, options: 5, store: true}, byMember, "", member),
		radius(engine.Command{Name: "georadiusbymember_ro", Since: "3.2.10",
			Summary: "Finds the places of a sorted set within a distance of one of them."},
			geoForm{key: 1, options: 5}, byMember, "", member),
	}
}

// geoKeys finds the source and what STORE and STOREDIST name, of which the last is written to: rights are asked for all of them.
func geoKeys(argv [][]byte, options int) []engine.KeyRef {
	refs := []engine.KeyRef{{Pos: 1, Access: engine.RO | engine.AccessFlag}}
	for i := options; i+1 < len(argv); i++ {
		switch {
		case is(argv[i], "count"):
			i++
		case is(argv[i], "store"), is(argv[i], "storedist"):
			i++
			refs = append(refs, engine.KeyRef{Pos: i, Access: engine.OW | engine.Update})
		}
	}
	return refs
}
