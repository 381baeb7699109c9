package soak

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMixedSize checks that each size class has about as many bytes as any other, from 8 bytes to
// the largest.
func TestMixedSize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	var bytes [24]float64 // by the binary logarithm of the size
	for range 3_000_000 {
		n := mixedSize(rnd, largestSize)
		require.True(t, n >= 8 && n <= largestSize)
		bytes[int(math.Log2(float64(n)))] += float64(n)
	}
	for class := 3; class < 13; class++ { // above are too few for the law of large numbers
		require.InEpsilon(t, bytes[5], bytes[class], 0.2, "2^%d", class)
	}
	require.NotZero(t, bytes[16])
}

// TestZipf checks that the i-th key is drawn in proportion to i^-0.99.
func TestZipf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	law := newZipf(1000)
	drawn := make([]float64, 1000)
	for range 1_000_000 {
		drawn[law.draw(rnd)]++
	}
	require.InEpsilon(t, math.Pow(10, 0.99), drawn[0]/drawn[9], 0.1)
	require.InEpsilon(t, math.Pow(100, 0.99), drawn[0]/drawn[99], 0.2)
}

// TestMeter checks that a sample is compared with the highest limit of the window before it.
func TestMeter(t *testing.T) {
	r := &run{side: &side{freshUsed: mb, freshRSS: 10 * mb}, evictsAll: true}
	start := time.Now()
	sampled := func(after time.Duration, used, rss, limit int64) (overUsed, overRSS int64) {
		r.meter.overUsed, r.meter.overRSS = math.MinInt64, math.MinInt64
		for range lasting {
			r.meter.add(r, sample{at: start.Add(after), used: used, rss: rss, limit: limit})
		}
		return r.meter.overUsed, r.meter.overRSS
	}
	overUsed, overRSS := sampled(0, 106*mb, 140*mb, 100*mb)
	require.Equal(t, mb, overUsed)
	r.meter.overUsed = 0
	r.meter.add(r, sample{at: start, used: 120 * mb, limit: 100 * mb})
	require.Equal(t, mb, r.meter.overUsed, "what one sample shows does not last")
	require.Equal(t, 140*mb-125*mb-10*mb-roomForProcess, overRSS)
	overUsed, _ = sampled(time.Second, 104*mb, 100*mb, 40*mb)
	require.Equal(t, -mb, overUsed, "the limit has just been lowered")
	overUsed, overRSS = sampled(time.Second+3*usedWindow, 43*mb, 100*mb, 40*mb)
	require.Equal(t, mb, overUsed)
	require.Equal(t, 100*mb-50*mb-10*mb-roomForProcess, overRSS)
	_, _ = sampled(time.Minute, mb, mb, mb)
	overUsed, _ = sampled(2*time.Minute, 2*mb, 10*mb, mb)
	require.Equal(t, -mb, overUsed, "an empty server may use more than a limit below it")
	overUsed, _ = sampled(3*time.Minute, 1<<40, 1<<40, 0)
	require.Negative(t, overUsed, "there is no limit")
}

// TestVerdict checks that each bound is a fault or a difference when it is exceeded, and none
// otherwise.
func TestVerdict(t *testing.T) {
	sc := &scenario{}
	theirs := figures{wait: 20 * time.Millisecond, keys: 1000, hits: 0.8}
	good := figures{wait: 300 * time.Millisecond, keys: 910, hits: 0.795, left: mb}
	require.Empty(t, faults(sc, good))
	require.Empty(t, differences(sc, good, theirs))
	for name, spoil := range map[string]func(*figures){
		"hits": func(f *figures) { f.hits = 0.78 }, "keys": func(f *figures) { f.keys = 890 },
		"wait": func(f *figures) { f.wait = 500 * time.Millisecond },
	} {
		f := good
		spoil(&f)
		require.Len(t, differences(sc, f, theirs), 1, name)
	}
	for name, spoil := range map[string]func(*figures){
		"wait": func(f *figures) { f.wait = 3 * time.Second },
		"left": func(f *figures) { f.left++ },
		"used": func(f *figures) { f.overUsed = 1 }, "resident": func(f *figures) { f.overRSS = 1 },
		"settled":    func(f *figures) { f.restUsed = 1 },
		"given back": func(f *figures) { f.restRSS = 1 },
		"emptied":    func(f *figures) { f.leftRSS = roomAfterFlush + 1 },
	} {
		f := good
		spoil(&f)
		require.NotEmpty(t, faults(sc, f), name)
	}
}

// TestStalls checks that a wait in which the machine has no part is excused for next to nothing,
// and that a thread's delay counts once.
func TestStalls(t *testing.T) {
	earlier := delays{"a": 5, "b": 7}
	require.Equal(t, time.Duration(8), delays{"a": 10, "b": 15}.since(earlier))
	require.Equal(t, time.Duration(3), delays{"a": 5, "new": 3}.since(earlier))
}
