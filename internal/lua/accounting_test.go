package lua_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/redislib"
	"godwit/internal/lua/stdlib"
)

// newLibraries returns a state with all libraries.
func newLibraries() *lua.State {
	s := lua.NewState()
	stdlib.OpenBase(s, stdlib.Options{
		Compile: func(t *lua.Thread, src, name string) (*lua.Closure, error) {
			o := compiler.Options{Level: t.Nested(), Name: stdlib.LongChunkName(name), Grow: s.Grow}
			p, err := compiler.Compile(src, stdlib.ChunkName(name), &o)
			if err != nil {
				return nil, err
			}
			c, err := lua.Load(p, s.Globals, nil)
			if err == nil {
				c.SetChunk(src, name)
			}
			return c, err
		},
	})
	stdlib.OpenString(s)
	stdlib.OpenTable(s)
	stdlib.OpenMath(s)
	stdlib.OpenCoroutine(s)
	redislib.Open(s)
	return s
}

// evaluate runs a source, which must not fail.
func evaluate(t *testing.T, s *lua.State, src string) {
	p, err := compiler.Compile(src, "c", nil)
	require.NoError(t, err)
	f, err := lua.Load(p, s.Globals, nil)
	require.NoError(t, err)
	s.Main.Push(lua.ClosureValue(f))
	v, ok := s.Main.Try(0, 0)
	require.True(t, ok, "%s: %s", src, s.Main.ToString(v).Str())
}

// account is what was allocated and what the machine believes, in bytes.
type account struct{ made, told, heap, live int }

// keep returns the account of the run so far.
func (a *account) keep(s *lua.State) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a.made, a.told = int(m.TotalAlloc), -s.RoomLeft()
	a.live = s.Live()
	runtime.GC()
	runtime.ReadMemStats(&m)
	a.heap = int(m.HeapAlloc)
}

// TestMemoryIsAccounted makes large values with each function that makes some. It compares what was
// allocated with what the budget was told of, and what is in use with what State.Live returns.
func TestMemoryIsAccounted(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const slack = 512 << 10
	const setup = "local n = 2^20 + 12345 local s, f, t, r = ('1'):rep(n), string.format, {}, {} " +
		"for i = 1, 2^16 do t[i] = i % 10 end local j = cjson.encode(t) " +
		"local m = cmsgpack.pack(t) local x = ('a%'):rep(n) local function id(...) return ... end "
	for _, call := range []string{"s:rep(3)", "s:upper()", "x:upper()", "s:reverse()", "s:sub(2)",
		"f('%s%s', s, s)", "f('%q', s)", "f(('%9d '):rep(200), unpack(t, 1, 200))",
		"s:gsub('1', 'ab')", "s:gsub('^1', s)", "('x'):gsub('.', s)", "(x:gsub('%%', t))",
		"s:match('1(1*)')", "s:gmatch('1\\0' .. s)",
		"{s:byte(1, 7000)}", "string.char(unpack(t, 1, 200))",
		"s .. s", "s .. 1 .. s", "table.concat({s, s}, s)", "table.concat(t)",
		"table.concat(t, 'ab')",
		"pcall(error, s)", "pcall(assert, false, s)", "pcall(collectgarbage, s)",
		"pcall(id, unpack(t, 1, 5000))", "tonumber(s)", "tonumber(s .. '.5')",
		"tonumber('1e' .. s)",
		"tonumber('0x' .. s)", "tonumber(s, 16)", "tonumber('0.' .. ('0'):rep(n) .. 1)",
		"{unpack(t, 1, 7000)}", "table.sort(t, function(a, b) return a > b end)",
		"table.insert(t, 1, 1)", "loadstring('return \"' .. s .. '\"')", "loadstring('--' .. s)",
		"loadstring('return ' .. ('{1,\"a\"},'):rep(2^14) .. '1')",
		"loadstring(('x=y '):rep(2^15))",
		"loadstring(('local a '):rep(150) .. ('f(function() return a end) '):rep(2^13))",
		"loadstring('x', s)", "loadstring(s)", "loadstring('x', '=' .. s)",
		"loadstring('x=1', 'n\\0' .. s)",
		"pcall(assert, false, '1\\0' .. s)",
		"load(function() local p = s s = nil return p end)", "cjson.encode(t)", "cjson.encode(s)",
		"cjson.encode(('\\n'):rep(n))", "cjson.encode({a = {s, s}})", "cjson.decode(j)",
		"cjson.decode('\"' .. s .. '\"')", "cjson.decode('[\"' .. s .. '\\\\n\"]')",
		"pcall(cjson.decode, s)", "pcall(cjson.encode_invalid_numbers, s)", "cmsgpack.pack(t)",
		"cmsgpack.pack(s)", "cmsgpack.unpack(m)", "cmsgpack.unpack(cmsgpack.pack(s))",
		"struct.pack('s', s)", "struct.unpack('s', s .. '\\0')", "struct.pack(('x'):rep(n))",
		"struct.unpack('c100000', s)", "coroutine.wrap(function() return unpack(t, 1, 7000) end)()",
		"xpcall(function() error(s) end, id)"} {
		s := newLibraries()
		var from, to account
		s.Globals.SetString("from", lua.NativeValue(&lua.Native{
			Fn: func(*lua.Thread) int { from.keep(s); return 0 }}))
		s.Globals.SetString("to", lua.NativeValue(&lua.Native{
			Fn: func(*lua.Thread) int { to.keep(s); return 0 }}))
		src := setup + "from() for i = 1, 4 do r[i] = {" + call + "} end to()"
		evaluate(t, s, src)
		made, told := to.made-from.made, to.told-from.told
		require.Less(t, made, 3*told+slack, call)
		require.Less(t, told, 2*made+slack, call)
		heap, live := to.heap-from.heap, to.live-from.live
		require.Less(t, heap, 3*live/2+slack, call)
		require.Less(t, live, 3*heap/2+slack, call)
	}
}

