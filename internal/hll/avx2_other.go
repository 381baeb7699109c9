//go:build !amd64

package hll

func join(to *[Registers]byte, b *[DenseSize]byte) { joinWords(to, b) }

func pack(b *[DenseSize]byte, from *[Registers]byte) { packWords(b, from) }

func tally(h *histogram, regs *[Registers]byte) { tallyWords(h, regs) }

func countDense(h *histogram, b *[DenseSize]byte) { tallyDense(h, b) }
