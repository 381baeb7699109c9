package geohash

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"godwit/internal/testseed"
)

// TestNotes runs the usual introductory example and compares with the replies of redis-server.
func TestNotes(t *testing.T) {
	for _, tt := range []struct {
		lon, lat float64
		score    uint64
		text     string
		pos      string
	}{
		{116.48105, 39.996794, 4069887154388167, "wx4gd94yjn0",
			"116.4810499548912 39.9967934885826"},
		{116.514203, 39.905409, 4069886008361398, "wx4g52e1ce0",
			"116.51420205831528 39.905409186624944"},
		{116.489033, 40.007669, 4069887179083478, "wx4gdg0tx40",
			"116.48903220891953 40.00766997707732"},
		{13.361389, 38.115556, 3479099956230698, "sqc8b49rny0",
			"13.361389338970184 38.1155563954963"},
		{15.087269, 37.502669, 3479447370796909, "sqdtr74hyu0",
			"15.087267458438873 37.50266842333162"},
	} {
		z := Encode(tt.lon, tt.lat)
		lon, lat := Decode(z)
		pos := fmt.Sprint(lon, lat)
		if text := string(AppendText(nil, z)); z != tt.score || text != tt.text || pos != tt.pos {
			t.Errorf("%v %v: %d %s %s, want %d %s %s", tt.lon, tt.lat, z, text, pos, tt.score,
				tt.text, tt.pos)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		lon, lat float64
		score    uint64
	}{
		{-MaxLon, -MaxLat, 0},
		{MaxLon, -MaxLat, 1 << 53},
		{-MaxLon, MaxLat, 1 << 52},
		{MaxLon, MaxLat, 1<<53 | 1<<52},
		{0, 0, 1<<51 | 1<<50},
	} {
		if z := Encode(tt.lon, tt.lat); z != tt.score {
			t.Errorf("%v %v: %d, want %d", tt.lon, tt.lat, z, tt.score)
		}
		lon, lat := Decode(tt.score)
		if math.Abs(lon-tt.lon) > 360.0/side || math.Abs(lat-tt.lat) > 2*MaxLat/side ||
			!Valid(lon, lat) {
			t.Errorf("%v %v comes back as %v %v", tt.lon, tt.lat, lon, lat)
		}
	}
}

func TestInterleave(t *testing.T) {
	r := testseed.Rand(t)
	for range 10000 {
		x, y := r.Uint32(), r.Uint32()
		z := interleave(x, y)
		if gx, gy := deinterleave(z); gx != x || gy != y {
			t.Fatalf("%x %x: %x, back %x %x", x, y, z, gx, gy)
		}
		for i := range 32 {
			if z>>(2*i)&1 != uint64(y>>i&1) || z>>(2*i+1)&1 != uint64(x>>i&1) {
				t.Fatalf("bit %d of %x %x is wrong in %x", i, x, y, z)
			}
		}
	}
}

// TestScore compares the conversion with what gcc makes of (uint64_t)double on x86-64.
func TestScore(t *testing.T) {
	for f, want := range map[float64]uint64{
		0: 0, 1.9: 1, -0.5: 0, -1: math.MaxUint64, -1e300: 1 << 63, math.Inf(-1): 1 << 63,
		1 << 63: 1 << 63, 1.5 * (1 << 63): 3 << 62, 1 << 64: 0, 1e300: 0, math.Inf(1): 0,
	} {
		if got := Score(f); got != want {
			t.Errorf("%v: %x, want %x", f, got, want)
		}
	}
}

func TestAppendMeters(t *testing.T) {
	r := testseed.Rand(t)
	check := func(f float64) {
		if got, want := string(AppendMeters(nil, f)), strconv.FormatFloat(f, 'f', 4,
			64); got != want {
			t.Fatalf("%b: %s, want %s", f, got, want)
		}
	}
	for _, f := range []float64{0, 1, -1, 180, -180, 0.5, 0.00005, 0.00015, 1e-300, 5e-324, 1e17,
		1e300, 1 << 53, 1<<53 - 1, 184.46744073709551, 2.00005, 1.99995} {
		check(f)
	}
	for range 100000 {
		check((r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(30)-10)))
		check(float64(r.IntN(1e9)) / 1e4)          // near ties
		check(float64(r.IntN(1e6)*2+1) / (1 << 5)) // ties
	}
}

