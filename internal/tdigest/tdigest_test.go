package tdigest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// memory is a header on Go's heap.
type memory struct{ b []byte }

func (m *memory) Head() []byte { return m.b }

func (m *memory) ResizeHead(n int) []byte {
	b := make([]byte, n)
	copy(b, m.b)
	m.b = b
	return b
}

func newDigest(compression int64, values ...float64) *Digest {
	d := New(&memory{make([]byte, FirstSize)}, compression)
	for _, v := range values {
		if err := d.Add(v, 1); err != nil {
			panic(err)
		}
	}
	return d
}

// check walks the whole digest.
func check(t testing.TB, d *Digest) {
	t.Helper()
	capacity, ok := Capacity(d.Compression)
	require.True(t, ok)
	require.Less(t, d.Merged+d.Unmerged, capacity)
	require.LessOrEqual(t, int64(len(d.nodes())), capacity*NodeSize)
	require.Equal(t, d, Open(d.mem), "what is in the memory")
	var merged, unmerged int64
	for i := range d.Merged + d.Unmerged {
		n := d.Node(i)
		require.Positive(t, n.Weight)
		require.GreaterOrEqual(t, n.Mean, d.Min)
		require.LessOrEqual(t, n.Mean, d.Max)
		if i < d.Merged {
			merged += n.Weight
			require.True(t, i == 0 || d.Node(i-1).Mean <= n.Mean, "the order at %d", i)
		} else {
			unmerged += n.Weight
		}
	}
	require.Equal(t, merged, d.MergedWeight)
	require.Equal(t, unmerged, d.UnmergedWeight)
}

// TestRedisBloomInfo is a reply that RedisBloom's own tests expect, after 10,000 additions.
func TestRedisBloomInfo(t *testing.T) {
	d := newDigest(100)
	for x := range 10_000 {
		require.NoError(t, d.Add(float64(x+1), 1))
	}
	check(t, d)
	capacity, _ := Capacity(100)
	require.EqualValues(t, 610, capacity)
	require.Equal(t, Summary{Min: 1, Max: 10000, Merged: 51, Unmerged: 422, MergedWeight: 9578, UnmergedWeight: 422, Compressions: 17}, d.Summary)
}

// TestHeavy: next to weights beyond double precision light nodes do not merge by themselves; the
// digest stays within its capacity all the same.
func TestHeavy(t *testing.T) {
	for _, compression := range []int64{1, 2, 5} {
		d := newDigest(compression, 1)
		for range 61 {
			require.NoError(t, d.Merge(d))
			check(t, d)
		}
		capacity, _ := Capacity(compression)
		size := d.Size()
		for i := range 3 * capacity {
			require.NoError(t, d.Add(float64(i%7-3), 1))
			check(t, d)
		}
		require.Equal(t, size+3*capacity, d.Size())
		require.Equal(t, 1., d.View().Quantile(0.5))
		require.Equal(t, 3., d.Max)
		require.NoError(t, d.Merge(d))
		was := d.AppendState(nil)
		require.Equal(t, ErrOverflow, d.Merge(d))
		require.Equal(t, was, d.AppendState(nil))
	}
}

