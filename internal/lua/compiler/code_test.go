package compiler

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/bytecode"
)

// code returns the instructions of a function, one in a line. Fields that are 0 are left out.
func code(p *bytecode.Proto) string {
	var b strings.Builder
	for _, i := range p.Code {
		b.WriteString(opName(i.Op()))
		for n, f := range []int{int(i.A()), int(i.B()), int(i.C()), i.D()} {
			if f != 0 {
				fmt.Fprintf(&b, " %c=%d", "abcd"[n], f)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// environment has the constants redis, redis.call and tostring.
func environment(global, field string) bool {
	return global == "redis" && (field == "" || field == "call") ||
		global == "tostring" && field == ""
}

func compile(t *testing.T, src string, o *Options) *bytecode.Proto {
	return compileNamed(t, src, "c", o)
}

func compileNamed(t *testing.T, src, name string, o *Options) *bytecode.Proto {
	p, err := Compile(src, name, o)
	require.NoError(t, err, src)
	return p
}

// lines joins instructions as code returns them.
func lines(list ...string) string { return strings.Join(list, "\n") + "\nReturn b=1\n" }

// TestCode shows the forms in which the code differs from Lua's.
func TestCode(t *testing.T) {
	for src, want := range map[string]string{
		"local a, b if a < b then a = 1 end": lines("LoadNil b=1", "JumpLt b=0 c=1 d=1", "LoadK"),
		"local a = ... while a == nil do a = f() end": lines("Vararg b=2", "JumpEqK d=4",
			"GetGlobal a=1 d=1", "Call a=1 b=1 c=2", "Move b=1", "Jump d=-5"),
		"local a = {} a[1], a.x, a[a] = 2, a[-3], a.y": lines("NewTable",
			"LoadK a=1 d=1", "GetInt a=2 d=-3", "GetField a=3 d=2", "SetIndex c=3", "SetField c=2",
			"SetInt c=1 d=1"),
		"local a = ... a = a + 1 a = 1 - a a = a * a": lines("Vararg b=2", "AddRK", "SubKR", "Mul"),
		"local t = ... t.x = 1 t[t] = 'y'": lines("Vararg b=2", "SetFieldK b=1",
			"SetIndexK d=2"),
		"repeat local a = f() until a or b": lines("GetGlobal", "Call b=1 c=2", "JumpIf c=1 d=4",
			"GetGlobal a=1 d=1", "JumpIf a=1 d=1", "Jump d=1", "Jump d=-7"),
	} {
		src, want = strings.TrimSpace(src), strings.ReplaceAll(want, "b=0 ", "")
		require.Equal(t, want, code(compile(t, src, nil)), src)
	}
}

// TestConstants checks that constants of the environment are used as such, but only where the name
// is that of the global.
func TestConstants(t *testing.T) {
	for src, want := range map[string]string{
		"redis.call('x')":              lines("LoadK a=1 d=1", "CallK b=2 c=1"),
		"local a = tostring":           lines("LoadK"),
		"return tostring(1)":           lines("LoadK a=1 d=1", "CallK b=2", "Return"),
		"local f = redis.call f = nil": lines("LoadK", "LoadNil"),
		"redis.other()":                lines("LoadK", "GetField d=1", "Call b=1 c=1"),
		"redis:call()":                 lines("LoadK d=1", "Self", "Call b=2 c=1"),
		"redis.call.x = 1":             lines("LoadK", "SetFieldK b=2 d=1"),
		"redis.call = 1":               lines("GetGlobal", "SetFieldK b=2 d=1"),
		"redis = 1":                    lines("LoadK d=1", "SetGlobal"),
		"function tostring() end":      lines("Closure", "SetGlobal"),
		"function redis.call() end":    lines("LoadK", "Closure a=1", "SetField c=1 d=1"),
		"(redis.call)()":               lines("LoadK", "Call b=1 c=1"),
		"local a = redis['call']":      lines("LoadK", "GetField d=1"),
		"x = redis.call == tostring": lines("LoadK d=1", "LoadK a=1 d=2",
			"JumpEq a=1 c=1 d=1", "LoadBool c=1", "LoadBool b=1", "SetGlobal"),
		"local redis redis.call()":  lines("LoadNil", "GetField a=1", "Call a=1 b=1 c=1"),
		"local tostring tostring()": lines("LoadNil", "Move a=1", "Call a=1 b=1 c=1"),
	} {
		p := compile(t, src, &Options{Constant: environment})
		require.Equal(t, want, code(p), src)
		require.Equal(t, strings.Contains(src, "redis.call('x')"),
			len(p.Constants) > 0 && p.Constants[0] == bytecode.Constant{Kind: bytecode.Ref,
				Str: "redis.call"} && len(p.Constants) == 2 && len(p.Code) == 3, src)
	}
	for _, src := range []string{"(redis.call) = 1", "(tostring) = 1"} {
		_, err := Compile(src, "c", &Options{Constant: environment})
		require.ErrorContains(t, err, "syntax error", src)
	}
}

// TestLibrary checks that a library's own code has no constants, and that its functions do.
func TestLibrary(t *testing.T) {
	p := compile(t, "redis.call(function() return function() redis.call() end end)",
		&Options{Constant: environment, Library: true})
	require.Equal(t, lines("GetGlobal", "GetField d=1", "Closure a=1 b=1", "Call b=2 c=1"), code(p))
	require.Equal(t, lines("Closure", "Return b=2"), code(p.Protos[0]))
	require.Equal(t, lines("CallK b=1 c=1"), code(p.Protos[0].Protos[0]))
}

// TestArg checks when a function has the table arg.
func TestArg(t *testing.T) {
	for src, needs := range map[string]bool{
		"function(...) end": true, "function(...) return arg end": true,
		"function(...) return ... end": false, "function(a, ...) f(...) return arg end": false,
	} {
		f := compile(t, "return "+src, nil).Protos[0]
		require.Equal(t, needs, f.NeedsArg, src)
		require.True(t, f.Vararg)
		require.Equal(t, "arg", f.Locals[f.Params].Name)
	}
	require.False(t, compile(t, "return arg", nil).NeedsArg)
}

// TestLines checks that the debugger's instructions stand before each line and at each target of a
// jump, and that jumps go where they went.
func TestLines(t *testing.T) {
	src := "local a = 1\nif a then\na = 2 end a = 3\nfor i = 1, 2 do\na = i\nend\nreturn a and b"
	p := compile(t, src, &Options{Lines: true})
	require.Equal(t, lines("Line d=1", "LoadK", "Line d=2", "JumpIf d=2", "Line d=3", "LoadK d=1",
		"Line d=3", "LoadK d=2", "Line d=4", "LoadK a=1", "LoadK a=2 d=1", "LoadK a=3",
		"ForPrep a=1 d=2", "Line d=5", "Move b=4", "Line d=4", "ForLoop a=1 d=-4", "Line d=7",
		"JumpSet a=1 d=1", "GetGlobal a=1 d=3", "Line d=7", "Return a=1 b=2"), code(p))
	for pc, i := range p.Code {
		if i.Op() == bytecode.Line {
			require.Equal(t, int(p.Lines[pc]), i.D())
			require.Equal(t, p.Lines[pc], p.Lines[pc+1])
		}
	}
	require.Equal(t, "a", p.LocalAt(0, 2))
	require.Empty(t, p.LocalAt(0, 1))
	require.Equal(t, "i", p.LocalAt(4, 14))
}

// TestGrow checks that the host hears of all memory and may end the compilation.
func TestGrow(t *testing.T) {
	total, calls := 0, 0
	grow := func(n int) error {
		total += n
		calls++
		return nil
	}
	for _, src := range []string{many("a# = 'b#' ", 5000), strings.Repeat("x = 1 ", 20000)} {
		total, calls = 0, 0
		p := compile(t, src, &Options{Grow: grow})
		require.Greater(t, total, 12*len(p.Code)+48*len(p.Constants))
		require.Greater(t, calls, len(src)/askEvery)
	}
	failure := errors.New("enough")
	_, err := Compile(strings.Repeat("--\n", 1<<20)+"x", "c", &Options{Grow: func(int) error {
		return failure
	}})
	require.Equal(t, failure, err)
	compile(t, "return 1", &Options{Grow: grow})
}
