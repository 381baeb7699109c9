package compiler

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// limit is a kind of program that is valid up to a size.
type limit struct {
	most    int // the largest valid size
	program func(n int) string
	message string
}

const (
	tooDeep    = "chunk has too many syntax levels"
	tooComplex = "function or expression too complex near "
)

// repeated returns programs that repeat what stands between # and #.
func repeated(text string) func(n int) string {
	return func(n int) string {
		parts := strings.Split(text, "#")
		for i := 1; i < len(parts); i += 2 {
			parts[i] = strings.Repeat(parts[i], n)
		}
		return strings.Join(parts, "")
	}
}

// limits returns programs for each of Lua's limits. The sizes are those of a chunk that is
// compiled at levelOfLoadstring.
func limits() []limit {
	deep := func(most int, text string) limit { return limit{most, repeated(text), tooDeep} }
	complex := func(most int, text string) limit { return limit{most, repeated(text), tooComplex} }
	locals := func(most int, text string) limit {
		return limit{most, repeated(text), "has more than 200 local variables"}
	}
	return []limit{
		deep(196, "x = #(#a#)#"), deep(197, "#do # #end #"), deep(196, "x = #- #a"),
		deep(196, "x = #{#{}#}#"), deep(196, "x = a# .. a#"), deep(196, "x = a# ^ a#"),
		deep(196, "x = #f(#a#)#"), deep(197, "#function f() # #end #"),
		deep(98, "x = #function() return #a# end#"), deep(197, "#while a do # #end #"),
		deep(197, "#if a then # #end #"), deep(197, "#repeat # #until a #"),
		locals(50, "#for i = 1, 2 do # #end #"), deep(98, "#f(function() # #end) #"),
		deep(196, "x = #a[#a#]#"), deep(196, "x = #not #a"),

		locals(199, "local a#, a#"), locals(199, "local a#\nlocal a#"),
		locals(199, "function f(#a, #a) end"), locals(199, "function f(\n#a, #...) end"),
		locals(196, "for a#, a# in b do end"),
		{197, repeated("a#, a# = 1"), "has more than 197 variables in assignment"},

		complex(247, "f(a#, a#)"), complex(248, "return a#, a#"), complex(187, "#local a #f("+
			strings.Repeat("b, ", 60)+"b)"), complex(198, "#local a #x = {"+
			strings.Repeat("b, ", 120)+"b}"), complex(123, "x = {}, {#{a, #}#}#"),
		{60, upvalues("function f() %s end"), "has more than 60 upvalues"},
		{60, upvalues("f(function() return function()\n %s end end)"), "has more than 60 upvalues"},
	}
}

// upvalues returns programs in which a function captures n variables.
func upvalues(text string) func(n int) string {
	return func(n int) string {
		var decl, use strings.Builder
		for i := range n {
			fmt.Fprintf(&decl, "local v%d\n", i)
			fmt.Fprintf(&use, "v%d = 1\n", i)
		}
		return decl.String() + fmt.Sprintf(text, use.String())
	}
}

// TestLimits checks each limit from both sides.
func TestLimits(t *testing.T) {
	for _, l := range limits() {
		require.Empty(t, message(l.program(l.most)), "%d: %.100q", l.most, l.program(2))
		require.Contains(t, message(l.program(l.most+1)), l.message, "%d: %.100q", l.most+1,
			l.program(2))
	}
}
