package object

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/strtod"
	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

func TestParseScore(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-1": -1, "007": 7, "1.5": 1.5, ".5": .5, "5.": 5, "+3": 3, "1e3": 1000,
		"1E-2": .01, "123456789012345678": 123456789012345678, "999999999999999": 999999999999999,
		"-999999999999999": -999999999999999, "4.9e-324": 5e-324, "0e-5000": 0,
		"0.000e99999": 0, "inf": math.Inf(1), "+Infinity": math.Inf(1), "-INF": math.Inf(-1),
		"0x10": 16, "0X.8": .5, "-0x1.8p1": -3, "0x1P-1074": 5e-324,
		"0xabcdefABCDEF": 0xabcdefABCDEF,
	} {
		got, ok := ParseScore([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	zero, ok := ParseScore([]byte("-0"))
	require.True(t, ok)
	require.True(t, math.Signbit(zero))
	for _, text := range []string{"", " 1", "1 ", "\t1", "nan", "-nan", "NaN", "nan(1)", "infi",
		"infinit", "i", "1e400", "-1e400", "1e-400", "-1e-400",
		"0x", "0x.", "0x1p", "0x1p+", "0xg", "1e", "1e+", ".", "-", "+", "--1", "+-1", "1_000",
		"0x_1p3", "0b1", "0o7", "1,5", "1d", "1\x00", "0x1p-1080", "1.2.3"} {
		f, ok := ParseScore([]byte(text))
		require.False(t, ok, "%q: %v", text, f)
	}
}

// TestShortDecimal compares the quick way with strconv.
func TestShortDecimal(t *testing.T) {
	r := testseed.Rand(t)
	quick := 0
	for range 200000 {
		text := strconv.FormatUint(r.Uint64N(1e17)>>r.IntN(57), 10)
		if r.IntN(3) == 0 {
			text = "000" + text
		}
		if at := r.IntN(len(text) + 1); r.IntN(4) > 0 {
			text = text[:at] + "." + text[at:]
		}
		if r.IntN(3) == 0 {
			text += fmt.Sprintf([]string{"e%d", "e%+d", "e%03d"}[r.IntN(3)], r.IntN(60)-30)
		}
		if r.IntN(3) == 0 {
			text = "-" + text
		}
		want, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, text)
		if got, ok := shortDecimal([]byte(text)); ok {
			quick++
			require.Equal(t, want, got, text)
		}
	}
	require.Greater(t, quick, 100000)
}

func TestParseScoreRange(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		min, max string
		want     ScoreRange
		ok       bool
	}{
		{"1", "2", ScoreRange{1, 2, false, false}, true},
		{"(1", "(2.5", ScoreRange{1, 2.5, true, true}, true},
		{"-inf", "+inf", ScoreRange{-inf, inf, false, false}, true},
		{"(-inf", "(inf", ScoreRange{-inf, inf, true, true}, true},
		{"", "(", ScoreRange{0, 0, false, true}, true},
		{" 1", "2", ScoreRange{}, false},
		{"0", "(0x10", ScoreRange{}, false},
		{"1e400", "1e-400", ScoreRange{inf, 0, false, false}, true},
		{"1\x00x", "2\x00", ScoreRange{1, 2, false, false}, true},
		{"nan", "1", ScoreRange{}, false},
		{"1", "(nan", ScoreRange{}, false},
		{"1 ", "2", ScoreRange{}, false},
		{" ", "2", ScoreRange{}, false},
		{"[1", "2", ScoreRange{}, false},
		{"1", "((2", ScoreRange{}, false},
	} {
		got, ok := ParseScoreRange([]byte(c.min), []byte(c.max))
		require.Equal(t, c.ok, ok, "%q %q", c.min, c.max)
		if ok {
			require.Equal(t, c.want, got, "%q %q", c.min, c.max)
		}
	}
}

func TestParsePlain(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		in   string
		want float64
		ok   bool
	}{
		{"", 0, true}, {"7", 7, true}, {" 7", 0, false}, {"\t-7.5", 0, false}, {"7 ", 0, false},
		{" ", 0, false}, {"0x10", 0, false}, {"1e3", 1000, true}, {"inf", inf, true},
		{"-Infinity", -inf, true}, {"infinit", 0, false}, {"nan", 0, false}, {"1e400", inf, true},
		{"-1e400", -inf, true}, {"1e-400", 0, true}, {"5e-324", 5e-324, true}, {"1e", 0, false},
		{"3\x00x", 3, true}, {"\x00", 0, true}, {"a", 0, false}, {"1_0", 0, false},
		{"12345678901234567890", 12345678901234567890, true}, {"+1", 1, true},
		{"--1", 0, false}, {"+-1", 0, false}, {".5", .5, true}, {"5.", 5, true}, {".", 0, false},
	} {
		got, ok := ParsePlain([]byte(c.in))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %v, %v", c.in, got, ok)
		}
	}
}

