package stdlib

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"godwit/internal/lua"
	"godwit/internal/lua/number"
)

// This file holds string.format, which has the directives of C's printf.

// directive is one conversion: flags, width and precision as in C, and the letter.
type directive struct {
	flags     uint8
	letter    byte
	width     int
	precision int // -1 if there is none
}

// Flags of directives.
const (
	flagMinus uint8 = 1 << iota
	flagPlus
	flagSpace
	flagAlternate
	flagZero
)

const (
	// maxFlags is how many flags a directive may have.
	maxFlags = 5
	// minUnpadded is the length from which Lua does not pass a string through C, which would end it
	// at a zero.
	minUnpadded = 100
	// numberSize is enough for any number: 1e308 with 99 digits behind the point.
	numberSize = 512
	// numberSteps is what the formatting of a float is worth.
	numberSteps = 4
)

// formatter is a string that is being made by string.format.
type formatter struct{ lua.Buffer }

func stringFormat(t *lua.Thread) int {
	f, arg := t.String(1), 1
	x := formatter{t.Buffer()}
	for {
		i := strings.IndexByte(f, '%')
		if i < 0 {
			break
		}
		t.Spend(1)
		x.Add(f[:i])
		f = f[i+1:]
		if f != "" && f[0] == '%' {
			x.Add("%")
			f = f[1:]
			continue
		}
		if arg++; arg > t.Top() {
			t.ArgError(arg, "no value")
		}
		d, n := readDirective(t, f)
		f = f[n:]
		x.convert(&d, arg)
	}
	x.Add(f)
	return t.Return(x.End())
}

// readDirective reads what follows a %. n is its length.
func readDirective(t *lua.Thread, f string) (d directive, n int) {
	for n < len(f) {
		flag := strings.IndexByte("-+ #0", f[n])
		if flag < 0 {
			break
		}
		d.flags |= 1 << flag
		n++
	}
	if n > maxFlags {
		t.Error("invalid format (repeated flags)")
	}
	d.width, n = twoDigits(f, n)
	d.precision = -1
	if n < len(f) && f[n] == '.' {
		d.precision, n = twoDigits(f, n+1)
	}
	if n < len(f) {
		if d.letter = f[n]; number.IsDigit(d.letter) {
			t.Error("invalid format (width or precision too long)")
		}
		n++
	}
	return d, n
}

// twoDigits reads a number of at most two digits at i.
func twoDigits(f string, i int) (n, end int) {
	for end = i; end < len(f) && end < i+2 && number.IsDigit(f[end]); end++ {
		n = 10*n + int(f[end]-'0')
	}
	return n, end
}

// convert adds an argument.
func (x *formatter) convert(d *directive, arg int) {
	t := x.T
	switch d.letter {
	case 'd', 'i':
		n := int64(t.Int(arg))
		x.integer(d, n < 0, uint64(max(n, -n)))
	case 's':
		x.string(d, t.String(arg))
	case 'e', 'E', 'f', 'g', 'G':
		x.float(d, t.Number(arg))
	case 'o', 'u', 'x', 'X':
		x.integer(d, false, toUint64(t.Number(arg)))
	case 'c':
		x.char(d, toInt32(t.Number(arg)))
	case 'q':
		x.quote(t.String(arg))
	default:
		option := lua.CString(string([]byte{d.letter}))
		t.Error("invalid option '%" + option + "' to 'format'")
	}
}

// toUint64 converts a number as C does on x86-64.
func toUint64(f float64) uint64 {
	switch {
	case f >= 1<<64:
		return 0
	case f >= 1<<63:
		return uint64(f)
	case f >= -1<<63:
		return uint64(int64(f))
	}
	return 1 << 63 // NaN as well
}

// toInt32 converts a number as C does on x86-64.
func toInt32(f float64) int32 {
	if f > -1<<31-1 && f < 1<<31 {
		return int32(f)
	}
	return math.MinInt32
}

// char adds a byte. As in C, a zero byte ends what is added.
func (x *formatter) char(d *directive, c int32) {
	x.Reserve(numberSize)
	start := len(x.B)
	x.B = append(x.B, byte(c))
	x.pad(start, d)
	if i := bytes.IndexByte(x.B[start:], 0); i >= 0 {
		x.B = x.B[:start+i]
	}
}

