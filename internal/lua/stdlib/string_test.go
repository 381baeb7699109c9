package stdlib_test

import (
	"bufio"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

const recorded = "testdata/strings.txt"

var recordStrings = flag.Bool("record-strings", false, "write "+recorded+" anew, with lua5.1")

// stringSources are calls whose results the manual or the sources of Lua explain. Random ones join
// them in the file.
func stringSources() []string {
	list := []string{
		// positions
		"return ('hello'):sub(2, -2), ('hello'):sub(-3), ('hello'):sub(0), ('hello'):sub(9)",
		"return ('hello'):sub(-100, 2), ('hello'):sub(3, 2), ('hello'):sub(1/0), ('hello'):sub(-1/0)",
		"return ('hello'):sub(0/0), ('hello'):sub(2^63), ('hello'):sub('2', ' 0x3 ')",
		"return ('hello'):byte(), ('hello'):byte(-1), ('hello'):byte(10), ('hello'):byte(0)",
		"return ('hello'):byte(2, 4)", "return ('hello'):byte(-10, 10)", "return (''):byte()",
		"return #string.rep('x', 7990)",
		"return string.byte(string.rep('x', 8000), 1, -1)",
		"return string.char(), string.char(104, 105), string.char(2^32 + 65), string.char('66')",
		"return string.char(256)", "return string.char(65, -1)", "return string.char(0/0)",
		"return ('ab'):rep(3), ('ab'):rep(0), ('ab'):rep(-1), ('ab'):rep(2.9), ('ab'):rep(2^32 + 2)",
		"return (''):rep(5), string.rep(12, 2)", "return string.rep('x')", "return string.rep()",
		"return ('aBc\\200Z'):upper(), ('aBc\\200Z'):lower(), ('abc'):reverse(), (''):reverse()",
		"return string.len('a\\0b'), #'a\\0b', string.len(123)", "return string.len()",
		"return string.gfind == string.gmatch, string.dump ~= nil",
		// patterns
		"return ('hello world'):find('o w'), ('hello'):find('l', 1, true), ('a+b'):find('+', 1, true)",
		"return ('abc'):find('', 10), ('abc'):find('', 4), ('abc'):find('b', -1), (''):find('')",
		"return ('a\\0b'):find('\\0', 1, true), ('a\\0b'):find('%z'), ('abc'):find('b\\0z')",
		"return ('key = value'):match('^(%w+)%s*=%s*(%w+)$')", "return ('abc'):match('()b()')",
		"return ('2024-01-31'):match('(%d+)-(%d+)-(%d+)')", "return ('x'):match('y')",
		"return ('THE (quick) fox'):find('%((%a+)%)')", "return ('f(a(b)c)d'):match('%b()')",
		"return ('THE (quick) fox'):gsub('%f[%a]%a+', '<%0>')", "return ('abab'):match('(ab)%1')",
		"return ('aaa'):find('a-', 2), ('aaa'):match('^(a-)$'), ('aaa'):match('a-b')",
		"return ('[]]'):match('[]]+'), ('a-z'):match('[a%-z]+'), ('^x'):match('[%^x]+')",
		"return ('a^b'):match('a^b'), ('a$b'):match('a$b'), ('$'):match('%$'), ('ab'):match('a$')",
		"return all('one two  three', '%a+')", "return all('abc', '')", "return all('k=v, x=y', " +
			"'(%w+)=(%w+)')", "return all('^a^a', '^a')",
		"return ('x'):find('[a')", "return ('x'):find('[')", "return ('x'):find('[]')",
		"return ('x'):find('[^')", "return ('x'):find('[%')", "return ('x'):find('x%')",
		"return ('x'):find('%')", "return ('x'):find('(x')", "return ('x'):find('x)')",
		"return ('x'):find('%1')", "return ('x'):find('(x%1)')", "return ('x'):find('%f')",
		"return ('x'):find('%b')", "return ('x'):find('%bx')", "return ('x'):match('()%1')",
		"return (('x'):rep(40)):match(('(x)'):rep(32))", "return ('x'):match(('()'):rep(33))",
		// gsub
		"return ('hello world'):gsub('o', '0'), ('hello'):gsub('', '-'), ('abc'):gsub('%w', '%%%0')",
		"return ('abc'):gsub('b', '%1'), ('abc'):gsub('(b)', '%1%1')", "return ('abc'):gsub('b', '%2')",
		"return ('abc'):gsub('b', '%')", "return ('abc'):gsub('b', 'x%y')",
		"return ('abcabc'):gsub('b', 'x', 1), ('abcabc'):gsub('b', 'x', 0), ('abc'):gsub('b', 'x', -1)",
		"return ('abcabc'):gsub('b', 'x', 2^32 + 1)", "return ('abc'):gsub('^a', 'x')",
		"return ('aaa'):gsub('^a', 'x'), ('abc'):gsub('$', 'x'), ('a b'):gsub('%s*', '.')",
		"return ('a b c'):gsub('%a', T)", "return ('a b'):gsub('%a', F1)", "return ('a'):gsub('a', F5)",
		"return ('b'):gsub('b', F6)", "return ('ab'):gsub('(a)(b)', F2)", "return ('a'):gsub('()', F1)",
		"return ('abab'):gsub('[ab]', F7)", "return ('a'):gsub('a')", "return ('a'):gsub('a', nil)",
		"return ('a'):gsub('a', true, {})", "return ('a'):gsub('a', 1.5), ('a'):gsub('a', F4)",
		"return ('abc'):gsub('%w', function(c) x = c end)", "return (5):gsub()",
		// format
		"return ('%5d|%-5d|%05d|%+d|% d|%5.3d'):format(42, 42, 42, 42, 42, 42)",
		"return ('%x|%X|%#x|%#o|%o|%u'):format(255, 255, 255, 8, 8, 7)",
		"return ('%x|%u|%d'):format(-1, -1, 2^63)", "return ('%x %u'):format(2^64, 2^63)",
		"return ('%d %i'):format(3.99, -3.99)", "return ('%d'):format('10')", "return ('%c%c'):format(65, 0)",
		"return ('%e|%.3e|%E|%f|%.0f|%#.0f|%g|%G|%#g'):format(1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1e-10, 1)",
		"return ('%f %5.1f %-8.2f| %+.1f'):format(1/0, -1/0, 0/0, 1/0)", "return ('%.20f'):format(0.1)",
		"return ('%.14g %.17g %.3g'):format(0.1, 0.1, 1234567)", "return ('%.99f'):format(1e308)",
		"return ('%.0f %.0f %.0f %.2f'):format(0.5, 1.5, 2.5, 2.675)", "return ('%5.2s|%.0s|%s'):format('abc', 'abc', 1)",
		"return ('%s|%5s|%-5s|'):format('a\\0b', 'a\\0b', 'a')", "return ('%q'):format('a\"b\\\\c\\nd\\re\\0f')",
		"return ('%%|%5%'):format()", "return ('%'):format(1)", "return ('%y'):format(1)",
		"return ('%10'):format(1)", "return ('%100d'):format(1)", "return ('%.100f'):format(1)",
		"return ('%------d'):format(1)", "return ('%d'):format()", "return ('%d'):format('x')",
		"return ('%s'):format(nil)", "return ('%s'):format({})", "return ('%s %s'):format(1)",
		"return string.format()", "return string.format(7)", "return ('%\\0'):format(1)",
		// numbers as text
		"return 1e15 .. '', 1e14 .. '', 123456789012345 .. '', 1e100 .. '', 1e-5 .. '', 2^53 .. ''",
		"return 0.1 .. '', -0 .. '', 1/0 .. '', -1/0 .. '', 3.14159265358979 .. '', 100 .. ''",
		"return 99999999999999.5 .. '', 99999999999999 .. '', 1e-4 .. '', 0.00012345 .. ''",
	}
	return append(list, calls{rand.New(rand.NewPCG(1, 1))}.list(1000)...)
}

// TestRecordedCalls runs the calls of the file and compares the results with those of lua5.1.
func TestRecordedCalls(t *testing.T) {
	if *recordStrings {
		record(t)
	}
	f, err := os.Open(recorded)
	require.NoError(t, err)
	defer f.Close()
	s, src, n := newState(t), "", 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		want, ok := strings.CutPrefix(line, "= ")
		if !ok {
			src = line
			continue
		}
		n++
		require.Equal(t, want, run(s, src), src)
	}
	require.NoError(t, lines.Err())
	require.Greater(t, n, 1000)
}

func record(t *testing.T) {
	sources := stringSources()
	results, err := judged(sources)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("# What lua5.1 returns for each line, see TestRecordedCalls.\n")
	for i, src := range sources {
		b.WriteString(src + "\n= " + results[i] + "\n")
	}
	require.NoError(t, os.WriteFile(recorded, []byte(b.String()), 0o644))
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
		looks := 0
		s.Interrupt = func() error {
			if looks++; looks > 200 {
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
		   for b in ('1;2'):gmatch('[^;]+') do out = out .. a .. b end end return out`: `true "x1x2y1y2"`,
		`return ('[%a] [%d]'):gsub('%b[]', function(p) return ('a1'):match(p) end)`: `true "a 1" 2`,
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
			src := "local s = 'the quick brown fox' for i = 1, " + n + " do local x = " + expr + " end"
			return testing.AllocsPerRun(3, func() { run(s, src) })
		}
		require.InDelta(t, turns("1"), turns("1001"), 100, expr)
	}
}
