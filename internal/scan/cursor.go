// Package scan holds the two pure parts of the SCAN family: the arithmetic of cursors, and glob
// matching. It knows nothing of tables or commands.
//
// # Cursors
//
// A table of 2^k buckets is walked by counting in reverse-binary order: the carry runs from the
// highest bit of the bucket index to the lowest. With k = 3 the order is 0 4 2 6 1 5 3 7. When the
// table doubles, bucket b becomes b and b+2^k, and both stand where b stood in the order. When it
// halves, the two become one again. So a cursor cuts the key space into "already returned" and
// "still to come" in a way that no resize disturbs: each element present during the whole walk is
// returned at least once, and only a shrink returns some twice. The bits above the mask are zero in
// every cursor that NextCursor returns, and 0 marks both ends of the walk.
//
// The order is that of dictScan in Redis (Pieter Noordhuis).
package scan

import "math/bits"

// NextCursor returns the cursor after cursor in a table whose bucket indexes have the bits of mask
// (bucket count - 1). It returns 0 after the last bucket. Bits of cursor above mask, which a client
// may have sent or a larger table may have left, are ignored. O(1).
func NextCursor(cursor, mask uint64) uint64 {
	// With ones in the bits above the mask, the reversed addition carries through them. They end as
	// zeros or, after the last bucket, all overflow to 0.
	cursor |= ^mask
	return bits.Reverse64(bits.Reverse64(cursor) + 1)
}

// ParseCursor reads a cursor argument as strtoul(3) does in base 10: white space, an optional sign,
// digits, up to the end or a NUL byte. A negative number wraps modulo 2^64. It reports false for
// any other byte, without digits, for a magnitude of 2^64 or more, and for the usual form of a
// negative 64-bit integer, which Redis tries first; callers then answer "ERR invalid cursor".
func ParseCursor(b []byte) (uint64, bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || '\t' <= b[i] && b[i] <= '\r') {
		i++
	}
	neg := false
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		neg = b[i] == '-'
		i++
	}
	var v uint64
	first := i
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(b[i]-'0'), 0)
		if hi != 0 || carry != 0 {
			return 0, false
		}
		v = sum
	}
	if i == first || (i < len(b) && b[i] != 0) {
		return 0, false
	}
	if neg {
		if b[0] == '-' && b[1] != '0' && v <= 1<<63 {
			return 0, false
		}
		v = -v
	}
	return v, true
}
