package stdlib

import (
	"bytes"
	"math"
	"strconv"
)

// This file formats floats as C's %e, %f and %g do.

// defaultPrecision is that of C.
const defaultPrecision = 6

// appendFloat appends a number that is not negative.
func appendFloat(b []byte, d *directive, f float64) []byte {
	precision := d.precision
	if precision < 0 {
		precision = defaultPrecision
	}
	start := len(b)
	switch d.letter {
	case 'f':
		b = appendFixed(b, f, precision)
	case 'g', 'G':
		precision = max(precision, 1)
		if d.flags&flagAlternate != 0 {
			return appendAlternate(b, d.letter, f, precision)
		}
		return strconv.AppendFloat(b, f, d.letter, precision, 64)
	default:
		b = strconv.AppendFloat(b, f, d.letter, precision, 64)
	}
	if precision == 0 && d.flags&flagAlternate != 0 {
		b = addPoint(b, start)
	}
	return b
}

// appendAlternate appends a number in the form of %#g, which keeps the zeros at the end.
func appendAlternate(b []byte, letter byte, f float64, precision int) []byte {
	start := len(b)
	b = strconv.AppendFloat(b, f, letter-'g'+'e', precision-1, 64)
	e := start + bytes.IndexByte(b[start:], letter-'g'+'e')
	exponent, _ := strconv.Atoi(string(b[e+1:]))
	switch {
	case exponent >= -4 && exponent < precision:
		b = strconv.AppendFloat(b[:start], f, 'f', precision-1-exponent, 64)
	case exponent == precision && f < math.Pow10(precision):
		// glibc drops the zeros if rounding up is what made the exponent necessary
		b = append(b[:start+1], b[e:]...)
	}
	return addPoint(b, start)
}

// addPoint adds a point to the number that begins at start, unless it has one.
func addPoint(b []byte, start int) []byte {
	i := start
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	if i < len(b) && b[i] == '.' {
		return b
	}
	b = append(b, 0)
	copy(b[i+1:], b[i:])
	b[i] = '.'
	return b
}

// maxFast is how many digits strconv finds fast, if it is asked for a number of digits and not for
// digits behind the point.
const maxFast = 17

// appendFixed appends a number as %.*f prints it. strconv takes the slow way for that.
func appendFixed(b []byte, f float64, precision int) []byte {
	if f >= 1<<53 {
		return strconv.AppendFloat(b, f, 'f', precision, 64)
	}
	whole := uint64(f)
	if float64(whole) == f {
		b = strconv.AppendUint(b, whole, 10)
		if precision > 0 {
			b = append(b, '.')
		}
		return appendZeros(b, precision)
	}
	point := pointOf(f, whole)
	digits := point + precision
	if digits < 1 || digits > maxFast {
		return strconv.AppendFloat(b, f, 'f', precision, 64)
	}
	var text [32]byte // d.ddde±dd
	e := strconv.AppendFloat(text[:0], f, 'e', digits-1, 64)
	exponent := int(e[len(e)-2]-'0')*10 + int(e[len(e)-1]-'0')
	if e[len(e)-3] == '-' {
		exponent = -exponent
	}
	if digits > 1 {
		e[1] = e[0]
		e = e[1:]
	}
	e = e[:digits]
	switch exponent + 1 {
	case point:
	case point + 1: // rounded up to a power of ten
		point++
		e = append(e, '0')
	default:
		return strconv.AppendFloat(b, f, 'f', precision, 64)
	}
	if point <= 0 {
		return append(appendZeros(append(b, '0', '.'), -point), e...)
	}
	b = append(b, e[:point]...)
	if precision > 0 {
		b = append(append(b, '.'), e[point:]...)
	}
	return b
}

// pointOf returns how many digits f has before its point or, negative, how many zeros behind it.
func pointOf(f float64, whole uint64) int {
	n := 0
	for ; whole > 0; whole /= 10 {
		n++
	}
	if n == 0 {
		for f < 0.1 && n > -maxFast {
			f *= 10
			n--
		}
	}
	return n
}

func appendZeros(b []byte, n int) []byte {
	for ; n > 0; n-- {
		b = append(b, '0')
	}
	return b
}