// TestDocumentedExamples are the examples of RedisBloom's documentation.
func TestDocumentedExamples(t *testing.T) {
	tens := newDigest(1000, 10, 20, 30, 40, 50, 60).View()
	steps := newDigest(1000, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5).View()
	ranks := func(f func(float64) int64, xs ...float64) (out []int64) {
		for _, x := range xs {
			out = append(out, f(x))
		}
		return out
	}
	require.Equal(t, []int64{-1, 0, 1, 2, 3, 4, 5, 6}, ranks(tens.Rank, 0, 10, 20, 30, 40, 50, 60, 70))
	require.Equal(t, []int64{6, 5, 4, 3, 2, 1, 0, -1}, ranks(tens.RevRank, 0, 10, 20, 30, 40, 50, 60, 70))
	require.Equal(t, []int64{-1, 0, 2, 4, 8, 12, 15}, ranks(steps.Rank, 0, 1, 2, 3, 4, 5, 6))
	require.Equal(t, []int64{15, 14, 13, 10, 7, 2, -1}, ranks(steps.RevRank, 0, 1, 2, 3, 4, 5, 6))
	var by, rev, cdf, quantile []float64
	for i := range int64(16) {
		by = append(by, steps.ByRank(i))
		rev = append(rev, steps.ByRevRank(i))
	}
	inf := math.Inf(1)
	require.Equal(t, []float64{1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, inf}, by)
	require.Equal(t, []float64{5, 5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 2, 2, 1, -inf}, rev)
	for x := range 7 {
		cdf = append(cdf, steps.CDF(float64(x)))
	}
	require.Equal(t, []float64{0, 0.5 / 15, 2. / 15, 4.5 / 15, 8. / 15, 12.5 / 15, 1}, cdf)
	for i := range 11 {
		quantile = append(quantile, steps.Quantile(float64(i)/10))
	}
	require.Equal(t, []float64{1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5}, quantile)

	ten := newDigest(1000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10).View()
	require.Equal(t, 4., ten.TrimmedMean(0.1, 0.6))
	require.Equal(t, 6., ten.TrimmedMean(0.3, 0.8)+0.5-0.5)
	require.Equal(t, 5.5, ten.TrimmedMean(0, 1))
	nine := newDigest(500, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5).View()
	require.Equal(t, 1., nine.TrimmedMean(0.1, 0.9))
	require.InDelta(t, 1.4, nine.TrimmedMean(0.05, 0.95), 1e-12)
}

func TestEmptyAndSmall(t *testing.T) {
	v := newDigest(100).View()
	for _, x := range []float64{v.CDF(1), v.Quantile(0.5), v.ByRank(0), v.ByRevRank(0), v.TrimmedMean(0, 1)} {
		require.True(t, math.IsNaN(x))
	}
	require.EqualValues(t, -2, v.Rank(1))
	require.EqualValues(t, -2, v.RevRank(1))

	one := newDigest(100, 7)
	one.Compress()
	check(t, one)
	for _, v := range []*View{newDigest(100, 7).View(), one.View()} {
		require.Equal(t, []float64{7, 7, 7, 0.5, 0, 1}, []float64{v.Quantile(0), v.Quantile(0.5), v.Quantile(1), v.CDF(7), v.CDF(6), v.CDF(8)})
	}
	// Everything in one node.
	two := newDigest(100)
	require.NoError(t, two.Add(3, 2))
	two.Min, two.Max = 1, 5
	two.save()
	w := two.View()
	for i := range 101 {
		q := w.Quantile(float64(i) / 100)
		require.True(t, q >= 1 && q <= 5, "%v", q)
	}
	require.Equal(t, 0.5, w.CDF(3))
}

// distributions of values, in no particular order.
var distributions = map[string]func(rng *rand.Rand) float64{
	"uniform":     func(rng *rand.Rand) float64 { return rng.Float64() },
	"normal":      func(rng *rand.Rand) float64 { return rng.NormFloat64() },
	"exponential": func(rng *rand.Rand) float64 { return rng.ExpFloat64() },
	"heavy tail":  func(rng *rand.Rand) float64 { return math.Pow(rng.Float64(), -2) },
	"few values":  func(rng *rand.Rand) float64 { return float64(rng.IntN(7)) },
	"huge":        func(rng *rand.Rand) float64 { return (rng.Float64() - 0.5) * 2 * math.MaxFloat64 },
}

// rankError is how far the true rank of x is from q, as a share; equal values cover a range of ranks.
func rankError(sorted []float64, x, q float64) float64 {
	lo, _ := slices.BinarySearch(sorted, x)
	hi, _ := slices.BinarySearchFunc(sorted, x, func(a, b float64) int {
		if a <= b {
			return -1
		}
		return 1
	})
	n := float64(len(sorted))
	return max(0, float64(lo)/n-q, q-float64(hi)/n)
}

