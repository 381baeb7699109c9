package script_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
	"godwit/internal/script"
)

// console is the client of a debugging session: it sends commands, and notes what it gets.
type console struct {
	commands []string
	end      error // what reading ends with; nil: io.EOF
	deaf     bool  // it does not read
	out      strings.Builder
}

func (c *console) Read(b []byte) (int, error) {
	if len(c.commands) == 0 {
		return 0, cmp.Or(c.end, io.EOF)
	}
	var w resp.Writer
	words := strings.Fields(c.commands[0])
	w.Array(len(words))
	for _, word := range words {
		w.BulkString(word)
	}
	c.out.WriteString("> " + c.commands[0] + "\n")
	c.commands = c.commands[1:]
	return copy(b, w.Buf), nil
}

// Write notes the lines without their framing.
func (c *console) Write(b []byte) (int, error) {
	if c.deaf {
		c.out.WriteString("deaf\n")
		return 0, io.EOF
	}
	head, lines, _ := bytes.Cut(b, []byte("\r\n"))
	n, err := strconv.Atoi(string(head[1:]))
	if err != nil || bytes.Count(lines, []byte("\r\n")) != n {
		c.out.WriteString("malformed: " + strconv.Quote(string(b)) + "\n")
	}
	for l := range strings.Lines(string(lines)) {
		c.out.WriteString(strings.TrimPrefix(strings.TrimRight(l, "\r\n"), "+") + "\n")
	}
	return len(b), nil
}

func debug(t *testing.T, f *fake, src string, limit time.Duration, commands ...string) string {
	return debugWith(t, f, src, limit, &console{commands: commands})
}

func debugWith(t *testing.T, f *fake, src string, limit time.Duration, c *console) string {
	h := newHost(f)
	var w resp.Writer
	keys := [][]byte{[]byte("k")}
	o := script.DebugOptions{Conn: c, Limit: limit}
	err := h.Debug([]byte(src), o, func(sc *script.Script) {
		h.Run(sc, keys, [][]byte{[]byte("v")}, &w)
	})
	if err != nil {
		c.out.WriteString("error " + err.Error() + "\n")
	}
	require.Equal(t, ":1\r\n", eval(t, h, "redis.debug('x') return redis.breakpoint() and 2 or 1"))
	return c.out.String() + strings.ReplaceAll(string(w.Buf), "\r\n", "\n")
}

// TestDebug holds sessions against what Redis 8.0.6 shows. The files have the commands too, behind
// the script.
func TestDebug(t *testing.T) {
	files, err := filepath.Glob("testdata/debug/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		src, want, _ := strings.Cut(string(text), "---\n")
		var commands []string
		for l := range strings.Lines(want) {
			if c, ok := strings.CutPrefix(l, "> "); ok {
				commands = append(commands, strings.TrimSpace(c))
			}
		}
		require.Equal(t, want, debug(t, &fake{}, src, 0, commands...), file)
	}
}

// TestDebugEnds checks how sessions end, and how the script stops by itself.
func TestDebugEnds(t *testing.T) {
	stopped := "* Stopped at 1, stop reason = step over\n-> 1   "
	for _, c := range []struct {
		src, want string
		commands  []string
	}{
		{"return 1", "return 1\n> a\n<endsession>\n-ERR script aborted for user request script: " +
			script.Digest([]byte("return 1")) + ", on @user_script:1.\n", []string{"a"}},
		{"return 1", "return 1\n<endsession>\n:1\n", nil},
		{"return redis.call('fail')", "return redis.call('fail')\n> s\n<redis> fail\n<error> " +
			"-WRONG kind\n<reply> \"-WRONG kind\"\n<endsession>\n-WRONG kind script: " +
			script.Digest([]byte("return redis.call('fail')")) +
			", on @user_script:1.\n", []string{"s"}},
		{"return loadstring('local a\\nreturn 2')()",
			"return loadstring('local a\\nreturn 2')()\n> s\n<endsession>\n:2\n", []string{"s"}},
	} {
		require.Equal(t, stopped+c.want, debug(t, &fake{}, c.src, 0, c.commands...), c.src)
	}
	require.Equal(t, "<endsession>\nerror Error compiling script (new function): user_script:1: "+
		"unexpected symbol near ')'\n", debug(t, &fake{}, "return )", 0))
	got := debug(t, &fake{}, "while true do end", time.Millisecond, "c", "s", "c", "a")
	require.Contains(t, got, "> c\n* Stopped at 1, stop reason = timeout reached, infinite loop?\n"+
		"-> 1   while true do end\n> s\n* Stopped at 1, stop reason = step over\n")
	for src, command := range map[string]string{"while true do end": "c",
		"while true do pcall(function() while true do end end) end": "c",
		"loadstring('while true do end')()":                         "c",
		"pcall(loadstring('while true do end'))":                    "c",
		"return 1":                                                  "e while true do end",
	} {
		got = debug(t, &fake{}, src, time.Millisecond, command)
		require.Contains(t, got, "ERR timeout during Lua debugging with client closing connection")
	}
}

