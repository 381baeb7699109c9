// Package number has Lua 5.1's arithmetic as far as Go's differs: how a string becomes a number,
// and the operators % and ^. The compiler, which folds constants, and the machine share it.
package number

import (
	"math"
	"strings"

	"godwit/internal/strtod"
)

// Parse reads a number as Lua converts a string: with white space around it. As in C, a zero byte
// ends s. ok is false if s is no number.
func Parse(s string) (n float64, ok bool) {
	s, _, _ = strings.Cut(s, "\x00")
	s = strings.Trim(s, " \t\n\r\v\f")
	n, size := Prefix(s)
	return n, size > 0 && size == len(s)
}

// Prefix reads the number that begins s, as C's strtod does without white space: decimal or
// hexadecimal, an infinity or a NaN. It returns its size in bytes, or 0 if there is none.
func Prefix(s string) (n float64, size int) {
	digits, sign := s, 1.0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
		if s[0] == '-' {
			sign = -1
		}
	}
	n, size = unsigned(digits)
	if size == 0 {
		return 0, 0
	}
	return math.Copysign(n, sign), size + len(s) - len(digits)
}

func unsigned(s string) (n float64, size int) {
	if n, size := short(s); size > 0 {
		return n, size
	}
	if len(s) > 2 && s[0] == '0' && s[1]|32 == 'x' {
		if size := scan(s, 2, true); size > 0 {
			n, _ := strtod.ParseFloat(s[:size])
			return n, size
		}
	}
	if size := scan(s, 0, false); size > 0 {
		n, _ := strtod.ParseFloat(s[:size]) // beyond the range: an infinity or zero, as in C
		return n, size
	}
	return word(s)
}

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// short reads a number of up to 15 digits without an exponent. Its digits and its power of ten are
// exact, so the quotient is rounded once. The size is 0 if the number is another.
func short(s string) (n float64, size int) {
	v, digits, point, i := 0, 0, -1, 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if !IsDigit(c) {
			break
		}
		if digits++; digits > 15 {
			return 0, 0
		}
		v = v*10 + int(c-'0')
	}
	if digits == 0 || i < len(s) && (s[i]|32 == 'e' || s[i]|32 == 'x') {
		return 0, 0
	}
	if point >= 0 {
		return float64(v) / math.Pow10(i-point-1), i
	}
	return float64(v), i
}

// scan returns the end of the digits, the fraction and the exponent that begin at i, or 0 if there
// are no digits. After hexadecimal digits the exponent follows a p.
func scan(s string, i int, hex bool) int {
	digits, points, mark := 0, 0, byte('e')
	if hex {
		mark = 'p'
	}
	for ; i < len(s); i++ {
		c := s[i]
		if IsDigit(c) || hex && 'a' <= c|32 && c|32 <= 'f' {
			digits++
		} else if points++; c != '.' || points > 1 {
			break
		}
	}
	if digits == 0 {
		return 0
	}
	if i == len(s) || s[i]|32 != mark {
		return i
	}
	exponent := s[i+1:]
	if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
		exponent = exponent[1:]
	}
	rest := strings.TrimLeft(exponent, "0123456789")
	if len(rest) == len(exponent) {
		return i // what looks like an exponent is none
	}
	return len(s) - len(rest)
}

// word reads the numbers that strtod knows by name. A NaN may have a payload, nan(payload), which
// does not matter.
func word(s string) (n float64, size int) {
	switch {
	case hasName(s, "infinity"):
		return math.Inf(1), 8
	case hasName(s, "inf"):
		return math.Inf(1), 3
	case !hasName(s, "nan"):
		return 0, 0
	}
	if payload, ok := strings.CutPrefix(s[3:], "("); ok {
		i := 0
		for i < len(payload) && isPayload(payload[i]) {
			i++
		}
		if i < len(payload) && payload[i] == ')' {
			return math.NaN(), 5 + i
		}
	}
	return math.NaN(), 3
}

func isPayload(c byte) bool {
	return IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
}

func hasName(s, name string) bool {
	return len(s) >= len(name) && strings.EqualFold(s[:len(name)], name)
}

// Mod returns a % b as Lua 5.1 computes it: the result has the sign of b.
func Mod(a, b float64) float64 {
	if b > 0 && a >= 0 && a < 1<<53 && b < 1<<53 {
		if x, y := int64(a), int64(b); float64(x) == a && float64(y) == b {
			return float64(x % y)
		}
	}
	return a - float64(math.Floor(a/b)*b)
}
