package stream

import (
	"encoding/binary"
	"math/bits"

	"godwit/internal/listpack"
)

// A value in a block is an element of a listpack without its back, and integers of 5 to 7 bytes
// besides, because streams are full of times in milliseconds:
//
//	0xxxxxxx                     integer 0..127
//	10xxxxxx                     string of x bytes (up to 63)
//	110xxxxx yyyyyyyy            13-bit signed integer, high bits first
//	1110xxxx yyyyyyyy            string of xy bytes (up to 4095)
//	F0 + 4 bytes                 string, 32-bit little-endian length
//	F1 F2 F3 F4 + 2 3 4 8 bytes  signed integer, little endian
//	F5 F6 F7 + 5 6 7 bytes       signed integer, little endian
//
// Only canonical decimal integers (listpack.ParseInt) are stored as integers, so that every value
// reads as it was written.
const (
	tagString = 0x80
	tagInt13  = 0xc0
	tagMedium = 0xe0
	tagLong   = 0xf0
	tagInt16  = 0xf1
	tagInt24  = 0xf2
	tagInt32  = 0xf3
	tagInt64  = 0xf4
	tagInt40  = 0xf5
	tagInt48  = 0xf6
	tagInt56  = 0xf7
)

const (
	maxShort  = 63   // bytes of a string with one byte before it
	maxMedium = 4095 // and with two
	maxInt    = 9    // bytes of an integer
)

// putValue writes a value to the start of b, which has room for valueBound of it, and returns its
// length.
func putValue(b, v []byte) int {
	if n, ok := listpack.ParseInt(v); ok {
		return putInt(b, n)
	}
	return putString(b, v)
}

// valueBound returns the most that a value of n bytes of text takes, which is what a string takes.
func valueBound(n int) int {
	switch {
	case n <= maxShort:
		return 1 + n
	case n <= maxMedium:
		return 2 + n
	default:
		return 5 + n
	}
}

func putString(b, v []byte) int {
	switch n := len(v); {
	case n <= maxShort:
		b[0] = tagString | byte(n)
		return 1 + copy(b[1:], v)
	case n <= maxMedium:
		b[0], b[1] = tagMedium|byte(n>>8), byte(n)
		return 2 + copy(b[2:], v)
	default:
		b[0] = tagLong
		binary.LittleEndian.PutUint32(b[1:], uint32(n))
		return 5 + copy(b[5:], v)
	}
}

func putInt(b []byte, n int64) int {
	u := uint64(n)
	switch {
	case u <= 127:
		b[0] = byte(u)
		return 1
	case n >= -4096 && n <= 4095:
		b[0], b[1] = tagInt13|byte(u>>8)&31, byte(u)
		return 2
	}
	size := (bits.Len64(uint64(n^n>>63)) + 8) >> 3 // 2..8 bytes, with a bit for the sign
	b[0] = intTags[size]
	for i := 1; i <= size; i++ {
		b[i] = byte(u)
		u >>= 8
	}
	return 1 + size
}

// intTags are the tags by the number of bytes that follow.
var intTags = [...]byte{2: tagInt16, tagInt24, tagInt32, tagInt40, tagInt48, tagInt56, tagInt64}

// longValue returns the value at offset at, which Iter.Value does not read itself, and the offset
// behind it.
func longValue(b []byte, at int) (v listpack.Value, end int) {
	end = valueEnd(b, at)
	switch c := b[at]; {
	case c < tagMedium:
		return listpack.Int(int64(int16(uint16(c)<<11|uint16(b[at+1])<<3) >> 3)), end
	case c < tagLong:
		return listpack.Value{B: b[at+2 : end : end]}, end
	case c == tagLong:
		return listpack.Value{B: b[at+5 : end : end]}, end
	}
	var u uint64
	shift := 64
	for _, c := range b[at+1 : end] {
		shift -= 8
		u = u>>8 | uint64(c)<<56
	}
	return listpack.Int(int64(u) >> shift), end
}

// valueEnd returns the offset behind the value at offset at.
func valueEnd(b []byte, at int) int {
	switch c := b[at]; {
	case c < tagString:
		return at + 1
	case c < tagInt13:
		return at + 1 + int(c&63)
	case c < tagMedium:
		return at + 2
	case c < tagLong:
		return at + 2 + (int(c&15)<<8 | int(b[at+1]))
	case c == tagLong:
		return at + 5 + int(binary.LittleEndian.Uint32(b[at+1:]))
	case c <= tagInt32:
		return at + 2 + int(c-tagLong)
	case c == tagInt64:
		return at + 9
	default:
		return at + 6 + int(c-tagInt40)
	}
}

// maxUvarint is the most that putUvarint writes.
const maxUvarint = 10

// putUvarint writes u to the start of b and returns its length.
func putUvarint(b []byte, u uint64) int {
	i := 0
	for ; u >= 0x80; i++ {
		b[i] = byte(u) | 0x80
		u >>= 7
	}
	b[i] = byte(u)
	return i + 1
}

// uvarintLen is the length of what putUvarint writes.
func uvarintLen(u uint64) int { return (bits.Len64(u|1) + 6) / 7 }

// getUvarint reads a number at offset at and returns the offset behind it.
func getUvarint(b []byte, at int) (u uint64, end int) {
	if c := b[at]; c < 0x80 {
		return uint64(c), at + 1
	}
	return longUvarint(b, at)
}

func longUvarint(b []byte, at int) (u uint64, end int) {
	for shift := 0; ; shift += 7 {
		c := b[at]
		at++
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return u, at
		}
	}
}

// putPadded writes u to all of b, which has as many bytes as it needs or more.
func putPadded(b []byte, u uint64) {
	last := len(b) - 1
	for i := range last {
		b[i] = byte(u) | 0x80
		u >>= 7
	}
	b[last] = byte(u)
}
