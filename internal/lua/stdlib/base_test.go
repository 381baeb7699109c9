package stdlib_test

import (
	"bufio"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/stdlib"
)

// newBase returns a state with the libraries, but string.
func newBase() *lua.State {
	s := lua.NewState()
	s.ErrorField = "err"
	o := stdlib.Options{
		Compile: func(t *lua.Thread, src, name string) (*lua.Closure, error) {
			p, err := compiler.Compile(src, stdlib.ChunkName(name),
				&compiler.Options{Level: t.Nested(), Name: stdlib.LongChunkName(name)})
			if err != nil {
				return nil, err
			}
			return lua.Load(p, s.Globals, nil)
		},
		Heap:  func() uint64 { return 100 << 10 },
		Clock: func() float64 { return 1.5 },
	}
	stdlib.OpenBase(s, o)
	stdlib.OpenTable(s)
	stdlib.OpenMath(s)
	stdlib.OpenCoroutine(s)
	stdlib.OpenOS(s, o)
	return s
}

// protected returns what pcall returns for a chunk, as text.
func protected(s *lua.State, src string) (string, error) {
	p, err := compiler.Compile(src, "c", nil)
	if err != nil {
		return "", err
	}
	c, err := lua.Load(p, s.Globals, nil)
	if err != nil {
		return "", err
	}
	s.Begin()
	s.Reset()
	t := s.Main
	t.Push(s.Globals.GetString("pcall"))
	t.Push(lua.ClosureValue(c))
	if v, ok := t.Try(1, -1); !ok {
		return "uncaught " + t.ToString(v).Str(), nil
	}
	var list []string
	for _, v := range t.Args(1) {
		list = append(list, t.ToString(v).Str())
	}
	return strings.Join(list, " | "), nil
}

var address = regexp.MustCompile(`0x[0-9a-f]{12}`)

func TestBaseAsRedis(t *testing.T) {
	f, err := os.Open("testdata/base.txt")
	require.NoError(t, err)
	defer f.Close()
	cases, code := 0, ""
	for r := bufio.NewScanner(f); r.Scan(); {
		line := r.Text()
		want, ok := strings.CutPrefix(line, "= ")
		if !ok {
			code = line
			continue
		}
		got, err := protected(newBase(), code)
		require.NoError(t, err, code)
		assert.Equal(t, want, address.ReplaceAllString(got, "ADDRESS"), code)
		cases++
	}
	assert.Greater(t, cases, 250)
}

func TestReadOnly(t *testing.T) {
	s := newBase()
	frozen := lua.NewTable(0, 0)
	for i := range 3 {
		frozen.SetInt(i+1, lua.Int(3-i))
	}
	frozen.ReadOnly = true
	s.Globals.SetString("frozen", lua.TableValue(frozen))
	const refused = "false | Attempt to modify a readonly table"
	const refusedHere = "false | c:1: Attempt to modify a readonly table"
	for code, want := range map[string]string{
		"frozen[1] = 5":                       refusedHere,
		"frozen.x = nil":                      refusedHere,
		"rawset(frozen, 1, 2)":                refused,
		"rawset(frozen, nil, 2)":              refused,
		"setmetatable(frozen, nil)":           refused,
		"table.insert(frozen, 1)":             refused,
		"table.insert(frozen, 1, 1)":          refused,
		"table.remove(frozen)":                refused,
		"return table.remove(frozen, 9)":      "true",
		"table.sort(frozen)":                  refused,
		"return frozen[3], #frozen, frozen.x": "true | 1 | 3 | nil",
	} {
		got, err := protected(s, code)
		require.NoError(t, err)
		assert.Equal(t, want, got, code)
	}
	assert.Equal(t, 3, frozen.Len())
}

// pairs shows the order in which the functions are registered, which is that of Lua.
func TestOrderOfLibraries(t *testing.T) {
	for library, want := range map[string]string{
		"table": "setn insert getn foreachi maxn foreach concat sort remove",
		"math": "log max acos huge ldexp pi cos tanh pow deg tan cosh sinh random randomseed " +
			"frexp ceil floor rad abs sqrt modf asin min mod fmod log10 atan2 exp sin atan",
		"coroutine": "resume yield status wrap create running",
	} {
		got, err := protected(newBase(), "local r = {} for k in pairs("+library+
			") do r[#r + 1] = k end return table.concat(r, ' ')")
		require.NoError(t, err)
		assert.Equal(t, "true | "+want, got)
	}
}

func TestChunkName(t *testing.T) {
	x := strings.Repeat("x", 100)
	for _, c := range []struct{ name, short, long string }{
		{"=name", "name", "name"},
		{"@file", "file", "file"},
		{"", `[string ""]`, `[string ""]`},
		{"a\nb", `[string "a..."]`, `[string "a..."]`},
		{"\r\n", `[string "..."]`, `[string "..."]`},
		{"a\x00b", `[string "a"]`, `[string "a"]`},
		{"=" + x, x[:59], x[:79]},
		{"@" + x, "..." + x[:52], "..." + x[:72]},
		{x, `[string "` + x[:43] + `..."]`, `[string "` + x[:63] + `..."]`},
		{x[:43], `[string "` + x[:43] + `"]`, `[string "` + x[:43] + `"]`},
	} {
		assert.Equal(t, c.short, stdlib.ChunkName(c.name))
		assert.Equal(t, c.long, stdlib.LongChunkName(c.name))
	}
}

// TestBounds checks that what loops asks the host, and that what grows is within the bound.
func TestBounds(t *testing.T) {
	const many = "local t = {} for i = 1, 1e5 do t[i] = i % 7 end "
	for want, programs := range map[error][]string{
		errLate: {
			"table.insert({}, -2^31, 1)",
			"table.insert({}, 2^31 - 1, 1) table.insert({}, -2^31, 1)",
			many + "while true do table.remove(t, 1) end",
			many + "while true do table.concat(t) end",
			many + "while true do table.sort(t) end",
			many + "while true do table.maxn(t) end",
			many + "while true do table.foreachi(t, function() end) end",
			many + "while true do table.foreach(t, type) end",
			"while true do load(function() end) end",
			"load(function() return 'x ' end)",
			"pcall(function() while true do pcall(error) end end) while true do end",
			"xpcall(function() while true do end end, function() while true do end end)",
			"coroutine.wrap(function() while true do pcall(coroutine.yield) end end)()",
		},
		lua.ErrMemory: {
			"local t = {} while true do t[#t + 1] = coroutine.wrap(function() end) end",
			"local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
			"local t = {} while true do t[#t + 1] = tostring({}) end",
			"local s = 'x' while true do s = table.concat({s, s}) end",
		},
	} {
		for _, code := range programs {
			s := newBase()
			s.Bound = 8 << 20
			asked := 0
			s.Interrupt = func() error {
				if asked++; asked > 1000 { // a million steps
					return errLate
				}
				return nil
			}
			got, err := protected(s, code)
			require.NoError(t, err)
			assert.Equal(t, want, s.Ended(), code)
			assert.Contains(t, got, "uncaught ", code)
		}
	}
}

var errLate = errors.New("late")
