package geohash

import "math"

// radius of the Earth in meters, Redis's.
const radius = 6372797.560856

// degree in radians.
const degree = math.Pi / 180

func radians(deg float64) float64 { return float64(deg * degree) }

func degrees(rad float64) float64 { return rad / degree }

// Distance is the length in meters of the way between two places given in degrees, to the last bit as Redis computes it where the C library rounds
// its sines correctly. It takes about half a microsecond: see Area.Meters.
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
