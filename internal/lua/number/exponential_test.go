package number

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The results are those of glibc 2.36.
func TestLogarithms(t *testing.T) {
	for _, c := range []struct {
		f         func(float64) float64
		x, result float64
	}{
		{Exp, 1, 2.7182818284590451}, {Exp, -0.1, 0.90483741803595952},
		{Exp, 0.1, 1.1051709180756477}, {Exp, 1000, math.Inf(1)}, {Exp, -1000, 0}, {Exp, 0, 1},
		{Log, 3, 1.0986122886681098}, {Log, 0.1, -2.3025850929940455}, {Log, 1, 0},
		{Log, 1000, 6.9077552789821368}, {Log, 1e300, 690.77552789821368},
		{Log, 0, math.Inf(-1)}, {Log, math.Inf(1), math.Inf(1)},
		{Log10, 3, 0.47712125471966244}, {Log10, 2, 0.3010299956639812}, {Log10, 1000, 3},
		{Log10, 1e-5, -5}, {Log10, 1e300, 300}, {Log10, 0, math.Inf(-1)}, {Log10, 1, 0},
	} {
		assert.Equal(t, c.result, c.f(c.x), "%v", c.x)
	}
	for i := range 300 {
		x := math.Pow(10, float64(i-150))
		assert.Equal(t, float64(i-150), Log10(x))
		assert.InEpsilon(t, x, Exp(Log(x)), 1e-13)
	}
	for _, f := range []func(float64) float64{Exp, Log, Log10} {
		assert.True(t, math.IsNaN(f(math.NaN())))
	}
	assert.True(t, math.IsNaN(Log(-1)) && math.IsNaN(Log10(-1)))
}
