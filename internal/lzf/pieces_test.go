package lzf

import (
	"bytes"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// pieces compresses src cut into pieces of n bytes, with no more history than promised.
func pieces(t require.TestingT, c *Compressor, src []byte, n int) (packed []byte) {
	dst := make([]byte, Bound(n))
	for at := 0; at < len(src); at += n {
		from, end := max(at-History, 0), min(at+n, len(src))
		w := c.Piece(dst, src[from:end:end], at-from)
		packed = append(packed, dst[:w]...)
	}
	return packed
}

func checkPieces(t require.TestingT, c *Compressor, src []byte, n int) (packed []byte) {
	packed = pieces(t, c, src, n)
	back := make([]byte, len(src))
	require.NoError(t, Decompress(back, packed))
	require.True(t, bytes.Equal(src, back), "%d bytes in pieces of %d", len(src), n)
	require.Equal(t, packed, pieces(t, c, src, n), "another result the second time")
	return packed
}

func TestPieces(t *testing.T) {
	var c Compressor
	rng := testseed.Rand(t)
	for range 300 {
		src := letters(rng, rng.IntN(60_000))
		for range rng.IntN(4) { // far and long repetitions
			if at := rng.IntN(len(src) + 1); at < len(src) {
				copy(src[rng.IntN(len(src)):], src[at:])
			}
		}
		checkPieces(t, &c, src, 1+rng.IntN(20_000))
	}
}

// TestPiecesReachBack checks that a piece finds matches in the pieces before it, so that cutting
// costs little.
func TestPiecesReachBack(t *testing.T) {
	var c Compressor
	rng := testseed.Rand(t)
	once := make([]byte, 5000)
	for i := range once {
		once[i] = byte(rng.Uint32())
	}
	src := bytes.Repeat(once, 40)
	packed := checkPieces(t, &c, src, 5000)
	require.Less(t, len(packed), len(src)/2,
		"each piece by itself would take all of its 5000 bytes")
	// Runs of one byte take the least space that there is.
	zeros := make([]byte, 1<<20)
	require.Less(t, len(checkPieces(t, &c, zeros, 64<<10)), len(zeros)/80)
}

func TestPiecesOutOfOrder(t *testing.T) {
	var c Compressor
	dst := make([]byte, Bound(100))
	require.Panics(t, func() { c.Piece(dst, make([]byte, 100), 50) })
	require.Panics(t, func() { c.Piece(dst[:2], []byte("incompressible"), 0) })
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte("hello hello hello"), uint16(5))
	f.Add(bytes.Repeat([]byte{0}, 300), uint16(7))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		checkPieces(t, new(Compressor), src, int(n)+1)
	})
}
