// Package murmur is the second generation of MurmurHash. The layouts of Redis's HyperLogLog and of
// RedisBloom's sketches depend on it: to read their values, or to write values that they read,
// items must be put where they put them. It is no defence against chosen items; nothing here needs
// one.
//
// Words are read little endian on every machine, so values can travel.
//
// Source: Austin Appleby's MurmurHash2 and MurmurHash64A, which are in the public domain.
package murmur

import "encoding/binary"

const (
	m32 = 0x5bd1e995
	r32 = 24
	m64 = 0xc6a4a7935bd1e995
	r64 = 47
)

// Sum32 returns the MurmurHash2 of b.
func Sum32(b []byte, seed uint32) uint32 {
	h := seed ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m32
		h = h*m32 ^ (k^k>>r32)*m32
	}
	if len(b) > 0 {
		var tail uint32
		for i := len(b) - 1; i >= 0; i-- {
			tail = tail<<8 | uint32(b[i])
		}
		h = (h ^ tail) * m32
	}
	h = (h ^ h>>13) * m32
	return h ^ h>>15
}

// Sum64A returns the MurmurHash64A of b.
func Sum64A(b []byte, seed uint64) uint64 {
	h := seed ^ uint64(len(b))*m64
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m64
		h = (h ^ (k^k>>r64)*m64) * m64
	}
	if len(b) > 0 {
		var tail uint64
		for i := len(b) - 1; i >= 0; i-- {
			tail = tail<<8 | uint64(b[i])
		}
		h = (h ^ tail) * m64
	}
	h = (h ^ h>>r64) * m64
	return h ^ h>>r64
}
