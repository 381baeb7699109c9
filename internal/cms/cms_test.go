package cms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// memory holds counters on Go's heap.
type memory struct{ b []byte }

func (m *memory) Block(int) []byte { return m.b }

func (m *memory) Change(_, off, n int) []byte { return m.b[off : off+n] }

func newSketch(width, depth uint64) *Sketch {
	n, _ := Bytes(width, depth)
	return &Sketch{Width: width, Depth: depth, Mem: &memory{b: make([]byte, n)}}
}

// TestRedisBloomExamples compares with replies that RedisBloom's own tests expect. They depend on
// the places of items.
func TestRedisBloomExamples(t *testing.T) {
	s := newSketch(5, 2)
	const large = 1<<31 - 1
	add := func(by ...uint64) (got []uint32) {
		for i, n := range by {
			got = append(got, s.Incr([]byte{byte('a' + i)}, n))
		}
		return got
	}
	query := func() (got []uint32) {
		for i := range 4 {
			got = append(got, s.Query([]byte{byte('a' + i)}))
		}
		return got
	}
	require.Equal(t, []uint32{large, 10, 17, 5}, add(large, 10, 7, 5))
	require.Equal(t, []uint32{large, 17, 17, 5}, query())
	require.Equal(t, []uint32{large * 2, 27, 34, 10}, add(large, 10, 7, 5))
	require.Equal(t, []uint32{large * 2, 34, 34, 10}, query())
	require.Equal(t, []uint32{Max, 44, 51, 15}, add(large, 10, 7, 5))
	require.Equal(t, []uint32{Max, 51, 51, 15}, query())

	s = newSketch(2, 2)
	require.Equal(t, uint32(10), s.Incr([]byte("foo"), 10))
	require.Equal(t, uint32(42), s.Incr([]byte("bar"), 42))
	require.Equal(t, uint32(10), s.Incr([]byte("foo"), 0))
	require.EqualValues(t, 52, s.Count)
}

func TestDim(t *testing.T) {
	for _, c := range []struct {
		over, prob   float64
		width, depth uint64
		ok           bool
	}{
		{0.001, 0.01, 2000, 7, true}, {0.001, 0.002, 2000, 9, true}, {0.1, 0.1, 20, 4, true},
		{0.5, 0.5, 4, 1, true}, {0.5, 0.25, 4, 2, true}, {0.9, 0.9999999999999999, 0, 0, false},
		{1e-19, 0.9, 0, 0, false}, {math.SmallestNonzeroFloat64, 0.9, 0, 0, false},
		{0.1, math.SmallestNonzeroFloat64, 0, 0, false},
	} {
		w, d, ok := Dim(c.over, c.prob)
		require.Equal(t, c.ok, ok, "%v", c)
		require.Equal(t, [2]uint64{c.width, c.depth}, [2]uint64{w, d}, "%v", c)
	}
	for _, c := range [][2]uint64{{1 << 33, 1 << 33}, {1 << 62, 2}, {math.MaxInt64, 1}} {
		_, ok := Bytes(c[0], c[1])
		require.False(t, ok, "%v", c)
	}
}

// TestNeverLess compares a sketch with exact counts. It must never under-count, and must not exceed
// the promised error more often than promised.
func TestNeverLess(t *testing.T) {
	rng := testseed.Rand(t)
	const over, prob = 0.01, 0.02
	w, d, _ := Dim(over, prob)
	s := newSketch(w, d)
	truth := map[string]uint64{}
	zipf := rand.NewZipf(rng, 1.1, 1, 20000)
	total := uint64(0)
	for range 200000 {
		item := fmt.Sprint("item", zipf.Uint64())
		n := rng.Uint64N(3)
		truth[item] += n
		total += n
		require.GreaterOrEqual(t, uint64(s.Incr([]byte(item), n)), truth[item])
	}
	require.Equal(t, total, s.Count)
	bad := 0
	for item, n := range truth {
		got := uint64(s.Query([]byte(item)))
		require.GreaterOrEqual(t, got, n, "%s", item)
		if float64(got-n) > over*float64(total) {
			bad++
		}
	}
	require.Less(t, float64(bad), prob*float64(len(truth))+4*math.Sqrt(prob*float64(len(truth))),
		"of %d", len(truth))
}

