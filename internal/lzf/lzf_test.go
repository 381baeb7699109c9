package lzf

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

func roundTrip(t *testing.T, c *Compressor, src []byte) int {
	t.Helper()
	dst := make([]byte, len(src)+len(src)/maxLiteral+2)
	n := c.Compress(dst, src)
	if len(src) == 0 {
		require.Zero(t, n)
		return 0
	}
	require.NotZero(t, n, "%d bytes do not fit %d", len(src), len(dst))
	back := make([]byte, len(src))
	require.NoError(t, Decompress(back, dst[:n]))
	require.True(t, bytes.Equal(src, back), "%x", src)
	return n
}

// letters returns n random bytes out of a random subset of all.
func letters(rng *rand.Rand, n int) []byte {
	b, some := make([]byte, n), 1+rng.IntN(256)
	for i := range b {
		b[i] = byte(rng.IntN(some))
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	var c Compressor
	rng := testseed.Rand(t)
	for range 1000 {
		src := letters(rng, rng.IntN(3000))
		if rng.IntN(2) == 0 && len(src) > 10 { // far and long repetitions
			src = append(src, src[:rng.IntN(len(src))]...)
		}
		roundTrip(t, &c, src)
	}
	require.Less(t, roundTrip(t, &c, bytes.Repeat([]byte("x"), 10000)), 10000/80)
	require.Less(t, roundTrip(t, &c, bytes.Repeat([]byte("hello world "), 100)), 60)
	for _, n := range []int{maxDistance - 1, maxDistance, maxDistance + 1, maxDistance + 2} {
		far := make([]byte, n)
		for i := range far {
			far[i] = byte(rng.Uint32())
		}
		roundTrip(t, &c, append(far, far[:40]...))
	}
}

// TestBounded checks that whatever room there is, nothing is written beyond it, and that the result
// is the same each time.
func TestBounded(t *testing.T) {
	var c Compressor
	src := []byte(strings.Repeat("abcdefgh", 20) + "0123456789 the quick brown fox")
	whole := make([]byte, 500)
	n := c.Compress(whole, src)
	require.Greater(t, n, 0)
	for room := range len(whole) {
		dst := bytes.Repeat([]byte{0xee}, room+8)
		got := c.Compress(dst[:room], src)
		if room < n {
			require.Zero(t, got)
		} else {
			require.Equal(t, whole[:n], dst[:got])
		}
		require.Equal(t, bytes.Repeat([]byte{0xee}, 8), dst[room:])
	}
	c.base = 1<<32 - 100 // the table starts over
	require.Equal(t, n, c.Compress(whole, src))
}

// TestKnown compares both directions with streams in the documented format.
func TestKnown(t *testing.T) {
	for _, k := range []struct{ packed, text string }{
		{"0061", "a"},
		{"0061e00000", "aaaaaaaaaa"},
		{"026162634002", "abcabca"},
		{"0061" + "e0ff00", "a" + strings.Repeat("a", 264)},
	} {
		b, err := hex.DecodeString(k.packed)
		require.NoError(t, err)
		dst := make([]byte, len(k.text))
		require.NoError(t, Decompress(dst, b))
		require.Equal(t, k.text, string(dst))
		var c Compressor
		out := make([]byte, 100)
		require.Equal(t, b, out[:c.Compress(out, []byte(k.text))])
	}
}

// TestRedis reads what redis-server wrote into a DUMP payload.
func TestRedis(t *testing.T) {
	b, err := hex.DecodeString(
		"1f74686520717569636b2062726f776e20666f78206a756d7073206f7665722074201e086c617a79" +
			"20646f672c600de0072c06736c656570732ee00c1be0" +
			"75480078e0ff00e01800017878")
	require.NoError(t, err)
	want := strings.Repeat(
		"the quick brown fox jumps over the lazy dog, the quick brown fox sleeps. ", 3) +
		strings.Repeat("x", 300)
	dst := make([]byte, len(want))
	require.NoError(t, Decompress(dst, b))
	require.Equal(t, want, string(dst))
}

func TestCorrupt(t *testing.T) {
	for _, packed := range []string{"", "05", "0061", "006162", "20", "2000", "e0", "e000",
		"0061e0000000", "006120", "00612001"} {
		b, err := hex.DecodeString(packed)
		require.NoError(t, err)
		require.ErrorIs(t, Decompress(make([]byte, 5), b), ErrCorrupt, packed)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("hello hello hello"))
	f.Add(bytes.Repeat([]byte{0}, 300))
	f.Fuzz(func(t *testing.T, src []byte) { roundTrip(t, new(Compressor), src) })
}

func FuzzDecompress(f *testing.F) {
	f.Add([]byte("\x00a\xe0\x00\x00"), uint16(10))
	f.Add([]byte("\x20\x00"), uint16(3))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		dst := make([]byte, int(n), int(n)+1)
		if err := Decompress(dst, src); err == nil && len(src) == 0 && n > 0 {
			t.Error("something came of nothing")
		}
	})
}

func BenchmarkCompress8K(b *testing.B) {
	var c Compressor
	src, dst := benchText(), make([]byte, 8192)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		c.Compress(dst, src)
	}
}

func BenchmarkDecompress8K(b *testing.B) {
	var c Compressor
	src, dst := benchText(), make([]byte, 8192)
	packed := dst[:c.Compress(dst, src)]
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if err := Decompress(src, packed); err != nil {
			b.Fatal(err)
		}
	}
}

func benchText() []byte {
	var t []byte
	rng := rand.New(rand.NewPCG(1, 2))
	for len(t) < 8000 {
		t = append(t, "element:"...)
		for range 6 {
			t = append(t, byte('0'+rng.IntN(10)))
		}
	}
	return t
}
