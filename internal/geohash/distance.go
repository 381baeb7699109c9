package geohash

import "math"

// radius is the Earth's radius in meters, Redis's.
const radius = 6372797.560856

// degree is a degree in radians.
const degree = math.Pi / 180

func radians(deg float64) float64 { return float64(deg * degree) }

func degrees(rad float64) float64 { return rad / degree }

// Distance returns the length in meters of the way between two places given in degrees. It equals
// what Redis computes to the last bit, where the C library rounds its sines correctly. It takes
// about half a microsecond: see Area.Meters.
func Distance(lon1, lat1, lon2, lat2 float64) float64 {
	lat1, lat2 = radians(lat1), radians(lat2)
	u := sine((lat2 - lat1) / 2)
	v := sine((radians(lon2) - radians(lon1)) / 2)
	c := 0.0
	if v != 0 {
		c = float64(cosine(lat1) * cosine(lat2) * v * v)
	}
	return 2 * radius * arcsine(math.Sqrt(float64(u*u)+c))
}

// Roughly returns the Distance good to 1e-12 of its value, in a tenth of the time. exact says that
// it equals Distance.
func Roughly(lon1, lat1, lon2, lat2 float64) (d float64, exact bool) {
	r1, r2 := radians(lat1), radians(lat2)
	u, v := halfSine(r2-r1), halfSine(radians(lon2)-radians(lon1))
	if d, ok := fromHaversine(float64(u*u) + float64(math.Cos(r1)*math.Cos(r2)*v*v)); ok {
		return d, false
	}
	return Distance(lon1, lat1, lon2, lat2), true
}

// fromHaversine returns a distance good to 1e-12. It fails nearly half way around the Earth, where
// the last bits of a haversine are centimeters.
func fromHaversine(h float64) (d float64, ok bool) {
	return 2 * radius * math.Asin(math.Sqrt(min(h, 1))), h <= 0.98
}

// halfSine returns sin(d/2), by four terms of its series where they are enough.
func halfSine(d float64) float64 {
	h := d / 2
	if math.Abs(h) > 0.1 {
		return math.Sin(h)
	}
	q := h * h
	return h * (1 - q/6*(1-q/20*(1-q/42)))
}

// Settled reports whether a distance in any unit, good to 1e-12, has the same four decimals as the
// exact one.
func Settled(d float64) bool {
	t := d * 1e4
	if t >= 1<<40 {
		return false
	}
	return math.Abs(t-math.Floor(t)-0.5) > t*near
}

// near is how close, relatively, two distances must be for their last bits to decide.
const near = 1e-11

// Compare orders two distances good to 1e-12. close says that exact ones are needed.
func Compare(a, b float64) (order int, close bool) {
	switch d := a - b; {
	case d > near*a:
		return 1, false
	case d < -near*b:
		return -1, false
	}
	return 0, true
}
