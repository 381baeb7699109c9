package rdb

import "encoding/binary"

// crcTables let eight bytes be taken at once: table k is the effect of a byte that k more bytes
// follow.
var crcTables = makeCRCTables()

// crcPoly is the polynomial of Jones, 0xad93d23594c935a9, bits reversed.
const crcPoly = 0x95ac9329ac4bc9b5

func makeCRCTables() *[8][256]uint64 {
	var t [8][256]uint64
	for i := range 256 {
		c := uint64(i)
		for range 8 {
			c = c>>1 ^ crcPoly&-(c&1)
		}
		t[0][i] = c
	}
	for i := range 256 {
		for k := 1; k < 8; k++ {
			c := t[k-1][i]
			t[k][i] = c>>8 ^ t[0][byte(c)]
		}
	}
	return &t
}

// CRC64 continues the checksum of RDB files and DUMP payloads with b. It begins with 0. "123456789"
// gives e9c6d914c4b8d9ca.
func CRC64(crc uint64, b []byte) uint64 {
	t := crcTables
	for len(b) >= 8 {
		c := crc ^ binary.LittleEndian.Uint64(b)
		crc = t[7][byte(c)] ^ t[6][byte(c>>8)] ^ t[5][byte(c>>16)] ^ t[4][byte(c>>24)] ^
			t[3][byte(c>>32)] ^ t[2][byte(c>>40)] ^ t[1][byte(c>>48)] ^ t[0][c>>56]
		b = b[8:]
	}
	for _, c := range b {
		crc = crc>>8 ^ t[0][byte(crc)^c]
	}
	return crc
}

// CRC64Shift returns what a checksum becomes when n zero bytes follow. The checksum is linear, so
// the header of a complete file can be changed without reading the rest again: see PatchVersion.
func CRC64Shift(crc uint64, n int64) uint64 {
	// m[i] is the effect of the current number of zero bytes on bit i. Squaring m doubles the
	// number.
	var m [64]uint64
	for i := range m {
		m[i] = 1 << i
		for range 8 {
			m[i] = m[i]>>1 ^ crcPoly&-(m[i]&1)
		}
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			crc = times(&m, crc)
		}
		var sq [64]uint64
		for i := range sq {
			sq[i] = times(&m, m[i])
		}
		m = sq
	}
	return crc
}

func times(m *[64]uint64, v uint64) (r uint64) {
	for i := 0; v != 0; i, v = i+1, v>>1 {
		r ^= m[i] & -(v & 1)
	}
	return r
}

// PatchVersion returns the checksum of a file whose header was overwritten: it was written with
// version from, and now has version to. crc is the checksum before. The file has size bytes, the
// checksum excluded.
func PatchVersion(crc uint64, size int64, from, to int) uint64 {
	diff := AppendHeader(nil, from)
	for i, c := range AppendHeader(nil, to) {
		diff[i] ^= c
	}
	return crc ^ CRC64Shift(CRC64(0, diff), size-HeaderLen)
}
