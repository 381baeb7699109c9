package command

import (
	"fmt"

	"godwit/internal/engine"
	"godwit/internal/geohash"
	"godwit/internal/object"
)

// geoCommands are the commands on places: members of sorted sets whose scores package geohash makes.
func geoCommands() []*engine.Command {
	return append(geoPlaceCommands(), geoSearchCommands()...)
}

func geoPlaceCommands() []*engine.Command {
	const ro = engine.RO | engine.AccessFlag
	members := engine.Str("member").Many()
	return []*engine.Command{
		geoCommand(engine.Command{
			Name: "geoadd", Arity: -5, Flags: engine.Write | engine.DenyOOM, Since: "3.2.0",
			Summary: "Adds places to a sorted set, or moves them.", Complexity: "O(log N) a place, N being the size of the set",
			History: []engine.History{{Since: "6.2.0", Change: "Takes `CH`, `NX` and `XX`."}},
			Run:     geoaddCmd,
		}, engine.RW|engine.Update,
			engine.OneOf("condition", engine.Tok("nx"), engine.Tok("xx")).Opt().From("6.2.0"),
			engine.Tok("change").Tokened("CH").Opt().From("6.2.0"),
			engine.Block("longitude_latitude_member", engine.Dbl("longitude"), engine.Dbl("latitude"), engine.Str("member")).Many()),
		geoCommand(engine.Command{
			Name: "geodist", Arity: -4, Flags: engine.ReadOnly, Since: "3.2.0",
			Summary: "Measures the distance between two places of a sorted set.", Complexity: "O(1)", Run: geodistCmd,
		}, ro, engine.Str("member1"), engine.Str("member2"), lengthUnitArg().Opt()),
		geoCommand(engine.Command{
			Name: "geohash", Arity: -2, Flags: engine.ReadOnly, Since: "3.2.0",
			Summary: "Shows where members of a sorted set are, as standard geohash strings.", Complexity: "O(1) a member",
			Run: geohashCmd,
		}, ro, members),
		geoCommand(engine.Command{
			Name: "geopos", Arity: -2, Flags: engine.ReadOnly, Since: "3.2.0",
			Summary: "Shows where members of a sorted set are, as longitudes and latitudes.", Complexity: "O(1) a member",
			Run: geoposCmd,
		}, ro, members),
	}
}

// geoCommand is entry for the commands whose first argument is their only key.
func geoCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	return entry(engine.GroupGeo, cmd, access, append([]engine.Arg{engine.Key("key", 0)}, args...)...)
}

func lengthUnitArg() engine.Arg {
	return engine.OneOf("unit", engine.Tok("m"), engine.Tok("km"), engine.Tok("ft"), engine.Tok("mi"))
}

// coordArgs reads a longitude and a latitude, answering with Redis's errors.
func coordArgs(c *engine.Ctx, args [][]byte) (lon, lat float64, ok bool) {
	if lon, ok = object.ParseScore(args[0]); ok {
		lat, ok = object.ParseScore(args[1])
	}
	switch {
	case !ok:
		c.Err(engine.ErrNotFloat)
	case !geohash.Valid(lon, lat):
		ok = false
		c.Err("ERR invalid longitude,latitude pair " + sixDecimals(lon) + "," + sixDecimals(lat))
	}
	return lon, lat, ok
}

// sixDecimals is C's %f.
func sixDecimals(f float64) string {
	switch {
	case f-f == 0:
		return fmt.Sprintf("%f", f)
	case f > 0:
		return "inf"
	}
	return "-inf"
}

// unitMeters reads a unit of length: how many meters it has. It answers with Redis's error.
func unitMeters(c *engine.Ctx, arg []byte) (float64, bool) {
	switch {
	case is(arg, "m"):
		return 1, true
	case is(arg, "km"):
		return 1000, true
	case is(arg, "ft"):
		return 0.3048, true
	case is(arg, "mi"):
		return 1609.34, true
	}
	c.Err("ERR unsupported unit provided. please use M, KM, FT, MI")
	return 0, false
}

func geoaddCmd(c *engine.Ctx) {
	var o zaddOptions
	args := c.Args[2:]
options:
	for len(args) > 0 {
		switch {
		case is(args[0], "nx"):
			o.flags |= object.ZAddNX
		case is(args[0], "xx"):
			o.flags |= object.ZAddXX
		case is(args[0], "ch"):
			o.ch = true
		default:
			break options
		}
		args = args[1:]
	}
	if len(args) == 0 || len(args)%3 != 0 || o.flags == object.ZAddNX|object.ZAddXX {
		c.Err(engine.ErrSyntax)
		return
	}
	zadd(c, &o, args, 3, placeArg)
}

// placeArg is the score of a place of GEOADD.
func placeArg(c *engine.Ctx, item [][]byte) (float64, bool) {
	lon, lat, ok := coordArgs(c, item)
	if !ok {
		return 0, false
	}
	return float64(geohash.Encode(lon, lat)), true
}

func geodistCmd(c *engine.Ctx) {
	unit := 1.0
	switch {
	case len(c.Args) > 5:
		c.Err(engine.ErrSyntax)
		return
	case len(c.Args) == 5:
		var ok bool
		if unit, ok = unitMeters(c, c.Args[4]); !ok {
			return
		}
	}
	z, found, ok := zsetRead(c, c.Args[1])
	if !ok {
		return
	}
	if found {
		z.Warm(c.Args[2], c.Args[3])
		from, ok := z.Score(c.Args[2])
		to, ok2 := z.Score(c.Args[3])
		if ok && ok2 {
			lon1, lat1 := geohash.Decode(geohash.Score(from))
			lon2, lat2 := geohash.Decode(geohash.Score(to))
			d, exact := geohash.Roughly(lon1, lat1, lon2, lat2)
			if !exact && !geohash.Settled(d/unit) {
				d = geohash.Distance(lon1, lat1, lon2, lat2)
			}
			var text [32]byte
			c.Bulk(geohash.AppendMeters(text[:0], d/unit))
			return
		}
	}
	c.Null()
}

// eachPlace answers for each member that is named: with reply where it is there, else with missing.
func eachPlace(c *engine.Ctx, reply func(score float64), missing func()) {
	z, found, ok := zsetRead(c, c.Args[1])
	if !ok {
		return
	}
	c.Array(len(c.Args) - 2)
	for _, m := range c.Args[2:] {
		if found {
			if score, ok := z.Score(m); ok {
				reply(score)
				continue
			}
		}
		missing()
	}
}

func geohashCmd(c *engine.Ctx) {
	eachPlace(c, func(score float64) {
		var text [16]byte
		c.Bulk(geohash.AppendText(text[:0], geohash.Score(score)))
	}, c.Null)
}

func geoposCmd(c *engine.Ctx) {
	eachPlace(c, func(score float64) { coordReply(c, score) }, c.NullArray)
}

// coordReply answers with the longitude and the latitude of a place.
func coordReply(c *engine.Ctx, score float64) {
	lon, lat := geohash.Decode(geohash.Score(score))
	var text [32]byte
	c.Array(2)
	c.DoubleText(geohash.AppendCoord(text[:0], lon))
	c.DoubleText(geohash.AppendCoord(text[:0], lat))
}
