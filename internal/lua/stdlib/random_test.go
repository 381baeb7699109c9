package stdlib_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/lua"
	"godwit/internal/testseed"
)

// calls makes random calls of the functions of strings, as sources of one line.
type calls struct{ *rand.Rand }

func pick[T any](c calls, list ...T) T { return list[c.IntN(len(list))] }

// literal returns a string as Lua's source has it.
func literal(s string) string { return string(appendText(nil, lua.String(s))) }

// number returns a number, often one that is hard to convert.
func (c calls) number() string {
	switch c.IntN(8) {
	case 0:
		return pick(c, "1/0", "-1/0", "0/0", "-(0/0)", "-0", "0.5", "-0.5", "2.9999", "1e100",
			"-1e100", "2^31", "2^31-1", "-2^31", "-2^31-1", "2^32", "2^32+2", "2^53", "2^63",
			"2^63-1024", "-2^63", "-2^63-2048", "2^64", "2^64-2048", "1e-300", "5e-324")
	case 1:
		return c.float()
	}
	return strconv.Itoa(c.IntN(14) - 6)
}

// float returns a number with a fraction or an exponent.
func (c calls) float() string {
	f := 0.0
	switch c.IntN(4) {
	case 0:
		f = math.Float64frombits(c.Uint64())
	case 1:
		f = math.Round(c.Float64()*1e6) / pick(c, 1.0, 10, 100, 1e3, 1e6, 1e9)
	case 2:
		f = float64(c.IntN(2000)-1000) / pick(c, 2.0, 4, 8, 16, 64, 1024)
	case 3:
		f = c.Float64() * math.Pow(10, float64(c.IntN(40)-20))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "0.1"
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

// odd returns an argument of any type.
func (c calls) odd() string {
	return pick(c, "nil", "true", "false", "{}", "F1", literal("2"), literal(" 0x3 "),
		literal("1e1"), literal("x"), literal(""), literal("-1"), c.number(), c.number())
}

// or returns the text, but sometimes an odd argument.
func (c calls) or(text string) string {
	if c.IntN(25) == 0 {
		return c.odd()
	}
	return text
}

const subjectBytes = "aaaaabbbcd1 2-_.=,:;()[]%^$\n\x00\xe9AZ"

// subject returns a short string.
func (c calls) subject() string {
	b := make([]byte, c.IntN(12))
	for i := range b {
		b[i] = subjectBytes[c.IntN(len(subjectBytes))]
	}
	return string(b)
}

// class returns a class of one byte in a pattern.
func (c calls) class() string {
	switch c.IntN(8) {
	case 0:
		return "."
	case 1:
		return "%" + string(rune(pick(c, []byte("acdlpsuwxzACDLPSUWXZ.-%[]()^$gq0")...)))
	case 2:
		n, set := c.IntN(4), "["
		if c.IntN(4) == 0 {
			set = "[^"
		}
		for range n {
			set += pick(c, "a", "b", "]", "^", "-", "a-c", "0-9", "%w", "%s", "%]", "%-", "%%",
				"z-a", "%z", "\xe0-\xff", ".", "%D", "[", "a-%")
		}
		return set + "]"
	}
	return pick(c, "a", "a", "b", "c", "d", "1", " ", "=", "-", "]", "\xe9")
}

// pattern returns a pattern, most often a valid one.
func (c calls) pattern() string {
	p, opened := "", 0
	if c.IntN(6) == 0 {
		p = "^"
	}
	for range c.IntN(5) {
		switch c.IntN(16) {
		case 0, 1, 2:
			p += "("
			opened++
		case 3:
			p += "()"
		case 4:
			p += pick(c, "%b()", "%bab", "%b[]", "%b", "%baa")
		case 5:
			p += pick(c, "%f[%w]", "%f[^a]", "%f[%z]", "%f", "%f[a", "%f[]")
		case 6:
			p += pick(c, "%1", "%2", "%0")
		}
		p += c.class() + pick(c, "", "", "", "*", "+", "-", "?")
		if opened > 0 && c.IntN(2) == 0 {
			p += ")"
			opened--
		}
	}
	if c.IntN(8) > 0 {
		p += strings.Repeat(")", opened)
	}
	switch c.IntN(24) {
	case 0, 1, 2:
		p += "$"
	case 3:
		p += pick(c, "%", "[", "[^", "[a", "[]", ")", "(", "[%", "\x00a", "[a-", "$$", "^")
	case 4:
		if p != "" {
			i := c.IntN(len(p))
			p = p[:i] + p[i+1:]
		}
	}
	return p
}

// replacement returns an argument of gsub.
func (c calls) replacement() string {
	if c.IntN(2) == 0 {
		return pick(c, "T", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "12", "-1.5")
	}
	r := ""
	for range c.IntN(4) {
		r += pick(c, "x", "%0", "%1", "%2", "%3", "%%", "<", "%a", "\x00", "")
	}
	if c.IntN(20) == 0 {
		r += "%"
	}
	return literal(r)
}

// format returns the arguments of format.
func (c calls) format() []string {
	f, args := "", []string{""}
	for range 1 + c.IntN(2) {
		f += pick(c, "", "a", "%%", "[")
		f += "%" + pick(c, "", "", "", "-", "+", " ", "#", "0", "-0", "+0", "# ", "-+",
			"0#", "-#0+ ")
		f += pick(c, "", "", "", "1", "5", "12", "20", "99", "07")
		f += pick(c, "", "", "", ".", ".0", ".1", ".2", ".3", ".5", ".10", ".14", ".17",
			".20", ".99")
		letter := pick(c, []byte("ccdddiiouxXeEfffgggGGqsss")...)
		f += string(rune(letter))
		switch letter {
		case 'q', 's':
			text := c.subject()
			if c.IntN(10) == 0 {
				text += strings.Repeat("long\x00", 19+c.IntN(4))
			}
			args = append(args, c.or(literal(text)))
		case 'd', 'i', 'c', 'o', 'u', 'x', 'X':
			args = append(args, c.or(pick(c, c.number(), strconv.Itoa(c.IntN(256)))))
		default:
			args = append(args, c.or(pick(c, c.number(), c.float(), c.float())))
		}
	}
	switch c.IntN(40) {
	case 0:
		f += pick(c, "%", "%y", "%10", "%5", "%.", "%------s", "%100d", "%.100f", "%5.123d",
			"%\x00", "%ld", "%a", "%s")
		args = append(args, "1")
	case 1:
		args = args[:len(args)-1]
	}
	args[0] = literal(f)
	return args
}

// call returns a call of a function.
func (c calls) call() string {
	name := pick(c, "byte", "char", "find", "find", "find", "format", "format", "format", "gmatch",
		"gsub", "gsub", "gsub", "len", "lower", "match", "match", "match", "rep", "reverse", "sub",
		"sub", "upper")
	var args []string
	subject := c.or(literal(c.subject()))
	switch name {
	case "byte", "sub":
		args = []string{subject, c.or(c.number()), c.or(c.number())}
	case "char":
		for range c.IntN(5) {
			args = append(args, c.or(pick(c, c.number(), strconv.Itoa(c.IntN(260)))))
		}
	case "find", "match":
		args = []string{subject, c.or(literal(c.pattern())), c.or(c.number()),
			pick(c, "nil", "false", "true", "0")}
		args = args[:2+max(0, c.IntN(5)-2)]
	case "format":
		args = c.format()
	case "gmatch":
		return "return pcall(all, " + subject + ", " + c.or(literal(c.pattern())) + ")"
	case "gsub":
		args = []string{subject, c.or(literal(c.pattern())), c.or(c.replacement()),
			c.or(c.number())}
		args = args[:3+c.IntN(2)]
	case "rep":
		// numbers beyond these would take lua5.1 gigabytes
		args = []string{subject, pick(c, "0", "1", "2", "3", "40", "-1", "-0.5", "2.9", "0/0",
			"2^32+1", "1/0", "nil", "true", "{}", literal("2"), literal(" 0x3 "), literal("x"))}
	default:
		args = []string{subject}
	}
	if c.IntN(40) == 0 {
		args = args[:c.IntN(len(args)+1)]
	}
	list := strings.Join(args, ", ")
	if c.IntN(8) == 0 && len(args) > 0 {
		return "return (" + args[0] + "):" + name + "(" + strings.Join(args[1:], ", ") + ")"
	}
	if c.IntN(2) == 0 && len(args) > 0 {
		return "return pcall(string." + name + ", " + list + ")"
	}
	return "return string." + name + "(" + list + ")"
}

func (c calls) list(n int) []string {
	sources := make([]string, n)
	for i := range sources {
		sources[i] = c.call()
	}
	return sources
}

// TestRandomCalls compares random calls with lua5.1.
func TestRandomCalls(t *testing.T) {
	compare(t, calls{testseed.Rand(t)}.list(4000))
}

// TestRandomNumbers compares the text of random numbers with lua5.1.
func TestRandomNumbers(t *testing.T) {
	c := calls{testseed.Rand(t)}
	sources := []string{}
	for range 3000 {
		f := pick(c, "e", "f", "g", "s", "d", "x", "u", "o", ".14g", ".17g", ".3f", ".2f", ".1f",
			".0f", ".8f", "G", "E", "#.3g", "#.1g", "#.0f", "#.0e", "#g", ".16g", ".15e")
		n := pick(c, c.float(), c.float(), c.number())
		sources = append(sources, "return string.format('%"+f+"', "+n+") .. ' ' .. ("+n+")")
	}
	compare(t, sources)
}
