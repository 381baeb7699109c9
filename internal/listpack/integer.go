package listpack

import "math"

// ParseInt reads a canonical decimal 64-bit integer: what strconv.AppendInt would print, and
// nothing else (no sign +, no leading zeros, no spaces, no -0). This is Redis's rule for an
// integer, in values and in arguments.
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	neg := b[0] == '-'
	d := b
	if neg {
		d = b[1:]
	}
	if len(d) == 0 || len(d) > 19 {
		return 0, false
	}
	if d[0] == '0' {
		return 0, len(b) == 1
	}
	var u uint64 // 19 digits always fit
	for _, c := range d {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		u = u*10 + uint64(c)
	}
	if neg {
		if u > 1<<63 {
			return 0, false
		}
		return -int64(u), true
	}
	if u > math.MaxInt64 {
		return 0, false
	}
	return int64(u), true
}

// IntLen returns the number of bytes of n in decimal.
func IntLen(n int64) int {
	l := 1
	u := uint64(n)
	if n < 0 {
		l, u = 2, -u
	}
	for u >= 10 {
		u /= 10
		l++
	}
	return l
}
