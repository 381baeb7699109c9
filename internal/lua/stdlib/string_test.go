package stdlib_test

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

const recorded = "testdata/strings.txt"

var recordStrings = flag.Bool("record-strings", false, "write "+recorded+" anew, with lua5.1")

// TestRecordedCalls runs the calls of the file and compares the results with those of lua5.1. The
// first lines are about what the manual says, the others are random.
func TestRecordedCalls(t *testing.T) {
	text, err := os.ReadFile(recorded)
	require.NoError(t, err)
	comment, calls, _ := strings.Cut(string(text), "\n")
	var sources, want []string
	for line := range strings.Lines(calls) {
		line = strings.TrimSuffix(line, "\n")
		if result, ok := strings.CutPrefix(line, "= "); ok {
			want = append(want, result)
		} else {
			sources = append(sources, line)
		}
	}
	if *recordStrings {
		want, err = judged(sources)
		require.NoError(t, err)
		b := []byte(comment + "\n")
		for i, src := range sources {
			b = append(b, src+"\n= "+want[i]+"\n"...)
		}
		require.NoError(t, os.WriteFile(recorded, b, 0o644))
	}
	require.Len(t, want, len(sources))
	s := newState(t)
	for i, src := range sources {
		require.Equal(t, want[i], run(s, src), src)
	}
}

// TestStringBounds ends calls that would take too much memory or time, before they do.
func TestStringBounds(t *testing.T) {
	const mega, bound = "local s = ('x'):rep(2^20) ", 24 << 20
	for _, c := range []struct{ src, want string }{
		{"return string.gsub(('a'):rep(2^20), '.*', ('%0'):rep(2^20), 1)", "not enough memory"},
		{"return string.gsub(('a'):rep(2^20), '', ('b'):rep(2^10))", "not enough memory"},
		{mega + "return string.gsub(('a'):rep(2^10), '.', function() return s end)",
			"not enough memory"},
		{mega + "return string.gsub(('a'):rep(2^10), '.', {a = s})", "not enough memory"},
		{mega + "return string.format(('%q'):rep(200)" + strings.Repeat(", s", 200) + ")",
			"not enough memory"},
		{mega + "return string.format(('%s'):rep(200)" + strings.Repeat(", s", 200) + ")",
			"not enough memory"},
		{"return ('x'):rep(2^28)", "not enough memory"},
		{"return ('x'):rep(2^30)", "t:1: resulting string too large"},
		{"return ('xyz'):rep(2^31-1)", "t:1: resulting string too large"},
		{"local s = 'ab' while true do s = s:rep(2) end", "not enough memory"},
		{mega + "while true do s = s .. s:upper() end", "not enough memory"},
		{mega + "local f while true do local g = f f = {s:reverse():gmatch('.'), f} end",
			"not enough memory"},
		{"return (('a'):rep(40)):find(('a?'):rep(40) .. ('a'):rep(41))", "late"},
		{"return (('a'):rep(2^18)):find('.-.-.-b')", "late"},
		{"return (('a'):rep(2^18)):gsub('.-b', '')", "late"},
		{"return (('('):rep(2^18)):find('%b()')", "late"},
		{"for w in (('x'):rep(2^20)):gmatch('()x-y') do end", "late"},
		{"while true do string.find('a', 'b') end", "late"},
		{mega + "while true do s:find('y', 1, true) end", "late"},
		{mega + "while true do s:len() s:byte(-1) s:sub(2, 3) end", "late"},
		{"return (('a'):rep(2^20)):find(('a?'):rep(2^18))", "t:1: pattern too complex"},
		{"return (('a'):rep(2^20)):find(('('):rep(2^18))", "t:1: too many captures"},
	} {
		s := newState(t)
		s.Bound = bound
		// The host is asked each millisecond: how often, before the memory is used up, depends on
		// the machine.
		looks := 0
		s.Interrupt = func() error {
			if looks++; looks > 200 && c.want == "late" {
				return errors.New("late")
			}
			return nil
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := run(s, c.src)
		runtime.ReadMemStats(&after)
		require.Equal(t, `false "`+c.want+`"`, got, c.src)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16*bound), c.src)
	}
}

// TestHeldText wants the text that gsub makes to count while it calls a function, and no longer.
func TestHeldText(t *testing.T) {
	s := newState(t)
	held := 0
	s.Globals.SetString("note", lua.NativeValue(&lua.Native{Fn: func(*lua.Thread) int {
		held = s.Held
		return 0
	}}))
	require.Equal(t, "true 100000", run(s, "local x = ('a'):rep(1e5):gsub('.', note) return #x"))
	require.GreaterOrEqual(t, held, 99_999)
	require.Zero(t, s.Held)
	run(s, "return pcall(string.gsub, ('a'):rep(100), '.', function() local x = nil + 1 end)")
	require.Zero(t, s.Held)
}

// TestSearchWithinSearch calls functions that search from within gsub and gmatch: what matchers
// share must not mix.
func TestSearchWithinSearch(t *testing.T) {
	s := newState(t)
	for src, want := range map[string]string{
		`return ('a1 b2'):gsub('([%a])([%d])', function(x, y)
		   return x:match('[^%d]') .. y:gsub('[%d]', '<%0>') end)`: `true "a<1> b<2>" 2`,
		`local out = '' for a in ('x,y'):gmatch('[^,]+') do
		   for b in ('1;2'):gmatch('[^;]+') do out = out .. a .. b end end
		   return out`: `true "x1x2y1y2"`,
		`return ('[%a] [%d]'):gsub('%b[]', function(p)
		   return ('a1'):match(p) end)`: `true "a 1" 2`,
	} {
		require.Equal(t, want, run(s, src), src)
	}
}

// TestNoAllocations wants calls to allocate nothing if their results need no memory.
func TestNoAllocations(t *testing.T) {
	s := newState(t)
	for _, expr := range []string{"string.sub(s, 3, 3)", "string.byte(s, 4)", "string.char(65)",
		"string.len(s)", "string.find(s, 'brown')", "string.find(s, '(b)%w+(n)')",
		"string.match(s, '^%s*()')", "string.find(s, '[%a]+ [^a]+')", "string.lower(s)",
		"string.gsub(s, 'Z', 'z')", "string.format('%s', 'x')"} {
		turns := func(n string) float64 {
			src := "local s = 'the quick brown fox' for i = 1, " + n +
				" do local x = " + expr + " end"
			return testing.AllocsPerRun(3, func() { run(s, src) })
		}
		require.InDelta(t, turns("1"), turns("1001"), 100, expr)
	}
}