// TestMergeModel checks that a merge of sketches is the sketch of the merged streams.
func TestMergeModel(t *testing.T) {
	rng := testseed.Rand(t)
	for range 50 {
		width, depth := 1+rng.Uint64N(2000), 1+rng.Uint64N(6)
		n := 1 + rng.IntN(4)
		var sources []Sketch
		var weights []int64
		want := newSketch(width, depth)
		for range n {
			s := newSketch(width, depth)
			weight := 1 + rng.Int64N(5)
			for range 100 {
				item, by := []byte(fmt.Sprint(rng.IntN(50))), rng.Uint64N(10)
				s.Incr(item, by)
				want.Incr(item, by*uint64(weight))
			}
			sources, weights = append(sources, *s), append(weights, weight)
		}
		dest := newSketch(width, depth)
		if rng.IntN(2) == 0 {
			dest = &sources[rng.IntN(n)] // into one of them
		}
		require.NoError(t, dest.Merge(sources, weights))
		require.Equal(t, want.Mem.Block(0), dest.Mem.Block(0))
		require.Equal(t, want.Count, dest.Count)
	}
}

func TestMergeOverflow(t *testing.T) {
	for _, c := range []struct {
		name    string
		by      uint64
		weights []int64
		ok      bool
	}{
		{"one", 5, []int64{1}, true},
		{"zero", 5, []int64{0}, true},
		{"difference", 5, []int64{3, -2}, true},
		{"negative", 5, []int64{1, -2}, false},
		{"counter full", 1 << 31, []int64{1, 1}, false},
		{"counter just not full", 1 << 31, []int64{2, -1}, true},
		{"beyond 63 bits", 1 << 31, []int64{math.MaxInt64}, false},
		{"beyond 63 bits below", 1 << 31, []int64{math.MinInt64}, false},
		{"sum beyond 63 bits", 1, []int64{math.MaxInt64, 1}, false},
		{"large weights that cancel out", 1, []int64{1 << 40, -(1 << 40)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sources []Sketch
			for range c.weights {
				s := newSketch(7, 3)
				s.Incr([]byte("x"), c.by)
				sources = append(sources, *s)
			}
			dest := newSketch(7, 3)
			dest.Incr([]byte("y"), 9)
			before := append([]byte(nil), dest.Mem.Block(0)...)
			err := dest.Merge(sources, c.weights)
			if c.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrOverflow)
			require.Equal(t, before, dest.Mem.Block(0))
			require.EqualValues(t, 9, dest.Count)
		})
	}
	s := newSketch(1, 1)
	s.Count = math.MaxInt64 - 1
	s.Incr([]byte("x"), 5)
	require.EqualValues(t, math.MaxInt64, s.Count)
}

func BenchmarkIncr(b *testing.B) {
	for _, width := range []uint64{2000, 2_000_000} {
		b.Run(fmt.Sprint(width, "x7"), func(b *testing.B) {
			s := newSketch(width, 7)
			// Else the first touch of each page is measured.
			for i := 0; i < len(s.Mem.Block(0)); i += 4096 {
				s.Mem.Block(0)[i] = 0
			}
			var item [16]byte
			rng := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				n := rng.Uint64()
				for i := range 8 {
					item[i] = byte(n >> (8 * i))
				}
				s.Incr(item[:], 1)
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	s, a, c := newSketch(2000, 7), newSketch(2000, 7), newSketch(2000, 7)
	for b.Loop() {
		if err := s.Merge([]Sketch{*a, *c}, []int64{1, 1}); err != nil {
			b.Fatal(err)
		}
	}
}
