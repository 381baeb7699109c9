package object

import (
	"math"
	"strconv"

	"godwit/internal/resp"
	"godwit/internal/strtod"
)

// ParseScore reads a score as Redis's commands do: all that C's strtod reads (decimal and
// hexadecimal numbers, inf and infinity in any case), with nothing before or behind. It refuses
// nan, what overflows, and what underflows to 0.
func ParseScore(b []byte) (float64, bool) {
	if n, ok := smallInt(b); ok {
		return n, true
	}
	if len(b) == 0 || isSpace(b[0]) {
		return 0, false
	}
	if f, ok := shortDecimal(b); ok {
		return f, true
	}
	f, n, lost := scanFloat(b)
	if n != len(b) || f != f || lost {
		return 0, false
	}
	return f, true
}

// smallInt reads up to 15 digits with an optional minus sign, the usual scores. It leaves -0 to
// others.
func smallInt(b []byte) (float64, bool) {
	d := b
	if len(d) > 0 && d[0] == '-' {
		d = d[1:]
	}
	if len(d) == 0 || len(d) > 15 {
		return 0, false
	}
	n := int64(0)
	for _, c := range d {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if len(d) == len(b) {
		return float64(n), true
	}
	return float64(-n), n != 0
}

// shortDecimal reads up to 15 significant digits, one point among them, with an optional minus sign
// and an exponent of up to two digits: coordinates and prices. Both the digits and the power of ten
// to multiply or divide them by are exact in a float64. So the result is rounded once, as it must
// be. Zeros are left to others.
func shortDecimal(b []byte) (float64, bool) {
	d := b
	if d[0] == '-' {
		d = d[1:]
	}
	if len(d) > 24 {
		return 0, false
	}
	n, exp, point := int64(0), 0, false
	for i, c := range d {
		if c == '.' && !point {
			point = true
			continue
		}
		if c == 'e' && i > 0 {
			e, ok := shortExponent(d[i+1:])
			if !ok {
				return 0, false
			}
			exp += e
			break
		}
		if c -= '0'; c > 9 || n >= 1e14 {
			return 0, false
		}
		n = n*10 + int64(c)
		if point {
			exp--
		}
	}
	if n == 0 || exp < -22 || exp > 22 {
		return 0, false
	}
	f := float64(n)
	if exp < 0 {
		f /= exactPow10[-exp]
	} else {
		f *= exactPow10[exp]
	}
	if len(d) < len(b) {
		f = -f
	}
	return f, true
}

// exactPow10 are the powers of ten that a float64 holds exactly.
var exactPow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// shortExponent reads one or two digits with an optional sign.
func shortExponent(b []byte) (e int, ok bool) {
	d := b
	if len(d) > 0 && (d[0] == '-' || d[0] == '+') {
		d = d[1:]
	}
	if len(d) == 0 || len(d) > 2 {
		return 0, false
	}
	for _, c := range d {
		if !isDigit(c) {
			return 0, false
		}
		e = e*10 + int(c-'0')
	}
	if b[0] == '-' {
		e = -e
	}
	return e, true
}

// AppendScore appends the score as commands show it. Infinities are inf and -inf.
func AppendScore(dst []byte, score float64) []byte { return resp.AppendDouble(dst, score) }

// AppendScanned appends the score as ZSCAN shows it for a set in the large form: 17 significant
// digits, as C's printf("%.17g"). Redis 8 has left it so.
func AppendScanned(dst []byte, score float64) []byte {
	if math.IsInf(score, 0) || score > -1e17 && score < 1e17 && score == math.Trunc(score) {
		return AppendScore(dst, score)
	}
	return strconv.AppendFloat(dst, score, 'g', 17, 64)
}

// wholeScore returns the score as an integer, if it is one that Redis keeps as such: of at most 62
// bits. -0 is 0.
func wholeScore(score float64) (int64, bool) {
	if score < -1<<62 || score > 1<<62 {
		return 0, false
	}
	n := int64(score)
	return n, float64(n) == score
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || (c|0x20)-'a' <= 'f'-'a' }

// scanFloat reads the longest number at the start of b as strtod does: spaces, a sign, then a
// decimal or hexadecimal number, inf, infinity or nan. n is how many bytes it took, 0 if there is
// no number. lost reports that the number was too large (f is infinite) or too small (f is zero)
// for a float64.
func scanFloat(b []byte) (f float64, n int, lost bool) {
	i := 0
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	start := i
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	if i+1 < len(b) && b[i] == '0' && b[i+1]|0x20 == 'x' {
		if w, whole := scanHex(b[i+2:]); w > 0 {
			i += 2 + w
			var scratch [48]byte
			text := append(scratch[:0], b[start:i]...)
			if !whole {
				text = append(text, "p0"...)
			}
			f, lost = convert(text, isHex, 'p')
			return f, i, lost
		}
	}
	f, n, lost = scanPlain(b[start:])
	if n == 0 {
		return 0, 0, false
	}
	return f, start + n, lost
}

// scanPlain reads the longest number at the start of b as scanFloat does, without spaces and
// without hexadecimal numbers.
func scanPlain(b []byte) (f float64, n int, lost bool) {
	i := 0
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		i++
	}
	if f, w := scanName(b[i:]); w > 0 {
		if b[0] == '-' {
			f = -f
		}
		return f, i + w, false
	}
	w := scanDecimal(b[i:])
	if w == 0 {
		return 0, 0, false
	}
	i += w
	f, lost = convert(b[:i], isDigit, 'e')
	return f, i, lost
}

