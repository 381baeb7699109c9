package crash

import (
	"strconv"
	"strings"

	"godwit/internal/cell"
	"godwit/internal/geohash"
)

// geo adds places to a sorted set, or stores those that are near a point in another one.
func (g *generator) geo() []*unit {
	k := g.key("geo")
	lon, lat := g.coordinates()
	if g.rnd.IntN(3) == 0 {
		return g.near(k, lon, lat)
	}
	members, scores := g.elements(k), map[string]float64{}
	args := []string{"GEOADD", k}
	option := []string{"", "", "NX", "XX"}[g.rnd.IntN(4)]
	if option != "" {
		args = append(args, option)
	}
	for _, m := range members {
		if _, twice := scores[m]; twice {
			continue // NX would keep the first
		}
		lon, lat = g.coordinates()
		scores[m] = float64(geohash.Encode(lon, lat))
		args = append(args, coordinate(lon), coordinate(lat), m)
	}
	return one(func(s state) {
		for m, score := range scores {
			has := false
			if s[k] != nil {
				_, has = s[k].zset[m]
			}
			if option == "" || has == (option == "XX") {
				s.get(k, "zset").zset[m] = score
			}
		}
	}, args...)
}

// near stores the places of k in a circle, as places or by their distance, in one of the sorted
// sets.
func (g *generator) near(k string, lon, lat float64) []*unit {
	to := g.key("geo")
	// Another server's distances may differ in the last bit.
	if g.has.throttle && g.rnd.IntN(2) == 0 {
		to = g.key("z")
	}
	radius := 1 + g.rnd.IntN(15_000_000)
	args := []string{"GEOSEARCHSTORE", to, k, "FROMLONLAT", coordinate(lon), coordinate(lat),
		"BYRADIUS", text(radius), "m"}
	distances := strings.HasPrefix(to, g.prefix+"z")
	if distances {
		args = append(args, "STOREDIST")
	}
	return one(func(s state) {
		var circle geohash.Area
		circle.Circle(lon, lat, float64(radius))
		found := map[string]float64{}
		if s[k] != nil {
			for m, score := range s[k].zset {
				hash := geohash.Score(score)
				if !circle.Has(hash) {
					continue
				}
				if found[m] = score; distances {
					found[m] = circle.Exactly(hash)
				}
			}
		}
		delete(s, to)
		s.get(to, "zset").zset = found
		s.tidy(to)
	}, args...)
}

func (g *generator) coordinates() (lon, lat float64) {
	return float64(g.rnd.IntN(3600)-1800) / 10, float64(g.rnd.IntN(1700)-850) / 10
}

func coordinate(deg float64) string { return strconv.FormatFloat(deg, 'g', -1, 64) }

// These are the arguments of the limiter. Each request fills an hour of the bucket, so that nothing
// drains while the test runs.
const (
	cellBurst = 40
	cellHour  = int64(3600e9) // ns
	cellKind  = "bucket"      // what the model calls the type of such keys
)

// isBucket reports whether the key is that of a limiter.
func isBucket(key string) bool { return strings.Contains(key, ":cell") }

// throttle asks for admission. The server keeps a time, and the model knows between which times it
// lies.
func (g *generator) throttle() []*unit {
	k, quantity := g.key("cell"), 1+g.rnd.IntN(5)
	u := &unit{cmds: [][]string{{"CL.THROTTLE", k, text(cellBurst), "1", "3600", text(quantity)}}}
	u.apply = func(s state) {
		b := s.get(k, cellKind)
		if b.admitted == 0 {
			b.tat = expiry{u.sent * 1e6, (u.acked + 1) * 1e6}
		}
		if b.admitted+quantity > cellBurst+1 {
			return
		}
		b.admitted += quantity
		b.tat.from, b.tat.to = b.tat.from+int64(quantity)*cellHour,
			b.tat.to+int64(quantity)*cellHour
		b.expiry = expiry{cell.Deadline(b.tat.from), cell.Deadline(b.tat.to)}
	}
	return []*unit{u}
}

// readBucket turns a string that was read into a limiter.
func readBucket(v *value) error {
	tat, err := strconv.ParseInt(v.str, 10, 64)
	v.kind, v.tat = cellKind, expiry{tat, tat}
	return err
}
