package redislib

import (
	"math"
	"strings"

	"godwit/internal/strtod"
)

// cString cuts a string where C ends it.
func cString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || (c|0x20)-'a' <= 5 }

// numberAt reads a number at the start of s as C's strtod does in the C locale. It returns the
// length, or 0 without a number. s must not begin with spaces.
func numberAt(s string) (f float64, n int) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	neg := i > 0 && s[0] == '-'
	if i == len(s) {
		return 0, 0
	}
	switch {
	case s[i] == '0' && i+2 < len(s) && s[i+1]|0x20 == 'x':
		if f, n := strtodHex(s, i+2); n > 0 {
			return f, n
		}
	case !isDigit(s[i]) && s[i] != '.':
		return strtodName(s, i, neg)
	}
	end := scanDecimal(s, i)
	if end == 0 {
		return 0, 0
	}
	f, _ = strtod.ParseFloat(s[:end]) // out of range: the infinity or zero that strtod returns
	return f, end
}

// scanDecimal returns the end of the digits, fraction and exponent that begin at i, or 0.
func scanDecimal(s string, i int) int {
	digits := 0
	for i < len(s) && isDigit(s[i]) {
		i, digits = i+1, digits+1
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isDigit(s[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return 0
	}
	return scanExponent(s, i, 'e')
}

// scanExponent returns the end of an exponent that begins at i, or i if there is none.
func scanExponent(s string, i int, letter byte) int {
	if i == len(s) || s[i]|0x20 != letter {
		return i
	}
	e := i + 1
	if e < len(s) && (s[e] == '-' || s[e] == '+') {
		e++
	}
	if e == len(s) || !isDigit(s[e]) {
		return i
	}
	for e < len(s) && isDigit(s[e]) {
		e++
	}
	return e
}

// strtodHex reads the hexadecimal digits that begin at i, after the prefix.
func strtodHex(s string, i int) (float64, int) {
	digits := 0
	for i < len(s) && isHex(s[i]) {
		i, digits = i+1, digits+1
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isHex(s[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return 0, 0
	}
	end := scanExponent(s, i, 'p')
	text := s[:end]
	if end == i {
		text += "p0" // Go wants an exponent
	}
	f, _ := strtod.ParseFloat(text)
	return f, end
}

// strtodName reads an infinity or a NaN at i, after the sign.
func strtodName(s string, i int, neg bool) (float64, int) {
	name := s[i:min(len(s), i+8)]
	sign := 1.0
	if neg {
		sign = -1
	}
	switch {
	case len(name) == 8 && strings.EqualFold(name, "infinity"):
		return math.Inf(int(sign)), i + 8
	case len(name) >= 3 && strings.EqualFold(name[:3], "inf"):
		return math.Inf(int(sign)), i + 3
	case len(name) >= 3 && strings.EqualFold(name[:3], "nan"):
		return math.Copysign(math.NaN(), sign), i + 3 + nanSequence(s[i+3:])
	}
	return 0, 0
}

// nanSequence returns the length of the characters in parentheses that may follow a NaN.
func nanSequence(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == ')':
			return i + 1
		case !isDigit(c) && (c|0x20)-'a' > 25 && c != '_':
			return 0
		}
	}
	return 0
}
