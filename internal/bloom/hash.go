package bloom

import (
	"math/bits"

	"godwit/internal/murmur"

	"github.com/spaolacci/murmur3"
)

// Hash is the 128-bit hash of an item.
type Hash struct{ A, B uint64 }

// murmur128 hashes for our own filters: MurmurHash3, x64, 128 bits, seed 0.
func murmur128(item []byte) Hash {
	a, b := murmur3.Sum128(item)
	return Hash{a, b}
}

// murmur64a2 hashes as RedisBloom does: MurmurHash64A, first with a constant seed and then with
// that result as the seed.
func murmur64a2(item []byte) Hash {
	a := murmur.Sum64A(item, 0xc6a4a7935bd1e995)
	return Hash{a, murmur.Sum64A(item, a)}
}

// murmur32x2 hashes for old RedisBloom filters: 32-bit MurmurHash2 in the same way.
func murmur32x2(item []byte) Hash {
	a := murmur.Sum32(item, 0x9747b28c)
	return Hash{uint64(a), uint64(murmur.Sum32(item, a))}
}

// mix returns 64 bits that all depend on all bits of two words.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo
}

// among maps a word evenly to a number below n.
func among(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}
