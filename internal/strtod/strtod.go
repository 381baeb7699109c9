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
// underscores. It returns strconv's errors.
func ParseFloat(s string) (float64, error) {
	if len(s) > exact {
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
		n, err := strconv.ParseInt(s[i+1:], 10, 64)
		if err != nil && n == 0 {
			return "", false
		}
		mantissa, exp = s[:i], min(max(n, -far), far)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, valid) != "" {
		return "", false
	}
	digits = strings.TrimLeft(digits, "0")
	exp -= int64(len(fraction)) * step
	if len(digits) > kept {
		rest := digits[kept:]
		digits = digits[:kept]
		exp += int64(len(rest)) * step
		if strings.Trim(rest, "0") != "" { // above a tie, if the rest is all that says so
			digits, exp = digits+"1", exp-step
		}
	}
	return sign + prefix + "0" + digits + mark[:1] + strconv.FormatInt(exp, 10), true
}
