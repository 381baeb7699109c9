package command

import (
	"godwit/internal/engine"
	"godwit/internal/geohash"
	"godwit/internal/object"
)

// geoForm holds what distinguishes the search commands.
type geoForm struct {
	key int // The index of the argument that names the source.
	// options is the index of the first optional argument. Before it, GEORADIUS has a place and a
	// radius, and GEORADIUSBYMEMBER has a member and a radius.
	options int
	search  bool // GEOSEARCH and GEOSEARCHSTORE.
	store   bool // The command may store. GEOSEARCHSTORE must.
}

// geoQuery holds the arguments of a search.
type geoQuery struct {
	geoForm
	c     *engine.Ctx
	z     object.SortedSet
	found bool // The source exists.

	fromMember, fromPlace, byRadius, byBox bool
	lon, lat                               float64
	radius, width, height                  float64 // In units.
	unit                                   float64 // In meters.
	polygon                                []geohash.Point

	withDist, withHash, withCoord, any bool
	dir                                direction
	count                              int64 // 0: all.

	dst       []byte // nil: reply.
	storeDist bool
}

// parse reads all arguments and checks them in Redis's order. It replies with an error and reports
// false if they are wrong.
func (q *geoQuery) parse(g *geoSearch) bool {
	args := q.c.Args
	switch {
	case q.search:
		if q.store {
			q.dst = args[1]
		}
	case q.options == 6:
		if !q.parsePlace(args[2:]) || !q.parseRadius(args[4:]) {
			return false
		}
	case q.found: // Redis reads the radius only if the source exists.
		if !q.parseMember(args[2]) || !q.parseRadius(args[3:]) {
			return false
		}
	}
	for args = args[q.options:]; len(args) > 0; {
		n, ok := q.option(args)
		if ok && n == 0 && q.search {
			n, ok = q.shapeOption(g, args)
		}
		if ok && n == 0 {
			q.c.Err(engine.ErrSyntax)
			ok = false
		}
		if !ok {
			return false
		}
		args = args[n:]
	}
	return q.check()
}

// option reads one option. It returns how many arguments it took, or 0 if args does not begin with
// an option. It reports false if it has replied with an error.
func (q *geoQuery) option(args [][]byte) (n int, ok bool) {
	arg, more := args[0], len(args)-1
	switch {
	case is(arg, "withdist"):
		q.withDist = true
	case is(arg, "withhash"):
		q.withHash = true
	case is(arg, "withcoord"):
		q.withCoord = true
	case is(arg, "any"):
		q.any = true
	case is(arg, "asc"):
		q.dir = ascending
	case is(arg, "desc"):
		q.dir = descending
	case is(arg, "count") && more > 0:
		if q.count, ok = intArg(q.c, args[1]); !ok {
			return 0, false
		}
		if q.count <= 0 {
			q.c.Err("ERR COUNT must be > 0")
			return 0, false
		}
		return 2, true
	case q.search && q.store && is(arg, "storedist"):
		q.storeDist = true
	case !q.search && q.store && more > 0 && (is(arg, "store") || is(arg, "storedist")):
		q.dst, q.storeDist = args[1], is(arg, "storedist")
		return 2, true
	default:
		return 0, true
	}
	return 1, true
}

// shapeOption does what option does, for the options that say where to search.
func (q *geoQuery) shapeOption(g *geoSearch, args [][]byte) (n int, ok bool) {
	arg, more := args[0], len(args)-1
	from, by := q.fromMember || q.fromPlace, q.byRadius || q.byBox
	switch {
	case q.polygon != nil &&
		(is(arg, "frommember") || is(arg, "fromlonlat") || is(arg, "byradius") || is(arg, "bybox")):
		return 0, true
	case is(arg, "frommember") && more >= 1 && !q.fromPlace:
		q.fromMember = true
		return 2, !q.found || q.parseMember(args[1])
	case is(arg, "fromlonlat") && more >= 2 && !q.fromMember:
		q.fromPlace = true
		return 3, q.parsePlace(args[1:])
	case is(arg, "byradius") && more >= 2 && !q.byBox:
		q.byRadius = true
		return 3, q.parseRadius(args[1:])
	case is(arg, "bybox") && more >= 3 && !q.byRadius:
		q.byBox = true
		return 4, q.parseBox(args[1:])
	case is(arg, "bypolygon") && more >= 2 && !from && !by:
		return q.parsePolygon(g, args[1:])
	}
	return 0, true
}

