package script_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbers lists the numbers from 1 to n, each plus a half, separated by commas.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i+1) + ".5,")
	}
	return strings.TrimSuffix(b.String(), ",")
}

func repeated(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s, n), ",") }

// boundsCase is a script and the beginning of its reply. Replies and texts are redis-server's.
type boundsCase struct{ name, src, want string }

const refused = "Error compiling script (new function): "

// longBounds has code that is too long to jump over, and code that is not.
func longBounds() []boundsCase {
	long := repeated("a=a+1 ", 140000)
	return []boundsCase{
		{"for", "local a=0 for i=1,2 do " + long + " end",
			refused + "user_script:1: control structure too long near 'end'"},
		{"for in", "local a=0 for i in f do\n" + long + " end",
			refused + "user_script:2: control structure too long near 'end'"},
		{"while", "local a=0 while a<3 do " + long + " end",
			refused + "user_script:1: control structure too long near 'end'"},
		{"repeat", "local a=0 repeat " + long + " until a>3 return",
			refused + "user_script:1: control structure too long near 'return'"},
		{"if", "local a=0 if a then " + long + " end",
			refused + "user_script:1: control structure too long near '<eof>'"},
		{"else", "local a=0 if a then a=1 else " + long + " end",
			refused + "user_script:1: control structure too long near '<eof>'"},
		{"straight", "local a=0 " + long + " return a", ":140000\r\n"},
		{"not too long", "local a=0 for i=1,2 do " + long[:20000*6] + " end return a",
			":40000\r\n"},
		{"labels", "local a=0 " + repeated("if a<0 then a=1 end ", 30000) + "return a", ":0\r\n"},
		{"arguments", "return select('#'," + repeated("nil,", 240) + ")", ":240\r\n"},
	}
}

// listBounds has long lists: of arguments, results, targets, elements and constants.
func listBounds() []boundsCase {
	return []boundsCase{
		{"arguments and results", "local function f() return 7,8 end return select(200," +
			repeated("nil,", 199) + ",f())",
			":7\r\n"},
		{"results", "local function f() return " + numbers(240) +
			" end return {select('#',f()),(select(240,f()))}",
			"*2\r\n:240\r\n:240\r\n"},
		{"too many arguments", "f(" + repeated("1,", 260) + ")",
			refused + "user_script:1: function or expression too complex near '1'"},
		{"targets", repeated("a,", 205) + "=1",
			refused + "user_script:1: main function has more than 199 variables in assignment"},
		{"elements", "local t={" + repeated("7,", 60000) +
			",unpack({1,2,3})} return {#t,t[25001],t[25551],t[60003]}",
			"*4\r\n:60003\r\n:7\r\n:7\r\n:3\r\n"},
		{"elements and a field",
			"local t={" + numbers(50) + ",x=tostring(7)} return {t[1],t[2],t[50],t.x}",
			"*4\r\n:1\r\n:2\r\n:50\r\n$1\r\n7\r\n"},
		{"elements and fields", "local t={" + numbers(100) +
			",x=tostring(7),y=8,9} return {#t,t[51],t[52],t[100],t[101],t.y}",
			"*6\r\n:101\r\n:51\r\n:52\r\n:100\r\n:9\r\n:8\r\n"},
		{"elements and results", "local function f() return 8,9 end local t={" + numbers(50) +
			",f()} return {#t,t[1],t[51],t[52]}",
			"*4\r\n:52\r\n:1\r\n:8\r\n:9\r\n"},
		{"constants", "local t={" + numbers(60000) +
			"} local s=0 for i=1,60000 do s=s+t[i]-i end return s", ":30000\r\n"},
		{"string constants", "local t={'" + strings.ReplaceAll(numbers(3000), ",", "','") +
			"'} return {t[3000],t[600],t[513],t[512]}",
			"*4\r\n$6\r\n3000.5\r\n$5\r\n600.5\r\n$5\r\n513.5\r\n$5\r\n512.5\r\n"},
		{"field names",
			"local t={x" + strings.NewReplacer(".5,", "=1,x", ".5", "=2").Replace(numbers(3000)) +
				"} return {t.x1,t.x600,t.x2999,t.x3000,t.x3001 == nil}",
			"*5\r\n:1\r\n:1\r\n:1\r\n:2\r\n:1\r\n"},
		{"too many constants", "local t={" + numbers(1<<18) + "}",
			refused + "constant table overflow"},
		{"functions", repeated("a=function() end ", 300000), refused + "constant table overflow"},
	}
}

// jumpBounds has loops whose first instruction is a jump, and constant operands.
func jumpBounds() []boundsCase {
	return []boundsCase{
		{"a loop that begins with a jump",
			"local n=0 while true do local x=false and 1 n=n+1 if n>5 then break end end return n",
			":6\r\n"},
		{"a loop that begins with an impossible branch",
			"local n=0 repeat if nil then n=9 end n=n+1 until n>5 return n", ":6\r\n"},
		{"a loop that begins with a break",
			"local n=0 repeat while true do break end n=n+1 until n>5 return n", ":6\r\n"},
		{"loops that begin with nothing",
			"local n=0 while true do while false do end repeat do break end until false " +
				"n=n+1 if not (n<=5) then break end end return n", ":6\r\n"},
		{"constant operands", "return {(1 and 2),(nil or 3),(false and 4) == false,(5 or x),not " +
			"nil == true,('a' and {6})[1]}",
			"*6\r\n:2\r\n:3\r\n:1\r\n:5\r\n:1\r\n:6\r\n"},
	}
}

// orderBounds has library tables as keys, and the order of assignments.
func orderBounds() []boundsCase {
	return []boundsCase{
		{"library as key", "local t={[string]=1,[redis.call]=2,x=3} return " +
			"{t[string],t[redis.call],t.x,t.string == nil}",
			"*4\r\n:1\r\n:2\r\n:3\r\n:1\r\n"},
		{"library as key of an assignment",
			"local t={} t[string],t[redis.call]=1,2 return {t[string],t[redis.call]}",
			"*2\r\n:1\r\n:2\r\n"},
		{"swap", "local a,b,t=1,2,{3,4} a,b=b,a t[a],t[b]=t[b],t[a] t.x,t.y,a=a,b,9 return " +
			"{a,b,t[1],t[2],t.x,t.y}",
			"*6\r\n:9\r\n:1\r\n:4\r\n:3\r\n:2\r\n:1\r\n"},
		{"parallel", "local i,t=1,{} i,t[i]=i+1,20 local a=5 a,a=a return " +
			"{i,t[1],tostring(t[2]),a}",
			"*4\r\n:2\r\n:20\r\n$3\r\nnil\r\n:5\r\n"},
		{"parallel results", "local function f() return 1,2,3 end local a,b,c,d a,b,c,d=0,f() " +
			"local x x,a=f(),f() return {a,b,c,d,x}",
			"*5\r\n:1\r\n:1\r\n:2\r\n:3\r\n:1\r\n"},
		{"much", "local a " + repeated("a=1 ", 1<<20) + "return a", ":1\r\n"},
		{"too much", strings.Repeat(" ", 16<<20+1), refused + "user_script:1: script too long"},
	}
}

// TestCompilerBounds checks that what Lua's compiler refuses is refused, and the rest compiled.
func TestCompilerBounds(t *testing.T) {
	for _, c := range slices.Concat(longBounds(), listBounds(), jumpBounds(), orderBounds()) {
		h := newHost(&fake{})
		got := eval(t, h, c.src)
		require.Equal(t, c.want, got[:min(len(got), 200)], c.name)
		require.Equal(t, ":1\r\n", eval(t, h, "return 1"), c.name)
	}
}
