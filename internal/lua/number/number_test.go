package number

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParse has what Lua 5.1.5 answers to tonumber.
func TestParse(t *testing.T) {
	for s, want := range map[string]float64{
		"10": 10, "010": 10, " 1e2 ": 100, "\v1\f\n": 1, "0x10": 16, "-0x10": -16, "+0x10": 16,
		"0X1F": 31, ".5": .5, "5.": 5, "1e+2": 100, "0x1p4": 16, "0x.8": .5, "0x1.8": 1.5,
		"1e400": math.Inf(1), "0x1p99999": math.Inf(1), "-INF": math.Inf(-1),
		"infinity": math.Inf(1), "-7": -7, "123456789012345678": 123456789012345678,
		"1\x00x":                        1,
		"0x20000000000001":              1 << 53,
		"0x200000000000011":             0x200000000000020,
		"0x18446744073709551617":        1.1459861526630101e+23,
		strings.Repeat("0", 2000) + "1": 1,
	} {
		n, ok := Parse(s)
		require.True(t, ok, s)
		require.Equal(t, want, n, s)
	}
	for _, s := range []string{"nan", "-NaN", "nan(1)", "nan(_a)"} {
		n, ok := Parse(s)
		require.True(t, ok && n != n, s)
	}
	for _, s := range []string{"", " ", "\x001", "x", "1_0", "0b1", "0o7", "1e", "0x", "0x.",
		"0x.p1", "1 2", "--1", "- 1", "1.2.3", "0x1_0", "0x 1", "0x-1", ".", ".e1", "e1", "infinit",
		"nan(", "nan)", "nan(-)", "\u0130nf", "+", "-"} {
		_, ok := Parse(s)
		require.False(t, ok, "%q", s)
	}
}

// TestPrefix has where C's strtod stops.
func TestPrefix(t *testing.T) {
	for s, want := range map[string]int{"": 0, "-": 0, "12x": 2, "-1.5.2": 4, "1e+": 1, "1e5e": 3,
		"0x": 1, "0x.": 1, "-0xg": 2, "0x1p": 3, "0x1P-4p": 6, "infinit": 3, "Infinity1": 8,
		"nan(a": 3, "nan(a_1)x": 8, "nan()": 5, "nan(-)": 3, "nan)": 3, ".": 0, ".5": 2, "5.e1": 4,
		"1234567890123456x": 16, "123456789012345x": 15, "1\x00": 1, "+e": 0} {
		_, size := Prefix(s)
		require.Equal(t, want, size, s)
	}
}

// TestZeroSign checks that the sign of zero survives.
func TestZeroSign(t *testing.T) {
	for _, s := range []string{"-0", "-0x0", "-0.0"} {
		n, _ := Parse(s)
		require.True(t, n == 0 && math.Signbit(n), s)
	}
}

func TestMod(t *testing.T) {
	for _, c := range [][3]float64{{5, 3, 2}, {-5, 3, 1}, {5, -3, -1}, {-5, -3, -2}, {5.5, 2, 1.5},
		{1 << 53, 3, 2}, {0, 5, 0}} {
		require.Equal(t, c[2], Mod(c[0], c[1]), c)
	}
	require.True(t, math.IsNaN(Mod(1, 0)))
	require.True(t, math.IsNaN(Mod(1, math.Inf(1))))
}

// FuzzParse checks that numbers survive Go's shortest form and that nothing panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-0x1p-2", " .5e3 ", "inf", "nan(0)", "0x.8", "1e", "0xg",
		"0\x00_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := Parse(s)
		read, _, _ := strings.Cut(s, "\x00")
		if ok && strings.Contains(read, "_") && n == n {
			t.Fatalf("%q is %v", s, n)
		}
	})
}
