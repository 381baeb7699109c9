package strtod_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/strtod"
	"godwit/internal/testseed"
)

func TestParseFloat(t *testing.T) {
	sevens := "1" + strings.Repeat("7", 899)
	zeros := strings.Repeat("0", 900)
	for text, want := range map[string]float64{
		"1.5":                        1.5,
		sevens + "e-775":             1.7777777777777777e+124,
		"-" + sevens + ".25E-775":    -1.7777777777777777e+124,
		"+1" + zeros + "e-900":       1,
		zeros + "1":                  1,
		"0." + zeros + "1e901":       1,
		"1" + zeros + zeros + zeros:  math.Inf(1),
		"0x1" + zeros + "p-3600":     1,
		"0X1." + zeros + "8P1":       2,
		"." + zeros + "1e9999999999": math.Inf(1),
		"1" + zeros + "e-9999999999": 0,
		zeros:                        0,
		// Halfway between 1 and the next double, and a little above.
		"1.00000000000000011102230246251565404236316680908203125" + zeros:       1,
		"1.00000000000000011102230246251565404236316680908203125" + zeros + "1": 1.0000000000000002,
	} {
		got, _ := strtod.ParseFloat(text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", zeros + "x", zeros + "e", zeros + "e+",
		"0x" + zeros + "g", zeros + ".1.2", zeros + "e1e1"} {
		_, err := strtod.ParseFloat(text)
		require.Error(t, err, text)
	}
}

// TestAgainstBig parses long mantissas and compares the numbers with those of exact arithmetic.
func TestAgainstBig(t *testing.T) {
	r := testseed.Rand(t)
	for range 2000 {
		n := 1 + r.IntN(1500)
		b := make([]byte, n)
		for i := range b {
			b[i] = "0000123456789"[r.IntN(13)]
		}
		at := r.IntN(n + 1)
		text := fmt.Sprintf("%s.%se%d", b[:at], b[at:], r.IntN(600)-300-at)
		exact, _, err := big.ParseFloat(text, 10, 8000, big.ToNearestEven)
		require.NoError(t, err)
		want, _ := exact.Float64()
		got, _ := strtod.ParseFloat(text)
		require.Equal(t, want, got, text)
	}
}