// TestAccurate compares the sines with series in 200 bits.
func TestAccurate(t *testing.T) {
	r := testseed.Rand(t)
	for range 1000 {
		x := (r.Float64() - 0.5) * 2 * math.Pi * math.Pow(10, -float64(r.IntN(8)))
		want, _ := bigSine(x).Float64()
		if got := sine(x); got != want {
			t.Errorf("sin(%b) = %b, want %b", x, got, want)
		}
		wide := new(big.Float).SetPrec(200).SetFloat64(x)
		quarter, _ := new(big.Float).SetPrec(200).SetString(
			"1.57079632679489661923132169163975144209858469968755291048747")
		want, _ = bigSineOf(wide.Add(wide, quarter)).Float64()
		if got := cosine(x); got != want {
			t.Errorf("cos(%b) = %b, want %b", x, got, want)
		}
		// An arcsine is right when the sines of its neighbours' midpoints are on both sides.
		s := math.Abs(math.Sin(x))
		y := arcsine(s)
		for _, side := range []float64{0, math.Inf(1)} {
			mid := new(big.Float).SetPrec(200).SetFloat64(y)
			mid.Add(mid, new(big.Float).SetFloat64(math.Nextafter(y, side)))
			c := bigSineOf(mid.Quo(mid, big.NewFloat(2))).Cmp(new(big.Float).SetFloat64(s))
			if side == 0 && c > 0 || side != 0 && c < 0 && y < math.Pi/2 {
				t.Errorf("asin(%b) = %b: wrong side", s, y)
			}
		}
	}
}

func bigSine(x float64) *big.Float { return bigSineOf(new(big.Float).SetPrec(200).SetFloat64(x)) }

func bigSineOf(x *big.Float) *big.Float {
	x2 := new(big.Float).SetPrec(200).Mul(x, x)
	term := new(big.Float).SetPrec(200).Set(x)
	s := new(big.Float).SetPrec(200).Set(x)
	for n := int64(2); n < 100; n += 2 {
		term.Mul(term, x2)
		term.Quo(term, new(big.Float).SetInt64(-n*(n+1)))
		s.Add(s, term)
	}
	return s
}

// TestMeters compares the quick distances with the exact ones.
func TestMeters(t *testing.T) {
	r := testseed.Rand(t)
	var a Area
	for range 20000 {
		lon, lat := randomPlace(r)
		a.Circle(lon, lat, 1000)
		z := Encode(nearPlace(r, lon, lat))
		d, exact := a.Meters(z)
		want := a.Exactly(z)
		if math.Abs(d-want) > 1e-12*want || exact && d != want {
			t.Fatalf("from %v %v to %d: %v, want %v", lon, lat, z, d, want)
		}
	}
}

// randomPlace returns any place, often one near the ends of the map.
func randomPlace(r *rand.Rand) (lon, lat float64) {
	lon, lat = (r.Float64()-0.5)*360, (r.Float64()-0.5)*2*MaxLat
	switch r.IntN(8) {
	case 0:
		lon = math.Copysign(MaxLon-r.Float64()*math.Pow(10, -float64(r.IntN(6))), lon)
	case 1:
		lat = math.Copysign(MaxLat-r.Float64()*math.Pow(10, -float64(r.IntN(6))), lat)
	case 2:
		lon = []float64{-MaxLon, MaxLon, 0, 90, -90}[r.IntN(5)]
	case 3:
		lat = []float64{-MaxLat, MaxLat, 0, 66, -80}[r.IntN(5)]
	}
	return lon, lat
}

// nearPlace returns a place at any distance. Small distances are as likely as large ones.
func nearPlace(r *rand.Rand, lon, lat float64) (float64, float64) {
	if r.IntN(8) == 0 {
		return randomPlace(r)
	}
	d := math.Pow(10, 2-r.Float64()*7)
	lat = min(max(lat+(r.Float64()-0.5)*d, -MaxLat), MaxLat)
	lon += (r.Float64() - 0.5) * d / math.Cos(radians(lat))
	lon = math.Mod(lon+540, 360) - 180
	return min(max(lon, -MaxLon), MaxLon), lat
}

// search walks the spans over sorted scores as a command does, leaping at every chance.
func search(t *testing.T, a *Area, scores []uint64) (found []uint64) {
	for _, s := range a.Spans(nil) {
		i, _ := slices.BinarySearch(scores, s.Low)
		for i < len(scores) && scores[i] <= s.High {
			z := scores[i]
			next, ok := s.Next(z)
			if s.Has(z) != (ok && next == z) {
				t.Fatalf("span %+v: has %d %v, next %d %v", s, z, s.Has(z), next, ok)
			}
			if !ok {
				break
			}
			if next > z {
				i, _ = slices.BinarySearch(scores, next)
				continue
			}
			if a.Has(z) {
				found = append(found, z)
			}
			i++
		}
	}
	return found
}

// within reports whether a place belongs to the area, by the area's definition.
func within(a *Area, z uint64) bool {
	lon, lat := Decode(z)
	switch a.shape {
	case circle:
		return Distance(a.Center.Lon, a.Center.Lat, lon, lat) <= a.meters
	case box:
		return Distance(lon, lat, lon, a.Center.Lat) <= a.halfH &&
			Distance(lon, lat, a.Center.Lon, lat) <= a.halfW
	}
	return a.inPolygon(lon, lat)
}

