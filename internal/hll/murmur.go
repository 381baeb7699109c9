package hll

import "encoding/binary"

// Murmur64A is Austin Appleby's MurmurHash64A (2008, public domain), little endian whatever the machine is.
func Murmur64A(b []byte, seed uint64) uint64 {
	const (
		m = 0xc6a4a7935bd1e995
		r = 47
	)
	h := seed ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		h = (h ^ (k^k>>r)*m) * m
	}
	if len(b) > 0 {
		var tail uint64
		for i, c := range b {
			tail |= uint64(c) << (8 * i)
		}
		h = (h ^ tail) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
