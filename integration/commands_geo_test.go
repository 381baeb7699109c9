package integration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNearby runs the recipe of bicycles around a customer. The bicycles move, and a search finds
// all that are near and no others, the nearest first.
func TestNearby(t *testing.T) {
	everywhere(t, func(e *env) {
		type place struct{ lon, lat float64 }
		at := map[string]place{}
		// Search around a street in Beijing, and on the islands that the ±180° meridian crosses.
		for _, center := range []place{{116.48105, 39.996794}, {179.99, -16.8}} {
			key := fmt.Sprint("bikes:", center.lon)
			p := e.c.Pipeline()
			for i := range 2000 {
				name := fmt.Sprint("bike", i%1500) // some move
				lon := center.lon + (rand.Float64()-0.5)*0.2
				if lon > 180 {
					lon -= 360
				}
				at[name] = place{lon, center.lat + (rand.Float64()-0.5)*0.2}
				p.GeoAdd(e.ctx, key,
					&redis.GeoLocation{Name: name, Longitude: lon, Latitude: at[name].lat})
			}
			_, err := p.Exec(e.ctx)
			require.NoError(e, err)
			for range 20 {
				me := place{center.lon + rand.Float64()*0.01, center.lat + rand.Float64()*0.1}
				const radius = 2000.0
				found, err := e.c.GeoSearchLocation(e.ctx, key,
					&redis.GeoSearchLocationQuery{WithDist: true,
						GeoSearchQuery: redis.GeoSearchQuery{Longitude: me.lon, Latitude: me.lat,
							Radius: radius, RadiusUnit: "m", Sort: "ASC"}}).Result()
				require.NoError(e, err)
				got, last := map[string]bool{}, 0.0
				for _, f := range found {
					d := chord(me.lon, me.lat, at[f.Name].lon, at[f.Name].lat)
					assert.InDelta(e, d, f.Dist, 1.5, "%s", f.Name)
					assert.GreaterOrEqual(e, f.Dist, last)
					last = f.Dist
					got[f.Name] = true
				}
				assert.Len(e, got, len(found), "somebody is there twice")
				for name, b := range at {
					if d := chord(me.lon, me.lat, b.lon, b.lat); math.Abs(d-radius) > 1.5 {
						assert.Equal(e, d < radius, got[name], "%s at %.1f m", name, d)
					}
				}
			}
		}
	})
}

// chord returns the distance in meters between two places. The server computes it in another way.
func chord(lon1, lat1, lon2, lat2 float64) float64 {
	vector := func(lon, lat float64) (x, y, z float64) {
		sinLon, cosLon := math.Sincos(lon * math.Pi / 180)
		sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
		return cosLat * cosLon, cosLat * sinLon, sinLat
	}
	x1, y1, z1 := vector(lon1, lat1)
	x2, y2, z2 := vector(lon2, lat2)
	return 2 * 6372797.560856 * math.Asin(
		math.Sqrt((x1-x2)*(x1-x2)+(y1-y2)*(y1-y2)+(z1-z2)*(z1-z2))/2)
}