func (q *geoQuery) parsePlace(args [][]byte) (ok bool) {
	q.lon, q.lat, ok = coordArgs(q.c, args)
	return ok
}

func (q *geoQuery) parseMember(member []byte) bool {
	score, ok := q.z.Score(member)
	if !ok {
		q.c.Err("ERR could not decode requested zset member")
		return false
	}
	q.lon, q.lat = geohash.Decode(geohash.Score(score))
	return true
}

// length reads a number of units. If it is none, it replies with err.
func (q *geoQuery) length(arg []byte, err string) (f float64, ok bool) {
	if f, ok = object.ParseScore(arg); !ok {
		q.c.Err(err)
	}
	return f, ok
}

func (q *geoQuery) parseRadius(args [][]byte) (ok bool) {
	if q.radius, ok = q.length(args[0], "ERR need numeric radius"); !ok {
		return false
	}
	if q.radius < 0 {
		q.c.Err("ERR radius cannot be negative")
		return false
	}
	q.unit, ok = unitMeters(q.c, args[1])
	return ok
}

func (q *geoQuery) parseBox(args [][]byte) (ok bool) {
	if q.width, ok = q.length(args[0], "ERR need numeric width"); !ok {
		return false
	}
	if q.height, ok = q.length(args[1], "ERR need numeric height"); !ok {
		return false
	}
	if q.width < 0 || q.height < 0 {
		q.c.Err("ERR height or width cannot be negative")
		return false
	}
	q.unit, ok = unitMeters(q.c, args[2])
	return ok
}

// parsePolygon reads a number of vertices and as many pairs of coordinates.
func (q *geoQuery) parsePolygon(g *geoSearch, args [][]byte) (n int, ok bool) {
	count, isNumber := object.ParseInt(args[0])
	switch {
	case !isNumber || count != int64(int32(count)):
		q.c.Err("ERR invalid number of vertices")
		return 0, false
	case count < 3 || count > int64(len(args)-1)/2:
		q.c.Err("ERR GEOSEARCH BYPOLYGON must have at least 3 vertices")
		return 0, false
	}
	g.vertices = g.vertices[:0]
	for i := 1; i <= 2*int(count); i += 2 {
		lon, lat, ok := coordArgs(q.c, args[i:])
		if !ok {
			return 0, false
		}
		g.vertices = append(g.vertices, geohash.Point{Lon: lon, Lat: lat})
	}
	q.polygon, q.unit = g.vertices, 1
	return 2 + 2*int(count), true
}

// check replies with an error and reports false if options do not go together.
func (q *geoQuery) check() bool {
	name := string(q.c.Args[0])
	switch {
	case q.dst != nil && (q.withDist || q.withHash || q.withCoord):
		what := "STORE option in GEORADIUS"
		if q.search {
			what = "GEOSEARCHSTORE"
		}
		q.c.Err("ERR " + what + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
	case q.search && q.polygon == nil && !q.fromMember && !q.fromPlace:
		q.c.Err("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name)
	case q.search && q.polygon == nil && !q.byRadius && !q.byBox:
		q.c.Err("ERR exactly one of BYRADIUS and BYBOX can be specified for " + name)
	case q.any && q.count == 0:
		q.c.Err("ERR the ANY argument requires COUNT argument")
	default:
		return true
	}
	return false
}

// shape sets the area to the one that the query describes.
func (q *geoQuery) shape(a *geohash.Area) {
	switch {
	case q.polygon != nil:
		a.Polygon(q.polygon)
	case q.byBox:
		a.Box(q.lon, q.lat, q.width*q.unit, q.height*q.unit)
	default:
		a.Circle(q.lon, q.lat, q.radius*q.unit)
	}
}