func (x *formatter) string(d *directive, s string) {
	if d.precision < 0 && len(s) >= minUnpadded {
		x.Add(s)
		return
	}
	if d.precision >= 0 && d.precision < len(s) {
		s = s[:d.precision]
	}
	s = lua.CString(s)
	x.Reserve(numberSize)
	start := len(x.B)
	x.Add(s)
	x.pad(start, d)
}

// quote adds a string in a form that Lua reads back.
func (x *formatter) quote(s string) {
	x.Reserve(len(s) + 2)
	x.Add(`"`)
	for s != "" {
		piece := s[:min(len(s), lua.LongWork)]
		i := strings.IndexAny(piece, "\"\\\n\r\x00")
		if i < 0 {
			i = len(piece)
		}
		x.T.Spend(1 + i/lua.HandledPerStep)
		x.Add(s[:i])
		if s = s[i:]; i == len(piece) {
			continue
		}
		switch s[0] {
		case '\r':
			x.Add(`\r`)
		case 0:
			x.Add(`\000`)
		default:
			x.Add(`\`)
			x.Add(s[:1])
		}
		s = s[1:]
	}
	x.Add(`"`)
}

// sign adds the sign of a number.
func (x *formatter) sign(d *directive, negative bool) {
	switch {
	case negative:
		x.B = append(x.B, '-')
	case d.flags&flagPlus != 0:
		x.B = append(x.B, '+')
	case d.flags&flagSpace != 0:
		x.B = append(x.B, ' ')
	}
}

// integer adds a sign or a prefix and the digits of an integer.
func (x *formatter) integer(d *directive, negative bool, u uint64) {
	x.Reserve(numberSize)
	start, base := len(x.B), 10
	switch d.letter {
	case 'd', 'i':
		x.sign(d, negative)
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
		if u != 0 && d.flags&flagAlternate != 0 {
			x.B = append(x.B, '0', d.letter)
		}
	}
	first := len(x.B)
	if u != 0 || d.precision != 0 {
		x.B = strconv.AppendUint(x.B, u, base)
	}
	if d.letter == 'X' {
		upperCase(x.B[first:])
	}
	n := len(x.B) - first
	zeros := d.precision - n
	if base == 8 && d.flags&flagAlternate != 0 && zeros <= 0 && (n == 0 || u != 0) {
		zeros = 1
	}
	if d.precision < 0 && d.flags&(flagZero|flagMinus) == flagZero {
		zeros = max(zeros, d.width-(len(x.B)-start))
	}
	x.insert(first, zeros, '0')
	x.pad(start, d)
}

func upperCase(b []byte) {
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
}

// pad adds spaces to what begins at start.
func (x *formatter) pad(start int, d *directive) {
	n := d.width - (len(x.B) - start)
	if d.flags&flagMinus != 0 {
		start = len(x.B)
	}
	x.insert(start, n, ' ')
}

// insert puts n bytes before what begins at a position. There must be room for them.
func (x *formatter) insert(at, n int, c byte) {
	if n <= 0 {
		return
	}
	end := len(x.B)
	x.B = x.B[:end+n]
	copy(x.B[at+n:], x.B[at:end])
	for i := range n {
		x.B[at+i] = c
	}
}

// float adds a number as C's %e, %f and %g do.
func (x *formatter) float(d *directive, f float64) {
	x.T.Spend(numberSteps)
	x.Reserve(numberSize)
	start := len(x.B)
	x.sign(d, math.Signbit(f))
	f = math.Abs(f)
	first, precision := len(x.B), d.precision
	if precision < 0 {
		precision = 6
	}
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		x.B = lua.AppendG(x.B, f, 1)
		if d.letter < 'a' {
			upperCase(x.B[first:])
		}
	case d.flags&flagAlternate != 0:
		x.B = fmt.Appendf(x.B, "%#.*"+string(d.letter), precision, f)
		e := bytes.LastIndexByte(x.B, '+') - 1
		if d.letter|32 == 'g' && e > first && f < math.Pow10(precision) {
			x.B = append(x.B[:first+2], x.B[e:]...) // glibc drops zeros if rounding made it longer
		}
	default:
		x.B = strconv.AppendFloat(x.B, f, d.letter, precision, 64)
	}
	if d.flags&(flagZero|flagMinus) == flagZero && !math.IsInf(f, 0) && f == f {
		x.insert(first, d.width-(len(x.B)-start), '0')
	}
	x.pad(start, d)
}
