package command

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// geoRandom creates places around a center and runs random commands on them, searches and all
// others.
type geoRandom struct {
	*rand.Rand
	lon, lat, size float64 // In degrees.
	n              int
}

func (r *geoRandom) pick(of ...string) string { return of[r.IntN(len(of))] }

func (r *geoRandom) place() (lon, lat string) {
	text := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return text(r.lon + (r.Float64()*2-1)*r.size), text(r.lat + (r.Float64()*2-1)*r.size)
}

func (r *geoRandom) member() string { return fmt.Sprint("m", r.IntN(r.n)) }

// add returns a GEOADD of all members, some of them at the same place.
func (r *geoRandom) add() []string {
	args := []string{"GEOADD", "g"}
	for i := range r.n {
		lon, lat := r.place()
		if i > 0 && r.IntN(5) == 0 {
			at := 2 + 3*r.IntN(i)
			lon, lat = args[at], args[at+1]
		}
		args = append(args, lon, lat, fmt.Sprint("m", i))
	}
	return args
}

func (r *geoRandom) options(with bool) (o []string) {
	if r.IntN(2) == 0 {
		o = append(o, r.pick("ASC", "DESC"))
	}
	if r.IntN(5) < 2 {
		o = append(o, "COUNT", r.pick("1", "2", "3", "7", "10", "30", "100"))
		if r.IntN(3) == 0 {
			o = append(o, "ANY")
		}
	}
	for _, w := range []string{"WITHDIST", "WITHCOORD", "WITHHASH"} {
		if with && r.IntN(3) == 0 {
			o = append(o, w)
		}
	}
	return o
}

// command returns one command on the places. It does not store distances, whose 17th digits depend
// on the C library.
func (r *geoRandom) command() []string {
	unit := r.pick("m", "km", "ft", "mi")
	length := func() string {
		m := r.size * 111_000 * math.Pow(10, r.Float64()*2-1.7)
		if r.IntN(3) == 0 {
			m = math.Pow(10, r.Float64()*8-1)
		}
		return strconv.FormatFloat(
			m/map[string]float64{"m": 1, "km": 1000, "ft": .3048, "mi": 1609.34}[unit], 'f', -1, 64)
	}
	lon, lat := r.place()
	from := []string{"FROMMEMBER", r.member()}
	if r.IntN(2) == 0 {
		from = []string{"FROMLONLAT", lon, lat}
	}
	switch r.IntN(8) {
	case 0, 1:
		return slices.Concat([]string{"GEOSEARCH", "g"}, from, []string{"BYRADIUS", length(), unit},
			r.options(true))
	case 2, 3:
		return slices.Concat([]string{"GEOSEARCH", "g"}, from,
			[]string{"BYBOX", length(), length(), unit}, r.options(true))
	case 4:
		return slices.Concat([]string{"GEORADIUS", "g", lon, lat, length(), unit}, r.options(false),
			[]string{"STORE", "out"})
	case 5:
		return slices.Concat([]string{"GEORADIUSBYMEMBER_RO", "g", r.member(), length(), unit},
			r.options(true))
	case 6:
		return []string{"GEODIST", "g", r.member(), r.member(), unit}
	}
	return []string{r.pick("GEOPOS", "GEOHASH"), "g", r.member(), r.member()}
}

// TestGeoRandomRedis compares random searches in the middle of the map with redis-server: the
// places, the order of ties and the digits.
func TestGeoRandomRedis(t *testing.T) {
	redis, local := startPeer(t, testserver.Redis), newLocal(t)
	seed := testseed.New(t)
	r := &geoRandom{Rand: rand.New(rand.NewPCG(seed, 0))}
	for range 25 {
		r.lon, r.lat = (r.Float64()*2-1)*150, (r.Float64()*2-1)*60
		r.size, r.n = math.Pow(10, r.Float64()*6-5), []int{5, 60, 128, 129, 400}[r.IntN(5)]
		script := [][]string{{"FLUSHALL"}, r.add()}
		for range 40 {
			script = append(script, r.command())
		}
		for _, args := range append(script, []string{"ZRANGE", "out", "0", "-1", "WITHSCORES"}) {
			got, want := local.do(t, argvOf(args...)), redis.do(t, argvOf(args...))
			if !got.Equal(want) {
				t.Fatalf("%.20s:\n got %v\nwant %v", args, got, want)
			}
		}
	}
}

// TestPartialSort compares the sorted front with that of an ordinary sort. It uses many ties, and
// an order that defeats the choice of pivots.
func TestPartialSort(t *testing.T) {
	r := testseed.Rand(t)
	for range 2000 {
		s := make([]int, 1+r.IntN(300))
		for i := range s {
			s[i] = r.IntN(1 + r.IntN(len(s)))
		}
		checkPartial(t, s, r.IntN(len(s)+1))
	}
	// This is McIlroy's killer input: comparisons fix the values as late as possible.
	const n = 20_000
	value, solid, candidate, compares := make([]int, n), 0, 0, 0
	for i := range value {
		value[i] = n
	}
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	partialSort(index, n, func(a, b int) int {
		compares++
		if value[a] == n && value[b] == n {
			if a == candidate {
				value[a], solid = solid, solid+1
			} else {
				value[b], solid = solid, solid+1
			}
		}
		switch {
		case value[a] == n:
			candidate = a
		case value[b] == n:
			candidate = b
		}
		return cmp.Compare(value[a], value[b])
	})
	if compares > 200*n {
		t.Errorf("%d comparisons for %d elements", compares, n)
	}
}

func checkPartial(t *testing.T, s []int, n int) {
	t.Helper()
	got, want := slices.Clone(s), slices.Sorted(slices.Values(s))
	partialSort(got, n, cmp.Compare[int])
	if !slices.Equal(got[:n], want[:n]) {
		t.Fatalf("first %d of %v: %v", n, s, got)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%v: elements lost", s)
	}
}
