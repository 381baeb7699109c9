package lua

import (
	"math"
	"strconv"
	"testing"

	"godwit/internal/testseed"
)

// TestAppendNumber compares with Go's own conversion.
func TestAppendNumber(t *testing.T) {
	rnd := testseed.Rand(t)
	check := func(f float64) {
		want := strconv.FormatFloat(f, 'g', 14, 64)
		if got := string(AppendNumber(nil, f)); got != want {
			t.Errorf("%b: %s, want %s", f, got, want)
		}
	}
	for range 20000 {
		whole := float64(rnd.Int64N(1 << rnd.IntN(62)))
		f := whole / math.Pow10(rnd.IntN(20))
		for range rnd.IntN(3) {
			f = math.Nextafter(f, math.Inf(rnd.IntN(2)*2-1))
		}
		check(f)
		check(-f)
		check(math.Float64frombits(rnd.Uint64() &^ (1 << 62)))
	}
	for _, f := range []float64{1e-4, 0.00005, 0.00015, 0.00014999999999999999, 9999999999.9999,
		9999999999.99995, 1e10 - 1e-6, 0.1, 0.5, 99.99, 1e13 + 0.5, 1e14 + 0.5} {
		check(f)
	}
}
