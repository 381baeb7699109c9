package number

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestPow compares powers with exact ones, for exponents that are multiples of a quarter.
func TestPow(t *testing.T) {
	r := testseed.Rand(t)
	for i := range 3000 {
		x, quarters := r.Float64()*20, r.IntN(200)-100
		if i%3 == 0 {
			x, quarters = 1+r.NormFloat64()/1000, r.IntN(100_000)-50_000
		}
		y := float64(quarters) / 4
		want := exactPow(x, quarters)
		if want > 1e300 || want < 1e-300 {
			continue
		}
		require.Equal(t, want, Pow(x, y), "%v ^ %v", x, y)
	}
}

// exactPow returns x ^ (quarters / 4), rounded once.
func exactPow(x float64, quarters int) float64 {
	const bits = 400
	base, result := new(big.Float).SetPrec(bits).SetFloat64(x), new(big.Float).SetPrec(bits)
	base.Sqrt(base)
	base.Sqrt(base)
	result.SetInt64(1)
	for n := max(quarters, -quarters); n > 0; n >>= 1 {
		if n&1 != 0 {
			result.Mul(result, base)
		}
		base.Mul(base, base)
	}
	if quarters < 0 {
		result.Quo(new(big.Float).SetInt64(1), result)
	}
	f, _ := result.Float64()
	return f
}

// TestPowSpecial has results of C's pow.
func TestPowSpecial(t *testing.T) {
	inf, nan, negNaN := math.Inf(1), math.NaN(), math.Copysign(math.NaN(), -1)
	for _, c := range [][3]float64{
		{2, 10, 1024}, {10, 22, 1e22}, {10, -5, 1e-5}, {10, 308, 1e308},
		{1.0001, 8938, 2.44429151734519}, {-2, 3, -8}, {-2, -1, -0.5}, {nan, 3, nan},
		{negNaN, 2, negNaN}, {negNaN, 3, nan}, {negNaN, 1, nan}, {negNaN, -1, nan},
		{negNaN, 0.5, negNaN}, {3, negNaN, negNaN}, {-2, 101, -1 << 101},
		{-3, 100, 5.153775207320113e+47}, {0, 0, 1}, {nan, 0, 1}, {1, nan, 1}, {0, -1, inf},
		{inf, -2, 0}, {-inf, 3, -inf}, {2, 1024, inf}, {2, -1074, 5e-324}, {2, -1080, 0},
		{0.5, 2000, 0}, {-1, inf, 1}, {2, inf, inf}, {0.5, inf, 0}, {4, 0.5, 2}, {inf, 0.5, inf},
		{-inf, 0.5, inf}, {2, 1e300, inf}, {0.5, 1e300, 0}, {-2, 1e300, inf},
		{5e-324, 0.25, 1.4908919308538355e-81}, {1.5, -1e4, 0}, {10, 1e6, inf},
		{-10, 1e6 + 1, -inf},
	} {
		got := Pow(c[0], c[1])
		if c[2] != c[2] {
			require.True(t, math.IsNaN(got), c)
			require.Equal(t, math.Signbit(c[2]), math.Signbit(got), c)
			continue
		}
		require.Equal(t, c[2], got, c)
	}
}

func BenchmarkPow(b *testing.B) {
	for name, y := range map[string]float64{"square": 2, "whole": 5, "any": 2.7} {
		b.Run(name, func(b *testing.B) {
			x := 1.1
			for b.Loop() {
				x = 1 + 1/Pow(x, y)
			}
		})
	}
}