// TestSearch compares searches with brute force: all that is inside is found, once, and nothing
// else.
func TestSearch(t *testing.T) {
	r := testseed.Rand(t)
	for range 600 {
		lon, lat := randomPlace(r)
		var a Area
		size := math.Pow(10, r.Float64()*8)
		switch r.IntN(5) {
		case 0:
			a.Box(lon, lat, size, math.Pow(10, r.Float64()*8))
		case 1:
			vertices := make([]Point, 3+r.IntN(6))
			for i := range vertices {
				vertices[i].Lon, vertices[i].Lat = nearPlace(r, lon, lat)
			}
			a.Polygon(vertices)
		default:
			a.Circle(lon, lat, size*float64(min(r.IntN(20), 1)))
		}
		checkSearch(t, r, &a)
		if t.Failed() {
			return
		}
	}
}

func checkSearch(t *testing.T, r *rand.Rand, a *Area) {
	scores := make([]uint64, 0, 400)
	add := func(lon, lat float64) { scores = append(scores, Score(float64(Encode(lon, lat)))) }
	for range 400 {
		add(nearPlace(r, a.Center.Lon, a.Center.Lat))
	}
	for range 20 {
		_, lat := nearPlace(r, a.Center.Lon, a.Center.Lat)
		add(MaxLon, lat)
	}
	add(a.Center.Lon, a.Center.Lat)
	add(-MaxLon, a.Center.Lat)
	add(a.Center.Lon, MaxLat)
	add(a.Center.Lon, -MaxLat)
	add(MaxLon, MaxLat)
	slices.Sort(scores)
	scores = slices.Compact(scores)
	got := search(t, a, scores)
	slices.Sort(got)
	var want []uint64
	for _, z := range scores {
		if within(a, z) {
			want = append(want, z)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: found %d, want %d: missed %v, too much %v", describe(a), len(got), len(want),
			minus(want, got), minus(got, want))
	}
}

func describe(a *Area) string {
	return fmt.Sprintf("shape %d around %v %v, radius %v, box %v %v, vertices %v", a.shape,
		a.Center.Lon, a.Center.Lat, a.meters, 2*a.halfW, 2*a.halfH, a.vertices)
}

func minus(a, b []uint64) (places []Point) {
	for _, z := range a {
		if !slices.Contains(b, z) {
			lon, lat := Decode(z)
			places = append(places, Point{lon, lat})
		}
	}
	return places
}

// TestRectNext compares the leap with a walk over a small grid.
func TestRectNext(t *testing.T) {
	r := testseed.Rand(t)
	for range 300 {
		c := rect{x0: r.Uint32N(17), y0: r.Uint32N(17)}
		c.x1, c.y1 = c.x0+r.Uint32N(17-c.x0), c.y0+r.Uint32N(17-c.y0)
		want := none
		for z := interleave(31, 31); ; z-- {
			if x, y := deinterleave(z); c.has(x, y) {
				want = z
			}
			if got := c.next(z); got != want {
				t.Fatalf("%+v: next %d is %d, want %d", c, z, got, want)
			}
			if z == 0 {
				break
			}
		}
	}
}

// TestSpansAreFew checks that a search in the middle of the map has at most Redis's nine cells.
func TestSpansAreFew(t *testing.T) {
	r := testseed.Rand(t)
	for range 2000 {
		var a Area
		lon, lat := (r.Float64()-0.5)*300, (r.Float64()-0.5)*120
		a.Circle(lon, lat, math.Pow(10, r.Float64()*5))
		if n := len(a.Spans(nil)); n > 9 {
			t.Fatalf("%s: %d spans", describe(&a), n)
		}
	}
}

func BenchmarkDistance(b *testing.B) {
	for i := range b.N {
		Distance(116.48105, 39.996794, 116.514203+float64(i&1023)*1e-4, 39.905409)
	}
}

func BenchmarkHas(b *testing.B) {
	var a Area
	a.Circle(116.48105, 39.996794, 20000)
	z := Encode(116.514203, 39.905409)
	for i := range b.N {
		a.Has(z + uint64(i&0xffff))
	}
}

func BenchmarkMeters(b *testing.B) {
	var a Area
	a.Circle(116.48105, 39.996794, 20000)
	z := Encode(116.514203, 39.905409)
	for i := range b.N {
		a.Meters(z + uint64(i&0xffff))
	}
}

func BenchmarkSpans(b *testing.B) {
	var a Area
	var s []Span
	b.ReportAllocs()
	for range b.N {
		a.Circle(116.48105, 39.996794, 50000)
		s = a.Spans(s[:0])
	}
}