// TestErrorBounds holds quantiles and CDF against exact ones: the error is small, and smaller at the ends.
func TestErrorBounds(t *testing.T) {
	rng := testseed.Rand(t)
	for name, draw := range distributions {
		for _, compression := range []int64{50, 100, 500} {
			t.Run(fmt.Sprint(name, compression), func(t *testing.T) {
				d := newDigest(compression)
				values := make([]float64, 50_000)
				for i := range values {
					values[i] = draw(rng)
					require.NoError(t, d.Add(values[i], 1))
				}
				check(t, d)
				slices.Sort(values)
				v := d.View()
				require.Equal(t, values[0], v.Quantile(0))
				require.Equal(t, values[len(values)-1], v.Quantile(1))
				last := math.Inf(-1)
				for i := 1; i < 1000; i++ {
					q := float64(i) / 1000
					x := v.Quantile(q)
					require.GreaterOrEqual(t, x, last, "quantile %v", q)
					last = x
					bound := q*(1-q)*2.2*math.Pi*math.Log(50_000)/float64(compression) + 2./50_000
					if name == "few values" {
						bound *= 2 // what is between two of them has the rank of either
					}
					require.LessOrEqual(t, rankError(values, x, q), bound, "quantile %v", q)
					if name != "few values" {
						require.InDelta(t, q, v.CDF(x), bound, "CDF of %v", x)
					}
				}
			})
		}
	}
}

// TestMerge: parts added up are nearly the whole; weights, Min and Max are exact.
func TestMerge(t *testing.T) {
	rng := testseed.Rand(t)
	for range 20 {
		whole := newDigest(200)
		var values []float64
		for range 1 + rng.IntN(5) {
			part := newDigest(100 + rng.Int64N(400))
			for range rng.IntN(3000) {
				v := rng.NormFloat64()
				values = append(values, v)
				require.NoError(t, part.Add(v, 1))
			}
			before := part.Summary
			require.NoError(t, whole.Merge(part))
			require.Equal(t, before, part.Summary, "reading changes nothing")
		}
		require.EqualValues(t, len(values), whole.Size())
		if len(values) == 0 {
			continue
		}
		check(t, whole)
		slices.Sort(values)
		require.Equal(t, [2]float64{values[0], values[len(values)-1]}, [2]float64{whole.Min, whole.Max})
		v := whole.View()
		for i := 1; i < 100; i++ {
			q := float64(i) / 100
			require.LessOrEqual(t, rankError(values, v.Quantile(q), q), 0.06+3/float64(len(values)))
		}
	}
	d := newDigest(100, 1, 2, 3)
	require.NoError(t, d.Merge(d)) // into itself
	require.EqualValues(t, 6, d.Size())
}

func TestOverflow(t *testing.T) {
	d := newDigest(100, 1)
	require.NoError(t, d.Add(2, math.MaxInt64-1))
	before := d.Summary
	require.ErrorIs(t, d.Add(3, 1), ErrOverflow)
	require.ErrorIs(t, d.Merge(newDigest(100, 5)), ErrOverflow)
	require.Equal(t, before, d.Summary)
	d.Compress()
	require.EqualValues(t, math.MaxInt64, d.Size())
	_ = d.View().Quantile(0.5)
	_, ok := Capacity(math.MaxInt64)
	require.False(t, ok)
}

// TestOrder: the order in which unmerged values came counts for nothing.
func TestOrder(t *testing.T) {
	rng := testseed.Rand(t)
	a, b := newDigest(100), newDigest(100)
	values := make([]float64, 500)
	for i := range values {
		values[i] = math.Floor(rng.Float64() * 100)
	}
	for _, v := range values {
		require.NoError(t, a.Add(v, 1))
	}
	rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	for _, v := range values {
		require.NoError(t, b.Add(v, 1))
	}
	a.Compress()
	b.Compress()
	require.Equal(t, a.Summary, b.Summary)
	require.Equal(t, a.nodes()[:a.Merged*NodeSize], b.nodes()[:b.Merged*NodeSize])
}

func TestReset(t *testing.T) {
	d := newDigest(100)
	for range 1000 {
		require.NoError(t, d.Add(1, 1))
	}
	d.Reset()
	check(t, d)
	require.Equal(t, Summary{}, d.Summary)
	require.Len(t, d.mem.Head(), FirstSize)
	require.NoError(t, d.Add(-3, 1))
	require.Equal(t, [2]float64{-3, -3}, [2]float64{d.Min, d.Max})
}

func BenchmarkAdd(b *testing.B) {
	for _, c := range []int64{100, 1000} {
		b.Run(fmt.Sprint("c", c), func(b *testing.B) {
			d := newDigest(c)
			rng := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				if err := d.Add(rng.NormFloat64(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkQuantile(b *testing.B) {
	d := newDigest(100)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_300 {
		_ = d.Add(rng.NormFloat64(), 1)
	}
	for b.Loop() {
		d.View().Quantile(0.99)
	}
}
