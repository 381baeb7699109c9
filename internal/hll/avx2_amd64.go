package hll

import "golang.org/x/sys/cpu"

// useAVX2 is a variable for the tests, which compare both ways.
var useAVX2 = cpu.X86.HasAVX2

// joinAVX2 is joinWords. It takes 32 registers at a time.
//
//go:noescape
func joinAVX2(regs *[Registers]byte, b *[DenseSize]byte)

// packAVX2 is packWords. It takes 32 registers at a time, which must be below 64.
//
//go:noescape
func packAVX2(b *[DenseSize]byte, regs *[Registers]byte)

// boundsAVX2 returns the lowest and the highest register.
//
//go:noescape
func boundsAVX2(regs *[Registers]byte) (low, high byte)

// tallyAVX2 adds to counts how many registers have the value first, first + 1, … first + 7.
//
//go:noescape
func tallyAVX2(counts *[tallied]uint32, regs *[Registers]byte, first byte)

// tallied is the number of values that tallyAVX2 counts.
const tallied = 8

func join(to *[Registers]byte, b *[DenseSize]byte) {
	if useAVX2 {
		joinAVX2(to, b)
		return
	}
	joinWords(to, b)
}

func pack(b *[DenseSize]byte, from *[Registers]byte) {
	if useAVX2 {
		packAVX2(b, from)
		return
	}
	packWords(b, from)
}

// tally counts the registers, eight values at a time, from the lowest to the highest that there is.
// Hashing gives some twenty values, so three passes do.
func tally(h *histogram, regs *[Registers]byte) {
	if !useAVX2 {
		tallyWords(h, regs)
		return
	}
	low, high := boundsAVX2(regs)
	for first := int(low); first <= int(high); first += tallied {
		var counts [tallied]uint32
		tallyAVX2(&counts, regs, byte(first))
		for i, n := range counts[:min(tallied, len(h)-first)] {
			h[first+i] += int(n)
		}
	}
}

func countDense(h *histogram, b *[DenseSize]byte) {
	if !useAVX2 {
		tallyDense(h, b)
		return
	}
	var regs [Registers]byte
	joinAVX2(&regs, b)
	tally(h, &regs)
}
