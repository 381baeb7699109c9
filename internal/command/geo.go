package command

import (
	"fmt"

	"godwit/internal/engine"
	"godwit/internal/geohash"
	"godwit/internal/object"
)

var _ = family(geoHandlers)

// geoHandlers returns handlers that share one geoSearch for its buffers. That is safe because the
// table belongs to one engine, which runs one command at a time.
func geoHandlers() engine.Handlers {
	g := new(geoSearch)
	search := func(form geoForm) func(c *engine.Ctx) {
		return func(c *engine.Ctx) { g.run(c, form) }
	}
	return engine.Handlers{
		"geoadd":               geoaddCmd,
		"geodist":              geodistCmd,
		"geohash":              geohashCmd,
		"geopos":               geoposCmd,
		"georadius":            search(geoForm{key: 1, options: 6, store: true}),
		"georadius_ro":         search(geoForm{key: 1, options: 6}),
		"georadiusbymember":    search(geoForm{key: 1, options: 5, store: true}),
		"georadiusbymember_ro": search(geoForm{key: 1, options: 5}),
		"geosearch":            search(geoForm{key: 1, options: 2, search: true}),
		"geosearchstore":       search(geoForm{key: 2, options: 3, search: true, store: true}),
	}
}

// coordArgs reads a longitude and a latitude and replies with Redis's errors.
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

// sixDecimals formats f as C's %f does.
func sixDecimals(f float64) string {
	switch {
	case f-f == 0:
		return fmt.Sprintf("%f", f)
	case f > 0:
		return "inf"
	}
	return "-inf"
}

// unitMeters reads a unit of length and returns its meters. It replies with Redis's error.
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

// placeArg returns the score of a place of GEOADD.
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

// eachPlace replies for each named member: it calls reply if the member exists, else missing.
func eachPlace(c *engine.Ctx, reply func(score float64), missing func()) {
	z, found, ok := zsetRead(c, c.Args[1])
	if !ok {
		return
	}
	members := c.Args[2:]
	c.Array(len(members))
	ahead := z.Lookahead(members, 1)
	for i, m := range members {
		ahead.Reach(i)
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

// coordReply replies with the longitude and the latitude of a place.
func coordReply(c *engine.Ctx, score float64) {
	lon, lat := geohash.Decode(geohash.Score(score))
	c.Array(2)
	c.Double(lon)
	c.Double(lat)
}