func TestParseLexRange(t *testing.T) {
	for _, c := range []struct {
		min, max  string
		ok, empty bool
	}{
		{"-", "+", true, false}, {"+", "-", true, true}, {"-", "-", true, true},
		{"+", "+", true, true}, {"[a", "(b", true, false}, {"[a", "[a", true, false},
		{"[a", "(a", true, true}, {"(a", "[a", true, true}, {"[b", "[a", true, true},
		{"[", "[", true, false}, {"-\x00x", "+", true, false}, {"", "+", false, false},
		{"a", "+", false, false}, {"-", "--", false, false}, {"-", "+a", false, false},
	} {
		r, ok := ParseLexRange([]byte(c.min), []byte(c.max))
		require.Equal(t, c.ok, ok, "%q %q", c.min, c.max)
		if ok {
			require.Equal(t, c.empty, r.Empty(), "%q %q", c.min, c.max)
		}
	}
}

// TestAppendScanned compares with texts that C's printf("%.17g") printed.
func TestAppendScanned(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -3.5: "-3.5", 0.1: "0.10000000000000001",
		1e16: "10000000000000000", 99999999999999984: "99999999999999984", 1e17: "1e+17",
		123456789012345680: "1.2345678901234568e+17", 0.00001: "1.0000000000000001e-05",
		math.MaxFloat64: "1.7976931348623157e+308", 5e-324: "4.9406564584124654e-324",
		math.Inf(1): "inf", math.Inf(-1): "-inf",
	} {
		require.Equal(t, want, string(AppendScanned(nil, f)))
	}
}

func TestWholeScore(t *testing.T) {
	for f, want := range map[float64]bool{0: true, 1: true, -5: true, 1 << 62: true, -1 << 62: true,
		1<<62 + 1024: false, 0.5: false, math.Inf(1): false, 1e300: false} {
		n, ok := wholeScore(f)
		require.Equal(t, want, ok, f)
		if ok {
			require.Equal(t, f, float64(n))
		}
	}
}

// FuzzParseScore compares the parser with Go's as package strtod uses it, whose numbers are nearly
// C's. It also reads back what AppendScore writes.
func FuzzParseScore(f *testing.F) {
	for _, s := range []string{"1", "-0", "1e5", "0x1p3", "0x1", "inf", "nan", " 1", "1_0",
		"4.9e-324", "1e-400", "0x_1p1", "+.5e-3", "1" + strings.Repeat("7", 899) + "e-775"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := ParseScore(b)
		text := string(b)
		hex := strings.HasPrefix(strings.ToLower(strings.TrimLeft(text, "+-")), "0x")
		if hex && !strings.ContainsAny(text, "pP") {
			text += "p0"
		}
		want, err := strtod.ParseFloat(text)
		valid := err == nil && want == want && !strings.Contains(text, "_")
		if ok != valid && !(valid && want == 0) { // what underflows is 0 for Go
			t.Fatalf("%q: %v %v, Go says %v %v", b, got, ok, want, err)
		}
		if !ok {
			return
		}
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q: %v, Go says %v", b, got, want)
		}
		back, ok := ParseScore(AppendScore(nil, got))
		if !ok || math.Float64bits(back) != math.Float64bits(got) {
			t.Fatalf("%q: %v comes back as %v", b, got, back)
		}
	})
}

// FuzzScanFloat checks that whatever the bytes, the number taken is a prefix of them, and a NUL
// ends it.
func FuzzScanFloat(f *testing.F) {
	f.Add([]byte(" 12abc"))
	f.Add([]byte("0x1p"))
	f.Add([]byte("infinit\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, n, _ := scanFloat(b)
		if n > len(b) || bytes.IndexByte(b[:n], 0) >= 0 {
			t.Fatalf("%q: took %d bytes", b, n)
		}
		again, m, _ := scanFloat(b[:n])
		if m != n || math.Float64bits(again) != math.Float64bits(got) {
			t.Fatalf("%q: %v of %d bytes, its prefix %v of %d", b, got, n, again, m)
		}
	})
}
