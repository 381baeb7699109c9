package number

import (
	"math"
	"math/big"
	"sync"
)

// reduceBits is the precision of reduceLarge. The largest angle has 1024 bits before the point, so
// that 276 correct ones remain behind it.
const reduceBits = 1300

// reduceLarge returns k mod 4 and r such that x is k halves of pi and r, for angles that are large
// and finite. It computes with whole multiples of 2^-reduceBits.
func reduceLarge(x float64) (k int, r pair) {
	m, e := math.Frexp(x)
	angle := big.NewInt(int64(m * (1 << 53)))
	angle.Lsh(angle, uint(reduceBits+e-53))
	half := halfPi()
	n, rest := new(big.Int).DivMod(angle, half, new(big.Int))
	if new(big.Int).Lsh(rest, 1).Cmp(half) > 0 {
		rest.Sub(rest, half)
		n.Add(n, big.NewInt(1))
	}
	f := new(big.Float).SetInt(rest)
	f.SetMantExp(f, -reduceBits)
	r.hi, _ = f.Float64()
	r.lo, _ = f.Sub(f, big.NewFloat(r.hi)).Float64()
	return int(new(big.Int).And(n, big.NewInt(3)).Int64()), r
}

// halfPi returns half of pi: 8 atan(1/5) - 2 atan(1/239), by Machin.
var halfPi = sync.OnceValue(func() *big.Int {
	a, b := arcTan(5), arcTan(239)
	return a.Sub(a.Lsh(a, 3), b.Lsh(b, 1))
})

// arcTan returns the arc tangent of 1/n by Taylor's series.
func arcTan(n int64) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), reduceBits)
	power.Div(power, big.NewInt(n))
	sum := new(big.Int)
	for i := int64(1); power.Sign() != 0; i += 2 {
		term := new(big.Int).Div(power, big.NewInt(i))
		if i&2 != 0 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		power.Div(power, big.NewInt(n*n))
	}
	return sum
}
