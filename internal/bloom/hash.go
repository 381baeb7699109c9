package bloom

import (
	"math/bits"

	"godwit/internal/murmur"

	"github.com/spaolacci/murmur3"
)

// Hash is the hash of an item: 128 bits.
type Hash struct{ A, B uint64 }

// murmur128 is the hash of our own filters: MurmurHash3, x64, 128 bits, seed 0.
func murmur128(item []byte) Hash {
	a, b := murmur3.Sum128(item)
	return Hash{a, b}
}

// murmur64a2 is RedisBloom's hash: MurmurHash64A, once with a constant and once with what came of that as the seed.
func murmur64a2(item []byte) Hash {
	a := murmur.Sum64A(item, 0xc6a4a7935bd1e995)
	return Hash{a, murmur.Sum64A(item, a)}
}

// murmur32x2 is the hash of old RedisBloom filters: MurmurHash2, 32 bits, in the same way.
func murmur32x2(item []byte) Hash {
	a := murmur.Sum32(item, 0x9747b28c)
	return Hash{uint64(a), uint64(murmur.Sum32(item, a))}
}

// mix makes 64 bits of two words: every one depends on all of them.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo
}

// among maps a word evenly to a number below n.
func among(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}
