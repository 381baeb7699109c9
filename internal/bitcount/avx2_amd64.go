package bitcount

import "golang.org/x/sys/cpu"

var useAVX2 = cpu.X86.HasAVX2

// step is the number of bytes that countAVX2 takes at once.
const step = 128

// longest is how many steps one call takes: 1 MiB. The runtime cannot interrupt assembly, and the
// collector waits for it.
const longest = 1 << 20 / step

// countAVX2 returns the number of bits set in the first steps · step bytes at p. steps must not be
// zero.
//
//go:noescape
func countAVX2(p *byte, steps int) int

// Count returns the number of bits set in b.
func Count(b []byte) int {
	if !useAVX2 || len(b) < 2*step {
		return words(b)
	}
	n := 0
	for len(b) >= step {
		steps := min(len(b)/step, longest)
		n += countAVX2(&b[0], steps)
		b = b[steps*step:]
	}
	return n + words(b)
}
