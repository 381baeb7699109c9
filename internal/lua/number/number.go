// Package number has Lua 5.1's arithmetic as far as Go's differs: how a string becomes a number,
// and the operators % and ^. The compiler, which folds constants, and the machine share it.
package number

import (
	"math"
	"strings"

	"godwit/internal/strtod"
)

// Parse reads a number as Lua converts a string: decimal or hexadecimal, with white space around
// it. It accepts what C's strtod does and no other form of Go's. As in C, a zero byte ends s. ok is
// false if s is no number.
func Parse(s string) (n float64, ok bool) {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	s = strings.Trim(s, " \t\n\r\v\f")
	if s == "" {
		return 0, false
	}
	digits, neg := s, false
	if s[0] == '-' || s[0] == '+' {
		digits, neg = s[1:], s[0] == '-'
	}
	n, ok = unsigned(digits)
	if neg {
		n = -n
	}
	return n, ok
}

func unsigned(s string) (float64, bool) {
	if len(s) > 2 && s[0] == '0' && s[1]|32 == 'x' {
		if n, ok := hexInt(s[2:]); ok {
			return n, true
		}
		return hexFloat(s)
	}
	if n, ok := smallInt(s); ok {
		return n, true
	}
	for i := range len(s) {
		c := s[i]
		mayFollow := c|32 == 'e' || c == '+' || c == '-'
		if !isDigit(c) && c != '.' && (i == 0 || !mayFollow) {
			return word(s)
		}
	}
	n, err := strtod.ParseFloat(s)
	return n, err == nil || math.IsInf(n, 0)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// smallInt reads an integer that needs no rounding.
func smallInt(s string) (float64, bool) {
	if s == "" || len(s) > 15 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return float64(n), true
}

// word reads the numbers that strtod knows by name. A NaN may have a payload, nan(payload), which
// does not matter.
func word(s string) (float64, bool) {
	s = strings.ToLower(s)
	switch s {
	case "inf", "infinity":
		return math.Inf(1), true
	case "nan":
		return math.NaN(), true
	}
	payload, ok := strings.CutPrefix(s, "nan(")
	if payload, closed := strings.CutSuffix(payload, ")"); !ok || !closed ||
		strings.Trim(payload, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return 0, false
	}
	return math.NaN(), true
}

// hexInt reads a hexadecimal integer that needs no rounding.
func hexInt(s string) (float64, bool) {
	if len(s) > 13 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|32 && c|32 <= 'f':
			c = c | 32 - 'a' + 10
		default:
			return 0, false
		}
		n = n<<4 | int64(c)
	}
	return float64(n), true
}

// hexFloat reads a hexadecimal number with a point or an exponent.
func hexFloat(s string) (float64, bool) {
	if strings.Contains(s, "_") {
		return 0, false
	}
	if !strings.ContainsAny(s, "pP") {
		s += "p0"
	}
	n, err := strtod.ParseFloat(s)
	return n, err == nil || math.IsInf(n, 0)
}

// Mod returns a % b as Lua 5.1 computes it: the result has the sign of b.
func Mod(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }
