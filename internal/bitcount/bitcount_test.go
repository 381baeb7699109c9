package bitcount

import (
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// TestCount counts strings of every length and alignment, random ones and ones of all bits.
func TestCount(t *testing.T) {
	rnd := testseed.Rand(t)
	random, full := make([]byte, 2048), make([]byte, 2048)
	for i := range random {
		random[i], full[i] = byte(rnd.Uint32()), 0xff
	}
	for n := range 1500 {
		at := rnd.IntN(64)
		want := 0
		for _, x := range random[at : at+n] {
			for ; x != 0; x &= x - 1 {
				want++
			}
		}
		require.Equal(t, want, words(random[at:at+n]))
		require.Equal(t, want, Count(random[at:at+n]))
		require.Equal(t, 8*n, Count(full[at:at+n]))
	}
	require.Equal(t, 8<<20, Count(append(make([]byte, 5<<20), bytesOf(0xff, 1<<20)...)))
}

func bytesOf(x byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = x
	}
	return b
}

func BenchmarkCount(b *testing.B) {
	v := bytesOf(0x5a, 64<<10)
	b.SetBytes(int64(len(v)))
	for b.Loop() {
		Count(v)
	}
}

func BenchmarkWords(b *testing.B) {
	v := bytesOf(0x5a, 64<<10)
	b.SetBytes(int64(len(v)))
	for b.Loop() {
		words(v)
	}
}
