package hll

import (
	"encoding/binary"
	"math"
)

// histogram counts the registers by value. Values above 51 cannot come from hashing, and the
// estimator ignores them.
type histogram [1 << registerBits]int

func (h *histogram) sparse(b []byte) error {
	return walk(b, func(_, n int, value byte) { h[value] += n })
}

// tallyDense counts the registers of the dense value b.
func tallyDense(h *histogram, b *[DenseSize]byte) {
	regs := b[HeaderSize:]
	// Two tables, so that an increment need not wait for the one before it if both hit the same
	// value.
	var even, odd [1 << registerBits]uint32
	for ; len(regs) >= group; regs = regs[group:] {
		for _, w := range load8((*[group]byte)(regs)) {
			even[w&63]++
			odd[w>>6&63]++
			even[w>>12&63]++
			odd[w>>18&63]++
			even[w>>24&63]++
			odd[w>>30&63]++
			even[w>>36&63]++
			odd[w>>42&63]++
		}
	}
	for i := range h {
		h[i] += int(even[i] + odd[i])
	}
}

// tallyWords counts registers.
func tallyWords(h *histogram, regs *[Registers]byte) {
	var even, odd [1 << registerBits]uint32
	for i := 0; i < Registers; i += 8 {
		w := binary.LittleEndian.Uint64(regs[i : i+8])
		if w == 0 {
			even[0] += 8
			continue
		}
		even[w&63]++
		odd[w>>8&63]++
		even[w>>16&63]++
		odd[w>>24&63]++
		even[w>>32&63]++
		odd[w>>40&63]++
		even[w>>48&63]++
		odd[w>>56&63]++
	}
	for i := range h {
		h[i] += int(even[i] + odd[i])
	}
}

// estimate is Ertl's improved raw estimator (algorithm 6 of his paper). The conversions keep the
// compiler from fusing a multiplication with an addition, which would change the last bits on some
// machines.
func (h *histogram) estimate() uint64 {
	const (
		m        = float64(Registers)
		alphaInf = 0.721347520444481703680 // 1 / (2 ln 2)
	)
	z := m * tau((m-float64(h[rankBits+1]))/m)
	for k := rankBits; k >= 1; k-- {
		z = float64(z+float64(h[k])) * 0.5
	}
	z += float64(m * sigma(float64(h[0])/m))
	e := math.Round(alphaInf * m * m / z)
	if e >= 1<<63 { // no register is within the ranks
		return 1 << 63
	}
	return uint64(e)
}

// tau corrects for registers that have reached the highest rank.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= float64(float64((1-x)*(1-x)) * y)
		if z == before {
			return z / 3
		}
	}
}

// sigma corrects for registers that no element has met. If there are no others, it is infinite and
// the estimate 0.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += float64(x * y)
		y += y
		if z == before {
			return z
		}
	}
}
