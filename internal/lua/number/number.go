// Package number reads numbers as Lua 5.1 does.
package number

import (
	"math"
	"strings"

	"godwit/internal/strtod"
)

// Parse reads a number as Lua does: decimal or hexadecimal, with white space around it.
// Unlike Go it accepts no other bases and no underscores.
func Parse(s string) (float64, bool) {
	s = strings.Trim(s, " \t\n\r\v\f")
	if s == "" {
		return 0, false
	}
	digits, neg := s, false
	if s[0] == '-' || s[0] == '+' {
		digits, neg = s[1:], s[0] == '-'
	}
	if len(digits) > 2 && digits[0] == '0' && digits[1]|32 == 'x' {
		n, ok := hexNumber(digits[2:])
		if !ok {
			n, ok = hexFloat(digits)
		}
		if neg {
			n = -n
		}
		return n, ok
	}
	if len(digits) <= 15 {
		if n, ok := smallInt(digits); ok {
			if neg {
				n = -n
			}
			return n, true
		}
	}
	for i := range len(digits) {
		if c := digits[i]; !isDigit(c) && c != '.' && c|32 != 'e' && c != '+' && c != '-' {
			return word(digits, neg)
		}
	}
	n, err := strtod.ParseFloat(s)
	if err != nil && !math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// word reads the numbers that C's strtod knows by name.
func word(s string, neg bool) (n float64, ok bool) {
	switch strings.ToLower(s) {
	case "inf", "infinity":
		n = math.Inf(1)
	case "nan":
		n = math.NaN()
	default:
		return 0, false
	}
	if neg {
		n = -n
	}
	return n, true
}

func smallInt(s string) (float64, bool) {
	n := int64(0)
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return float64(n), s != ""
}

// hexFloat reads a hexadecimal number with a point or an exponent, as C does.
func hexFloat(s string) (float64, bool) {
	if strings.Contains(s, "_") {
		return 0, false
	}
	if !strings.ContainsAny(s, "pP") {
		s += "p0"
	}
	n, err := strtod.ParseFloat(s)
	return n, err == nil
}

func hexNumber(s string) (n float64, ok bool) {
	for i := range len(s) {
		d := strings.IndexByte("0123456789abcdef", s[i]|32)
		if isDigit(s[i]) {
			d = int(s[i] - '0')
		}
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		n = n*16 + float64(d)
	}
	return n, s != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
