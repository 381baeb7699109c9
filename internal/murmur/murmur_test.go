package murmur

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerification computes the verification value of the hashes as their author's test program
// does: the hash of the hashes of 0, 1 … 255 bytes 0, 1, 2 … with seed 256 − length.
func TestVerification(t *testing.T) {
	var key [256]byte
	var all32, all64 []byte
	for i := range 256 {
		key[i] = byte(i)
		h := Sum32(key[:i], uint32(256-i))
		all32 = append(all32, byte(h), byte(h>>8), byte(h>>16), byte(h>>24))
		h64 := Sum64A(key[:i], uint64(256-i))
		for j := range 8 {
			all64 = append(all64, byte(h64>>(8*j)))
		}
	}
	require.Equal(t, uint32(0x27864C1E), Sum32(all32, 0))
	require.Equal(t, uint32(0x1F0D3804), uint32(Sum64A(all64, 0)))
}
