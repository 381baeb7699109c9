package geohash

import "math"

// Point is a place in degrees.
type Point struct{ Lon, Lat float64 }

type shape uint8

const (
	circle shape = iota
	box
	polygon
)

// Area is a part of the Earth's surface to be searched: a circle, a box or a polygon. Circle, Box
// or Polygon set it, and may be called again on the same Area.
type Area struct {
	Center Point // of a polygon: the average direction of its vertices

	shape        shape
	meters       float64 // radius of a circle
	halfW, halfH float64 // of a box, in meters
	vertices     []Point
	around       bounds // as Redis estimates them
	reach        float64

	lon, lat       float64 // the center in radians
	sinLat, cosLat float64
	// A place whose haversine is at most inner is within the circle for certain, and one above
	// outer is outside.
	inner, outer float64

	boxes [2]rect // what the shape touches; two where it crosses the ±180° meridian
	n     int
	rest  []rect // scratch
}

// Circle sets the area to all places within meters of a valid place.
func (a *Area) Circle(lon, lat, meters float64) {
	a.center(circle, lon, lat)
	a.meters, a.reach = meters, meters
	a.around = estimate(lon, lat, meters, meters)
	h := haversine(meters)
	a.inner, a.outer = h*(1-certain), h*(1+certain)
	a.touch(meters, meters)
}

// Box makes the area all places whose latitude differs from the center's by at most half the
// height, and whose longitude by at most half the width, measured at their own latitude. Height and
// width are in meters.
func (a *Area) Box(lon, lat, width, height float64) {
	a.center(box, lon, lat)
	a.halfW, a.halfH = width/2, height/2
	a.reach = math.Sqrt(float64(a.halfW*a.halfW) + float64(a.halfH*a.halfH))
	a.around = estimate(lon, lat, a.halfW, a.halfH)
	h := haversine(a.halfW)
	a.inner, a.outer = h*(1-certain), h*(1+certain)
	a.touch(a.halfW, a.halfH)
}

// Polygon makes the area all places inside a polygon of at least three vertices. Its sides are
// straight lines on a map of longitudes and latitudes, so none crosses the ±180° meridian. It keeps
// the slice.
func (a *Area) Polygon(vertices []Point) {
	var x, y, z float64
	b := bounds{west: MaxLon, east: -MaxLon, south: MaxLat, north: -MaxLat}
	for _, v := range vertices {
		b = bounds{min(b.west, v.Lon), min(b.south, v.Lat), max(b.east, v.Lon), max(b.north, v.Lat)}
		sinLat, cosLat := math.Sincos(radians(v.Lat))
		sinLon, cosLon := math.Sincos(radians(v.Lon))
		x, y, z = x+float64(cosLat*cosLon), y+float64(cosLat*sinLon), z+sinLat
	}
	lat := degrees(math.Atan2(z, math.Hypot(x, y)))
	a.center(polygon, degrees(math.Atan2(y, x)), min(max(lat, -MaxLat), MaxLat))
	a.vertices, a.around, a.reach = vertices, b, 0
	for _, corner := range [4]Point{{b.west, b.south}, {b.east, b.south}, {b.west, b.north},
		{b.east, b.north}} {
		a.reach = max(a.reach, Distance(a.Center.Lon, a.Center.Lat, corner.Lon, corner.Lat))
	}
	a.n = 1
	a.boxes[0] = grid(b)
}

func (a *Area) center(s shape, lon, lat float64) {
	a.Center = Point{lon, lat}
	a.shape = s
	a.lon, a.lat = radians(lon), radians(lat)
	a.sinLat, a.cosLat = math.Sincos(a.lat)
}

// certain is how far, relatively, a haversine must be from a limit to decide. Quick haversines are
// good to 1e-13.
const certain = 1e-11

// haversine returns the haversine of a distance: the sine of half its angle, squared. Beyond half
// the way around the Earth it is infinite.
func haversine(meters float64) float64 {
	half := meters / (2 * radius)
	if half > math.Pi/2*(1-1e-9) {
		return math.Inf(1)
	}
	s := math.Sin(half)
	return s * s
}

// margin is added to bounds, in degrees, for rounding: 0.1 mm.
const margin = 1e-9

// touch computes the boxes of a box, or of a circle with halfW and halfH its radius.
func (a *Area) touch(halfW, halfH float64) {
	dlat := degrees(halfH/radius) + margin
	b := bounds{south: a.Center.Lat - dlat, north: a.Center.Lat + dlat}
	dlon := degrees(a.widest(halfW, b)) + margin
	b.west, b.east = a.Center.Lon-dlon, a.Center.Lon+dlon
	a.n = 1
	switch {
	case !(dlon < 179.9): // all around, or nearly, so that two boxes would meet
		b.west, b.east = -MaxLon, MaxLon
	case b.west <= -MaxLon:
		a.n, a.boxes[1] = 2, grid(bounds{b.west + 360, b.south, MaxLon, b.north})
		b.west = -MaxLon
	case b.east >= MaxLon:
		a.n, a.boxes[1] = 2, grid(bounds{-MaxLon, b.south, b.east - 360, b.north})
		b.east = MaxLon
	}
	a.boxes[0] = grid(b)
}

