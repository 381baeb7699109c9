package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkGeo runs commands on places in an area of the size of a country. With a million places,
// there is about one in every three square kilometers.
func BenchmarkGeo(b *testing.B) {
	const n = 1 << 20
	l, r := newLocal(b), rand.New(rand.NewPCG(1, 1))
	place := func() string {
		return fmt.Sprintf("%.6f %.6f", 100+20*r.Float64(), 25+15*r.Float64())
	}
	member := func() string { return fmt.Sprintf("place:%07d", r.IntN(n)) }
	for i := range n {
		l.exec(argvOf(strings.Fields(fmt.Sprintf("GEOADD geo %s place:%07d", place(), i))...))
	}
	for _, bench := range []struct {
		name string
		make func() string
	}{
		{"GEOADD", func() string { return "GEOADD geo " + place() + " " + member() }},
		{"GEODIST", func() string { return "GEODIST geo " + member() + " " + member() + " km" }},
		{"GEOPOS", func() string { return "GEOPOS geo " + member() }},
		{"GEOSEARCH/1km", func() string {
			return "GEOSEARCH geo FROMLONLAT " + place() + " BYRADIUS 1 km"
		}},
		{"GEOSEARCH/50km", func() string {
			return "GEOSEARCH geo FROMLONLAT " + place() + " BYRADIUS 50 km"
		}},
		{"GEOSEARCH/50km_ASC_10", func() string {
			return "GEOSEARCH geo FROMLONLAT " + place() + " BYRADIUS 50 km ASC COUNT 10 WITHDIST"
		}},
		{"GEOSEARCH/50km_ASC", func() string {
			return "GEOSEARCH geo FROMLONLAT " + place() + " BYRADIUS 50 km ASC WITHDIST WITHCOORD"
		}},
	} {
		var argv [1 << 12][][]byte
		for i := range argv {
			argv[i] = argvOf(strings.Fields(bench.make())...)
		}
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				l.exec(argv[i%len(argv)])
			}
		})
	}
}
