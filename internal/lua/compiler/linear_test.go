package compiler

import (
	"strings"
	"testing"
	"time"

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

// TestLinear compiles programs of one size and of eight times the size. Cost in the square of the
// size would take sixty-four times as long.
func TestLinear(t *testing.T) {
	for name, program := range longPrograms() {
		const n = 1000
		small, large := fastest(program(n)), fastest(program(8*n))
		require.Less(t, large, 32*small, "%s: %v, %v", name, small, large)
	}
}

// fastest returns how long it takes to compile a program, at best.
func fastest(src string) time.Duration {
	best := time.Hour
	for range 5 {
		began := time.Now()
		_, _ = Compile(src, "c", nil)
		best = min(best, time.Since(began))
	}
	return best
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