// TestLongStringsTakeTime checks that each call that reads or makes a long string counts as time.
func TestLongStringsTakeTime(t *testing.T) {
	const turns = 20
	const setup = "local s, f, t = ('1'):rep(2^21), string.format, {} " +
		"for i = 1, 2^16 do t[i] = i end for i = 1, 2^16 do t[i] = nil end"
	for _, call := range []string{"s:find('2')", "s:find('2', 1, true)", "s:find('2.')",
		"('x'):find(s)", "s:find('[2]')", "s:match('2')", "s:gsub('2', '')", "s:gsub('^1', '')",
		"('1'):gsub('.', s)", "s:gmatch('2')()", "('x'):gmatch(s)", "s:rep(2)", "s:upper()",
		"s:lower()", "s:reverse()", "s:sub(2)", "f(s)", "f('%s', s)", "f('%q', s)", "f('%d', s)",
		"tonumber(s)", "tonumber(s, 16)", "select(s)", "math.sin(s)", "s + 1",
		"('x'):rep(s)", "error(s)", "assert(false, s)", "collectgarbage(s)", "s .. s",
		"s == s .. ''",
		"s < s .. ''", "rawequal(s, s .. '')", "table.concat{s}", "table.concat({1, 2}, s)",
		"({})[s]", "rawget({}, s)", "loadstring(s)", "loadstring('x', s)", "load(loadstring(s))",
		"next({}, s)", "table.maxn(t)", "next(t)", "table.foreach(t, error)", "bit.tobit(s)",
		"cjson.decode(s)", "cjson.decode((' '):rep(2^21))", "cjson.decode('\"' .. s .. '\"')",
		"cjson.decode('[\"' .. s)", "cjson.encode(s)", "cjson.encode_invalid_numbers(s)",
		"cmsgpack.pack(s)", "cmsgpack.unpack(cmsgpack.pack(s))", "struct.pack(s)",
		"struct.size('i' .. ('0'):rep(2^21))", "struct.size((' '):rep(2^21))",
		"struct.pack('s', s)", "struct.unpack('s', s)", "struct.unpack('i' .. s, '')"} {
		s := newLibraries()
		looks := 0
		s.Interrupt = func() error { looks++; return nil }
		src := fmt.Sprintf("%s for i = 1, %d do pcall(function() return %s end) end", setup, turns,
			call)
		evaluate(t, s, src)
		require.GreaterOrEqual(t, looks, turns, call)
	}
}

// TestAside wants the host to be asked during work that takes long, and the run to end after it if
// the host says so.
func TestAside(t *testing.T) {
	late, asked := errors.New("late"), make(chan bool, 1)
	s := lua.NewState()
	worked := false
	s.Interrupt = func() error {
		select {
		case asked <- true:
		default:
		}
		return late
	}
	s.Main.Push(lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
		t.Aside(lua.LongWork, func() { worked = <-asked })
		panic("the run goes on")
	}}))
	_, ok := s.Main.Try(0, 0)
	require.False(t, ok)
	require.True(t, worked)
	require.Equal(t, late, s.Ended())
}
