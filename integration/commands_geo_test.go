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

// companies returns the places in the examples of the courses.
func companies() []*redis.GeoLocation {
	return []*redis.GeoLocation{
		{Name: "juejin", Longitude: 116.48105, Latitude: 39.996794},
		{Name: "ireader", Longitude: 116.514203, Latitude: 39.905409},
		{Name: "meituan", Longitude: 116.489033, Latitude: 40.007669},
		{Name: "jd", Longitude: 116.562108, Latitude: 39.787602},
		{Name: "xiaomi", Longitude: 116.334255, Latitude: 40.027400},
	}
}

func TestGeo(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.EqualValues(e, 5, c.GeoAdd(ctx, "company", companies()...).Val())
		require.Zero(e, c.GeoAdd(ctx, "company", companies()...).Val())
		require.Equal(e, 10.5501, c.GeoDist(ctx, "company", "juejin", "ireader", "km").Val())
		require.ErrorIs(e, c.GeoDist(ctx, "company", "juejin", "nobody", "km").Err(), redis.Nil)
		require.Equal(e,
			[]*redis.GeoPos{{Longitude: 116.48104995489120483, Latitude: 39.99679348858259686},
				nil}, c.GeoPos(ctx, "company", "juejin", "nobody").Val())
		require.Equal(e, []string{"wx4g52e1ce0", ""},
			c.GeoHash(ctx, "company", "ireader", "nobody").Val())
		near, err := c.GeoRadiusByMember(ctx, "company", "ireader",
			&redis.GeoRadiusQuery{Radius: 20, Unit: "km", Count: 3, Sort: "ASC",
				WithCoord: true, WithDist: true, WithGeoHash: true}).Result()
		require.NoError(e, err)
		require.Equal(e, []redis.GeoLocation{
			{Name: "ireader", Dist: 0, GeoHash: 4069886008361398, Longitude: 116.5142020583152771,
				Latitude: 39.90540918662494363},
			{Name: "juejin", Dist: 10.5501, GeoHash: 4069887154388167,
				Longitude: 116.48104995489120483, Latitude: 39.99679348858259686},
			{Name: "meituan", Dist: 11.5748, GeoHash: 4069887179083478,
				Longitude: 116.48903220891952515, Latitude: 40.00766997707732031},
		}, near)
		require.EqualValues(e, 3,
			c.GeoSearchStore(ctx, "company", "near", &redis.GeoSearchStoreQuery{
				GeoSearchQuery: redis.GeoSearchQuery{Member: "juejin", BoxWidth: 20, BoxHeight: 30,
					BoxUnit: "km"}, StoreDist: true}).Val())
		require.Equal(e, []string{"juejin", "meituan", "ireader"},
			c.ZRange(ctx, "near", 0, -1).Val())
		require.InDelta(e, 10.5501, c.ZScore(ctx, "near", "ireader").Val(), 5e-5)
		require.EqualValues(e, 2,
			c.GeoRadiusByMemberStore(ctx, "company", "juejin",
				&redis.GeoRadiusQuery{Radius: 2, Unit: "km", Store: "near"}).Val())
		require.EqualValues(e, 2, c.ZCard(ctx, "near").Val())
		e.errs(c.GeoAdd(ctx, "company",
			&redis.GeoLocation{Name: "x", Longitude: 181, Latitude: 1}).Err(),
			"ERR invalid longitude,latitude pair 181.000000,1.000000")
	})
}

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
