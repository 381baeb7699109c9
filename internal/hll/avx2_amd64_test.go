package hll

import (
	"math/rand/v2"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// TestAVX2 compares what the assembly does with what the Go code does: for registers of every width
// and every lowest value, with a few that stand out, and for values with all registers alike.
func TestAVX2(t *testing.T) {
	if !useAVX2 {
		t.Skip("this processor has no AVX2")
	}
	rnd := testseed.Rand(t)
	for low := range 1 << registerBits {
		for high := low; high < 1<<registerBits; high++ {
			fill := func() (regs [Registers]byte) {
				for i := range regs {
					regs[i] = byte(low + rnd.IntN(high-low+1))
				}
				for range rnd.IntN(3) {
					regs[rnd.IntN(Registers)] = byte(rnd.IntN(1 << registerBits))
				}
				return regs
			}
			requireAlike(t, rnd, fill(), fill())
		}
	}
}

func requireAlike(t *testing.T, rnd *rand.Rand, a, b [Registers]byte) {
	// The bytes around the value stay what they are.
	var words, simd [3 * DenseSize]byte
	for i := range words {
		words[i] = byte(rnd.Uint32())
	}
	simd = words
	at := DenseSize + rnd.IntN(64)
	packWords((*[DenseSize]byte)(words[at:]), &a)
	packAVX2((*[DenseSize]byte)(simd[at:]), &a)
	require.True(t, words == simd, "pack")

	value := (*[DenseSize]byte)(words[at:])
	joined := b
	joinWords(&b, value)
	joinAVX2(&joined, value)
	require.True(t, b == joined, "join")
	require.True(t, words == simd, "join changes nothing else")

	var want, got [3]histogram
	tallyDense(&want[0], value)
	countDense(&got[0], value)
	tallyWords(&want[1], &a)
	tally(&got[1], &a)
	tallyWords(&want[2], &b)
	tally(&got[2], &b)
	require.Equal(t, want, got)
	require.Equal(t, want[0], want[1])
}

// TestWithoutAVX2 holds the callers to the Go code.
func TestWithoutAVX2(t *testing.T) {
	defer func(was bool) { useAVX2 = was }(useAVX2)
	useAVX2 = false
	t.Run("random", TestRandom)
	t.Run("union", TestUnion)
	t.Run("self", TestSelfTest)
}
