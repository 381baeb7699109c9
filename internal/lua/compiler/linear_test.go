package compiler

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longPrograms returns programs of any size. What they repeat must cost the same each time.
func longPrograms() map[string]func(n int) string {
	list := map[string]func(n int) string{
		"constants": func(n int) string { return "local a\n" + many("a = 'c#' ", n) },
		"numbers":   func(n int) string { return "local t = {" + many("#.5, ", n) + "}" },
		"keys":      func(n int) string { return "local t = {" + many("k# = #, ", n) + "}" },
		"functions": func(n int) string { return many("do local function f#() end end ", n) },
		"names":     func(n int) string { return many("a#.b# = c#() ", n) },
		"upvalues": func(n int) string {
			return many("local v#\n", 59) + "function f() " +
				strings.Repeat(many("v# = v# ", 59), n/59) + "end"
		},
		"deep": func(n int) string {
			locals := many("local v# ", 190)
			return strings.Repeat("f(function() "+locals, 90) + strings.Repeat("x = v1 ", n) +
				strings.Repeat("end) ", 90)
		},
	}
	for name, text := range map[string]string{
		"elseif": "if a then# elseif a then b()# end", "and": "x = a# and a#",
		"or":     "x = a# or b == c#",
		"breaks": "while a do# if a then break end# end", "sum": "x = a# + a#", "dots": "x = a#.b#",
		"calls": "f#()#", "locals": "#do local a, b = c end #", "not": "x = #not (a and b) and #c",
		"returns": "#if a then return b end #", "items": "x = {#f(), #}", "lines": "#\n#",
		"comments": "#--[[ ]]#", "comment": "--[[#\r\n#]]", "string": "x = '#\\n#'",
		"long": "x = [[#\r\n#]]", "loops": "#for i = 1, 2 do for j, k in b do end end #",
		"methods": "x = a#:b()#", "quotes": "#f''#", "concat": "#x = a .. b #",
		"repeat": "#repeat local a f(function() return a end) until a or b #",
	} {
		list[name] = repeated(text)
	}
	return list
}

// TestLinear compiles programs of one size and of eight times the size. The compiler must not look
// through more than eight times as many jumps, blocks and upvalues, but for a constant number.
func TestLinear(t *testing.T) {
	for name, program := range longPrograms() {
		const n = 500
		small, large := walked(program(n)), walked(program(8*n))
		require.Less(t, large, 9*small+5000, "%s: %d, %d", name, small, large)
	}
}

// walked returns how much the compiler looks through.
func walked(src string) int {
	c := newCompiler(src, "c", &Options{})
	_, _ = c.compile()
	return c.walked
}

// BenchmarkLong compiles programs of about 1 MB.
func BenchmarkLong(b *testing.B) {
	for name, program := range longPrograms() {
		src := program(1_000_000 / (len(program(1010)) - len(program(1000))) * 10)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Compile(src, "c", nil); err != nil {
					b.Log(err)
				}
			}
		})
	}
}
