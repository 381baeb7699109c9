// Package strtod reads floating-point numbers of any length.
//
// strconv.ParseFloat reads the exponent of "1e400" with care, but it does not count digits before
// the point beyond the eight hundredth, so that 900 digits and "e-890" are wrong by 100 orders of
// magnitude (Go 1.26). C's strtod counts them, and Redis reads numbers with it.
package strtod

import (
	"strconv"
	"strings"
)

const (
	exact = 800 // bytes; texts up to this length are strconv's
	kept  = 770 // significant digits; 767 and whether more follow decide how a double is rounded
	far   = 1 << 40
)

// ParseFloat returns the double nearest to s, which is in strconv.ParseFloat's syntax without
// underscores. A hexadecimal number need not have an exponent. It returns strconv's errors. For a
// long number it allocates little.
func ParseFloat(s string) (float64, error) {
	if len(s) > exact || len(s) > 2 && s[1]|0x20 == 'x' {
		if short, ok := shorten(s); ok {
			s = short
		}
	}
	return strconv.ParseFloat(s, 64)
}

// shorten returns a text of at most exact bytes that rounds to the same number as s. It reports
// false if s is not a number.
func shorten(s string) (string, bool) {
	sign, prefix, mark, step, valid := "", "", "eE", int64(1), "0123456789"
	if s[0] == '-' || s[0] == '+' {
		sign, s = s[:1], s[1:]
	}
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		prefix, mark, step, s, valid = "0x", "pP", 4, s[2:], "0123456789abcdefABCDEF"
	}
	mantissa, exp := s, int64(0)
	if i := strings.IndexAny(s, mark); i >= 0 {
		var ok bool
		if exp, ok = exponent(s[i+1:]); !ok {
			return "", false
		}
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if mantissa == "" || mantissa == "." || !only(whole, valid) || !only(fraction, valid) {
		return "", false
	}
	exp -= int64(len(fraction)) * step
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		fraction = strings.TrimLeft(fraction, "0")
	}
	digits := whole[:min(len(whole), kept)]
	digits += fraction[:min(len(fraction), kept-len(digits))]
	if rest := len(whole) + len(fraction) - len(digits); rest > 0 {
		exp += int64(rest) * step
		tail := len(digits) - min(len(whole), kept) // of the fraction are digits
		if !only(whole[min(len(whole), kept):], "0") || !only(fraction[tail:], "0") {
			digits, exp = digits+"1", exp-step // above a tie, if the rest is all that says so
		}
	}
	return sign + prefix + "0" + digits + mark[:1] + strconv.FormatInt(exp, 10), true
}

// only reports whether s has no other bytes than the given ones.
func only(s, bytes string) bool { return strings.Trim(s, bytes) == "" }

// exponent reads an exponent, or one of the same effect if it is far from zero.
func exponent(s string) (n int64, ok bool) {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || !only(digits, "0123456789") {
		return 0, false
	}
	digits = strings.TrimLeft(digits, "0")
	n = far
	if len(digits) < len("1099511627776") {
		n, _ = strconv.ParseInt("0"+digits, 10, 64)
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}
