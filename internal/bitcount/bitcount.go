// Package bitcount counts the bits that are set in a string, as BITCOUNT does.
//
// Processors with AVX2 count 128 bytes a step: each half of a byte is looked up in a table of
// sixteen counts. Others count words of eight bytes. Short strings are words everywhere.
//
// Source: W. Muła, N. Kurz, D. Lemire, "Faster Population Counts Using AVX2 Instructions" (2018).
package bitcount

import (
	"encoding/binary"
	"math/bits"
)

// words returns the number of bits set in b.
func words(b []byte) (n int) {
	for ; len(b) >= 32; b = b[32:] {
		// Four counts run in parallel. A single one would wait for its own last addition.
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b)) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[8:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[16:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[24:]))
	}
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return n
}
