package diff

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// geoHints returns hints for the part of the map where redis-server finds everything. Radii and
// places are such that no search reaches a pole, or crosses the ±180° meridian unless it takes all
// of the Earth. No place lies on the upper ends of the map. The tests of internal/geohash compare
// the rest with brute force, and case files compare some of it.
func geoHints() map[string]hint {
	lon := mostly(0.04,
		oneOf("0", "13.361389", "13.361389", "15.087269", "13.4", "116.48105", "116.514203",
			"-0.1277", "-74.006", "151.2093", "-13.361389", "1e1", "179.5", "-179.5", "-180"),
		oneOf("181", "-180.1", "x", "", "nan", "inf", "1e300"))
	lat := mostly(0.04,
		oneOf("0", "38.115556", "38.115556", "37.502669", "38.2", "39.996794", "39.905409",
			"51.5074", "40.7128", "-33.8688", "-38.115556", "0x10", "1.5"),
		oneOf("86", "-85.06", "x", "", "nan", "-inf"))
	length := mostly(0.06,
		oneOf("0", "1", "10", "100", "200", "500", "1000", "1500", "0.5", "30000", "1e9"),
		oneOf("-1", "x", "", "nan", "inf", "1e400"))
	place := oneOf("a", "b", "c", "d", "e", "f", "g", "h", "1", "2", "3", "4", "x\x00y", "")
	count := mostly(0.1, oneOf("1", "2", "3", "5", "10"),
		oneOf("0", "-1", "x", "9223372036854775807"))
	t := map[string]hint{"*.longitude": lon, "*.latitude": lat, "*.radius": length,
		"*.width": length, "*.height": length,
		"geoadd.member": place, "geodist.member1": place, "geodist.member2": place,
		"geopos.member": place, "geohash.member": place}
	for c := range geoSearches() {
		t[c+".count"], t[c+".member"] = count, place
	}
	return t
}

// geoSearches returns the commands that search, with the index of the argument that is the source.
func geoSearches() map[string]int {
	return map[string]int{"georadius": 1, "georadius_ro": 1, "georadiusbymember": 1,
		"georadiusbymember_ro": 1, "geosearch": 1, "geosearchstore": 2}
}

// guardPlaces points a search at a set of places: scores of other sorted sets stand for places at
// the ends of the map. It replaces STOREDIST: the last bit of a distance comes from the C library's
// sines, and about one in a hundred is not the nearest.
func guardPlaces(key int) guard {
	return func(g *Generator, args [][]byte) [][]byte {
		if len(args) > key && !bytes.HasPrefix(args[key], []byte("ge")) {
			args[key] = []byte("ge" + strconv.Itoa(g.rnd.IntN(3)))
		}
		for i := range args {
			if i > key && bytes.EqualFold(args[i], []byte("STOREDIST")) {
				args[i] = []byte("STORE")
				if key == 2 {
					args[i] = []byte("ASC")
				}
			}
		}
		return args
	}
}

// placesAgree compares the results of two searches. Of distances of thousands of kilometers the
// last of four decimals may differ: it depends on the last bit of the C library's sines.
func placesAgree(a, b Reply) bool {
	if same(a, b) {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	if a.Elems != nil {
		return slices.EqualFunc(a.Elems, b.Elems, placesAgree)
	}
	x, okx := a.Float()
	y, oky := b.Float()
	return okx && oky && a.Kind == '$' && x > 1e6 && math.Abs(x-y) < 1.5e-4
}