// widest returns how far, in radians of longitude, the shape reaches from its center. If it reaches
// all around, the result may be NaN or too large.
func (a *Area) widest(halfW float64, b bounds) float64 {
	if a.shape == circle {
		if b.north >= 90 || b.south <= -90 {
			return math.Pi // a pole is inside
		}
		s := math.Sin(halfW/radius) / a.cosLat
		if s > 0.9999 {
			return math.Pi // the arcsine is too steep there
		}
		return math.Asin(s)
	}
	// The side of a box nearest to a pole spans the most degrees.
	far := min(max(math.Abs(b.south), math.Abs(b.north)), MaxLat)
	s := math.Sqrt(haversine(halfW)) / math.Cos(radians(far))
	if s > 0.9999 {
		return math.Pi
	}
	return 2 * math.Asin(s)
}

// grid returns the part of the finest grid within bounds, cut to the map. The column and row after
// the last hold the upper bounds themselves and belong to what reaches those, with one more column:
// scores from 2^53 on are rounded to even numbers, which may carry.
func grid(b bounds) rect {
	in := func(v, bound float64) float64 { return min(max(v, -bound), bound) }
	r := rect{scale(in(b.west-margin, MaxLon), MaxLon, steps),
		scale(in(b.east+margin, MaxLon), MaxLon, steps),
		scale(in(b.south-margin, MaxLat), MaxLat, steps),
		scale(in(b.north+margin, MaxLat), MaxLat, steps)}
	if r.x1 == side {
		r.x1++
	}
	return r
}

// Spans appends the spans of scores that hold the area's places. No score is in two of them. The
// spans that Redis searches come first, in its order.
func (a *Area) Spans(dst []Span) []Span {
	cells, n := around(a.Center.Lon, a.Center.Lat, a.reach, a.around)
	a.rest = append(a.rest[:0], a.boxes[:a.n]...)
	for i, c := range cells[:n] {
		if i > 0 && c.step == 1 && seen(cells[:i], c) {
			continue // in a two by two grid the neighbours on both sides are the same
		}
		var s Span
		r := c.rect()
		for _, b := range a.boxes[:a.n] {
			if common, empty := b.and(r); !empty {
				s.add(common)
			}
		}
		if s.n == 0 {
			continue
		}
		dst = append(dst, s)
		old := len(a.rest)
		for _, left := range a.rest[:old] {
			a.rest = left.without(r, a.rest)
		}
		a.rest = append(a.rest[:0], a.rest[old:]...)
	}
	for _, r := range a.rest {
		var s Span
		s.add(r)
		dst = append(dst, s)
	}
	return dst
}

func seen(cells []cell, c cell) bool {
	for _, o := range cells {
		if o == c {
			return true
		}
	}
	return false
}

// Has reports whether the place of a score is within the area.
func (a *Area) Has(score uint64) bool {
	lon, lat := Decode(score)
	switch a.shape {
	case circle:
		switch h := a.quick(lon, lat); {
		case h <= a.inner:
			return true
		case h > a.outer:
			return false
		}
		return Distance(a.Center.Lon, a.Center.Lat, lon, lat) <= a.meters
	case box:
		return a.inBox(lon, lat)
	}
	return a.inPolygon(lon, lat)
}

func (a *Area) inBox(lon, lat float64) bool {
	d := math.Abs(radians(lat)-a.lat) * radius
	if math.Abs(d-a.halfH) < certain*(d+1) {
		d = Distance(lon, lat, lon, a.Center.Lat)
	}
	if d > a.halfH {
		return false
	}
	v := halfSine(radians(lon) - a.lon)
	c := a.cosAt(radians(lat) - a.lat)
	switch h := float64(c*v) * float64(c*v); {
	case h <= a.inner:
		return true
	case h > a.outer:
		return false
	}
	return Distance(lon, lat, a.Center.Lon, lat) <= a.halfW
}

// inPolygon counts the sides that a line to the east crosses. Source: W. R. Franklin, "PNPOLY".
func (a *Area) inPolygon(lon, lat float64) bool {
	inside := false
	from := a.vertices[len(a.vertices)-1]
	for _, to := range a.vertices {
		if (to.Lat > lat) != (from.Lat > lat) &&
			lon < float64((from.Lon-to.Lon)*(lat-to.Lat))/(from.Lat-to.Lat)+to.Lon {
			inside = !inside
		}
		from = to
	}
	return inside
}

// quick returns the haversine of the distance from the center, good to 1e-13 of its value.
func (a *Area) quick(lon, lat float64) float64 {
	dlat := radians(lat) - a.lat
	u, v := halfSine(dlat), halfSine(radians(lon)-a.lon)
	return float64(u*u) + float64(a.cosLat*a.cosAt(dlat)*v*v)
}

// cosAt returns the cosine of the latitude dlat, in radians, from the center's.
func (a *Area) cosAt(dlat float64) float64 {
	u := halfSine(dlat)
	return a.cosLat*(1-2*u*u) - a.sinLat*2*u*math.Sqrt(1-u*u)
}

// Meters returns the distance of a score's place from the center. If exact, it equals Distance;
// else it is good to 1e-12 of its value.
func (a *Area) Meters(score uint64) (d float64, exact bool) {
	lon, lat := Decode(score)
	if d, ok := fromHaversine(a.quick(lon, lat)); ok {
		return d, false
	}
	return a.Exactly(score), true
}

// Exactly returns the Distance of a score's place from the center.
func (a *Area) Exactly(score uint64) float64 {
	lon, lat := Decode(score)
	return Distance(a.Center.Lon, a.Center.Lat, lon, lat)
}
