// Package slot knows the hash slots of Redis Cluster: which slot a key belongs to, and sets of
// slots.
//
// A key's slot is the CRC16 of its hash tag modulo 16384. The tag is what stands between the first
// '{' and the first '}' after it, or the whole key where there is no such pair or nothing between.
//
// Source: Redis Cluster specification, "Keys distribution model" and its appendix A (CRC16-XMODEM:
// polynomial 0x1021, initial value 0, not reflected).
package slot

import (
	"bytes"
	"encoding/binary"
)

// Count is the number of slots.
const Count = 16384

// tables[k][b] is the CRC of byte b followed by k zero bytes, so eight bytes are taken at once.
var tables = makeTables()

func makeTables() (t [8][256]uint16) {
	for i := range 256 {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc & 0x8000
			crc <<= 1
			if carry != 0 {
				crc ^= 0x1021
			}
		}
		t[0][i] = crc
	}
	for k := 1; k < 8; k++ {
		for i := range 256 {
			prev := t[k-1][i]
			t[k][i] = prev<<8 ^ t[0][prev>>8]
		}
	}
	return t
}

// CRC16 returns the checksum of b.
func CRC16(b []byte) uint16 {
	crc := uint16(0)
	for len(b) >= 8 {
		crc = tables[7][b[0]^byte(crc>>8)] ^ tables[6][b[1]^byte(crc)] ^ tables[5][b[2]] ^
			tables[4][b[3]] ^ tables[3][b[4]] ^ tables[2][b[5]] ^ tables[1][b[6]] ^ tables[0][b[7]]
		b = b[8:]
	}
	for _, c := range b {
		crc = crc<<8 ^ tables[0][byte(crc>>8)^c]
	}
	return crc
}

// Tag returns the part of a key that decides its slot.
func Tag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	n := bytes.IndexByte(key[open+1:], '}')
	if n <= 0 {
		return key
	}
	return key[open+1 : open+1+n]
}

// Of returns the slot of a key. Most keys have no tag, and are read once: the checksum goes on
// until a '{' comes.
func Of(key []byte) int {
	crc, b := uint16(0), key
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		if x := w ^ openBytes; (x-lowBits)&^x&highBits != 0 {
			return int(CRC16(Tag(key)) & (Count - 1))
		}
		crc = tables[7][byte(w)^byte(crc>>8)] ^ tables[6][byte(w>>8)^byte(crc)] ^
			tables[5][byte(w>>16)] ^ tables[4][byte(w>>24)] ^ tables[3][byte(w>>32)] ^
			tables[2][byte(w>>40)] ^ tables[1][byte(w>>48)] ^ tables[0][byte(w>>56)]
		b = b[8:]
	}
	for _, c := range b {
		if c == '{' {
			return int(CRC16(Tag(key)) & (Count - 1))
		}
		crc = crc<<8 ^ tables[0][byte(crc>>8)^c]
	}
	return int(crc & (Count - 1))
}

// Eight times '{', and the lowest and the highest bit of each byte: a byte of x is 0 if and only if
// (x-lowBits)&^x&highBits is not.
const (
	openBytes = 0x7b7b7b7b7b7b7b7b
	lowBits   = 0x0101010101010101
	highBits  = 0x8080808080808080
)
