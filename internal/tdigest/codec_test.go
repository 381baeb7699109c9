package tdigest

import (
	"encoding/binary"
	"math"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

func reload(t testing.TB, d *Digest) *Digest {
	t.Helper()
	r := d.Saved()
	head, err := r.Head()
	require.NoError(t, err)
	return Open(&memory{head})
}

// TestReload checks that a digest read from a file goes on as if there had been no file.
func TestReload(t *testing.T) {
	rng := testseed.Rand(t)
	for range 10 {
		d := newDigest(1 + rng.Int64N(200))
		straight := newDigest(d.Compression)
		for range 20 {
			for range rng.IntN(400) {
				v, w := math.Floor(rng.NormFloat64()*100), 1+rng.Int64N(3)
				require.NoError(t, d.Add(v, w))
				require.NoError(t, straight.Add(v, w))
			}
			again := reload(t, d)
			check(t, again)
			require.Equal(t, d.Summary, again.Summary)
			require.Equal(t, d.AppendState(nil), again.AppendState(nil))
			d = again
		}
		require.Equal(t, straight.AppendState(nil), d.AppendState(nil))
	}
}

// TestRecordForRedisBloom checks that for a reader that drops fractions the record is a digest with
// everything merged.
func TestRecordForRedisBloom(t *testing.T) {
	d := newDigest(100, 3, 1, 2, 2)
	d.Compress()
	require.NoError(t, d.Add(5, 1))
	require.NoError(t, d.Add(0, 7))
	r := d.Saved()
	require.Equal(t, Saved{
		Compression: 100, Min: 0, Max: 5, Capacity: 610, Compressions: 1, Weight: 12,
		Means: []float64{0, 1, 2, 2, 3, 5}, Weights: []float64{7.5, 1, 1, 1, 1, 1.5},
	}, r)
	empty := newDigest(100).Saved()
	require.Equal(t,
		Saved{Compression: 100, Min: math.MaxFloat64, Max: -math.MaxFloat64, Capacity: 610}, empty)
	again := reload(t, newDigest(100))
	require.Equal(t, Summary{}, again.Summary)
}

func FuzzRecord(f *testing.F) {
	f.Add(100.0, 1.0, 5.0, int64(3), []byte{})
	r := newDigest(100, 3, 1, 2).Saved()
	var b []byte
	for i := range r.Means {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Means[i]))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Weights[i]))
	}
	f.Add(100.0, 1.0, 3.0, int64(0), b)
	f.Add(1.0, -math.MaxFloat64, math.MaxFloat64, int64(0), b)
	f.Fuzz(func(t *testing.T, compression, low, high float64, compressions int64, b []byte) {
		r := Saved{Compression: compression, Min: low, Max: high, Compressions: compressions}
		for ; len(b) >= 16 && len(r.Means) < 300; b = b[16:] {
			r.Means = append(r.Means, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			r.Weights = append(r.Weights, math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		}
		head, err := r.Head()
		if err != nil {
			return
		}
		d := Open(&memory{head})
		if d.Compression > 1000 {
			return
		}
		check(t, d)
		v := d.View()
		last := math.Inf(-1)
		for i := range 21 {
			x := v.Quantile(float64(i) / 20)
			require.True(t, d.Size() == 0 || x >= d.Min && x <= d.Max, "%v", x)
			require.False(t, x < last)
			last = x
		}
		if d.Size() > 0 {
			v.CDF(d.Min/2 + d.Max/2)
			require.False(t, math.IsNaN(v.TrimmedMean(0.1, 0.9)) && d.Size() > 10)
		}
		for i := range 20 {
			if d.Add(float64(i), 1) == nil {
				check(t, d)
			}
		}
		require.Equal(t, d.AppendState(nil), reload(t, d).AppendState(nil))
	})
}
