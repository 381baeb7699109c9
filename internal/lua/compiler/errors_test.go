package compiler

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/luagen"
	"godwit/internal/testseed"
)

// The file has programs and, indented behind each, what lua5.1 says about it: nothing if it is
// valid. With -update, the answers are asked for again.
const recorded = "testdata/errors.txt"

var update = flag.Bool("update", false, "record lua5.1's answers in "+recorded)

// levelOfLoadstring is how deep calls are nested when lua5.1 compiles for the judge.
const levelOfLoadstring = 2

// judge reads programs, each behind its length, and prints what loadstring says about each.
const judge = `while true do
	local n = io.read("*n")
	if not n then break end
	io.read(1)
	local _, msg = loadstring(n > 0 and io.read(n) or "", "=c")
	io.write(msg or "", "\0\n")
end`

// askLua returns lua5.1's message about each program. It skips the test if there is no lua5.1.
func askLua(t *testing.T, srcs []string) []string {
	if _, err := exec.LookPath("lua5.1"); err != nil {
		t.Skip("lua5.1 is not installed")
	}
	var in strings.Builder
	for _, src := range srcs {
		fmt.Fprintf(&in, "%d\n%s", len(src), src)
	}
	c := exec.Command("lua5.1", "-e", judge)
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	require.NoError(t, err)
	answers := strings.Split(string(out), "\x00\n")
	require.Len(t, answers, len(srcs)+1)
	return answers[:len(srcs)]
}

// message returns our error of a program, or "".
func message(src string) string {
	if _, err := Compile(src, "c", &Options{Level: levelOfLoadstring}); err != nil {
		return err.Error()
	}
	return ""
}

// readRecorded returns the recorded programs and answers.
func readRecorded(t *testing.T) (srcs, answers []string) {
	text, err := os.ReadFile(recorded)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		s, err := strconv.Unquote(strings.TrimSpace(line))
		require.NoError(t, err, line)
		if strings.HasPrefix(line, "\t") {
			answers = append(answers, s)
		} else {
			srcs = append(srcs, s)
		}
	}
	require.Len(t, answers, len(srcs))
	return srcs, answers
}

// TestErrors compares errors with the recorded ones of Lua.
func TestErrors(t *testing.T) {
	srcs, answers := readRecorded(t)
	if *update {
		var b strings.Builder
		answers = askLua(t, srcs)
		for i, src := range srcs {
			fmt.Fprintf(&b, "%q\n\t%q\n", src, answers[i])
		}
		require.NoError(t, os.WriteFile(recorded, []byte(b.String()), 0o600))
	}
	for i, src := range srcs {
		require.Equal(t, answers[i], message(src), "%q", src)
	}
}

// TestNested checks that long brackets may hold others of level 0, as in Redis 8. Its Lua is built
// without the option for which stock Lua 5.1 has an error here.
func TestNested(t *testing.T) {
	for _, src := range []string{"x = [[ a [[ ]]", "--[[ a [[ b ]] x()"} {
		require.Empty(t, message(src), src)
	}
	require.Equal(t, "c:1: unfinished long string near '<eof>'", message("x = [[ a [["))
}

// TestErrorsAgainstLua compares errors with those of Lua. Half of the programs are damaged.
func TestErrorsAgainstLua(t *testing.T) {
	r := testseed.Rand(t)
	srcs := snippets()
	for range 600 {
		srcs = append(srcs, luagen.Script(r), shuffled(r))
	}
	for _, l := range limits() {
		for n := l.most - 2; n < l.most+3; n++ {
			srcs = append(srcs, l.program(n))
		}
	}
	for i, answer := range askLua(t, srcs) {
		if strings.Contains(answer, "nesting of [[...]]") {
			continue // see TestNested
		}
		require.Equal(t, answer, message(srcs[i]), "%.300q", srcs[i])
	}
}

// shuffled returns a few words of the language.
func shuffled(r *rand.Rand) string {
	words := strings.Fields("and break do else elseif end false for function if in local nil not " +
		"or repeat return then true until while + - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : " +
		", . .. ... a b c a b c 1 2 's' [[t]] a. a[ a( a=1 a() do\n end\n f(\n {\n x=1\n\n -- \r\n")
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(words[r.IntN(len(words))] + " ")
	}
	return b.String()
}

// TestBytecode checks that compiled code is refused, with Redis's message.
func TestBytecode(t *testing.T) {
	require.Equal(t, "c:1: unexpected symbol near 'char(27)'", message("\x1bLuaQ"))
}

// TestName checks that messages and code may name the chunk differently.
func TestName(t *testing.T) {
	o := &Options{Name: "long"}
	_, err := Compile("x", "short", o)
	require.EqualError(t, err, "long:1: '=' expected near '<eof>'")
	require.Equal(t, "short", compileNamed(t, "x = 1", "short", o).Source)
}
