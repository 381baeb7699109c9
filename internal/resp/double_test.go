package resp

import (
	"math"
	"strconv"
	"testing"
)

// TestAppendDouble compares with replies of Redis 8. TestDoublesAgainstRedis has many more.
func TestAppendDouble(t *testing.T) {
	tests := []struct {
		f              float64
		want, shortest string
	}{
		{0, "0", ""}, {math.Copysign(0, -1), "-0", ""}, {1, "1", ""}, {-1, "-1", ""},
		{3.5, "3.5", ""}, {0.1, "0.1", ""}, {100, "100", ""},
		{1e15, "1000000000000000", "1e+15"}, {1e16, "10000000000000000", "1e+16"},
		{1200000000, "1200000000", "1.2e+9"}, {1e19, "1e+19", ""},
		{1 << 53, "9007199254740992", ""}, {1 << 62, "4611686018427387904", "4611686018427388000"},
		{1<<62 + 1024, "4611686018427389000", ""}, {1 << 63, "9223372036854776000", ""},
		{1e23, "99999999999999990000000", ""}, // not the shortest
		{123456789.12345679, "1.2345678912345679e+8", ""},
		{0.0001, "0.0001", ""}, {0.000015, "0.000015", ""}, {1.23e-5, "1.23e-5", ""},
		{-1.5e-7, "-1.5e-7", ""}, {8.046627044677734e-6, "8.046627044677734e-6", ""},
		{math.MaxFloat64, "1.7976931348623157e+308", ""},
		{math.SmallestNonzeroFloat64, "5e-324", ""}, {3.141592653589793, "3.141592653589793", ""},
		{1e9 + 0.25, "1000000000.25", ""}, {math.Inf(1), "inf", ""}, {math.Inf(-1), "-inf", ""},
		{math.NaN(), "nan", ""}, {math.Copysign(math.NaN(), -1), "nan", ""},
	}
	for _, tt := range tests {
		if got := string(AppendDouble([]byte("x"), tt.f)); got != "x"+tt.want {
			t.Errorf("%v: %s, want %s", tt.f, got, tt.want)
		}
		want := tt.want
		if tt.shortest != "" {
			want = tt.shortest
		}
		if got := string(AppendShortest(nil, tt.f)); got != want {
			t.Errorf("%v: %s, want %s", tt.f, got, want)
		}
	}
}

// FuzzAppendDouble reads back what is written.
func FuzzAppendDouble(f *testing.F) {
	for _, x := range []float64{0, 0.1, 1e23, 5e-324, 1 << 62, 1.2345e-5, math.MaxFloat64} {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, b uint64) {
		x := math.Float64frombits(b)
		text := AppendDouble(nil, x)
		back, err := strconv.ParseFloat(string(text), 64)
		if err != nil || back != x && x == x || math.Signbit(back) != math.Signbit(x) && x == x {
			t.Fatalf("%x: %s, which is %v: %v", b, text, back, err)
		}
		if len(text) > 26 {
			t.Fatalf("%x: %s is long", b, text)
		}
	})
}