// ParsePlain reads a number that is a bound of scores or a weight of SORT. It is decimal, inf or
// infinity. What is too large is infinite, what is too small is 0, a NUL ends the text, and the
// empty text is 0. It refuses nan and spaces.
func ParsePlain(b []byte) (float64, bool) {
	if n, ok := smallInt(b); ok {
		return n, true
	}
	f, n, _ := scanPlain(b)
	return f, (n == len(b) || b[n] == 0) && f == f
}

// scanName reads inf, infinity or nan in any case.
func scanName(b []byte) (f float64, n int) {
	switch {
	case hasName(b, "infinity"):
		return math.Inf(1), 8
	case hasName(b, "inf"):
		return math.Inf(1), 3
	case hasName(b, "nan"):
		return math.NaN(), 3
	}
	return 0, 0
}

func hasName(b []byte, name string) bool {
	if len(b) < len(name) {
		return false
	}
	for i := range len(name) {
		if b[i]|0x20 != name[i] {
			return false
		}
	}
	return true
}

// mantissa returns the length of the digits at the start of b with at most one point among them, 0
// unless there is a digit.
func mantissa(b []byte, digit func(byte) bool) int {
	i, digits, point := 0, 0, false
	for i < len(b) {
		if digit(b[i]) {
			digits++
		} else if b[i] == '.' && !point {
			point = true
		} else {
			break
		}
		i++
	}
	if digits == 0 {
		return 0
	}
	return i
}

// exponent returns the length of an exponent with its letter at the start of b, 0 if none with a
// digit is there.
func exponent(b []byte, letter byte) int {
	if len(b) < 2 || b[0]|0x20 != letter {
		return 0
	}
	i := 1
	if b[i] == '+' || b[i] == '-' {
		i++
	}
	first := i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	if i == first {
		return 0
	}
	return i
}

func scanDecimal(b []byte) int {
	n := mantissa(b, isDigit)
	if n > 0 {
		n += exponent(b[n:], 'e')
	}
	return n
}

// scanHex reads a hexadecimal number behind its 0x. whole reports an exponent, which Go's parser
// demands and C's does not.
func scanHex(b []byte) (n int, whole bool) {
	n = mantissa(b, isHex)
	if n == 0 {
		return 0, false
	}
	e := exponent(b[n:], 'p')
	return n + e, e > 0
}

// convert returns the value of a number in Go's syntax. digit and letter tell the mantissa's digits
// from the exponent.
func convert(text []byte, digit func(byte) bool, letter byte) (f float64, lost bool) {
	f, err := strtod.ParseFloat(string(text))
	if f != 0 {
		return f, err != nil // the syntax was checked: out of range
	}
	for _, c := range text {
		if c|0x20 == letter {
			break
		}
		if digit(c) && c != '0' {
			return f, true
		}
	}
	return f, false
}