// TestDebugShowsBounded checks that what is shown at a time is bounded, and goes on after that.
func TestDebugShowsBounded(t *testing.T) {
	const hint = "\n<hint> What follows was too long and is not shown.\n"
	much := "\nlocal s = ('x'):rep(2^20)\nfor i = 1, 20 do redis.debug(s) end\nreturn 1"
	got := debug(t, &fake{}, much, 0, "b 4", "c", "p i")
	require.Less(t, len(got), 17<<20)
	require.Contains(t, got, hint+"* Stopped at 4, stop reason = break point\n")
	require.True(t, strings.HasSuffix(got, "> p i\nNo such variable.\n<endsession>\n:1\n"))
	got = debug(t, &fake{}, much, 0, "c")
	require.Less(t, len(got), 17<<20)
	require.True(t, strings.HasSuffix(got, hint+"<endsession>\n:1\n"))
	for _, command := range []string{"e ('x'):rep(5000000)", "r many *100", "w"} {
		got = debug(t, &fake{}, "return 1 --"+strings.Repeat("x", 5e6), 0, "m 0", command)
		require.Less(t, len(got), 12<<20, command)
	}
	lines := strings.Repeat("\n", 700_000)
	got = debug(t, &fake{}, lines+"return 1", 0, "w", "c")
	require.Less(t, len(got), 17<<20)
	require.Contains(t, got, hint+"> c\n<endsession>")
}

// TestDebugEndsForGood checks that no script goes on when the server says that it must end, when
// the client sends what is no command, and when it does not read.
func TestDebugEndsForGood(t *testing.T) {
	killed := errors.New("ERR killed")
	for _, src := range []string{
		"local a = 1\nredis.call('set', 'k', 1)\nreturn 5",
		"while true do\n pcall(function()\n while true do end end) end",
		"local f = function()\n while true do end end\nwhile true do xpcall(f, f) end",
		"while true do\n coroutine.wrap(function()\n pcall(error) end)() end",
	} {
		for _, commands := range [][]string{nil, {"s"}, {"s", "e redis.breakpoint()"},
			{"r set k 1", "s", "s"}, {"b 2", "c"}} {
			for _, limit := range []time.Duration{0, time.Millisecond} {
				c := &console{commands: commands, end: killed}
				got := debugWith(t, &fake{}, src, limit, c)
				require.Contains(t, got, "<endsession>\n-ERR killed", "%s %q", src, commands)
			}
		}
		for _, limit := range []time.Duration{0, time.Millisecond} {
			c := &console{commands: []string{"s", ""}, end: killed}
			got := debugWith(t, &fake{}, src, limit, c)
			require.Contains(t, got, "<endsession>\n-ERR protocol error", src)
		}
	}
	c := &console{commands: []string{"p", "p", "p"}, deaf: true}
	got := debugWith(t, &fake{}, "while true do\n pcall(error) end", time.Millisecond, c)
	require.Contains(t, got, "deaf\nerror the client of a debugging session does not read")
	require.Contains(t, got, "-ERR timeout during Lua debugging")
}

// TestDebugLines checks at which lines a script stops: those at which Redis does.
func TestDebugLines(t *testing.T) {
	for src, want := range map[string][]int{
		"for i = 1, 2 do\n local k = i\nend\nfor k in pairs({x=1}) do\n local z = k\nend\nreturn": {
			1, 2, 1, 2, 1, 4, 5, 4, 7},
		"local function f() return 1 end local x = f() or f() return f() + f()": {1, 1, 1, 1},
		"local a, b = nil, 1 local c = a and b or a or b return c and 1 or 2":   {1},
		"coroutine.wrap(function()\n local y = 1\n coroutine.yield()\n y = 2 end)()\nreturn": {
			1, 4, 1, 4, 2, 3, 5},
		"table.sort({3,2,1}, function(a,b)\n return a < b end)\nreturn":   {1, 2, 1, 2, 2, 2, 3},
		"local t = {\n1,\n2\n}\nlocal f = function()\nend\nf()\nreturn 1": {1, 2, 4, 6, 7, 6, 8},
		"if false then\n local x = 1\nelse\n local y = 2\nend\nwhile true do\n break\nend": {
			1, 4, 7, 8},
		"local a\n\nlocal b":               {3},
		"local a\n\nlocal b = 1\nreturn b": {3, 4},
		"local function f(x)\n x = nil\n local y\nend\n" +
			"local function g(x)\n local y\n y = x\nend\n" +
			"f() g() g()": {4, 8, 9, 2, 4, 7, 8, 7, 8},
		"while true do\n local a\n local b\n if not a then break end\nend": {2, 4, 5},
		"repeat\n local a\n local b = 1\nuntil b\nfor i = 1, 1 do\n local c\nend": {
			2, 3, 4, 5, 6, 5, 7},
		"local n = 0\nrepeat\n n = n + 1\nuntil n > 1": {1, 3, 4, 3, 4},
	} {
		var lines []int
		out := debug(t, &fake{}, src, 0, strings.Split(strings.Repeat("s,", 30), ",")[:30]...)
		for l := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(l, "* Stopped at "); ok {
				n, err := strconv.Atoi(rest[:strings.IndexByte(rest, ',')])
				require.NoError(t, err)
				lines = append(lines, n)
			}
		}
		require.Equal(t, want, lines, src)
	}
}
