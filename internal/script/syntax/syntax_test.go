package syntax

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

func options() *Options {
	return &Options{Constant: func(name, field string) string {
		if name == "lib" && (field == "" || field == "f") {
			return "\x01" + name + "." + field
		}
		return ""
	}, Concat: "\x01..", Length: "\x01#", Global: "\x00="}
}

// TestErrors checks that messages are Lua's, with the position.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x =", "unexpected symbol near '<eof>'"}, {"x", "'=' expected near '<eof>'"},
		{"for", "'<name>' expected near '<eof>'"}, {"f(\n", "unexpected symbol near '<eof>'"},
		{"if x then\nelse", "'end' expected (to close 'if' at line 1) near '<eof>'"},
		{"return 'a", "unfinished string near '<eof>'"},
		{"return 'a\n'", "unfinished string near ''a'"},
		{"return [[a", "unfinished long string near '<eof>'"},
		{"return 1..2", "malformed number near '1..2'"},
		{"return '\\999'", "escape sequence too large near ''"},
		{"break", "no loop to break near '<eof>'"}, {"\x1bLua", "bytecode is not loaded"},
		{strings.Repeat("(", 300), "chunk has too many syntax levels"},
		{"return " + strings.Repeat("- ", 300) + "1", "chunk has too many syntax levels"},
		{strings.Repeat("do ", 300), "chunk has too many syntax levels"},
		{"return 1" + strings.Repeat("+1", 10000), "chunk has too many syntax levels"},
		{"local a" + strings.Repeat(",a", 200), "main function has more than 200 local variables"},
	} {
		_, err := Parse(c.src, "chunk", options())
		require.Error(t, err, c.src)
		require.Contains(t, err.Error(), c.want)
		require.True(t, strings.HasPrefix(err.Error(), "chunk:"), err.Error())
	}
}

func TestParseNumber(t *testing.T) {
	for s, want := range map[string]float64{"10": 10, "010": 10, " 1e2 ": 100, "0x10": 16,
		"-0x10": -16, ".5": .5, "5.": 5, "0x1p4": 16, "1e400": math.Inf(1), "-7": -7} {
		n, ok := ParseNumber(s)
		require.True(t, ok, s)
		require.Equal(t, want, n, s)
	}
	for _, s := range []string{"", "x", "1_0", "0b1", "0o7", "1e", "0x", "1 2", "--1", "1.2.3",
		"0x1_0"} {
		_, ok := ParseNumber(s)
		require.False(t, ok, s)
	}
}

// FuzzParse checks that parsing ends with a tree that compiles or is refused, or with an error that
// has a position.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"return 1", "local a <x", "for i=1,2 do print(i) end", "lib.f = 1",
		"lib.f(1) x.y = lib", "return a..b..c..'d'", "function a.b:c(...) return ... end",
		"local function f(a, b) local a = b return function() return a end end",
		"if a then elseif b then else end", "repeat local x until x", "a, b.c, d[1] = 1",
		"return {1,2;a=3,[4]=5,f()}",
		"goto = 1", "return 'x' 'y'", "--[==[ ]] ]==] return [[\n]]", "('x').y = 1", "lib = 2",
		"(lib).f = 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4096 {
			return
		}
		r, err := Parse(src, "chunk", options())
		if err != nil {
			require.Contains(t, err.Error(), "chunk:")
			return
		}
		_, _ = lua.Compile(r.Stmts, "chunk") // may refuse: too many registers
	})
}
